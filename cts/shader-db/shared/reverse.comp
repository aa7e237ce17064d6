// SPDX-License-Identifier: MIT
#version 450
// reversal of each workgroup, vectors in shared memory
layout(local_size_x = 128) in;
shared uvec4 s[128];
layout(set = 0, binding = 0, std430) buffer InOut00 { uvec4 v[]; };

void main() {
    uint l = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x;
    s[l] = v[i];
    barrier();
    v[i] = s[127u - l].yxwz;
}
