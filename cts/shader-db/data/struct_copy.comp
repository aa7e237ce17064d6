// SPDX-License-Identifier: MIT
#version 450
// whole structures between buffers, with nested arrays
layout(local_size_x = 16) in;

struct Leaf {
    vec3 a;
    float b;
    uint c[3];
};
struct Node {
    Leaf leaves[2];
    mat2 m;
    uint id;
};
layout(set = 0, binding = 0, std430) readonly buffer In { Node nodes[]; };
layout(set = 0, binding = 1, std430) buffer Out { Node copies[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    Node n = nodes[i];
    n.id = i;
    n.leaves[i & 1u] = nodes[15u - i].leaves[0];
    n.leaves[1].c[i % 3u] ^= 0xffu;
    n.m = transpose(n.m);
    copies[i] = n;
    copies[i].leaves[0].b = -1.0;
}
