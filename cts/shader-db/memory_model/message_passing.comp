// SPDX-License-Identifier: MIT
#version 450
#extension GL_KHR_memory_scope_semantics : require
// release and acquire through a flag in shared memory
#pragma use_vulkan_memory_model
layout(local_size_x = 64) in;

shared uint payload[64];
shared uint flag;
layout(set = 0, binding = 0, std430) readonly buffer In00 { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out01 { uint r[]; };

void main() {
    uint l = gl_LocalInvocationIndex;
    if (l == 0)
        atomicStore(flag, 0u, gl_ScopeWorkgroup, 0, 0);
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    payload[l] = a[gl_GlobalInvocationID.x];
    memoryBarrier(gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsRelease);
    atomicAdd(flag, 1u, gl_ScopeWorkgroup, 0, 0);
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    uint seen = atomicLoad(flag, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquire);
    r[gl_GlobalInvocationID.x] = seen == 64u ? payload[(l * 7u + 1u) & 63u] : 0xdeadu;
}
