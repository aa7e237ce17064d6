// SPDX-License-Identifier: MIT
#version 450
// unsigned integers at the edges of the type
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { uint b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint x = a[i], y = b[i];
    r[16 * i + 0] = x + y;
    r[16 * i + 1] = x - y;
    r[16 * i + 2] = x * y;
    r[16 * i + 3] = min(x, y);
    r[16 * i + 4] = max(x, y);
    r[16 * i + 5] = x >> 9;
    r[16 * i + 6] = x & 0xff00ff00u;
    r[16 * i + 7] = x | y;
    r[16 * i + 8] = x ^ 0x80000000u;
    r[16 * i + 9] = ~(x | y);
    r[16 * i + 10] = uint(x < y) | uint(x <= y) << 1 | uint(x > y) << 2 | uint(x >= y) << 3 | uint(x == y) << 4 | uint(x != y) << 5;
    r[16 * i + 11] = clamp(x, 10u, 1000u);
    r[16 * i + 12] = x * 255u;
    r[16 * i + 13] = x < 7u ? 11u : y;
    r[16 * i + 14] = (x & y) + (x & ~y);
    r[16 * i + 15] = x * x + y * y;
}
