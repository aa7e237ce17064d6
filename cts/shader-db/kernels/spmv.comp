// SPDX-License-Identifier: MIT
#version 450
// sparse matrix times vector, rows of different lengths
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint row[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { uint column[]; };
layout(set = 0, binding = 2, std430) readonly buffer In02 { float value[]; };
layout(set = 0, binding = 3, std430) readonly buffer In03 { float x[]; };
layout(set = 0, binding = 4, std430) writeonly buffer Out04 { float y[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    float sum = 0.0;
    for (uint k = row[i]; k < row[i + 1u]; k++)
        sum = fma(value[k], x[column[k] & 63u], sum);
    y[i] = sum;
}
