// SPDX-License-Identifier: MIT
#version 450
// matrix product with tiles of 16 x 16 in shared memory and bounds checks
layout(local_size_x = 16, local_size_y = 16) in;
shared float ta[16][16];
shared float tb[16][16];
layout(set = 0, binding = 0, std430) readonly buffer In00 { float a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { float b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { float c[]; };

layout(push_constant) uniform Params { uint m; uint n; uint k; };

void main() {
    uvec2 l = gl_LocalInvocationID.xy, at = gl_GlobalInvocationID.xy;
    float sum = 0.0;
    for (uint base = 0; base < k; base += 16u) {
        ta[l.y][l.x] = at.y < m && base + l.x < k ? a[at.y * k + base + l.x] : 0.0;
        tb[l.y][l.x] = at.x < n && base + l.y < k ? b[(base + l.y) * n + at.x] : 0.0;
        barrier();
        for (uint x = 0; x < 16u; x++)
            sum = fma(ta[l.y][x], tb[x][l.x], sum);
        barrier();
    }
    if (at.y < m && at.x < n)
        c[at.y * n + at.x] = sum;
}
