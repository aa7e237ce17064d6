// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
// structures, bytes, half floats, 64-bit integers and vectors of three in shared memory
layout(local_size_x = 32) in;

struct Item {
    vec3 v;
    uint8_t b[3];
    float16_t h;
    uint64_t q;
};
shared Item items[32];
shared uint16_t halves[64];
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint l = gl_LocalInvocationIndex, x = a[l];
    items[l].v = vec3(l, l * 2u, x & 15u);
    items[l].b[x % 3u] = uint8_t(x >> 8);
    items[l].b[(x + 1u) % 3u] = uint8_t(l);
    items[l].b[(x + 2u) % 3u] = uint8_t(7);
    items[l].h = float16_t(l);
    items[l].q = uint64_t(x) * 0x100000001ul;
    halves[63u - l] = uint16_t(x);
    halves[l] = uint16_t(x >> 16);
    barrier();
    uint n = (l * 5u + 3u) & 31u;
    Item it = items[n];
    r[4 * l] = uint(dot(it.v, vec3(1, 100, 10000)));
    r[4 * l + 1] = uint(it.b[0]) | uint(it.b[1]) << 8 | uint(it.b[2]) << 16;
    r[4 * l + 2] = uint(float(it.h) * 3.0) + uint(it.q >> 32);
    r[4 * l + 3] = uint(halves[n]) << 16 | uint(halves[n + 32u]);
}
