// SPDX-License-Identifier: MIT
#version 450
// an array of storage buffers, constant and uniform index
layout(local_size_x = 32) in;

layout(set = 0, binding = 0, std430) buffer Bufs { uint v[]; } bufs[4];
layout(push_constant) uniform Params { uint which; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    bufs[2].v[i] = bufs[0].v[i] + bufs[1].v[31u - i];
    bufs[which].v[i] ^= bufs[(which + 2u) & 3u].v[i] * 3u;
}
