// SPDX-License-Identifier: MIT
#version 450
// division, remainder, reciprocal
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { float a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { float b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { float r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    r[4 * i + 0] = a[i] / b[i];
    r[4 * i + 1] = 1.0 / b[i];
    r[4 * i + 2] = a[i] / 3.0;
    r[4 * i + 3] = -2.0 / abs(b[i]);
}
