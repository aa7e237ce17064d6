// SPDX-License-Identifier: MIT
#version 450
// the second operand of && and || has effects
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

uint calls;

bool test(uint x) {
    calls = calls * 2u + 1u;
    return (x & 1u) != 0u;
}

bool count(inout uint n) {
    n++;
    return n < 3u;
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint x = a[i], n = x & 3u;
    calls = 1;
    bool p = test(x) && test(x >> 1) || test(x >> 2) && !test(x >> 3);
    bool q = (n > 1u || count(n)) && count(n);
    bool s = p ^^ q;
    r[i] = calls << 8 | n << 4 | uint(p) | uint(q) << 1 | uint(s) << 2;
}
