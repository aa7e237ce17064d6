// SPDX-License-Identifier: MIT
#version 450
// histogram of bytes: counts in shared memory, then added to the result
layout(local_size_x = 64) in;
shared uint bins[256];
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint words[]; };
layout(set = 0, binding = 1, std430) buffer InOut01 { uint histogram[]; };

void main() {
    uint l = gl_LocalInvocationIndex;
    for (uint k = l; k < 256u; k += 64u)
        bins[k] = 0;
    barrier();
    uint w = words[gl_GlobalInvocationID.x];
    for (uint k = 0; k < 4u; k++)
        atomicAdd(bins[w >> (8u * k) & 255u], 1u);
    barrier();
    for (uint k = l; k < 256u; k += 64u)
        if (bins[k] != 0u)
            atomicAdd(histogram[k], bins[k]);
}
