// SPDX-License-Identifier: MIT
#version 450
// floor, ceil, trunc, roundEven, fract, mod, modf
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { float a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { float r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    float x = a[i];
    r[8 * i + 0] = floor(x);
    r[8 * i + 1] = ceil(x);
    r[8 * i + 2] = trunc(x);
    r[8 * i + 3] = roundEven(x);
    precise float f = x - floor(x);
    r[8 * i + 4] = f;
    float whole;
    precise float part = modf(x, whole);
    r[8 * i + 5] = part;
    r[8 * i + 6] = whole;
    precise float half_ = floor(x * 0.5) + ceil(-x);
    r[8 * i + 7] = half_;
}
