// SPDX-License-Identifier: MIT
#version 450
// every atomic on shared memory, results used and unused
layout(local_size_x = 64) in;
shared uint s[8];
shared int t[2];
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint l = gl_LocalInvocationIndex, x = a[gl_GlobalInvocationID.x];
    if (l < 8u)
        s[l] = l == 1u || l == 4u ? 0xffffffffu : 0u;
    if (l < 2u)
        t[l] = 0;
    barrier();
    atomicAdd(s[0], x);
    atomicAnd(s[1], x | 0xf0f0f0f0u);
    atomicOr(s[2], x & 0x01010101u);
    atomicXor(s[3], x);
    atomicMin(s[4], x);
    atomicMax(s[5], x);
    atomicMin(t[0], int(x));
    atomicMax(t[1], int(x));
    uint rank = atomicAdd(s[6], 1u);
    atomicOr(s[7], 1u << (rank & 31u));
    barrier();
    uint at = gl_WorkGroupID.x * 10u;
    if (l < 8u)
        r[at + l] = s[l];
    else if (l < 10u)
        r[at + l] = uint(t[l - 8u]);
}
