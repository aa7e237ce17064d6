// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_control_flow_attributes : require
// columns of 144 half floats, each in the registers of one invocation: mean and variance, then normalised, transposed
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In { float16_t a[]; };
layout(set = 0, binding = 1, std430) buffer Out { float16_t r[]; };

const uint ROWS = 144;

void main() {
    uint i = gl_GlobalInvocationID.x, columns = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    float16_t x[ROWS];
    [[unroll]] for (uint k = 0; k < ROWS; k++) {
        x[k] = a[k * columns + i];
    }
    float16_t sum = 0.0hf;
    [[unroll]] for (uint k = 0; k < ROWS; k++) {
        sum += x[k];
    }
    float16_t mean = sum * float16_t(1.0 / ROWS), squares = 0.0hf;
    [[unroll]] for (uint k = 0; k < ROWS; k++) {
        float16_t d = x[k] - mean;
        squares = fma(d, d, squares);
    }
    float16_t scale = inversesqrt(squares * float16_t(1.0 / ROWS) + 0.01hf);
    [[unroll]] for (uint k = 0; k < ROWS; k++) {
        r[i * ROWS + k] = (x[k] - mean) * scale;
    }
}
