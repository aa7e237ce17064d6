// SPDX-License-Identifier: MIT
// division and remainder as WGSL defines them: by zero and of the smallest integer too
@group(0) @binding(0) var<storage, read> a: array<i32>;
@group(0) @binding(1) var<storage, read> b: array<i32>;
@group(0) @binding(2) var<storage, read_write> r: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let x = a[id.x];
    let y = b[id.x];
    let ux = u32(x);
    let uy = u32(y);
    r[id.x * 4u] = u32(x / y);
    r[id.x * 4u + 1u] = u32(abs(x >> 1u) % ((y & 0xffff) + 1));
    r[id.x * 4u + 2u] = ux / uy;
    r[id.x * 4u + 3u] = ux % uy;
}
