// SPDX-License-Identifier: MIT
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
// shuffles by variable lane, xor with constants
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x, x = a[i];
    r[5 * i] = subgroupShuffle(x, x & 31u);
    r[5 * i + 1] = subgroupShuffle(x, 31u - gl_SubgroupInvocationID);
    r[5 * i + 2] = subgroupShuffleXor(x, 1u);
    r[5 * i + 3] = subgroupShuffleXor(x, 16u);
    r[5 * i + 4] = subgroupShuffleXor(x, 21u);
}
