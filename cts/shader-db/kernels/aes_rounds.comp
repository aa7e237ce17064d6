// SPDX-License-Identifier: MIT
#version 450
// AES rounds with a substitution table built in shared memory
layout(local_size_x = 64) in;

shared uint sbox[256];
layout(set = 0, binding = 0, std430) readonly buffer In00 { uvec4 key[]; };
layout(set = 0, binding = 1, std430) buffer InOut01 { uvec4 state[]; };

uint multiply(uint a, uint b) {
    uint p = 0;
    for (int k = 0; k < 8; k++) {
        if ((b & 1u) != 0u)
            p ^= a;
        a = a << 1 ^ ((a & 128u) != 0u ? 0x11bu : 0u);
        b >>= 1;
    }
    return p;
}

uint substitute(uint x) {
    uint inverse_ = x;
    for (int k = 0; k < 6; k++)
        inverse_ = multiply(multiply(inverse_, inverse_), x);
    inverse_ = multiply(inverse_, inverse_);
    uint y = inverse_ * 0x101u;
    return (inverse_ ^ y >> 4 ^ y >> 5 ^ y >> 6 ^ y >> 7 ^ 0x63u) & 255u;
}

uint twice(uint x) {
    return (x << 1 & 0xfefefefeu) ^ (x >> 7 & 0x01010101u) * 0x1bu;
}

void main() {
    uint l = gl_LocalInvocationIndex;
    for (uint k = l; k < 256u; k += 64u)
        sbox[k] = substitute(k);
    barrier();
    uvec4 s = state[gl_GlobalInvocationID.x];
    for (uint round = 0; round < 3u; round++) {
        s ^= key[round];
        uvec4 t;
        for (uint c = 0; c < 4u; c++) {
            uint column = sbox[s[c] & 255u] | sbox[s[(c + 1u) & 3u] >> 8 & 255u] << 8
                | sbox[s[(c + 2u) & 3u] >> 16 & 255u] << 16 | sbox[s[(c + 3u) & 3u] >> 24] << 24;
            uint next = column >> 8 | column << 24;
            t[c] = twice(column ^ next) ^ next ^ (column >> 16 | column << 16) ^ (column >> 24 | column << 8);
        }
        s = t;
    }
    state[gl_GlobalInvocationID.x] = s ^ key[3];
}
