// SPDX-License-Identifier: MIT
#version 450
// one pass of a radix sort of 128 keys by four bits, stable, with a scan in shared memory
layout(local_size_x = 128) in;
shared uint counts[16 * 128];
shared uint sums[128];
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint keys[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint sorted[]; };

layout(push_constant) uniform Params { uint shift; };

void main() {
    uint l = gl_LocalInvocationIndex, base = gl_WorkGroupID.x * 128u;
    uint key = keys[base + l], digit = key >> shift & 15u;
    for (uint d = 0; d < 16u; d++)
        counts[d * 128u + l] = uint(d == digit);
    barrier();
    // Exclusive sums over the digits' rows, 16 consecutive counts an invocation.
    uint sum = 0;
    for (uint k = 0; k < 16u; k++) {
        uint count = counts[l * 16u + k];
        counts[l * 16u + k] = sum;
        sum += count;
    }
    sums[l] = sum;
    barrier();
    uint before = 0;
    for (uint k = 0; k < l; k++)
        before += sums[k];
    barrier();
    for (uint k = 0; k < 16u; k++)
        counts[l * 16u + k] += before;
    barrier();
    sorted[base + counts[digit * 128u + l]] = key;
}
