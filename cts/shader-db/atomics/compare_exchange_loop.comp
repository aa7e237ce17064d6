// SPDX-License-Identifier: MIT
#version 450
// largest float through a loop of compare-exchanges
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Words { uint largest[4]; uint product; };
layout(set = 0, binding = 1, std430) readonly buffer In01 { float a[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint at = i & 3u;
    uint old = largest[at];
    while (uintBitsToFloat(old) < a[i]) {
        uint seen = atomicCompSwap(largest[at], old, floatBitsToUint(a[i]));
        if (seen == old)
            break;
        old = seen;
    }
    uint value, wanted;
    do {
        value = product;
        wanted = value * (2u * i + 1u);
    } while (atomicCompSwap(product, value, wanted) != value);
}
