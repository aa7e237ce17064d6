// SPDX-License-Identifier: MIT
#version 450
// the old values that atomics return, each invocation on its own word
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) buffer Words { uint w[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { uint a[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x, x = a[i];
    uint o[10];
    o[0] = atomicAdd(w[i], x);
    o[1] = atomicAnd(w[i], x | 0xffffu);
    o[2] = atomicOr(w[i], 0x100u);
    o[3] = atomicXor(w[i], x);
    o[4] = atomicMin(w[i], x + 1000u);
    o[5] = atomicMax(w[i], x >> 1);
    o[6] = atomicExchange(w[i], i);
    o[7] = atomicCompSwap(w[i], i, x);
    o[8] = atomicCompSwap(w[i], x + 1u, 5u);
    o[9] = uint(atomicAdd(w[i], uint(-3)));
    for (uint k = 0; k < 10u; k++)
        r[10 * i + k] = o[k];
}
