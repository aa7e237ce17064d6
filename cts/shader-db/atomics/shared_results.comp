// SPDX-License-Identifier: MIT
#version 450
// old values, exchange and compare-exchange in shared memory, each invocation on its own word
layout(local_size_x = 32) in;
shared uint s[32];
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint l = gl_LocalInvocationIndex, x = a[l];
    s[l] = x;
    uint o[6];
    o[0] = atomicAdd(s[l], 5u);
    o[1] = atomicExchange(s[l], l);
    o[2] = atomicCompSwap(s[l], l, x * 2u);
    o[3] = atomicCompSwap(s[l], l + 1u, 0u);
    o[4] = atomicMax(s[l], 0x40000000u);
    o[5] = s[l];
    for (uint k = 0; k < 6u; k++)
        r[6 * l + k] = o[k];
}
