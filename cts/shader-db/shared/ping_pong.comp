// SPDX-License-Identifier: MIT
#version 450
// a barrier in a uniform loop, two copies of the data
layout(local_size_x = 64) in;
shared float s[2][66];
layout(set = 0, binding = 0, std430) buffer InOut00 { float v[]; };

layout(push_constant) uniform Params { uint steps; };

void main() {
    uint l = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x;
    s[0][l + 1u] = v[i];
    if (l < 2u)
        s[l][0] = s[l][65] = 0.0;
    for (uint k = 0; k < steps; k++) {
        barrier();
        uint from = k & 1u;
        precise float next = (s[from][l] + s[from][l + 2u]) * 0.25 + s[from][l + 1u] * 0.5;
        s[from ^ 1u][l + 1u] = next;
    }
    barrier();
    v[i] = s[steps & 1u][l + 1u];
}
