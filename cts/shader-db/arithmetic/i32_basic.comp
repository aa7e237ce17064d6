// SPDX-License-Identifier: MIT
#version 450
// signed integers at the edges of the type
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { int a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { int b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { int r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    int x = a[i], y = b[i];
    r[16 * i + 0] = x + y;
    r[16 * i + 1] = x - y;
    r[16 * i + 2] = x * y;
    r[16 * i + 3] = -x;
    r[16 * i + 4] = abs(x);
    r[16 * i + 5] = min(x, y);
    r[16 * i + 6] = max(x, y);
    r[16 * i + 7] = sign(x);
    r[16 * i + 8] = x >> 5;
    r[16 * i + 9] = x << 7;
    r[16 * i + 10] = ~x & y;
    r[16 * i + 11] = clamp(x, -100, 100);
    r[16 * i + 12] = int(x < y) | int(x <= y) << 1 | int(x > y) << 2 | int(x >= y) << 3 | int(x == y) << 4 | int(x != y) << 5;
    r[16 * i + 13] = x * 3 + y;
    r[16 * i + 14] = x < -5 ? y : x ^ y;
    r[16 * i + 15] = (x + 1) * (y - 1);
}
