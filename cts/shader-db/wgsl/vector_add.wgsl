// SPDX-License-Identifier: MIT
// bounds check by arrayLength
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> sum: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= arrayLength(&sum) {
        return;
    }
    sum[id.x] = a[id.x] + b[id.x];
}
