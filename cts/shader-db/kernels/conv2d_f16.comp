// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
// convolution of four channels in half floats, sums in float, ReLU
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, std430) readonly buffer Image { f16vec4 image[]; };
layout(set = 0, binding = 1, std430) readonly buffer Weights { f16vec4 weights[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Result { f16vec4 result[]; };
layout(push_constant) uniform Params { int width; int height; };

void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    vec4 sum = vec4(0.125);
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++) {
            ivec2 p = at + ivec2(x, y);
            if (any(lessThan(p, ivec2(0))) || any(greaterThanEqual(p, ivec2(width, height))))
                continue;
            vec4 v = vec4(image[p.y * width + p.x]);
            for (int c = 0; c < 4; c++)
                sum[c] += dot(v, vec4(weights[((y + 1) * 3 + x + 1) * 4 + c]));
        }
    result[at.y * width + at.x] = f16vec4(max(sum, vec4(0.0)));
}
