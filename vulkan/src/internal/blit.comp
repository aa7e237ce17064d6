// SPDX-License-Identifier: MIT
// Scales a box of an image onto one of another. With SOLID the source has three dimensions, with INTEGER its
// texels are integers.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_GOOGLE_include_directive : require
#include "place.glsl"
#include "pack.glsl"
layout(local_size_x = 32, local_size_y = 8) in;

#ifdef INTEGER
#define FLAT usampler2D
#define DEEP usampler3D
#else
#define FLAT sampler2D
#define DEEP sampler3D
#endif

// One level, clamped to its edges.
#ifdef SOLID
layout(set = 0, binding = 0) uniform DEEP source;
#define POSITION(at) (at)
#else
layout(set = 0, binding = 0) uniform FLAT source;
#define POSITION(at) (at).xy
#endif

layout(push_constant) uniform Push {
    // Of element (0, 0) of the first layer.
    uint64_t to_address, to_layer_stride;
    Side to;
    uvec4 components;
    uint kind;
    // Whether the neighbours of a place are weighed.
    uint is_linear;
    uint unused[2];
    // Of the target's box.
    uvec4 extent;
    // From a place in the target's box to one in the source, in texels.
    vec4 scale, start;
    // The source's texels.
    vec4 size;
};

void main()
{
    uvec3 at = gl_GlobalInvocationID;
    if (any(greaterThanEqual(at, extent.xyz)))
        return;
    vec3 from = (vec3(at) + 0.5) * scale.xyz + start.xyz;
    COLOUR colour;
#ifndef INTEGER
    if (is_linear != 0u)
        colour = textureLod(source, POSITION(from / size.xyz), 0.0);
    else
#endif
    {
        ivec3 texel = ivec3(clamp(floor(from), vec3(0.0), size.xyz - 1.0));
        colour = texelFetch(source, POSITION(texel), 0);
    }
    uint64_t target = to_address + at.z * to_layer_stride + pixel_offset(to, at.xy);
    store(target, to.order >> 16 & 0xffu, Packing(components, kind), colour);
}
