// SPDX-License-Identifier: MIT
#version 450
// data-dependent loop with very different trip counts
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) writeonly buffer Out00 { uint r[]; };

void main() {
    uint n = gl_GlobalInvocationID.x + 1u, steps = 0, peak = n;
    while (n != 1u) {
        n = (n & 1u) == 0u ? n >> 1 : 3u * n + 1u;
        peak = max(peak, n);
        steps++;
    }
    r[2 * gl_GlobalInvocationID.x] = steps;
    r[2 * gl_GlobalInvocationID.x + 1] = peak;
}
