// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
// half float exponentials, logarithms, roots and trigonometry
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { float16_t a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { float16_t r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    float16_t x = a[i];
    r[6 * i + 0] = exp2(x);
    r[6 * i + 1] = log2(x);
    r[6 * i + 2] = sqrt(x);
    r[6 * i + 3] = inversesqrt(x);
    r[6 * i + 4] = sin(x);
    r[6 * i + 5] = cos(x);
}
