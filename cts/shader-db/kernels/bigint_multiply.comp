// SPDX-License-Identifier: MIT
#version 450
// products of 256-bit integers with carries
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { uint b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x * 8u;
    uint p[16];
    for (int k = 0; k < 16; k++)
        p[k] = 0;
    for (int x = 0; x < 8; x++) {
        uint carry = 0;
        for (int y = 0; y < 8; y++) {
            uint high, low, c1, c2;
            umulExtended(a[i + x], b[i + y], high, low);
            low = uaddCarry(low, p[x + y], c1);
            low = uaddCarry(low, carry, c2);
            p[x + y] = low;
            carry = high + c1 + c2;
        }
        p[x + 8] = carry;
    }
    for (int k = 0; k < 16; k++)
        r[2u * i + k] = p[k];
}
