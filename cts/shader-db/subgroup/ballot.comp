// SPDX-License-Identifier: MIT
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
// ballot, bit counts and scans, lowest and highest lane, inverse and extraction
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uvec4 b = subgroupBallot((a[i] & 0x100u) != 0u);
    uint third = 0;
    if (i % 3u == 0u)
        third = subgroupBallot(true).x;
    r[4 * i] = b.x;
    r[4 * i + 1] = subgroupBallotBitCount(b) | subgroupBallotExclusiveBitCount(b) << 8 | subgroupBallotInclusiveBitCount(b) << 16;
    r[4 * i + 2] = third;
    r[4 * i + 3] = subgroupBallotFindLSB(b) | subgroupBallotFindMSB(b) << 8 | uint(subgroupInverseBallot(b)) << 16 | uint(subgroupBallotBitExtract(b, i * 7u % 32u)) << 17;
}
