// SPDX-License-Identifier: MIT
#version 450
// packHalf2x16 and unpackHalf2x16 of exact and rounded values
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { vec2 a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { uint b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { uint r[]; };
layout(set = 0, binding = 3, std430) writeonly buffer Out03 { vec2 f[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    r[2 * i + 0] = packHalf2x16(a[i]);
    r[2 * i + 1] = packHalf2x16(vec2(a[i].y, 0.0));
    f[2 * i + 0] = unpackHalf2x16(b[i]);
    f[2 * i + 1] = unpackHalf2x16(packHalf2x16(unpackHalf2x16(b[i]).yx));
}
