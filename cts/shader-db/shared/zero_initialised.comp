// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_null_initializer : require
// shared memory that begins as zeros
layout(local_size_x = 64) in;

struct Item { uint a; uvec2 b; };
shared uint s[300] = {};
shared Item item = {};
layout(set = 0, binding = 0, std430) writeonly buffer Out00 { uint r[]; };

void main() {
    uint l = gl_LocalInvocationIndex;
    uint sum = item.a + item.b.y;
    for (uint k = l; k < 300u; k += 64u)
        sum |= s[k];
    atomicAdd(s[l % 7u], l);
    barrier();
    r[gl_GlobalInvocationID.x] = sum + s[l % 7u];
}
