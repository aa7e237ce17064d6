// SPDX-License-Identifier: MIT
// integer, packing and vector functions
@group(0) @binding(0) var<storage, read> a: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> r: array<vec4<u32>>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let v = a[id.x];
    r[id.x * 4u] = vec4(countOneBits(v.x), countLeadingZeros(v.y), countTrailingZeros(v.z), reverseBits(v.w));
    r[id.x * 4u + 1u] = vec4(firstLeadingBit(v.x), firstTrailingBit(v.y), extractBits(v.z, 5u, 11u), insertBits(v.w, v.x, 7u, 9u));
    r[id.x * 4u + 2u] = vec4(u32(abs(i32(v.x))), min(v.y, v.z), clamp(v.w, 100u, 1000000000u), select(v.x, v.y, v.z > v.w));
    let s = bitcast<vec4<i32>>(v);
    r[id.x * 4u + 3u] = bitcast<vec4<u32>>(vec4(sign(s.x), s.y >> 3u, max(s.z, s.w), dot(s.xy, vec2(3, -5))));
}
