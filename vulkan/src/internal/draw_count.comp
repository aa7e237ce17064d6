// SPDX-License-Identifier: MIT
// Copies arguments of indirect draws, of which a number in memory says how many there are: the others get no
// instances.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 64) in;

layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer From { uint word; };
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer To { uint word; };

layout(push_constant) uniform Push {
    uint64_t count;
    uint64_t from;
    uint64_t to;
    // Bytes from draw to draw in the source.
    uint stride;
    // Words of a draw.
    uint words;
    // The first draw's number, and how many.
    uint first;
    uint draws;
};

const uint INSTANCES = 1u;

void main()
{
    uint draw = gl_GlobalInvocationID.x;
    if (draw >= draws)
        return;
    bool is_drawn = first + draw < From(count).word;
    uint64_t source = from + uint64_t(draw) * stride;
    uint64_t target = to + uint64_t(draw * words * 4u);
    for (uint word = 0u; word < words; word++) {
        uint value = From(source + word * 4u).word;
        To(target + word * 4u).word = word == INSTANCES && !is_drawn ? 0u : value;
    }
}
