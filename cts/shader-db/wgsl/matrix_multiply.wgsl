// SPDX-License-Identifier: MIT
// structures with matrices and run-time arrays
struct Matrix {
    size: vec2<u32>,
    numbers: array<f32>,
}

@group(0) @binding(0) var<storage, read> first: Matrix;
@group(0) @binding(1) var<storage, read> second: Matrix;
@group(0) @binding(2) var<storage, read_write> result: Matrix;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= first.size.x || id.y >= second.size.y {
        return;
    }
    result.size = vec2(first.size.x, second.size.y);
    var sum = 0.0;
    for (var i = 0u; i < first.size.y; i++) {
        sum += first.numbers[i + id.x * first.size.y] * second.numbers[id.y + i * second.size.y];
    }
    result.numbers[id.y + id.x * second.size.y] = sum;
}
