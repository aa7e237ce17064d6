// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
// normalisation of rows of 128, two elements an invocation, half float results
layout(local_size_x = 64) in;
shared vec2 s[64];
layout(set = 0, binding = 0, std430) readonly buffer In00 { vec2 a[]; };
layout(set = 0, binding = 1, std140) uniform Params { float epsilon; float gain; float bias; };
layout(set = 0, binding = 2, std430) writeonly buffer Out { f16vec2 r[]; };

void main() {
    uint l = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x;
    vec2 x = a[i];
    s[l] = vec2(x.x + x.y, dot(x, x));
    for (uint d = 32; d > 0u; d >>= 1) {
        barrier();
        if (l < d)
            s[l] += s[l + d];
    }
    barrier();
    float mean = s[0].x / 128.0, variance = s[0].y / 128.0 - mean * mean;
    r[i] = f16vec2((x - mean) * inversesqrt(variance + epsilon) * gain + bias);
}
