// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
// 8-bit integers: wrapping, comparison, shifts, vectors
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { uint b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint8_t x = uint8_t(a[i]), y = uint8_t(b[i]);
    int8_t s = int8_t(x), t = int8_t(y);
    r[8 * i + 0] = uint(uint8_t(x + y));
    r[8 * i + 1] = uint(uint8_t(x * y));
    r[8 * i + 2] = uint(int(int8_t(s - t)));
    r[8 * i + 3] = uint(int(int8_t(s >> int8_t(2))));
    r[8 * i + 4] = uint(x < y) | uint(s < t) << 1 | uint(x == y) << 2 | uint(s >= t) << 3;
    r[8 * i + 5] = uint(int(max(s, t))) ^ uint(min(x, y));
    u8vec4 v = unpack8(a[i]) + unpack8(b[i]).wzyx;
    r[8 * i + 6] = pack32(v);
    r[8 * i + 7] = uint(x / (y | uint8_t(1)));
}
