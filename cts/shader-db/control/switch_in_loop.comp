// SPDX-License-Identifier: MIT
#version 450
// switch with continue and break of a loop around it: a small stack machine
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint code[]; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { uint input_[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Out02 { uint r[]; };

void main() {
    uint id = gl_GlobalInvocationID.x;
    uint x = input_[id], y = id, pc = 0, steps = 0;
    for (;;) {
        if (steps++ > 200u)
            break;
        uint op = code[pc++];
        switch (op & 15u) {
        case 0: x += y; continue;
        case 1: y = x ^ (op >> 4); break;
        case 2: x = x >> 1; continue;
        case 3:
            if ((x & 1u) == 0u)
                pc = op >> 4;
            continue;
        case 4: y = y * 3u + 1u; break;
        case 5: pc = x > y ? op >> 4 : pc; break;
        case 6: steps += 1000; break;
        default: x++; break;
        }
        if (y == 0u)
            break;
        x ^= steps;
    }
    r[2 * id] = x;
    r[2 * id + 1] = y + (steps << 16);
}
