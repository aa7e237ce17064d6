// SPDX-License-Identifier: MIT
#version 450
// specialisation constants in arithmetic, array sizes, conditions
layout(local_size_x = 32) in;

layout(constant_id = 0) const uint count = 4;
layout(constant_id = 1) const float scale = 1.0;
layout(constant_id = 2) const bool reverse = false;
layout(constant_id = 3) const int offset = -3;
layout(constant_id = 7) const uint untouched = 77;
const uint twice = count * 2u + 1u;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint t[twice];
    for (uint k = 0; k < twice; k++)
        t[reverse ? twice - 1u - k : k] = a[i] >> k;
    uint sum = untouched;
    for (uint k = 0; k < count; k++)
        sum = sum * 3u + t[(i + k) % twice];
    r[2 * i] = sum + uint(offset);
    r[2 * i + 1] = uint(float(i) * scale);
}
