// SPDX-License-Identifier: MIT
#version 450
// rays against a list of spheres, nearest hit and shading
layout(local_size_x = 8, local_size_y = 4) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { vec4 spheres[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { vec4 r[]; };

void main() {
    vec2 at = (vec2(gl_GlobalInvocationID.xy) + 0.5) / vec2(16.0, 8.0) * 2.0 - 1.0;
    vec3 origin = vec3(0.0, 0.0, -4.0), direction = normalize(vec3(at, 2.0));
    float nearest = 1e30;
    int hit = -1;
    for (int k = 0; k < spheres.length(); k++) {
        vec3 to = spheres[k].xyz - origin;
        float b = dot(to, direction), radius = abs(spheres[k].w) + 0.3;
        float d = b * b - dot(to, to) + radius * radius;
        if (d < 0.0)
            continue;
        float t = b - sqrt(d);
        if (t > 0.0 && t < nearest) {
            nearest = t;
            hit = k;
        }
    }
    vec4 color = vec4(0.1, 0.2, 0.3, -1.0);
    if (hit >= 0) {
        vec3 normal = normalize(origin + direction * nearest - spheres[hit].xyz);
        float light = max(dot(normal, normalize(vec3(1.0, 2.0, -3.0))), 0.0);
        color = vec4(vec3(0.1 + 0.9 * light) * (0.5 + 0.5 * normal), hit);
    }
    r[gl_GlobalInvocationID.y * 16u + gl_GlobalInvocationID.x] = color;
}
