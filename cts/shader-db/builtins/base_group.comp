// SPDX-License-Identifier: MIT
#version 450
// dispatch with a base: indices begin there
layout(local_size_x = 8, local_size_y = 2) in;
layout(set = 0, binding = 0, std430) writeonly buffer Out00 { uint r[]; };

void main() {
    uvec2 w = gl_WorkGroupID.xy - uvec2(3, 5);
    uint at = (w.y * 2u + w.x) * 16u + gl_LocalInvocationIndex;
    r[2 * at] = gl_GlobalInvocationID.x | gl_GlobalInvocationID.y << 16;
    r[2 * at + 1] = gl_WorkGroupID.x | gl_WorkGroupID.y << 8 | gl_WorkGroupID.z << 16;
}
