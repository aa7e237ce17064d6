// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
// conversions between 64-bit and narrower types
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint64_t a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { float b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { uint64_t r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint64_t x = a[i];
    r[8 * i + 0] = uint64_t(uint(x));
    r[8 * i + 1] = uint64_t(int64_t(int(x)));
    r[8 * i + 2] = uint64_t(int64_t(int8_t(x)));
    r[8 * i + 3] = uint64_t(floatBitsToUint(float(uint(x >> 40))));
    r[8 * i + 4] = uint64_t(abs(b[i]));
    r[8 * i + 5] = uint64_t(int64_t(b[i]));
    r[8 * i + 6] = packUint2x32(unpackUint2x32(x).yx);
    r[8 * i + 7] = uint64_t(uint16_t(x >> 24)) << 48 | uint64_t(bool(x));
}
