// SPDX-License-Identifier: MIT
#version 450
// signed minimum and maximum, with the sign bit
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Words { int w[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { int a[]; };

void main() {
    int x = a[gl_GlobalInvocationID.x];
    atomicMin(w[0], x);
    atomicMax(w[1], x);
    atomicMin(w[2], x >> 20);
    atomicMax(w[3], x >> 20);
    atomicAdd(w[4], x);
    atomicMin(w[5], abs(x));
    atomicMax(w[6], -abs(x));
}
