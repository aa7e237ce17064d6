// SPDX-License-Identifier: MIT
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
// ballots and sums in a loop that lanes leave one by one
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x, x = a[i], sum = 0, rounds = 0;
    do {
        uvec4 b = subgroupBallot(true);
        sum = sum * 3u + bitCount(b.x) + subgroupAdd(x & 255u);
        rounds++;
    } while (rounds <= (x >> 8 & 7u));
    r[i] = sum;
}
