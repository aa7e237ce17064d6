// SPDX-License-Identifier: MIT
#version 450
// dense and sparse switches, fall-through, default in the middle
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint x = a[i], y = 0;
    switch (x & 7u) {
    case 0: y = 1; break;
    case 1: y = x * 3u; break;
    case 2:
    case 3: y += 7;
    case 4: y += 9; break;
    default: y = 100;
    case 6: y ^= 0x55u; break;
    }
    switch (int(x >> 3) - 5) {
    case -5: y += 1000; break;
    case 1: y += 2000;
    case 100: y += 3000; break;
    case 2147483647: y = 0; break;
    }
    switch (y % 3u) {
    default: return;
    case 1: r[i] = y; break;
    case 2: r[i] = ~y;
    }
}
