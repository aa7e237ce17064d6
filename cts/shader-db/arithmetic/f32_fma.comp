// SPDX-License-Identifier: MIT
#version 450
// fused multiply-add with all signs, constants and saturation
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { float a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { float b[]; };
layout(set = 0, binding = 2, std430) readonly buffer In02 { float c[]; };
layout(set = 0, binding = 3, std430) writeonly buffer Out03 { float r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    float x = a[i], y = b[i], z = c[i];
    r[8 * i + 0] = fma(x, y, z);
    r[8 * i + 1] = fma(-x, y, z);
    r[8 * i + 2] = fma(x, y, -z);
    r[8 * i + 3] = fma(-x, -y, -z);
    r[8 * i + 4] = fma(x, 0.5, z);
    r[8 * i + 5] = fma(x, y, 1.0);
    r[8 * i + 6] = clamp(fma(x, y, z), 0.0, 1.0);
    r[8 * i + 7] = fma(abs(x), abs(y), -abs(z));
}
