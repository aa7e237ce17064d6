// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
// half float vectors, dot products, fused multiply-add
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { f16vec4 a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { f16vec4 b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { f16vec4 r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    f16vec4 x = a[i], y = b[i];
    r[4 * i + 0] = x * y + x.wzyx;
    r[4 * i + 1] = fma(x, y, f16vec4(0.5hf));
    r[4 * i + 2] = f16vec4(dot(x, y), length(x.xy), mix(x.x, y.x, 0.25hf), sqrt(abs(x.w)));
    r[4 * i + 3] = f16vec4(x.x / (abs(y.x) + 1.0hf), floor(x.y * 4.0hf), x.z < y.z ? x.z : y.w, fract(y.w));
}
