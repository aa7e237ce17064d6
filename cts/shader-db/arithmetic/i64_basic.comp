// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
// signed 64-bit integers
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { int64_t a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { int64_t b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { int64_t r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    int64_t x = a[i], y = b[i];
    int n = int(y) & 63;
    r[8 * i + 0] = x + -y;
    r[8 * i + 1] = abs(x);
    r[8 * i + 2] = min(x, y);
    r[8 * i + 3] = x >> n;
    r[8 * i + 4] = x >> 40;
    r[8 * i + 5] = x < y ? x : sign(y);
    r[8 * i + 6] = x * y - x;
    r[8 * i + 7] = int64_t(int(x)) * int64_t(int(y));
}
