// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
// 16-bit integers: wrapping, comparison, shifts, vectors
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { uint b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint16_t x = uint16_t(a[i]), y = uint16_t(b[i]);
    int16_t s = int16_t(x), t = int16_t(y);
    r[12 * i + 0] = uint(uint16_t(x + y));
    r[12 * i + 1] = uint(uint16_t(x * y));
    r[12 * i + 2] = uint(int(int16_t(s - t)));
    r[12 * i + 3] = uint(int(int16_t(s >> 3s)));
    r[12 * i + 4] = uint(uint16_t(x >> 3us));
    r[12 * i + 5] = uint(uint16_t(x << (y & 15us)));
    r[12 * i + 6] = uint(x < y) | uint(s < t) << 1 | uint(x == y) << 2 | uint(s >= t) << 3;
    r[12 * i + 7] = uint(int(min(s, t))) ^ uint(max(x, y));
    r[12 * i + 8] = uint(int(abs(s)));
    r[12 * i + 9] = uint(uint16_t(~x & y));
    u16vec2 v = u16vec2(x, y) * u16vec2(y, 3us) + u16vec2(1us);
    r[12 * i + 10] = packUint2x16(v);
    r[12 * i + 11] = uint(x / (y | 1us)) + uint(uint16_t(x % (y | 1us)));
}
