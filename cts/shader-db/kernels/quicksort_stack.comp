// SPDX-License-Identifier: MIT
#version 450
// quicksort of 64 keys by each invocation, its stack and keys in private arrays
layout(local_size_x = 8) in;
layout(set = 0, binding = 0, std430) buffer InOut00 { uint keys[]; };

void main() {
    uint base = gl_GlobalInvocationID.x * 64u;
    uint t[64];
    for (uint k = 0; k < 64u; k++)
        t[k] = keys[base + k];
    uvec2 stack[32];
    uint depth = 1;
    stack[0] = uvec2(0, 63);
    while (depth > 0u) {
        uint low = stack[--depth].x, high = stack[depth].y;
        while (low < high) {
            uint pivot = t[(low + high) >> 1], i = low, j = high;
            for (;;) {
                while (t[i] < pivot)
                    i++;
                while (t[j] > pivot)
                    j--;
                if (i >= j)
                    break;
                uint x = t[i];
                t[i++] = t[j];
                t[j--] = x;
            }
            if (j - low < high - j) {
                stack[depth++] = uvec2(j + 1u, high);
                high = j;
            } else {
                stack[depth++] = uvec2(low, j);
                low = j + 1u;
            }
        }
    }
    for (uint k = 0; k < 64u; k++)
        keys[base + k] = t[k];
}
