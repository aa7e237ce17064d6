// SPDX-License-Identifier: MIT
#version 450
// One radix-4 stage of a Stockham FFT: four points of one butterfly per invocation, twiddles from a table.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer Source { vec2 x[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Target { vec2 y[]; };
layout(set = 0, binding = 2, std430) readonly buffer Twiddles { vec2 w[]; }; // w^k, then w^2k, then w^3k
layout(push_constant) uniform Params {
    uint p; // length of the transforms that are done, a power of two
    uint t; // a quarter of the whole length
};

vec2 product(vec2 a, vec2 b) {
    return vec2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint k = i & (p - 1);
    vec2 a0 = x[i];
    vec2 a1 = product(x[i + t], w[k]);
    vec2 a2 = product(x[i + 2 * t], w[k + p]);
    vec2 a3 = product(x[i + 3 * t], w[k + 2 * p]);
    vec2 b0 = a0 + a2;
    vec2 b1 = a0 - a2;
    vec2 b2 = a1 + a3;
    vec2 b3 = a1 - a3;
    uint o = ((i - k) << 2) + k;
    y[o] = b0 + b2;
    y[o + p] = vec2(b1.x + b3.y, b1.y - b3.x);
    y[o + 2 * p] = b0 - b2;
    y[o + 3 * p] = vec2(b1.x - b3.y, b1.y + b3.x);
}
