// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_control_flow_attributes : require
// nearest of 120 16-bit code words for each of 16 samples; the invocation holds its code words in registers
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) readonly buffer Codes { uint16_t codes[]; };
layout(set = 0, binding = 1, std430) readonly buffer Samples { uint16_t samples[]; };
layout(set = 0, binding = 2, std430) buffer Out { uint r[]; };

const uint WORDS = 120;

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint16_t code[WORDS];
    [[unroll]] for (uint k = 0; k < WORDS; k++) {
        code[k] = codes[k * 32 + i];
    }
    for (uint s = 0; s < 16; s++) {
        int sample_value = int(uint(samples[s * 32 + i]));
        uint best = 0xffffffffu;
        [[unroll]] for (uint k = 0; k < WORDS; k++) {
            uint distance = uint(abs(int(uint(code[k])) - sample_value));
            best = min(best, distance << 16 | uint(code[k]));
        }
        r[s * 32 + i] = best;
    }
}
