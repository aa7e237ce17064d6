// SPDX-License-Identifier: MIT
#version 450
// encoding of bytes, four characters a word
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint bytes[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint text[]; };

uint byte(uint at) {
    return bytes[at >> 2] >> (8u * (at & 3u)) & 255u;
}

uint character(uint x) {
    return x < 26u ? 65u + x : x < 52u ? 71u + x : x < 62u ? x - 4u : x == 62u ? 43u : 47u;
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint x = byte(3 * i) << 16 | byte(3 * i + 1) << 8 | byte(3 * i + 2);
    text[i] = character(x >> 18) | character(x >> 12 & 63u) << 8 | character(x >> 6 & 63u) << 16 | character(x & 63u) << 24;
}
