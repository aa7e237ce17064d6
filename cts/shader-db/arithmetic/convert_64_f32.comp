// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
// 64-bit integers to float
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint64_t a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { float r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    r[2 * i + 0] = float(a[i]);
    r[2 * i + 1] = float(int64_t(a[i]));
}
