// SPDX-License-Identifier: MIT
#version 450
// float to and from 32-bit integers, in range
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { float a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { uint b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    float x = a[i];
    r[8 * i + 0] = uint(int(x));
    r[8 * i + 1] = uint(abs(x));
    r[8 * i + 2] = floatBitsToUint(float(b[i]));
    r[8 * i + 3] = floatBitsToUint(float(int(b[i])));
    r[8 * i + 4] = floatBitsToUint(float(b[i] & 0xffu));
    r[8 * i + 5] = uint(int(floor(x)));
    r[8 * i + 6] = uint(x > 0.0) + uint(bool(b[i])) * 2u + uint(bool(x)) * 4u;
    r[8 * i + 7] = floatBitsToUint(float(x > 0.0));
}
