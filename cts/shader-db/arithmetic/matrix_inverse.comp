// SPDX-License-Identifier: MIT
#version 450
// inverse of 4 x 4 matrices with a large diagonal
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { mat4 a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { mat4 r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    r[i] = inverse(a[i] + mat4(3.0));
}
