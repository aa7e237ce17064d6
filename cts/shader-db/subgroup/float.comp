// SPDX-License-Identifier: MIT
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
// reductions and scans of floats
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { float a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { float r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    float x = a[i];
    r[6 * i] = subgroupAdd(x);
    r[6 * i + 1] = subgroupMin(x);
    r[6 * i + 2] = subgroupMax(x);
    r[6 * i + 3] = subgroupExclusiveAdd(x);
    r[6 * i + 4] = subgroupMul(1.0 + x * 0.1);
    r[6 * i + 5] = subgroupInclusiveMin(x);
}
