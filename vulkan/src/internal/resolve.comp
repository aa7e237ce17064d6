// SPDX-License-Identifier: MIT
// Makes one sample of several, of a box of an image. With INTEGER texels are unsigned integers, or signed ones of
// which the first sample is taken.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_GOOGLE_include_directive : require
#include "place.glsl"
#include "pack.glsl"
layout(local_size_x = 32, local_size_y = 8) in;

#ifdef INTEGER
layout(set = 0, binding = 0) uniform usampler2DMS source;
#else
layout(set = 0, binding = 0) uniform sampler2DMS source;
#endif

layout(push_constant) uniform Push {
    uint64_t to_address, to_layer_stride;
    Side to;
    uvec4 components;
    uint kind;
    uint mode;
    uint samples;
    uint unused;
    // The source's corner; the box's width and height.
    uvec4 from_and_extent;
};

const uint AVERAGE = 1u;
const uint MIN = 2u;
const uint MAX = 3u;

void main()
{
    uvec2 at = gl_GlobalInvocationID.xy;
    if (any(greaterThanEqual(at, from_and_extent.zw)))
        return;
    ivec2 from = ivec2(at + from_and_extent.xy);
    COLOUR colour = texelFetch(source, from, 0);
    // The first sample is also what other modes begin with.
    if (mode != 0u) {
        for (uint index = 1u; index < samples; index++) {
            COLOUR other = texelFetch(source, from, int(index));
            switch (mode) {
            case MIN:
                colour = min(colour, other);
                break;
            case MAX:
                colour = max(colour, other);
                break;
            default:
                colour += other;
                break;
            }
        }
#ifndef INTEGER
        if (mode == AVERAGE)
            colour /= float(samples);
#endif
    }
    uint64_t target = to_address + pixel_offset(to, at);
    store(target, to.order >> 16 & 0xffu, Packing(components, kind), colour);
}
