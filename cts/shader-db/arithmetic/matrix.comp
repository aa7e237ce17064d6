// SPDX-License-Identifier: MIT
#version 450
// matrix products, transpose, determinant, inverse
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { mat4 a[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { vec4 b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { mat4 r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    mat4 m = a[i];
    vec4 v = b[i];
    r[4 * i + 0] = m * transpose(m) + mat4(2.0);
    r[4 * i + 1] = mat4(m * v, v * m, m[1] * v, vec4(determinant(m), determinant(mat3(m)), determinant(mat2(m)), 1.0));
    mat3 d = mat3(m) + mat3(4.0);
    mat3 n = inverse(d) * d;
    r[4 * i + 2] = mat4(n);
    mat4x3 w = mat4x3(m);
    mat2x3 t = mat2x3(v.xyz, v.yzw);
    mat2x4 q = transpose(w) * t;
    r[4 * i + 3] = mat4(q[0], q[1], vec4(outerProduct(v.xy, v.zw)[1], w[3].yz), matrixCompMult(m, m)[2]);
}
