// SPDX-License-Identifier: MIT
#version 450
// sum, minimum and maximum by a tree in shared memory
layout(local_size_x = 256) in;
shared uint s[256];
shared uvec2 bounds[256];
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uvec4 r[]; };

void main() {
    uint l = gl_LocalInvocationIndex;
    uint x = a[gl_GlobalInvocationID.x];
    s[l] = x;
    bounds[l] = uvec2(x);
    for (uint distance = 128; distance > 0u; distance >>= 1) {
        barrier();
        if (l < distance) {
            s[l] += s[l + distance];
            bounds[l] = uvec2(min(bounds[l].x, bounds[l + distance].x), max(bounds[l].y, bounds[l + distance].y));
        }
    }
    if (l == 0)
        r[gl_WorkGroupID.x] = uvec4(s[0], bounds[0], gl_WorkGroupID.x);
}
