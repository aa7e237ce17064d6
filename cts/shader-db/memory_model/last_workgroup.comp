// SPDX-License-Identifier: MIT
#version 450
#extension GL_KHR_memory_scope_semantics : require
// the last workgroup adds up what all have written to a buffer
#pragma use_vulkan_memory_model
layout(local_size_x = 64) in;

layout(set = 0, binding = 0, std430) readonly buffer Source { uint a[]; };
layout(set = 0, binding = 1, std430) queuefamilycoherent buffer Partial { uint partial[]; };
layout(set = 0, binding = 2, std430) buffer Counter { uint finished; uint total; };
shared uint sum;
shared bool last;

void main() {
    uint l = gl_LocalInvocationIndex;
    if (l == 0)
        sum = 0;
    barrier();
    atomicAdd(sum, a[gl_GlobalInvocationID.x]);
    barrier();
    if (l == 0) {
        partial[gl_WorkGroupID.x] = sum;
        uint before = atomicAdd(finished, 1u, gl_ScopeQueueFamily, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
        last = before == gl_NumWorkGroups.x - 1u;
    }
    barrier();
    if (last && l == 0) {
        uint all_ = 0;
        for (uint k = 0; k < gl_NumWorkGroups.x; k++)
            all_ = all_ * 3u + partial[k];
        total = all_;
    }
}
