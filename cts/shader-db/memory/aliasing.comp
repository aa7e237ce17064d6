// SPDX-License-Identifier: MIT
#version 450
// stores and loads through two bindings of different types, and reads after writes
layout(local_size_x = 32) in;

layout(set = 0, binding = 0, std430) buffer A { uint a[]; };
layout(set = 0, binding = 1, std430) buffer Bb { uvec4 b[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    a[4 * i] = i;
    a[4 * i + 1] = a[4 * i] + a[4 * i + 2];
    uint before = a[4 * i + 3];
    a[4 * i + 3] = before ^ 0xffu;
    b[i].x = a[4 * i + 3];
    b[i].yzw = b[i].xyz + before;
    uint at = b[i].w & 3u;
    b[i][at] = 7u;
    a[4 * i + at] = b[i].x;
}
