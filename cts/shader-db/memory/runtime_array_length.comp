// SPDX-License-Identifier: MIT
#version 450
// lengths of run-time arrays behind other members
layout(local_size_x = 8) in;

struct Item { vec3 a; uint b; uint c; };
layout(set = 0, binding = 0, std430) readonly buffer A { uint head; uvec2 middle; uint rest[]; } a;
layout(set = 0, binding = 1, std430) readonly buffer C { vec4 head; Item items[]; } c;
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint sum = 0;
    for (uint k = i; k < a.rest.length(); k += 8u)
        sum += a.rest[k];
    r[i] = sum + a.rest.length() * 1000000u + c.items.length() * 100000000u;
}
