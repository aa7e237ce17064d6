// SPDX-License-Identifier: MIT
#version 450
// sinh, cosh, tanh and the inverse functions, degrees, radians
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { float a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { float r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    float x = a[i];
    r[8 * i + 0] = sinh(x);
    r[8 * i + 1] = cosh(x);
    r[8 * i + 2] = tanh(x);
    r[8 * i + 3] = asinh(x);
    r[8 * i + 4] = acosh(abs(x) + 1.0);
    r[8 * i + 5] = atanh(x * 0.2);
    r[8 * i + 6] = degrees(x);
    r[8 * i + 7] = radians(x);
}
