// SPDX-License-Identifier: MIT
#version 450
// every comparison, with NaN and infinities, as values, selections and votes of a vector
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { uint b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { uint r[]; };

// Denormals become zeros: whether they are flushed is the device's choice.
float clean(uint bits) {
    return uintBitsToFloat((bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits);
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    float x = clean(a[i]), y = clean(b[i]);
    uint bits = 0;
    bits |= uint(x < y) << 0;
    bits |= uint(x <= y) << 1;
    bits |= uint(x > y) << 2;
    bits |= uint(x >= y) << 3;
    bits |= uint(x == y) << 4;
    bits |= uint(x != y) << 5;
    bits |= uint(!(x < y)) << 6;
    bits |= uint(!(x >= y)) << 7;
    bits |= uint(isnan(x)) << 8;
    bits |= uint(isinf(y)) << 9;
    bits |= uint(abs(x) < 2.0) << 10;
    bits |= uint(x > -y) << 11;
    bits |= uint(any(lessThan(vec3(x, y, 1.0), vec3(y, x, 0.5)))) << 12;
    bits |= uint(all(notEqual(vec2(x, y), vec2(0.0)))) << 13;
    bits |= uint((x < y) == (y > x)) << 14;
    bits |= uint(x == x) << 15;
    bits |= (x < 0.0 ? 3u : x > 100.0 ? 2u : 1u) << 16;
    r[i] = bits;
}
