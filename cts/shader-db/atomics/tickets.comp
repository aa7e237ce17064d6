// SPDX-License-Identifier: MIT
#version 450
// a counter hands out every number exactly once
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Counter { uint next; uint taken[]; };

void main() {
    if ((gl_GlobalInvocationID.x * 0x9e3779b9u >> 30) == 0u)
        return;
    uint ticket = atomicAdd(next, 1u);
    atomicAdd(taken[ticket], 1u);
}
