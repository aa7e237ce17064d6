// SPDX-License-Identifier: MIT
#version 450
// returns from nested conditionals and loops
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) buffer InOut01 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint x = a[i];
    if (x < 10u)
        return;
    r[i] = 1;
    if ((x & 1u) != 0u) {
        for (uint k = 0; k < 20u; k++) {
            x = x * 1664525u + 1013904223u;
            if ((x >> 28) == 3u)
                return;
            r[i] = x >> 16;
        }
        if ((x & 2u) != 0u)
            return;
        r[i] |= 0x80000000u;
    } else {
        do {
            if (x % 7u == 0u) {
                r[i] = x;
                return;
            }
            x++;
        } while (true);
    }
    r[i] ^= 0xff00u;
}
