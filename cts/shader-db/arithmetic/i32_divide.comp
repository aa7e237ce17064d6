// SPDX-License-Identifier: MIT
#version 450
// signed division by variables and constants, modulo of non-negative operands
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { int a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { int b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { int r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    int x = a[i] == int(0x80000000) ? -7 : a[i];
    int y = b[i] == 0 ? -1 : b[i];
    int p = abs(x), m = (y & 0xffff) + 1;
    r[8 * i + 0] = x / y;
    r[8 * i + 1] = x / m;
    r[8 * i + 2] = p % m;
    r[8 * i + 3] = x / 3;
    r[8 * i + 4] = x / -10;
    r[8 * i + 5] = p % 10;
    r[8 * i + 6] = x / 16;
    r[8 * i + 7] = p % 4096;
}
