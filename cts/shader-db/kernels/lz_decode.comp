// SPDX-License-Identifier: MIT
#version 450
// decoder of a small LZ77 format, one stream per invocation, bytes in a private array
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint streams[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

// A token byte below 128: so many literals and one follow. Otherwise a copy: length token & 31 + 3, distance in the
// next byte. Every copy is cut to what has been written.
uint at;

uint next() {
    uint b = streams[gl_GlobalInvocationID.x * 16u + (at >> 2)] >> (8u * (at & 3u)) & 255u;
    at++;
    return b;
}

void main() {
    uint text[96], n = 0;
    at = 0;
    while (at < 60u && n < 96u) {
        uint token = next();
        if (token < 128u) {
            for (uint k = 0; k <= (token & 7u) && n < 96u && at < 64u; k++)
                text[n++] = next();
        } else {
            uint from = n - min(next() % 64u + 1u, n);
            if (from == n)
                continue;
            for (uint k = 0; k < (token & 31u) + 3u && n < 96u; k++)
                text[n++] = text[from + k];
        }
    }
    for (uint k = 0; k < 24u; k++) {
        uint word = 0;
        for (uint b = 0; b < 4u; b++)
            word |= (4u * k + b < n ? text[4u * k + b] : 0u) << (8u * b);
        r[gl_GlobalInvocationID.x * 25u + k] = word;
    }
    r[gl_GlobalInvocationID.x * 25u + 24u] = n | at << 16;
}
