// SPDX-License-Identifier: MIT
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
// any, all, allEqual, also in divergent code
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x, x = a[i], bits = 0;
    bits |= uint(subgroupAny(x % 7u == 0u));
    bits |= uint(subgroupAll(x < 0xf0000000u)) << 1;
    bits |= uint(subgroupAllEqual(gl_SubgroupID)) << 2;
    bits |= uint(subgroupAllEqual(x & 3u)) << 3;
    if ((i & 1u) != 0u) {
        bits |= uint(subgroupAny(x < 0x08000000u)) << 4;
        bits |= uint(subgroupAll((gl_SubgroupInvocationID & 1u) == 1u)) << 5;
    }
    r[i] = bits;
}
