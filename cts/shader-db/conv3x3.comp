// SPDX-License-Identifier: MIT
#version 450
// 3x3 convolution of a padded image: output (x, y) sees the inputs (x .. x + 2, y .. y + 2).
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, std430) readonly buffer Source { float source[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Target { float target[]; };
layout(push_constant) uniform Params {
    float k[9];
    uint source_width;
    uint target_width;
};

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    float sum = 0;
    for (uint y = 0; y < 3; y++)
        for (uint x = 0; x < 3; x++)
            sum = fma(k[3 * y + x], source[(at.y + y) * source_width + at.x + x], sum);
    target[at.y * target_width + at.x] = sum;
}
