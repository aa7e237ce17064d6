// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_shader_subgroup_extended_types_int64 : require
#extension GL_EXT_shader_subgroup_extended_types_int16 : require
#extension GL_EXT_shader_subgroup_extended_types_int8 : require
// reductions, scans and shuffles of 64, 16 and 8 bits
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint64_t a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint64_t r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint64_t x = a[i];
    r[5 * i] = subgroupAdd(x);
    r[5 * i + 1] = subgroupMax(x);
    r[5 * i + 2] = subgroupExclusiveXor(x);
    r[5 * i + 3] = subgroupShuffle(x, i * 3u & 31u);
    r[5 * i + 4] = uint64_t(subgroupAdd(uint16_t(x))) | uint64_t(uint16_t(subgroupMax(int16_t(x)))) << 16 | uint64_t(subgroupExclusiveAdd(uint8_t(x))) << 32;
}
