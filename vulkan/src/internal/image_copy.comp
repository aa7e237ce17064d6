// SPDX-License-Identifier: MIT
// Copies elements between images and buffers: a box of them, in rows and layers. TYPE and SIZE are given on
// the command line. What a buffer holds is a linear image.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_GOOGLE_include_directive : require
#include "place.glsl"
layout(local_size_x = 32, local_size_y = 8) in;

layout(buffer_reference, std430, buffer_reference_align = SIZE) readonly buffer From { TYPE unit; };
layout(buffer_reference, std430, buffer_reference_align = SIZE) writeonly buffer To { TYPE unit; };

layout(push_constant) uniform Push {
    // Of element (0, 0) of the first layer.
    uint64_t from_address, from_layer_stride;
    uint64_t to_address, to_layer_stride;
    Side from, to;
    // Units in a row (samples count), rows, layers.
    uvec3 extent;
};

uint64_t offset(Side side, uvec2 at)
{
    uint log2_samples = side.order >> 24 & 0x7fu;
    uint sample_at = at.x & (1u << log2_samples) - 1u;
    return pixel_offset(side, uvec2(at.x >> log2_samples, at.y)) + sample_at * SIZE;
}

void main()
{
    uvec3 at = gl_GlobalInvocationID;
    if (any(greaterThanEqual(at, extent)))
        return;
    uint64_t source = from_address + at.z * from_layer_stride + offset(from, at.xy);
    uint64_t target = to_address + at.z * to_layer_stride + offset(to, at.xy);
    To(target).unit = From(source).unit;
}
