// SPDX-License-Identifier: MIT
#version 450
// functions with value, out and inout parameters, arrays and structures
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

struct Pair {
    uint low;
    uint high[2];
};

Pair make(uint x) {
    return Pair(x, uint[](x * 2u, x * 3u));
}

void swap(inout uint a, inout uint b) {
    uint t = a;
    a = b;
    b = t;
}

bool split(uint x, out uint high, out uint low) {
    high = x >> 16;
    low = x & 0xffffu;
    return high > low;
}

uint total(Pair p, const uint weights[3]) {
    p.low++;
    return p.low * weights[0] + p.high[0] * weights[1] + p.high[1] * weights[2];
}

uint classify(uint x) {
    if (x < 10u)
        return 1u;
    for (uint k = 2; k < 8u; k++)
        if (x % k == 0u)
            return k;
    return 0u;
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint high, low;
    if (split(a[i], high, low))
        swap(high, low);
    Pair p = make(low);
    swap(p.low, p.high[1]);
    r[2 * i] = total(p, uint[](1u, high, 5u));
    r[2 * i + 1] = classify(high) << 8 | classify(low & 255u);
}
