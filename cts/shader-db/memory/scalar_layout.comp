// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
// scalar block layout: nothing is padded
layout(local_size_x = 32) in;

struct Item {
    vec3 position;
    float16_t half_;
    uint8_t tag;
    vec2 rest;
    uvec3 ids;
};
layout(set = 0, binding = 0, scalar) buffer Items { Item items[]; };
layout(set = 0, binding = 1, scalar) readonly buffer Positions { uint first; vec3 positions[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    Item it = items[i];
    vec3 p = positions[first + i];
    items[i].position = p.zxy;
    items[i].ids = it.ids.yzx + uvec3(i, uint(it.tag), floatBitsToUint(it.rest.x));
    items[i].tag = uint8_t(i * 5u);
    items[i].half_ = it.half_ * 2.0hf;
    items[i].rest = it.rest.yx;
}
