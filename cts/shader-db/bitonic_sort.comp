// SPDX-License-Identifier: MIT
#version 450
// Sorts 256 keys per workgroup in shared memory: the bitonic network up to sequences of n.
layout(local_size_x = 128) in;
layout(set = 0, binding = 0, std430) buffer Keys { uint keys[]; };
layout(push_constant) uniform Params { uint n; };
shared uint s[256];

void main() {
    uint l = gl_LocalInvocationIndex;
    uint first = 256 * gl_WorkGroupID.x + l;
    s[l] = keys[first];
    s[l + 128] = keys[first + 128];
    barrier();
    for (uint k = 2; k <= n; k <<= 1) {
        uint j = k >> 1;
        do {
            uint i = 2 * l - (l & (j - 1));
            uint a = s[i], b = s[i + j];
            uint low = min(a, b), high = max(a, b);
            bool up = (i & k) == 0;
            s[i] = up ? low : high;
            s[i + j] = up ? high : low;
            barrier();
            j >>= 1;
        } while (j != 0);
    }
    keys[first] = s[l];
    keys[first + 128] = s[l + 128];
}
