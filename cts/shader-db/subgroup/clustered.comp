// SPDX-License-Identifier: MIT
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_clustered : require
// reductions of clusters of every size
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x, x = a[i];
    r[6 * i] = subgroupClusteredAdd(x, 4u);
    r[6 * i + 1] = subgroupClusteredMax(x, 8u);
    r[6 * i + 2] = subgroupClusteredXor(x, 16u);
    r[6 * i + 3] = subgroupClusteredMin(x, 2u);
    r[6 * i + 4] = subgroupClusteredAdd(x, 32u);
    r[6 * i + 5] = subgroupClusteredOr(x, 1u);
}
