// SPDX-License-Identifier: MIT
#version 450
// a copy loop of vectors of four with a remainder
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uvec4 source[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uvec4 target[]; };

layout(push_constant) uniform Params { uint count; };

void main() {
    for (uint k = gl_GlobalInvocationID.x; k < count; k += 32u * gl_NumWorkGroups.x)
        target[k] = source[k].wzyx;
}
