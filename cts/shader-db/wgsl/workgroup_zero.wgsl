// SPDX-License-Identifier: MIT
// workgroup memory is zero at the start
struct Bin { count: atomic<u32>, values: array<u32, 3> }
var<workgroup> bins: array<Bin, 20>;
var<workgroup> flags: array<vec2<u32>, 33>;
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> r: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) l: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let x = a[group.x * 64u + l];
    atomicAdd(&bins[x % 20u].count, x & 15u);
    let before = flags[l % 33u].x + bins[l % 20u].values[l % 3u];
    workgroupBarrier();
    if l < 33u {
        flags[l] = vec2(x, l);
    }
    workgroupBarrier();
    r[group.x * 64u + l] = before + atomicLoad(&bins[l % 20u].count) + flags[(l + 5u) % 33u].y * 1000u;
}
