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
    // Bit 0: 64-bit results. Bit 1: write availability. Bit 2: what is available is 1 more than it says.
    // Bit 3: write what is partial, which is nothing. Bit 4: make counters available.
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
    if ((flags & 16) != 0) {
        To64(target).value = value + 1ul;
        return;
    }
    if ((flags & 4) != 0 && available)
        value -= 1ul;
    bool written = available || (flags & 8) != 0;
    if ((flags & 1) != 0) {
        if (written)
            To64(target).value = value;
        if ((flags & 2) != 0)
            To64(target + 8ul).value = available ? 1ul : 0ul;
    } else {
        if (written)
            To32(target).value = uint(value);
        if ((flags & 2) != 0)
            To32(target + 4ul).value = available ? 1u : 0u;
    }
}
