// SPDX-License-Identifier: MIT
#version 450
// nearest of a few centres for points of eight dimensions, and sums by float atomics of whole numbers
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { vec4 points[]; };
layout(set = 0, binding = 1, std140) uniform Centres { vec4 centres[10]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { uint nearest[]; };
layout(set = 0, binding = 3, std430) buffer InOut03 { uint members[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    vec4 a = points[2 * i], b = points[2 * i + 1];
    float best = 1e30;
    uint which = 0;
    for (uint k = 0; k < 5u; k++) {
        vec4 da = a - centres[2 * k], db = b - centres[2 * k + 1];
        float d = dot(da, da) + dot(db, db);
        if (d < best) {
            best = d;
            which = k;
        }
    }
    nearest[i] = which;
    atomicAdd(members[which], 1u);
}
