// SPDX-License-Identifier: MIT
#version 450
// Iterations until |z| > 2, at most `limit`.
layout(local_size_x = 8, local_size_y = 4) in;
layout(set = 0, binding = 0, std430) writeonly buffer Counts { uint count[]; };
layout(push_constant) uniform Params {
    vec2 origin;
    vec2 delta;
    uint width;
    uint limit;
};

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    vec2 c = origin + delta * vec2(at);
    float x = 0, y = 0;
    uint n;
    for (n = 0; n < limit; n++) {
        if (x * x + y * y > 4)
            break;
        float next = x * x - y * y + c.x;
        y = 2 * x * y + c.y;
        x = next;
    }
    count[at.y * width + at.x] = n;
}
