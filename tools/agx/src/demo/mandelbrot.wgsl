// SPDX-License-Identifier: MIT
// The Mandelbrot set, one invocation a pixel, four samples each. Pixels are 8-bit RGBA, red in the low byte.

struct View {
    centre: vec2<f32>,
    // Width of a pixel.
    step: f32,
    limit: u32,
    size: vec2<u32>,
}

@group(0) @binding(0) var<storage, read> view: View;
@group(0) @binding(1) var<storage, read_write> pixels: array<u32>;

// Iterations until |z| > 16, with the fraction that makes colours flow; `limit` inside the set.
fn escape(c: vec2<f32>) -> f32 {
    var z = vec2<f32>(0.0);
    for (var n = 0u; n < view.limit; n++) {
        let square = z * z;
        if (square.x + square.y > 256.0) {
            return f32(n) + 3.0 - log2(log2(square.x + square.y));
        }
        z = vec2<f32>(square.x - square.y, 2.0 * z.x * z.y) + c;
    }
    return f32(view.limit);
}

fn colour(n: f32) -> vec3<f32> {
    if (n >= f32(view.limit)) {
        return vec3<f32>(0.02, 0.02, 0.05);
    }
    let t = sqrt(n) * 0.55;
    return 0.5 + 0.5 * cos(vec3<f32>(4.1, 3.4, 2.7) + t * vec3<f32>(1.0, 1.1, 1.25));
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
    if (at.x >= view.size.x || at.y >= view.size.y) {
        return;
    }
    var sum = vec3<f32>(0.0);
    for (var s = 0u; s < 4u; s++) {
        let inside = vec2<f32>(f32(s & 1u), f32(s >> 1u)) * 0.5 + 0.25;
        let place = vec2<f32>(at.xy) + inside - 0.5 * vec2<f32>(view.size);
        sum += colour(escape(view.centre + place * vec2<f32>(view.step, -view.step)));
    }
    pixels[at.y * view.size.x + at.x] = pack4x8unorm(vec4<f32>(0.25 * sum, 1.0));
}
