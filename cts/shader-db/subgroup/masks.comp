// SPDX-License-Identifier: MIT
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
// the lane masks
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) writeonly buffer Out00 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    r[5 * i] = gl_SubgroupEqMask.x;
    r[5 * i + 1] = gl_SubgroupLtMask.x;
    r[5 * i + 2] = gl_SubgroupLeMask.x;
    r[5 * i + 3] = gl_SubgroupGtMask.x;
    r[5 * i + 4] = gl_SubgroupGeMask.x | gl_SubgroupGeMask.y;
}
