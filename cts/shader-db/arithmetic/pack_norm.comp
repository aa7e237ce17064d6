// SPDX-License-Identifier: MIT
#version 450
// packing and unpacking of normalised integers
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { vec4 a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { uint b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { uvec4 r[]; };
layout(set = 0, binding = 3, std430) writeonly buffer Out03 { vec4 f[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    r[i] = uvec4(packUnorm4x8(a[i]), packSnorm4x8(a[i]), packUnorm2x16(a[i].xy), packSnorm2x16(a[i].zw));
    f[4 * i + 0] = unpackUnorm4x8(b[i]);
    f[4 * i + 1] = unpackSnorm4x8(b[i]);
    f[4 * i + 2] = vec4(unpackUnorm2x16(b[i]), unpackSnorm2x16(b[i]));
    f[4 * i + 3] = unpackUnorm4x8(packUnorm4x8(a[i].wzyx));
}
