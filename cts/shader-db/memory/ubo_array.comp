// SPDX-License-Identifier: MIT
#version 450
// a large uniform array with variable index, and two uniform blocks
layout(local_size_x = 64) in;

layout(set = 0, binding = 0, std140) uniform Table { uvec4 table[64]; };
layout(set = 1, binding = 3, std140) uniform Scale { uint factor; uint offset; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uvec4 entry = table[(i * 7u) & 63u];
    uint sum = offset;
    for (uint k = 0; k < (i & 3u); k++)
        sum += table[k * factor][i >> 2 & 3u];
    r[i] = entry[i & 3u] * factor + sum;
}
