// SPDX-License-Identifier: MIT
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_quad : require
// quad broadcast and swaps
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x, x = a[i];
    r[4 * i] = subgroupQuadBroadcast(x, 2u);
    r[4 * i + 1] = subgroupQuadSwapHorizontal(x);
    r[4 * i + 2] = subgroupQuadSwapVertical(x);
    r[4 * i + 3] = subgroupQuadSwapDiagonal(x);
}
