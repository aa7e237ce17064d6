// SPDX-License-Identifier: MIT
#version 450
// horizontal blur of seven taps with clamped edges, packed colours
layout(local_size_x = 32, local_size_y = 2) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint image[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint blurred[]; };

layout(push_constant) uniform Params { int width; };
const uint weights[4] = uint[](64u, 48u, 36u, 12u);

void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    if (x >= width)
        return;
    uvec4 sum = uvec4(128u);
    for (int k = -3; k <= 3; k++) {
        uint pixel = image[y * width + clamp(x + k, 0, width - 1)];
        sum += (uvec4(pixel) >> uvec4(0, 8, 16, 24) & 255u) * weights[abs(k)];
    }
    sum = min(sum >> 8, uvec4(255u));
    blurred[y * width + x] = sum.x | sum.y << 8 | sum.z << 16 | sum.w << 24;
}
