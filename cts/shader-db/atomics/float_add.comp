// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_atomic_float : require
// float addition, exact sums
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Words { float w[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    atomicAdd(w[0], 0.25);
    atomicAdd(w[1 + (i & 3u)], float(i) * 0.5);
    float old = atomicAdd(w[8 + i], 1.5);
    w[8 + i] = old * 2.0 + w[8 + i];
}
