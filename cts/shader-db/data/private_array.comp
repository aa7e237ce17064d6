// SPDX-License-Identifier: MIT
#version 450
// private arrays with variable index, read and written
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint t[16];
    for (uint k = 0; k < 16u; k++)
        t[k] = k * k + i;
    uint x = a[i];
    for (uint k = 0; k < 12u; k++) {
        uint at = x & 15u, from = x >> 4 & 15u;
        t[at] = t[from] * 5u + k;
        x = x * 1664525u + 1013904223u;
        x ^= x >> 15;
    }
    uint sum = 0;
    for (uint k = 0; k < 16u; k++)
        sum = sum * 31u + t[k];
    r[2 * i] = sum;
    r[2 * i + 1] = t[x & 15u];
}
