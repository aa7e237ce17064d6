// SPDX-License-Identifier: MIT
#version 450
// an atomic behind a condition that is constant once its function is inlined: the variable stays workgroup memory
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) writeonly buffer Out00 { uint r[]; };
layout(constant_id = 0) const uint MODE = 0;
shared uint n;

void count(uint mode) {
    if (mode == 2u)
        atomicAdd(n, 1u);
}

void main() {
    uint i = gl_LocalInvocationID.x;
    if (i == 0u)
        n = gl_WorkGroupID.x * 3u;
    barrier();
    count(MODE);
    barrier();
    r[gl_GlobalInvocationID.x] = n + i;
}
