// SPDX-License-Identifier: MIT
#version 450
// unsigned division and modulo by variables and constants
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { uint b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint x = a[i], y = b[i] | (b[i] == 0 ? 1u : 0u);
    r[16 * i + 0] = x / y;
    r[16 * i + 1] = x % y;
    r[16 * i + 2] = x / 3;
    r[16 * i + 3] = x % 3;
    r[16 * i + 4] = x / 7;
    r[16 * i + 5] = x / 10;
    r[16 * i + 6] = x % 10;
    r[16 * i + 7] = x / 641;
    r[16 * i + 8] = x / 0xffffffffu;
    r[16 * i + 9] = x / 0x80000001u;
    r[16 * i + 10] = x / 16;
    r[16 * i + 11] = x % 64;
    r[16 * i + 12] = x / 28;
    r[16 * i + 13] = x / ((y >> 16) + 1);
    r[16 * i + 14] = x % ((y & 255u) + 1);
    r[16 * i + 15] = x % 1000000007u;
}
