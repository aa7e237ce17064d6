// SPDX-License-Identifier: MIT
#version 450
// an array of 256 words: a permutation and its cycles
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint t[256];
    for (uint k = 0; k < 256u; k++)
        t[k] = k;
    uint x = a[i];
    for (uint k = 255u; k > 0u; k--) {
        x = x * 1664525u + 1013904223u;
        uint at = (x >> 8) % (k + 1u);
        uint old = t[k];
        t[k] = t[at];
        t[at] = old;
    }
    uint cycles = 0;
    for (uint k = 0; k < 256u; k++) {
        uint j = k;
        bool fresh = t[k] < 256u;
        while (t[j] < 256u) {
            uint next = t[j];
            t[j] = 256u + cycles;
            j = next;
        }
        cycles += uint(fresh);
    }
    r[i] = cycles << 16 | t[x & 255u];
}
