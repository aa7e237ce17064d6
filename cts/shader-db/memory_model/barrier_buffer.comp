// SPDX-License-Identifier: MIT
#version 450
#extension GL_KHR_memory_scope_semantics : require
// exchange through a buffer within a workgroup
#pragma use_vulkan_memory_model
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) workgroupcoherent buffer Data { uint d[]; };

void main() {
    uint l = gl_LocalInvocationIndex, base = gl_WorkGroupID.x * 64u;
    for (uint k = 0; k < 3u; k++) {
        d[base + l] += l * k;
        controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer,
                       gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
        uint other = d[base + ((l + 13u) & 63u)];
        controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer,
                       gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
        d[base + l] ^= other;
    }
}
