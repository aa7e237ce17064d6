// SPDX-License-Identifier: MIT
#version 450
// ldexp, frexp and the bits of floats
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { float a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { int b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    int e;
    float m = frexp(a[i], e);
    r[4 * i + 0] = floatBitsToUint(m);
    r[4 * i + 1] = uint(e);
    r[4 * i + 2] = floatBitsToUint(ldexp(a[i], b[i]));
    r[4 * i + 3] = floatBitsToUint(a[i]) >> 23 & 255u;
}
