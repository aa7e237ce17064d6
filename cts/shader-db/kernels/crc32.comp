// SPDX-License-Identifier: MIT
#version 450
// CRC of inputs of different lengths, table in shared memory
layout(local_size_x = 64) in;
shared uint table[256];
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint text[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint l = gl_LocalInvocationIndex;
    for (uint k = l; k < 256u; k += 64u) {
        uint c = k;
        for (int bit = 0; bit < 8; bit++)
            c = (c & 1u) != 0u ? 0xedb88320u ^ c >> 1 : c >> 1;
        table[k] = c;
    }
    barrier();
    uint crc = 0xffffffffu;
    for (uint k = 0; k < l; k++)
        crc = table[(crc ^ text[k >> 2] >> (8u * (k & 3u))) & 255u] ^ crc >> 8;
    r[l] = ~crc;
}
