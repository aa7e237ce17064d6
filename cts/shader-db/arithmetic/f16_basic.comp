// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
// half floats: arithmetic, comparison, selection
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { uint b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { uint r[]; };

// Without denormals and infinities, which devices may treat in their own way.
float16_t tame(uint bits) {
    uint e = bits >> 10 & 31u;
    return uint16BitsToHalf(uint16_t(e == 0u || e == 31u ? bits & 0x83ffu | 0x3c00u : bits));
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    float16_t x = tame(a[i]), y = tame(b[i]);
    precise float16_t sum = x + y;
    precise float16_t difference = x - y;
    precise float16_t product = x * y;
    r[8 * i + 0] = uint(halfBitsToUint16(sum));
    r[8 * i + 1] = uint(halfBitsToUint16(difference));
    r[8 * i + 2] = uint(halfBitsToUint16(product));
    r[8 * i + 3] = uint(halfBitsToUint16(min(x, y)));
    r[8 * i + 4] = uint(halfBitsToUint16(-abs(x)));
    r[8 * i + 5] = uint(x < y) | uint(x >= y) << 1 | uint(x == y) << 2 | uint(x != y) << 3;
    r[8 * i + 6] = uint(halfBitsToUint16(x > y ? max(x, 1.0hf) : y));
    r[8 * i + 7] = uint(halfBitsToUint16(clamp(x, 0.0hf, 1.0hf)));
}
