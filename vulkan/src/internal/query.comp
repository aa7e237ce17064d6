// SPDX-License-Identifier: MIT
// Copies results of queries as vkCmdCopyQueryPoolResults wants them, a query to a thread. A query
// whose value is 0 is not available.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 64) in;

layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Value { uint64_t value; };
// Targets of 64-bit results are multiples of 8 by the specification.
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer To32 { uint value; };
layout(buffer_reference, std430, buffer_reference_align = 8) writeonly buffer To64 { uint64_t value; };

layout(push_constant) uniform Push {
    uint64_t values;
    uint64_t to;
    uint64_t stride;
    uint count;
    // Bit 0: 64-bit results. Bit 1: write availability.
    uint flags;
};

void main()
{
    uint query = gl_GlobalInvocationID.x;
    if (query >= count)
        return;
    uint64_t value = Value(values + uint64_t(query) * 8ul).value;
    bool available = value != 0ul;
    uint64_t target = to + uint64_t(query) * stride;
    if ((flags & 1) != 0) {
        if (available)
            To64(target).value = value;
        if ((flags & 2) != 0)
            To64(target + 8ul).value = available ? 1ul : 0ul;
    } else {
        if (available)
            To32(target).value = uint(value);
        if ((flags & 2) != 0)
            To32(target + 4ul).value = available ? 1u : 0u;
    }
}
