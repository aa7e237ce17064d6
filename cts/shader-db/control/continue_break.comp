// SPDX-License-Identifier: MIT
#version 450
// continue and break at several depths
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint x = a[i], sum = 0;
    for (uint j = 0; j < 24u; j++) {
        if ((x >> j & 1u) == 0u)
            continue;
        for (uint k = 0;; k++) {
            if (k == j)
                break;
            if ((k ^ x) % 3u == 0u) {
                if (k > 12u)
                    break;
                continue;
            }
            sum += k * j;
            if (sum > 4000u)
                break;
        }
        if (sum > 4000u)
            break;
        sum ^= j;
    }
    r[i] = sum;
}
