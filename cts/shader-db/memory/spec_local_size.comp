// SPDX-License-Identifier: MIT
#version 450
// workgroup size from specialisation constants
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z = 2) in;
layout(set = 0, binding = 0, std430) writeonly buffer Out00 { uvec4 r[]; };

shared uint sum;

void main() {
    uint l = gl_LocalInvocationIndex;
    if (l == 0)
        sum = 0;
    barrier();
    atomicAdd(sum, l);
    barrier();
    uint size = gl_WorkGroupSize.x * gl_WorkGroupSize.y * gl_WorkGroupSize.z;
    r[gl_WorkGroupID.x * size + l] = uvec4(gl_WorkGroupSize, sum);
}
