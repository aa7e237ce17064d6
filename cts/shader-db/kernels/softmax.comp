// SPDX-License-Identifier: MIT
#version 450
// softmax of rows of 64, maximum and sum by trees
layout(local_size_x = 64) in;
shared float s[64];
layout(set = 0, binding = 0, std430) readonly buffer In00 { float a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { float r[]; };

void main() {
    uint l = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x;
    float x = a[i];
    s[l] = x;
    for (uint d = 32; d > 0u; d >>= 1) {
        barrier();
        if (l < d)
            s[l] = max(s[l], s[l + d]);
    }
    barrier();
    float e = exp(x - s[0]);
    barrier();
    s[l] = e;
    for (uint d = 32; d > 0u; d >>= 1) {
        barrier();
        if (l < d)
            s[l] += s[l + d];
    }
    barrier();
    r[i] = e / s[0];
}
