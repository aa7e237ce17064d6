// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
// loads and stores of 8 and 16 bits, alone and in vectors
layout(local_size_x = 32) in;

layout(set = 0, binding = 0, std430) readonly buffer A { uint8_t a[]; };
layout(set = 0, binding = 1, std430) readonly buffer Bb { int16_t b[]; };
layout(set = 0, binding = 2, std430) buffer C { uint16_t c[]; };
layout(set = 0, binding = 3, std430) buffer D { i8vec4 d[]; };
layout(set = 0, binding = 4, std430) buffer E { u16vec2 e[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    int x = int(b[i]), y = int(a[i]);
    c[i] = uint16_t(x * y);
    d[i] = i8vec4(ivec4(d[i]) * 3 + ivec4(x, y, x >> 8, -1));
    e[31u - i].y = uint16_t(y);
    e[i].x = uint16_t(a[i * 2u]) << 8us;
}
