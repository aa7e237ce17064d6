// SPDX-License-Identifier: MIT
#version 450
// Inclusive prefix sums of 256 elements per workgroup, and each workgroup's total (Hillis and Steele's scan,
// two copies to need one barrier a step, zeros in front of each so that no step has a condition).
layout(local_size_x = 256) in;
layout(set = 0, binding = 0, std430) readonly buffer Source { uint source[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Target { uint target[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Totals { uint totals[]; };
shared uint s[768];

#define STEP(distance, from, to)         \
    sum += s[l + (from) - (distance)];   \
    s[l + (to)] = sum;                   \
    barrier();

void main() {
    uint l = gl_LocalInvocationIndex;
    uint sum = source[gl_GlobalInvocationID.x];
    s[l + 2 * (l & 128)] = 0; // words 0 to 127 and 384 to 511
    s[l + 128] = sum;
    barrier();
    STEP(1, 128, 512)
    STEP(2, 512, 128)
    STEP(4, 128, 512)
    STEP(8, 512, 128)
    STEP(16, 128, 512)
    STEP(32, 512, 128)
    STEP(64, 128, 512)
    sum += s[l + 512 - 128];
    target[gl_GlobalInvocationID.x] = sum;
    if (l == 255)
        totals[gl_WorkGroupID.x] = sum;
}
