// SPDX-License-Identifier: MIT
#version 450
// ChaCha20 blocks, state in registers
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std140) uniform Key { uvec4 key[2]; uvec4 nonce; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uvec4 stream[]; };

#define QUARTER(a, b, c, d)                \
    a += b; d ^= a; d = d << 16 | d >> 16; \
    c += d; b ^= c; b = b << 12 | b >> 20; \
    a += b; d ^= a; d = d << 8 | d >> 24;  \
    c += d; b ^= c; b = b << 7 | b >> 25;

void main() {
    uint i = gl_GlobalInvocationID.x;
    uvec4 x0 = uvec4(0x61707865u, 0x3320646eu, 0x79622d32u, 0x6b206574u);
    uvec4 s0 = x0, s1 = key[0], s2 = key[1], s3 = nonce + uvec4(i, 0, 0, 0);
    uvec4 x3 = s3;
    for (int round = 0; round < 10; round++) {
        QUARTER(s0, s1, s2, s3)
        s1 = s1.yzwx;
        s2 = s2.zwxy;
        s3 = s3.wxyz;
        QUARTER(s0, s1, s2, s3)
        s1 = s1.wxyz;
        s2 = s2.zwxy;
        s3 = s3.yzwx;
    }
    stream[4 * i] = s0 + x0;
    stream[4 * i + 1] = s1 + key[0];
    stream[4 * i + 2] = s2 + key[1];
    stream[4 * i + 3] = s3 + x3;
}
