// SPDX-License-Identifier: MIT
#version 450
// solution of 6 x 6 systems with pivoting, matrices in private arrays
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { float a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { float r[]; };

const int N = 6;

void main() {
    uint i = gl_GlobalInvocationID.x;
    float m[N][N + 1];
    for (int y = 0; y < N; y++) {
        for (int x = 0; x < N; x++)
            m[y][x] = a[(i * 42u + y * 7 + x) % 512u] + (x == (y + 1) % N ? 5.0 : 0.0);
        m[y][N] = float(y) - a[i];
    }
    for (int c = 0; c < N; c++) {
        int pivot = c;
        for (int y = c + 1; y < N; y++)
            if (abs(m[y][c]) > abs(m[pivot][c]))
                pivot = y;
        for (int x = c; x <= N; x++) {
            float t = m[c][x];
            m[c][x] = m[pivot][x];
            m[pivot][x] = t;
        }
        float scale = 1.0 / m[c][c];
        for (int y = 0; y < N; y++) {
            if (y == c)
                continue;
            float factor = m[y][c] * scale;
            for (int x = c; x <= N; x++)
                m[y][x] -= factor * m[c][x];
        }
    }
    for (int y = 0; y < N; y++)
        r[i * 6u + y] = m[y][N] / m[y][y];
}
