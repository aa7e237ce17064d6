// SPDX-License-Identifier: MIT
#version 450
// every atomic on words of a buffer, many invocations on few words, results unused
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Words { uint w[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { uint a[]; };

void main() {
    uint i = gl_GlobalInvocationID.x, x = a[i], k = (x >> 7 & 3u) * 8u;
    atomicAdd(w[k], x);
    atomicAnd(w[k + 1u], x | 0x0f0f0f0fu);
    atomicOr(w[k + 2u], x & 0x11111111u);
    atomicXor(w[k + 3u], x);
    atomicMin(w[k + 4u], x);
    atomicMax(w[k + 5u], x);
    atomicAdd(w[k + 6u], 0xffffffffu);
    atomicExchange(w[k + 7u], 99u);
}
