// SPDX-License-Identifier: MIT
#version 450
#extension GL_KHR_shader_subgroup_basic : require
// identity of invocations and subgroups, election
layout(local_size_x = 80) in;
layout(set = 0, binding = 0, std430) writeonly buffer Out00 { uint r[]; };

void main() {
    uint l = gl_LocalInvocationIndex;
    uint elected = 0;
    if ((l & 3u) != 0u)
        elected = subgroupElect() ? 1u : 0u;
    subgroupBarrier();
    r[2 * l] = gl_SubgroupInvocationID | gl_SubgroupID << 8 | gl_NumSubgroups << 16 | gl_SubgroupSize << 24;
    r[2 * l + 1] = elected << 1 | uint(subgroupElect());
}
