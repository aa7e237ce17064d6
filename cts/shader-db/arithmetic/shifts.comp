// SPDX-License-Identifier: MIT
#version 450
// shifts and rotations by variables
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { uint b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint x = a[i], n = b[i] & 31u;
    r[6 * i + 0] = x << n;
    r[6 * i + 1] = x >> n;
    r[6 * i + 2] = uint(int(x) >> n);
    r[6 * i + 3] = (x << n) | (x >> ((32u - n) & 31u));
    r[6 * i + 4] = (x << 13) | (x >> 19);
    r[6 * i + 5] = ((x >> n) & 1u) != 0u ? x & ~(1u << n) : x | (1u << n);
}
