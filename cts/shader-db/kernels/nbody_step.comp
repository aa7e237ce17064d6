// SPDX-License-Identifier: MIT
#version 450
// gravity among all bodies, tiles in shared memory
layout(local_size_x = 32) in;
shared vec4 tile[32];
layout(set = 0, binding = 0, std430) readonly buffer In00 { vec4 position[]; };
layout(set = 0, binding = 1, std430) buffer InOut01 { vec4 velocity[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { vec4 moved[]; };

layout(push_constant) uniform Params { uint bodies; float dt; float softening; };

void main() {
    uint i = gl_GlobalInvocationID.x, l = gl_LocalInvocationIndex;
    vec3 p = position[i].xyz, force = vec3(0);
    for (uint base = 0; base < bodies; base += 32u) {
        tile[l] = position[base + l];
        barrier();
        for (uint k = 0; k < 32u; k++) {
            vec3 d = tile[k].xyz - p;
            float inverse_ = inversesqrt(dot(d, d) + softening);
            force += d * (tile[k].w * inverse_ * inverse_ * inverse_);
        }
        barrier();
    }
    vec3 v = velocity[i].xyz + force * dt;
    velocity[i] = vec4(v, 0);
    moved[i] = vec4(p + v * dt, position[i].w);
}
