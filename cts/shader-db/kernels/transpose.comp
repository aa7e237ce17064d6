// SPDX-License-Identifier: MIT
#version 450
// tiles of a matrix through padded shared memory
layout(local_size_x = 16, local_size_y = 16) in;
shared float tile[16][17];
layout(set = 0, binding = 0, std430) readonly buffer In00 { float a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { float r[]; };

layout(push_constant) uniform Params { uint width; uint height; };

void main() {
    uvec2 l = gl_LocalInvocationID.xy, at = gl_WorkGroupID.xy * 16u + l;
    if (at.x < width && at.y < height)
        tile[l.y][l.x] = a[at.y * width + at.x];
    barrier();
    at = gl_WorkGroupID.yx * 16u + l;
    if (at.x < height && at.y < width)
        r[at.y * height + at.x] = tile[l.x][l.y];
}
