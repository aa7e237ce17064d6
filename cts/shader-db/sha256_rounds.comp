// SPDX-License-Identifier: MIT
#version 450
// Rounds 16 to 23 of SHA-256's compression with their message schedule, one block per invocation.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) buffer Message { uvec4 message[]; }; // the last 16 schedule words
layout(set = 0, binding = 1, std430) buffer State { uvec4 state[]; };     // a to d, e to h

uint rotr(uint x, int by) {
    return (x >> by) | (x << (32 - by));
}

void main() {
    const uint K[8] = uint[](0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu,
                             0x2de92c6fu, 0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau);
    uint i = gl_GlobalInvocationID.x;
    uint w[16];
    for (int q = 0; q < 4; q++) {
        uvec4 m = message[4 * i + q];
        for (int e = 0; e < 4; e++)
            w[4 * q + e] = m[e];
    }
    uvec4 low = state[2 * i], high = state[2 * i + 1];
    uint a = low.x, b = low.y, c = low.z, d = low.w;
    uint e = high.x, f = high.y, g = high.z, h = high.w;
    for (int r = 0; r < 8; r++) {
        uint w15 = w[(r + 1) & 15], w2 = w[(r + 14) & 15];
        uint s0 = rotr(w15, 7) ^ rotr(w15, 18) ^ (w15 >> 3);
        uint s1 = rotr(w2, 17) ^ rotr(w2, 19) ^ (w2 >> 10);
        w[r] += s0 + w[(r + 9) & 15] + s1;
        uint t1 = h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + (g ^ (e & (f ^ g))) + K[r] + w[r];
        uint t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + (b ^ ((a ^ b) & (b ^ c)));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    state[2 * i] = uvec4(a, b, c, d);
    state[2 * i + 1] = uvec4(e, f, g, h);
    message[4 * i] = uvec4(w[0], w[1], w[2], w[3]);
    message[4 * i + 1] = uvec4(w[4], w[5], w[6], w[7]);
}
