// SPDX-License-Identifier: MIT
#version 450
// std430 layout: vectors of three, arrays of small elements, matrices, row-major
layout(local_size_x = 16) in;

struct Item {
    vec3 a;
    float b;
    vec2 c;
    uint d[3];
    mat2x3 m;
};
layout(set = 0, binding = 0, std430) buffer Block {
    uint count;
    vec3 v;
    float array[5];
    mat3 m;
    layout(row_major) mat4x2 rm;
    Item items[];
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    Item it = items[i];
    vec3 p = it.m * it.c;
    items[i].a = p + v * float(count);
    items[i].b = it.a.z + array[i % 5u];
    items[i].d[i % 3u] += count;
    items[i].m[i & 1u] = m * it.a;
    items[i].c = rm * vec4(it.a, it.b);
}
