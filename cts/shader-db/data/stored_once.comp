// SPDX-License-Identifier: MIT
#version 450
// private variables with one store, where a load is the value of this iteration, of the one before, or of one branch
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

uint twice(uint v, out uint half_of) {
    half_of = v >> 1;
    return v << 1;
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint x = a[i], sum = 0;
    // Stored in the iteration before: what the load finds is no value that it is dominated by.
    uint before, kept;
    for (uint k = 0; k < 5u + (x & 3u); k++) {
        if (k > 0)
            sum = sum * 31u + before;
        before = x ^ (k * 0x9e3779b9u);
        // Stored in this iteration, and loaded after the loop.
        kept = before >> 3;
    }
    sum ^= kept;
    // Stored in one branch, and loaded under the same condition.
    uint branch;
    bool odd = (x & 1u) != 0u;
    if (odd)
        branch = sum + 7u;
    sum ^= x >> 5;
    if (odd)
        sum += branch;
    // Of the callee, and a vector of which a part is stored after all of it.
    uint h;
    sum ^= twice(x, h) + h;
    uvec3 v = uvec3(sum, x, i);
    uvec3 w = v.zxy;
    v.y = w.x + 1u;
    // Read before and after the store of the next.
    uint old = w.y;
    uint next = old * 5u + v.y;
    r[i] = old ^ next ^ v.z ^ (w.z << 7);
}
