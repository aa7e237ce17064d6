// SPDX-License-Identifier: MIT
#version 450
// cosine transform of blocks of 8 x 8, as in JPEG, rows then columns in shared memory
layout(local_size_x = 8, local_size_y = 8) in;

shared float block[8][8];
shared float rows[8][8];
layout(set = 0, binding = 0, std430) readonly buffer In00 { float a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { int r[]; };

layout(set = 0, binding = 2, std140) uniform Tables { vec4 cosines[16]; vec4 quantum[16]; };

void main() {
    uvec2 l = gl_LocalInvocationID.xy;
    uint at = gl_WorkGroupID.x * 64u + gl_LocalInvocationIndex;
    block[l.y][l.x] = a[at] - 128.0;
    barrier();
    float sum = 0.0;
    for (uint k = 0; k < 8u; k++)
        sum = fma(block[l.y][k], cosines[l.x * 2u + (k >> 2)][k & 3u], sum);
    rows[l.y][l.x] = sum;
    barrier();
    sum = 0.0;
    for (uint k = 0; k < 8u; k++)
        sum = fma(rows[k][l.x], cosines[l.y * 2u + (k >> 2)][k & 3u], sum);
    r[at] = int(floor(sum / quantum[l.y * 2u + (l.x >> 2)][l.x & 3u] + 0.5));
}
