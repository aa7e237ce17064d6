// SPDX-License-Identifier: MIT
// Fills `count` units of memory with a value. TYPE, SIZE and VALUE are given on the command line.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 256) in;

layout(buffer_reference, std430, buffer_reference_align = SIZE) writeonly buffer To { TYPE unit; };

layout(push_constant) uniform Push {
    uint64_t to;
    uint64_t count;
    u32vec4 value;
    // Threads in a row of the grid.
    uint row;
};

void main()
{
    uint64_t index = uint64_t(gl_GlobalInvocationID.y) * row + gl_GlobalInvocationID.x;
    if (index < count)
        To(to + index * uint64_t(SIZE)).unit = VALUE;
}
