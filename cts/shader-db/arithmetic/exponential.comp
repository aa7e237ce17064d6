// SPDX-License-Identifier: MIT
#version 450
// exp2, log2, exp, log, pow
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { float a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { float b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { float r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    float x = a[i], y = b[i];
    r[6 * i + 0] = exp2(y);
    r[6 * i + 1] = log2(x);
    r[6 * i + 2] = exp(y);
    r[6 * i + 3] = log(x);
    r[6 * i + 4] = pow(x, 0.4);
    r[6 * i + 5] = pow(x, y * 0.25);
}
