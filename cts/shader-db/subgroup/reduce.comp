// SPDX-License-Identifier: MIT
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
// integer reductions
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x, x = a[i];
    r[9 * i] = subgroupAdd(x);
    r[9 * i + 1] = subgroupMul(x | 1u);
    r[9 * i + 2] = subgroupMin(x);
    r[9 * i + 3] = subgroupMax(x);
    r[9 * i + 4] = uint(subgroupMin(int(x)));
    r[9 * i + 5] = uint(subgroupMax(int(x)));
    r[9 * i + 6] = subgroupAnd(x | 0xffu);
    r[9 * i + 7] = subgroupOr(x & 0x10101u);
    r[9 * i + 8] = subgroupXor(x);
}
