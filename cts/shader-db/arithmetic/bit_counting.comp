// SPDX-License-Identifier: MIT
#version 450
// bitCount, findLSB, findMSB, bitfieldReverse
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint x = a[i];
    r[8 * i + 0] = bitCount(x);
    r[8 * i + 1] = uint(findLSB(x));
    r[8 * i + 2] = uint(findMSB(x));
    r[8 * i + 3] = uint(findMSB(int(x)));
    r[8 * i + 4] = bitfieldReverse(x);
    r[8 * i + 5] = 31u - uint(findMSB(x | 1u));
    r[8 * i + 6] = bitCount(x & 0xffffu) << 8 | bitCount(~x);
    r[8 * i + 7] = x & -x;
}
