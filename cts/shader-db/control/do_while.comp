// SPDX-License-Identifier: MIT
#version 450
// loops tested at the end, divergent trip counts
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint x = a[i] & 0xffffu, gcd = (a[i] >> 16) + 1u, steps = 0;
    do {
        uint rest = gcd % (x + 1u);
        gcd = x + 1u;
        x = rest - 1u;
        steps++;
    } while (x != 0xffffffffu);
    uint bits = gcd, count = 0;
    do
        count++;
    while ((bits >>= 1) != 0u);
    r[2 * i] = gcd;
    r[2 * i + 1] = steps << 8 | count;
}
