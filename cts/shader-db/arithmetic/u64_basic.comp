// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
// 64-bit integers: addition, multiplication, logic, comparison, shifts
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint64_t a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { uint64_t b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { uint64_t r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint64_t x = a[i], y = b[i];
    uint n = uint(y) & 63u;
    r[16 * i + 0] = x + y;
    r[16 * i + 1] = x - y;
    r[16 * i + 2] = x * y;
    r[16 * i + 3] = min(x, y);
    r[16 * i + 4] = max(x, y);
    r[16 * i + 5] = x & ~y;
    r[16 * i + 6] = x | y;
    r[16 * i + 7] = x ^ 0x8000000000000001ul;
    r[16 * i + 8] = x << n;
    r[16 * i + 9] = x >> n;
    r[16 * i + 10] = x >> 32;
    r[16 * i + 11] = x << 33;
    r[16 * i + 12] = x < y ? 1ul : 2ul;
    r[16 * i + 13] = uint64_t(x == y) | uint64_t(x >= y) << 1 | uint64_t(x > y) << 2;
    r[16 * i + 14] = x * 10ul + 7ul;
    r[16 * i + 15] = uint64_t(uint(x)) * uint64_t(uint(y >> 32));
}
