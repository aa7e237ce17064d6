// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
// conversions among 8, 16 and 32 bits and half floats
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { float b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint x = a[i];
    r[12 * i + 0] = uint(uint8_t(x));
    r[12 * i + 1] = uint(int(int8_t(x)));
    r[12 * i + 2] = uint(uint16_t(x));
    r[12 * i + 3] = uint(int(int16_t(x)));
    r[12 * i + 4] = uint(int(int16_t(int8_t(x >> 8))));
    r[12 * i + 5] = uint(uint16_t(int8_t(x >> 8)));
    r[12 * i + 6] = floatBitsToUint(float(int8_t(x)));
    r[12 * i + 7] = floatBitsToUint(float(uint16_t(x)));
    r[12 * i + 8] = uint(halfBitsToUint16(float16_t(int16_t(x & 0x7ffu))));
    r[12 * i + 9] = uint(uint8_t(abs(b[i])));
    r[12 * i + 10] = uint(int(int16_t(b[i])));
    r[12 * i + 11] = floatBitsToUint(float(uint16BitsToHalf(uint16_t(x & 0xbfffu | 0x400u))));
}
