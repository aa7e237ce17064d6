// SPDX-License-Identifier: MIT
#version 450
// lower bound in a sorted array
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint sorted[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { uint key[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint low = 0, high = sorted.length();
    while (low < high) {
        uint middle = (low + high) >> 1;
        if (sorted[middle] < key[i])
            low = middle + 1u;
        else
            high = middle;
    }
    r[i] = low;
}
