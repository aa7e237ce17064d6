// SPDX-License-Identifier: MIT
#version 450
// values that change places in a loop
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uvec4 r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint a0 = a[i], b0 = a0 * 3u, c0 = i, d0 = 7;
    uint n = a0 & 15u;
    for (uint k = 0; k < n; k++) {
        uint t = a0;
        a0 = b0;
        b0 = c0;
        c0 = d0 + k;
        d0 = t;
        if ((k & 3u) == 2u) {
            uint s = b0;
            b0 = d0;
            d0 = s;
        }
    }
    r[i] = uvec4(a0, b0, c0, d0);
}
