// SPDX-License-Identifier: MIT
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
// broadcast of constant and uniform lanes, of the first active lane
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x, x = a[i], first = 1;
    if (x % 5u != 0u)
        first = subgroupBroadcastFirst(x);
    r[4 * i] = subgroupBroadcast(x, 7u);
    r[4 * i + 1] = subgroupBroadcast(x, 0u) ^ subgroupBroadcast(x, 31u);
    r[4 * i + 2] = first;
    r[4 * i + 3] = subgroupBroadcast(x, gl_SubgroupID * 9u + 3u);
}
