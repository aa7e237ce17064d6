// SPDX-License-Identifier: MIT
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
// vectors as operands
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uvec2 a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uvec2 r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    r[2 * i] = subgroupAdd(a[i]);
    r[2 * i + 1] = subgroupShuffle(a[i], 31u - gl_SubgroupInvocationID);
}
