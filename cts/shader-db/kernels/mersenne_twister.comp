// SPDX-License-Identifier: MIT
#version 450
// a generation of MT19937 in shared memory, in two dependent halves
layout(local_size_x = 128) in;
shared uint mt[624];
layout(set = 0, binding = 0, std430) buffer InOut00 { uint state[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void twist(uint k) {
    uint y = (mt[k] & 0x80000000u) | (mt[(k + 1u) % 624u] & 0x7fffffffu);
    mt[k] = mt[(k + 397u) % 624u] ^ y >> 1 ^ ((y & 1u) != 0u ? 0x9908b0dfu : 0u);
}

void main() {
    uint l = gl_LocalInvocationIndex;
    for (uint k = l; k < 624u; k += 128u)
        mt[k] = state[k];
    barrier();
    // Word k needs the old words k and k + 1 and word k + 397, which is new from 227 on: one after another.
    if (l == 0u)
        for (uint k = 0; k < 624u; k++)
            twist(k);
    barrier();
    for (uint k = l; k < 624u; k += 128u) {
        uint y = mt[k];
        state[k] = y;
        y ^= y >> 11;
        y ^= y << 7 & 0x9d2c5680u;
        y ^= y << 15 & 0xefc60000u;
        r[k] = y ^ y >> 18;
    }
}
