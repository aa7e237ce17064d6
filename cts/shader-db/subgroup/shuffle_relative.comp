// SPDX-License-Identifier: MIT
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
// shuffle up and down; lanes beyond the ends are not used
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x, x = a[i], l = gl_SubgroupInvocationID;
    uint up1 = subgroupShuffleUp(x, 1u), up9 = subgroupShuffleUp(x, 9u);
    uint down1 = subgroupShuffleDown(x, 1u), down16 = subgroupShuffleDown(x, 16u);
    r[4 * i] = l >= 1u ? up1 : 0u;
    r[4 * i + 1] = l >= 9u ? up9 : 0u;
    r[4 * i + 2] = l < 31u ? down1 : 0u;
    r[4 * i + 3] = l < 16u ? down16 : 0u;
}
