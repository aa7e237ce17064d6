// SPDX-License-Identifier: MIT
#version 450
// a uniform block with every kind of member, std140 layout
layout(local_size_x = 32) in;

struct Light {
    vec3 color;
    float power;
    vec2 at;
};
layout(set = 0, binding = 0, std140) uniform Block {
    float f;              // 0
    vec2 v2;              // 8
    vec3 v3;              // 16
    int after;            // 28
    float array[3];       // 32, stride 16
    mat3 m3;              // 80, stride 16
    mat2x4 m24;           // 128
    bool flag;            // 160
    Light lights[2];      // 176, stride 32
    uvec4 last;           // 240
};
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { vec4 r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    r[4 * i + 0] = vec4(f, v2, flag ? after : -after);
    r[4 * i + 1] = vec4(m3 * v3, array[i % 3u]);
    r[4 * i + 2] = vec4(lights[i & 1u].color, lights[1].power) + m24[i >> 1 & 1u];
    r[4 * i + 3] = vec4(lights[0].at, last[i & 3u], array[2]);
}
