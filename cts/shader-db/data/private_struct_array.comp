// SPDX-License-Identifier: MIT
#version 450
// an array of structures with mixed members
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { vec4 r[]; };

struct Item {
    vec2 position;
    uint kind;
    float weights[3];
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    Item items[5];
    for (uint k = 0; k < 5u; k++) {
        items[k].position = vec2(k, i);
        items[k].kind = k ^ i;
        items[k].weights = float[](k * 0.5, 1.0, float(i) * 0.25);
    }
    uint x = a[i];
    items[x % 5u].weights[(x >> 8) % 3u] = 7.0;
    items[(x >> 4) % 5u] = items[(x >> 12) % 5u];
    Item one = items[(x >> 16) % 5u];
    r[i] = vec4(one.position, one.kind, one.weights[0] + one.weights[1] * 10.0 + one.weights[(x >> 20) % 3u] * 100.0);
}
