// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shared_memory_block : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
// two views of the same shared memory
layout(local_size_x = 32) in;

shared First { uint words[32]; } first;
shared Second { uint16_t halves[64]; } second;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint l = gl_LocalInvocationIndex;
    first.words[l] = a[l];
    barrier();
    r[2 * l] = uint(second.halves[(2u * l + 2u) & 63u]) | uint(second.halves[(2u * l + 3u) & 63u]) << 16;
    r[2 * l + 1] = uint(second.halves[63u - 2u * l]);
}
