// SPDX-License-Identifier: MIT
#version 450
// conditionals nested ten deep with values from both sides
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint x = a[i], y = 1;
    if ((x & 1u) != 0u) { y += 1;
    if ((x & 2u) != 0u) { y *= 3;
    if ((x & 4u) != 0u) { y ^= 5;
    if ((x & 8u) != 0u) { y += x;
    if ((x & 16u) != 0u) { y <<= 2;
    if ((x & 32u) != 0u) { y -= 9;
    if ((x & 64u) != 0u) { y |= 64;
    if ((x & 128u) != 0u) { y *= 11;
    if ((x & 256u) != 0u) { y ^= x;
    if ((x & 512u) != 0u) { y = ~y;
    } else y += 10;
    } else y += 9;
    } else y += 8;
    } else y += 7;
    } else y += 6;
    } else { y += 5; x >>= 1; }
    } else y += 4;
    } else if (x > 100u) y += 3; else y = 0;
    } else y += 2;
    } else { y = x; }
    r[i] = y + x;
}
