// SPDX-License-Identifier: MIT
#version 450
// several steps of the heat equation on a tile with a halo in shared memory
layout(local_size_x = 16, local_size_y = 16) in;
shared float t[2][18][18];
layout(set = 0, binding = 0, std430) readonly buffer In00 { float a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { float r[]; };

void main() {
    uvec2 l = gl_LocalInvocationID.xy + 1u;
    uint index = gl_LocalInvocationIndex;
    for (uint k = index; k < 648u; k += 256u)
        t[k / 324u][k / 18u % 18u][k % 18u] = 1.0;
    barrier();
    t[0][l.y][l.x] = a[index];
    uint now = 0;
    for (int step_ = 0; step_ < 4; step_++) {
        barrier();
        float here = t[now][l.y][l.x];
        float around = t[now][l.y - 1u][l.x] + t[now][l.y + 1u][l.x] + t[now][l.y][l.x - 1u] + t[now][l.y][l.x + 1u];
        t[now ^ 1u][l.y][l.x] = here + 0.2 * (around - 4.0 * here);
        now ^= 1u;
    }
    r[index] = t[now][l.y][l.x];
}
