// SPDX-License-Identifier: MIT
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
// a workgroup sum through subgroups of any size
layout(local_size_x = 128) in;
shared uint s[128];
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint sum = subgroupAdd(a[gl_GlobalInvocationID.x]);
    if (subgroupElect())
        s[gl_SubgroupID] = sum;
    barrier();
    uint total = 0;
    for (uint k = 0; k < gl_NumSubgroups; k++)
        total += s[k];
    r[gl_GlobalInvocationID.x] = total;
}
