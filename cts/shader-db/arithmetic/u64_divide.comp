// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
// 64-bit division and modulo
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint64_t a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { uint64_t b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { uint64_t r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint64_t x = a[i], y = b[i] == 0 ? 1ul : b[i];
    r[6 * i + 0] = x / y;
    r[6 * i + 1] = x % y;
    r[6 * i + 2] = x / (y >> 40 | 1ul);
    r[6 * i + 3] = x / 10;
    r[6 * i + 4] = x % 1000000007ul;
    int64_t s = int64_t(x >> 1) - int64_t(y >> 1);
    r[6 * i + 5] = uint64_t(s / int64_t((y & 0xffffful) + 1ul));
}
