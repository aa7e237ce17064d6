// SPDX-License-Identifier: MIT
#version 450
// min, max, clamp, saturation, sign, step without NaN
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { float a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { float b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { float r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    float x = a[i], y = b[i];
    r[8 * i + 0] = min(x, y);
    r[8 * i + 1] = max(x, -y);
    r[8 * i + 2] = clamp(x, 0.0, 1.0);
    r[8 * i + 3] = clamp(x, -1.0, y < -1.0 ? 0.0 : y);
    r[8 * i + 4] = sign(x);
    r[8 * i + 5] = step(x, y);
    r[8 * i + 6] = min(max(abs(x), 0.25), 30.0);
    r[8 * i + 7] = max(min(x, 3.0), min(y, 3.0));
}
