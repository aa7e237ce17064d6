// SPDX-License-Identifier: MIT
#version 450
// xxHash of 32 bits over inputs of different lengths
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint text[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint hash[]; };

const uint P1 = 2654435761u, P2 = 2246822519u, P3 = 3266489917u, P4 = 668265263u, P5 = 374761393u;

uint rotl(uint x, int n) {
    return x << n | x >> (32 - n);
}

uint byte(uint at) {
    return text[at >> 2] >> ((at & 3u) * 8u) & 255u;
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint bytes = i * 3u + 1u, at = 0, h;
    if (bytes >= 16u) {
        uvec4 v = uvec4(P1 + P2, P2, 0u, -P1);
        for (; at + 16u <= bytes; at += 16u)
            for (int k = 0; k < 4; k++)
                v[k] = rotl(v[k] + text[(at >> 2) + k] * P2, 13) * P1;
        h = rotl(v.x, 1) + rotl(v.y, 7) + rotl(v.z, 12) + rotl(v.w, 18);
    } else {
        h = P5;
    }
    h += bytes;
    for (; at + 4u <= bytes; at += 4u)
        h = rotl(h + text[at >> 2] * P3, 17) * P4;
    for (; at < bytes; at++)
        h = rotl(h + byte(at) * P5, 11) * P1;
    h ^= h >> 15;
    h *= P2;
    h ^= h >> 13;
    h *= P3;
    hash[i] = h ^ h >> 16;
}
