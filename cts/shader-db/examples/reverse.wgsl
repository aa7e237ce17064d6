// SPDX-License-Identifier: MIT
// Each workgroup reverses its 32 words through workgroup memory.
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
var<workgroup> tile: array<u32, 32>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) local: u32, @builtin(global_invocation_id) id: vec3<u32>) {
    tile[local] = data[id.x];
    workgroupBarrier();
    data[id.x] = tile[31u - local];
}
