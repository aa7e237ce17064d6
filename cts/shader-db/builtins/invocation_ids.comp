// SPDX-License-Identifier: MIT
#version 450
// every index of an invocation in three dimensions
layout(local_size_x = 4, local_size_y = 3, local_size_z = 2) in;
layout(set = 0, binding = 0, std430) writeonly buffer Out00 { uint r[]; };

void main() {
    uvec3 g = gl_GlobalInvocationID, size = gl_NumWorkGroups * gl_WorkGroupSize;
    uint at = (g.z * size.y + g.y) * size.x + g.x;
    r[3 * at] = g.x | g.y << 8 | g.z << 16;
    r[3 * at + 1] = gl_LocalInvocationID.x | gl_LocalInvocationID.y << 4 | gl_LocalInvocationID.z << 8 | gl_LocalInvocationIndex << 16;
    r[3 * at + 2] = gl_WorkGroupID.x | gl_WorkGroupID.y << 4 | gl_WorkGroupID.z << 8 | gl_NumWorkGroups.x << 16 | gl_NumWorkGroups.y << 20 | gl_NumWorkGroups.z << 24;
}
