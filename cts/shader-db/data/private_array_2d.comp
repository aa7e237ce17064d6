// SPDX-License-Identifier: MIT
#version 450
// arrays of arrays and of vectors, variable indices on every level
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint t[4][3];
    uvec4 v[3];
    for (uint y = 0; y < 4u; y++)
        for (uint x = 0; x < 3u; x++)
            t[y][x] = y * 10u + x;
    uint x = a[i];
    for (uint k = 0; k < 3u; k++)
        v[k] = uvec4(x) >> uvec4(k, 4, 8, 12);
    t[x & 3u][(x >> 2) % 3u] = 99u + i;
    v[x % 3u][x >> 8 & 3u] = i;
    uint row[3] = t[x >> 4 & 3u];
    r[i] = row[(x >> 6) % 3u] + t[(x + 1u) & 3u][0] * 256u + v[(x >> 10) % 3u].y + v[1][x & 3u] * 3u;
}
