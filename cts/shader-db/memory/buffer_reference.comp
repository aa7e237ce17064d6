// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
// a linked list through device addresses
layout(local_size_x = 32) in;

layout(buffer_reference, std430, buffer_reference_align = 16) buffer Node;
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Node {
    uint value;
    uint next;
    uvec2 unused;
};
layout(push_constant) uniform Params { Node nodes; uint64_t results; };
layout(buffer_reference, std430) writeonly buffer Results { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint at = i, sum = 0;
    for (uint k = 0; k < 8u; k++) {
        Node node = nodes[at];
        sum = sum * 3u + node.value;
        at = node.next & 63u;
    }
    Results(results).r[i] = sum;
    if (i == 5u)
        nodes[63].unused = uvec2(sum, at);
}
