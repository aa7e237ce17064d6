// SPDX-License-Identifier: MIT
#version 450
// a loop with four exits that leave different values
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint x = a[i], k = 0, why = 0, last = 0;
    while (true) {
        last = x;
        x ^= x << 13;
        if (x % 11u == 3u) {
            why = 1;
            break;
        }
        x ^= x >> 17;
        if (x < 0x08000000u) {
            if ((x & 1u) != 0u) {
                why = 2;
                break;
            }
            k += 5u;
        }
        x ^= x << 5;
        if (++k > 40u) {
            why = 3;
            break;
        }
        if (x == last)
            return;
    }
    r[i] = why << 28 | (k << 20) | (last & 0xfffffu);
}
