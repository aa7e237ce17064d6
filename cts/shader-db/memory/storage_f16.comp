// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
// half floats in storage and uniform buffers, arithmetic in float
layout(local_size_x = 32) in;

layout(set = 0, binding = 0, std430) readonly buffer A { f16vec4 a[]; };
layout(set = 0, binding = 1, std140) uniform U { float16_t u; f16vec2 v; };
layout(set = 0, binding = 2, std430) buffer C { f16vec2 c[]; };
layout(set = 0, binding = 3, std430) buffer D { float16_t d[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    vec4 x = vec4(a[i]);
    c[i] = f16vec2(vec2(x.x + x.y, x.z - x.w) * float(u));
    d[i] = float16_t(dot(x.xy, vec2(v)));
}
