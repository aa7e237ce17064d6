// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
// addresses computed as 64-bit integers, narrow types behind them
layout(local_size_x = 32) in;

layout(push_constant) uniform Params { uint64_t source; uint64_t target; };
layout(buffer_reference, scalar, buffer_reference_align = 1) buffer Byte { uint8_t v; };
layout(buffer_reference, scalar, buffer_reference_align = 2) buffer Half { uint16_t v; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uvec3 v; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint8_t b = Byte(source + i * 3u).v;
    uint16_t h = Half(source + 2u * i + 96u).v;
    uvec3 w = Words(source + uint64_t(i) * 12ul + 160ul).v;
    Words(target + uint64_t(i) * 16ul).v = w.zyx + uvec3(b);
    Half(target + 16u * i + 12u).v = h;
    Byte(target + 16u * i + 15u).v = b;
}
