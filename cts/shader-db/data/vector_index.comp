// SPDX-License-Identifier: MIT
#version 450
// components of vectors and columns of matrices by variable index
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { vec4 r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint x = a[i];
    vec4 v = vec4(1.0, 2.0, 3.0, 4.0) * float(i);
    v[x & 3u] = 100.0;
    v[x >> 2 & 3u] += 0.5;
    mat4 m = mat4(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
    m[x >> 4 & 3u] = v;
    m[x >> 6 & 3u][x >> 8 & 3u] = -1.0;
    r[2 * i] = m[x >> 10 & 3u];
    r[2 * i + 1] = vec4(v[x >> 12 & 3u], m[0][x >> 14 & 3u], m[x >> 16 & 3u].w, 0.0);
}
