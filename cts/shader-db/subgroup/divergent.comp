// SPDX-License-Identifier: MIT
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
// reductions and scans in divergent conditionals
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x, x = a[i], p, q;
    if (x % 3u == 0u) {
        p = subgroupAdd(x);
        q = subgroupExclusiveAdd(x);
    } else {
        p = subgroupMax(x);
        q = 7;
        if (x >> 31 != 0u)
            q = subgroupExclusiveAdd(gl_SubgroupInvocationID);
    }
    r[2 * i] = p;
    r[2 * i + 1] = q;
}
