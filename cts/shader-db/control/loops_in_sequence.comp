// SPDX-License-Identifier: MIT
#version 450
// many loops after one another, some nested in conditionals
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint x = a[i], sum = 0;
    for (uint k = 0; k < (x & 7u); k++) sum += k * k;
    if ((x & 8u) != 0u) {
        for (uint k = x & 15u; k > 0u; k--) sum = sum * 3u + k;
        while ((sum & 64u) == 0u) sum += 7u;
    } else {
        uint k = 3;
        do sum ^= k << (k & 3u); while (k++ < (x >> 4 & 15u));
    }
    for (uint k = 0; k < 3u; k++)
        if ((sum >> k & 1u) != 0u)
            for (uint j = k; j < 6u; j++) sum += j << 20;
    r[i] = sum;
}
