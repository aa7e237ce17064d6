// SPDX-License-Identifier: MIT
#version 450
// bitfieldExtract and bitfieldInsert with constant and variable offset and width
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { uint b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint x = a[i], y = b[i];
    int offset = int(y & 31u);
    int width = int(y >> 8) % (33 - offset);
    r[10 * i + 0] = bitfieldExtract(x, 4, 8);
    r[10 * i + 1] = uint(bitfieldExtract(int(x), 4, 8));
    r[10 * i + 2] = bitfieldExtract(x, offset, width);
    r[10 * i + 3] = uint(bitfieldExtract(int(x), offset, width));
    r[10 * i + 4] = bitfieldInsert(x, y, 8, 16);
    r[10 * i + 5] = bitfieldInsert(x, y, offset, width);
    r[10 * i + 6] = bitfieldExtract(x, 0, 32);
    r[10 * i + 7] = bitfieldExtract(x, 31, 0);
    r[10 * i + 8] = bitfieldInsert(x, y, 0, 32);
    r[10 * i + 9] = bitfieldInsert(y, x, 31, 1);
}
