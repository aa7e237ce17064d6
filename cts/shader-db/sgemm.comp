// SPDX-License-Identifier: MIT
#version 450
// C = A * B, all row-major; each invocation computes a tile of 4 rows and 4 columns. The sizes are multiples of 4.
layout(local_size_x = 8, local_size_y = 4) in;
layout(set = 0, binding = 0, std430) readonly buffer A { vec4 a[]; };
layout(set = 0, binding = 1, std430) readonly buffer B { vec4 b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer C { vec4 c[]; };
layout(push_constant) uniform Params {
    uint n4; // columns of B and C, divided by 4
    uint k4; // columns of A, divided by 4
};

void main() {
    uint column = gl_GlobalInvocationID.x;
    uint row = 4 * gl_GlobalInvocationID.y;
    vec4 tile[4] = vec4[](vec4(0), vec4(0), vec4(0), vec4(0));
    for (uint k = 0; k < k4; k++) {
        vec4 b0 = b[(4 * k + 0) * n4 + column];
        vec4 b1 = b[(4 * k + 1) * n4 + column];
        vec4 b2 = b[(4 * k + 2) * n4 + column];
        vec4 b3 = b[(4 * k + 3) * n4 + column];
        for (uint r = 0; r < 4; r++) {
            vec4 ar = a[(row + r) * k4 + k];
            tile[r] = fma(ar.xxxx, b0, tile[r]);
            tile[r] = fma(ar.yyyy, b1, tile[r]);
            tile[r] = fma(ar.zzzz, b2, tile[r]);
            tile[r] = fma(ar.wwww, b3, tile[r]);
        }
    }
    for (uint r = 0; r < 4; r++)
        c[(row + r) * n4 + column] = tile[r];
}
