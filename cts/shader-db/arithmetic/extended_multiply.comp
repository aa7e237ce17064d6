// SPDX-License-Identifier: MIT
#version 450
// umulExtended, imulExtended, uaddCarry, usubBorrow
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { uint b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint x = a[i], y = b[i], high, low, carry, borrow;
    umulExtended(x, y, high, low);
    r[8 * i + 0] = high;
    r[8 * i + 1] = low;
    int shigh, slow;
    imulExtended(int(x), int(y), shigh, slow);
    r[8 * i + 2] = uint(shigh);
    r[8 * i + 3] = uint(slow);
    r[8 * i + 4] = uaddCarry(x, y, carry);
    r[8 * i + 5] = carry;
    r[8 * i + 6] = usubBorrow(x, y, borrow);
    r[8 * i + 7] = borrow;
}
