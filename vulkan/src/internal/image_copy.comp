// SPDX-License-Identifier: MIT
// Copies elements between images and buffers: a box of them, in rows and layers. TYPE and SIZE are given on
// the command line. What a buffer holds is a linear image.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 32, local_size_y = 8) in;

layout(buffer_reference, std430, buffer_reference_align = SIZE) readonly buffer From { TYPE unit; };
layout(buffer_reference, std430, buffer_reference_align = SIZE) writeonly buffer To { TYPE unit; };

// Where the elements of one side are.
struct Side {
    // Bits 0 to 7: logarithm of a tile's width, 8 to 15: of its height, 16 to 23: of a pixel's bytes, 24 to
    // 30: of its samples; bit 31: no tiles but rows.
    uint order;
    // Tiles in a row, or elements from row to row.
    uint pitch;
    // The box's corner.
    uint x, y;
};

layout(push_constant) uniform Push {
    // Of element (0, 0) of the first layer.
    uint64_t from_address, from_layer_stride;
    uint64_t to_address, to_layer_stride;
    Side from, to;
    // Units in a row (samples count), rows, layers.
    uvec3 extent;
};

// The bits of a value below 2^8, apart.
uint spread(uint value)
{
    value = (value | value << 4) & 0x0f0fu;
    value = (value | value << 2) & 0x3333u;
    return (value | value << 1) & 0x5555u;
}

uint64_t offset(Side side, uvec2 at)
{
    uint log2_samples = side.order >> 24 & 0x7fu;
    uint x = (at.x >> log2_samples) + side.x;
    uint y = at.y + side.y;
    uint log2_bytes = side.order >> 16 & 0xffu;
    uint64_t pixel;
    if ((side.order & 0x80000000u) != 0u) {
        pixel = uint64_t(y) * side.pitch + x;
    } else {
        // Morton order as far as both axes go, then the rest of the longer one (images, 7.2).
        uint log2_width = side.order & 0xffu;
        uint log2_height = side.order >> 8 & 0xffu;
        uint both = min(log2_width, log2_height);
        uint in_x = bitfieldExtract(x, 0, int(log2_width));
        uint in_y = bitfieldExtract(y, 0, int(log2_height));
        uint mask = (1u << both) - 1u;
        uint element = spread(in_x & mask) | spread(in_y & mask) << 1;
        element |= ((in_x >> both) | (in_y >> both)) << 2 * both;
        uint tile = (y >> log2_height) * side.pitch + (x >> log2_width);
        pixel = (uint64_t(tile) << (log2_width + log2_height)) + element;
    }
    uint sample_at = at.x & (1u << log2_samples) - 1u;
    return (pixel << log2_bytes) + sample_at * SIZE;
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
