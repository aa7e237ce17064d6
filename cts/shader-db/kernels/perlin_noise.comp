// SPDX-License-Identifier: MIT
#version 450
// three octaves of gradient noise with a permutation table
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, std140) uniform Table { uvec4 permutation[16]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { float r[]; };

uint hash(uint x) {
    uint byte = x & 255u;
    return permutation[byte >> 4][byte >> 2 & 3u] >> ((byte & 3u) * 8u) & 255u;
}

float gradient(uint h, vec3 p) {
    float u = (h & 8u) == 0u ? p.x : p.y;
    float v = (h & 12u) == 0u ? p.y : (h & 13u) == 12u ? p.x : p.z;
    return ((h & 1u) == 0u ? u : -u) + ((h & 2u) == 0u ? v : -v);
}

float noise(vec3 p) {
    uvec3 c = uvec3(ivec3(floor(p)));
    p = fract(p);
    vec3 f = p * p * p * (p * (p * 6.0 - 15.0) + 10.0);
    float corners[8];
    for (uint k = 0; k < 8u; k++) {
        uvec3 o = uvec3(k, k >> 1, k >> 2) & 1u;
        uint h = hash(hash(hash(c.x + o.x) + c.y + o.y) + c.z + o.z);
        corners[k] = gradient(h, p - vec3(o));
    }
    vec4 x = mix(vec4(corners[0], corners[2], corners[4], corners[6]), vec4(corners[1], corners[3], corners[5], corners[7]), f.x);
    vec2 y = mix(x.xz, x.yw, f.y);
    return mix(y.x, y.y, f.z);
}

void main() {
    vec3 p = vec3(gl_GlobalInvocationID.xy, 0.5) * 0.37;
    float sum = 0.0, weight = 0.5;
    for (int octave = 0; octave < 3; octave++) {
        sum += noise(p) * weight;
        p = p * 2.03 + vec3(17.0, -3.5, 5.25);
        weight *= 0.5;
    }
    r[gl_GlobalInvocationID.y * 16u + gl_GlobalInvocationID.x] = sum;
}
