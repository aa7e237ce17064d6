// SPDX-License-Identifier: MIT
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
// integer scans, inclusive and exclusive
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x, x = a[i];
    r[8 * i] = subgroupExclusiveAdd(x);
    r[8 * i + 1] = subgroupInclusiveAdd(x);
    r[8 * i + 2] = subgroupInclusiveMin(x);
    r[8 * i + 3] = subgroupExclusiveMax(x);
    r[8 * i + 4] = uint(subgroupInclusiveMin(int(x)));
    r[8 * i + 5] = uint(subgroupExclusiveMax(int(x)));
    r[8 * i + 6] = subgroupExclusiveXor(x);
    r[8 * i + 7] = subgroupInclusiveAnd(x);
}
