// SPDX-License-Identifier: MIT
#version 450
// vector arithmetic, swizzles and geometric functions
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { vec4 a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { vec4 b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { vec4 r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    vec4 x = a[i], y = b[i];
    r[8 * i + 0] = x * y.wzyx + x.xxyy;
    r[8 * i + 1] = vec4(cross(x.xyz, y.yzw), dot(x, y));
    r[8 * i + 2] = vec4(length(x), distance(x.xy, y.zw), length(y.xyz), abs(x.w));
    r[8 * i + 3] = normalize(x);
    r[8 * i + 4] = mix(x, y, 0.25);
    r[8 * i + 5] = vec4(reflect(x.xyz, normalize(y.xyz)), 1.0);
    r[8 * i + 6] = smoothstep(vec4(-1.0), vec4(2.0), x);
    vec4 z = x;
    z.yw = y.xz;
    z.x += z.w;
    r[8 * i + 7] = faceforward(z, x, y);
}
