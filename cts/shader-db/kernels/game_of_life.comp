// SPDX-License-Identifier: MIT
#version 450
// one generation on a torus, 32 cells in a word
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint cells[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint next[]; };

layout(push_constant) uniform Params { uint rows; };

// The row at the left, here and at the right of each cell of a torus 32 cells wide.
uvec3 row(uint y) {
    uint x = cells[y];
    return uvec3(x << 1 | x >> 31, x, x >> 1 | x << 31);
}

void main() {
    uint y = gl_GlobalInvocationID.x;
    if (y >= rows)
        return;
    uvec3 above = row((y + rows - 1u) % rows), here = row(y), below = row((y + 1u) % rows);
    uint neighbours[8] = uint[](above.x, above.y, above.z, here.x, here.z, below.x, below.y, below.z);
    uint ones = 0, twos = 0, fours = 0;
    for (uint k = 0; k < 8u; k++) {
        uint carry = ones & neighbours[k];
        ones ^= neighbours[k];
        fours |= twos & carry;
        twos ^= carry;
    }
    next[y] = ~fours & twos & (ones | here.y);
}
