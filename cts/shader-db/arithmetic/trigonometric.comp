// SPDX-License-Identifier: MIT
#version 450
// sin, cos, tan and the inverse functions
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { float a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { float b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { float r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    float x = a[i], y = b[i];
    r[8 * i + 0] = sin(x);
    r[8 * i + 1] = cos(x);
    r[8 * i + 2] = tan(x * 0.4);
    r[8 * i + 3] = asin(y);
    r[8 * i + 4] = acos(y);
    r[8 * i + 5] = atan(x);
    r[8 * i + 6] = atan(x, y);
    r[8 * i + 7] = atan(y, -x);
}
