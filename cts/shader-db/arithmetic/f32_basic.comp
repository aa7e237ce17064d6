// SPDX-License-Identifier: MIT
#version 450
// add, subtract, multiply, negate, absolute value at the edges of the type
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { uint b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { float r[]; };

// Denormals become zeros: whether they are flushed is the device's choice.
float clean(uint bits) {
    return uintBitsToFloat((bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits);
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    float x = clean(a[i]), y = clean(b[i]);
    precise float sum = x + y;
    precise float difference = x - y;
    precise float product = x * y;
    precise float mixed = -x * abs(y);
    r[8 * i + 0] = sum;
    r[8 * i + 1] = difference;
    r[8 * i + 2] = product;
    r[8 * i + 3] = -x;
    r[8 * i + 4] = abs(y);
    r[8 * i + 5] = mixed;
    precise float distance = abs(difference);
    r[8 * i + 6] = -distance;
    precise float doubled = x + x;
    r[8 * i + 7] = doubled;
}
