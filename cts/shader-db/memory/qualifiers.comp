// SPDX-License-Identifier: MIT
#version 450
// coherent, volatile, restrict, readonly and writeonly buffers
layout(local_size_x = 32) in;

layout(set = 0, binding = 0, std430) coherent buffer A { uint a[]; };
layout(set = 0, binding = 1, std430) volatile buffer Bb { uint b[]; };
layout(set = 0, binding = 2, std430) restrict writeonly buffer C { uint c[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    b[i] = a[i] + 1u;
    b[i] = b[i] + b[i];
    memoryBarrierBuffer();
    a[i] ^= b[i];
    c[i] = a[i] - b[i];
}
