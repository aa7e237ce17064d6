// SPDX-License-Identifier: MIT
#version 450
// loops nested eight deep
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) writeonly buffer Out00 { uint r[]; };

layout(push_constant) uniform Params { uint n; };

void main() {
    uint id = gl_GlobalInvocationID.x;
    uint sum = id;
    for (uint a = 0; a < n; a++)
        for (uint b = 0; b <= (id & 1u); b++)
            for (uint c = a; c < n; c++)
                for (uint d = 0; d < 2; d++)
                    for (uint e = 0; e < n - d; e++)
                        for (uint f = e; f < n; f++)
                            for (uint g = 0; g < (id >> 1 & 3u); g++)
                                for (uint h = 0; h <= g; h++)
                                    sum = sum * 5u + (a ^ b ^ c ^ d ^ e ^ f ^ g ^ h);
    r[id] = sum;
}
