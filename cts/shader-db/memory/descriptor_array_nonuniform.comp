// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_nonuniform_qualifier : require
// an array of storage buffers, a different element in each invocation
layout(local_size_x = 32) in;

layout(set = 0, binding = 0, std430) buffer Bufs { uint v[]; } bufs[4];
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint which = (i * 5u + i / 3u) & 3u;
    uint old = bufs[nonuniformEXT(which)].v[i];
    r[2 * i] = old;
    r[2 * i + 1] = bufs[nonuniformEXT(which)].v.length();
    bufs[nonuniformEXT(which)].v[i] = old * 7u + i;
}
