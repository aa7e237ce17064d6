// SPDX-License-Identifier: MIT
#version 450
// sqrt, inversesqrt, length, normalize
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { float a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { float r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    float x = a[i];
    r[5 * i + 0] = sqrt(x);
    r[5 * i + 1] = inversesqrt(x + 1e-10);
    r[5 * i + 2] = sqrt(x * x + 1.0);
    r[5 * i + 3] = length(vec2(x, 1.0));
    r[5 * i + 4] = normalize(vec3(x, 2.0, -1.0)).z;
}
