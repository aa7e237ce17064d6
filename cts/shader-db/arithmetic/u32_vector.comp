// SPDX-License-Identifier: MIT
#version 450
// vectors of unsigned integers
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uvec4 a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { uvec4 b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { uvec4 r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uvec4 x = a[i], y = b[i];
    r[4 * i + 0] = x * y + x.wzyx;
    r[4 * i + 1] = mix(x, y, lessThan(x, y));
    r[4 * i + 2] = (x >> (y & 31u)) | (x << 3);
    uvec3 s = x.xyz;
    s.zy += y.xw;
    r[4 * i + 3] = uvec4(s, any(equal(x & 3u, y & 3u)) ? 1 : 2);
}
