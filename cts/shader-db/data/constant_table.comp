// SPDX-License-Identifier: MIT
#version 450
// constant tables with variable index
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

const uint primes[20] = uint[](2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71);
const vec3 axes[6] = vec3[](vec3(1, 0, 0), vec3(-1, 0, 0), vec3(0, 1, 0), vec3(0, -1, 0), vec3(0, 0, 1), vec3(0, 0, -1));
const int steps[4][2] = int[][](int[](0, 1), int[](1, 0), int[](0, -1), int[](-1, 0));

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint x = a[i];
    vec3 axis = axes[x % 6u];
    int dx = steps[x >> 3 & 3u][0], dy = steps[x >> 3 & 3u][x >> 5 & 1u];
    r[i] = primes[x % 20u] << 8 | uint(int(dot(axis, vec3(1, 2, 4))) + 4) << 4 | uint(dx + 1) << 2 | uint(dy + 1);
}
