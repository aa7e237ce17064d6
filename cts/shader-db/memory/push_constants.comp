// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
// push constants of every kind, an array of them with variable index
layout(local_size_x = 32) in;

layout(push_constant) uniform Params {
    uint a;
    float b;
    uvec2 c;
    vec4 d;
    mat2 m;
    uint table[8];
    uint64_t big;
    int8_t small;
    uint16_t medium;
};
layout(set = 0, binding = 0, std430) writeonly buffer Out00 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    vec2 p = m * d.xy;
    r[4 * i + 0] = a + c.y * i + table[i & 7u];
    r[4 * i + 1] = floatBitsToUint(b * d[i & 3u] + p.x);
    r[4 * i + 2] = uint(big >> (i & 31u)) + uint(int(small));
    r[4 * i + 3] = uint(medium) * table[7u - (i & 7u)];
}
