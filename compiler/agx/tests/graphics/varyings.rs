// SPDX-License-Identifier: MIT
//! Inputs of fragment shaders against what the planes of a triangle are in f64.

use agx_hw::launcher::Samples;

use crate::pipeline::{COVER, Draw, Scene, VertexBuffer, format};
use crate::studio::{count, floats};

/// The triangle's corners in clip space. It covers the framebuffer, and W differs.
const CORNERS: [[f64; 4]; 3] = [
    [-1.0, -1.0, 0.25, 1.0],
    [6.0, -2.0, 0.5, 2.0],
    [-4.0, 12.0, 3.0, 4.0],
];
/// A vec4 of each.
const VALUES: [[f64; 4]; 3] = [
    [1.0, 0.0, 0.0, 7.0],
    [0.0, 1.0, 0.0, -3.0],
    [0.0, 0.0, 1.0, 11.0],
];
const SIZE: [u16; 2] = [16, 16];

fn corner_buffers() -> (VertexBuffer, VertexBuffer) {
    let bytes = |all: [[f64; 4]; 3]| {
        floats(
            &all.concat()
                .into_iter()
                .map(|v| v as f32)
                .collect::<Vec<_>>(),
        )
    };
    (
        VertexBuffer::new(bytes(CORNERS), 16),
        VertexBuffer::new(bytes(VALUES), 16),
    )
}

fn vertex(qualifier: &str) -> String {
    format!(
        "layout(location = 0) in vec4 place; layout(location = 1) in vec4 value;
         layout(location = 3) {qualifier} out vec4 v;
         void main() {{ gl_Position = place; v = value; }}"
    )
}

/// Weights of the corners at a place in the window, without and with perspective, and 1/W.
fn weights(x: f64, y: f64) -> ([f64; 3], [f64; 3], f64) {
    let window = CORNERS.map(|c| {
        let [width, height] = SIZE.map(f64::from);
        [
            (c[0] / c[3] + 1.0) * width / 2.0,
            (c[1] / c[3] + 1.0) * height / 2.0,
        ]
    });
    let area = |a: [f64; 2], b: [f64; 2], c: [f64; 2]| {
        (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    };
    let whole = area(window[0], window[1], window[2]);
    let at = [x, y];
    let linear = [
        area(at, window[1], window[2]) / whole,
        area(window[0], at, window[2]) / whole,
        area(window[0], window[1], at) / whole,
    ];
    let over_w: [f64; 3] = std::array::from_fn(|i| linear[i] / CORNERS[i][3]);
    let sum: f64 = over_w.iter().sum();
    (linear, over_w.map(|v| v / sum), sum)
}

fn combine(weights: [f64; 3]) -> [f64; 4] {
    std::array::from_fn(|c| (0..3).map(|i| weights[i] * VALUES[i][c]).sum())
}

fn picture(vertex: &str, fragment: &str, samples: Samples) -> Scene {
    let mut scene = Scene::new(SIZE, samples, &[format("R32G32B32A32_SFLOAT")], [0; 4]);
    let (places, values) = corner_buffers();
    let draw = Draw::new(vertex, fragment)
        .attribute(0, 109, places)
        .attribute(1, 109, values);
    scene.draw(&draw, |_| {});
    scene.render();
    scene
}

fn each_pixel(mut f: impl FnMut(u32, u32)) {
    for y in 0..u32::from(SIZE[1]) {
        for x in 0..u32::from(SIZE[0]) {
            f(x, y);
        }
    }
}

fn close(got: &[f32], expected: [f64; 4], what: &str) {
    for (got, expected) in got.iter().zip(expected) {
        let error = (f64::from(*got) - expected).abs();
        assert!(
            error <= 3e-5 * expected.abs().max(1.0),
            "{what}: {got} for {expected}"
        );
    }
}

#[test]
fn modes() {
    let fragment = |q: &str| {
        format!(
            "layout(location = 3) {q} in vec4 v; layout(location = 0) out vec4 o; void main() {{ o = v; }}"
        )
    };
    let smooth = picture(&vertex("smooth"), &fragment("smooth"), Samples::One);
    let linear = picture(
        &vertex("noperspective"),
        &fragment("noperspective"),
        Samples::One,
    );
    let flat = picture(&vertex("flat"), &fragment("flat"), Samples::One);
    each_pixel(|x, y| {
        let (lin, persp, _) = weights(f64::from(x) + 0.5, f64::from(y) + 0.5);
        close(&smooth.floats(0, x, y, 0), combine(persp), "smooth");
        close(&linear.floats(0, x, y, 0), combine(lin), "noperspective");
        assert_eq!(flat.floats(0, x, y, 0), VALUES[0].map(|v| v as f32), "flat");
    });
}

#[test]
fn parts_of_vectors_and_arrays_by_index() {
    // Only what is read is passed on; the index is known at run time.
    let vertex = "layout(location = 0) in vec4 place; layout(location = 1) in vec4 value;
        layout(location = 1) out vec3 a[3]; layout(location = 8) flat out uvec2 b;
        void main() {
            gl_Position = place;
            for (int i = 0; i < 3; i++) a[i] = value.xyz * (i + 1);
            b = uvec2(gl_VertexIndex + 0xfffffff0u, 5);
        }";
    let fragment = "layout(location = 1) in vec3 a[3]; layout(location = 8) flat in uvec2 b;
        layout(location = 0) out vec4 o;
        void main() { int i = int(gl_FragCoord.x) % 3; o = vec4(a[i].xz, float(b.x - 0xfffffff0u), b.y); }";
    let scene = picture(vertex, fragment, Samples::One);
    each_pixel(|x, y| {
        let (_, persp, _) = weights(f64::from(x) + 0.5, f64::from(y) + 0.5);
        let value = combine(persp);
        let factor = f64::from(x % 3 + 1);
        close(
            &scene.floats(0, x, y, 0),
            [value[0] * factor, value[2] * factor, 0.0, 5.0],
            "parts",
        );
    });
}

#[test]
fn the_fragments_coordinates() {
    let fragment = "layout(location = 0) out vec4 o; void main() { o = gl_FragCoord; }";
    let scene = picture(&vertex("smooth"), fragment, Samples::One);
    each_pixel(|x, y| {
        let place = [f64::from(x) + 0.5, f64::from(y) + 0.5];
        let (linear, _, over_w) = weights(place[0], place[1]);
        let z = (0..3)
            .map(|i| linear[i] * CORNERS[i][2] / CORNERS[i][3])
            .sum();
        close(
            &scene.floats(0, x, y, 0),
            [place[0], place[1], z, over_w],
            "gl_FragCoord",
        );
    });
}

#[test]
fn derivatives() {
    let fragment = "layout(location = 0) out vec4 o;
        void main() {
            vec2 p = gl_FragCoord.xy;
            float f = p.x * 3.0 - p.y * 5.0;
            o = vec4(dFdx(f), dFdyFine(f), fwidthCoarse(f), dFdx(p.x * p.x));
        }";
    let scene = picture(&vertex("smooth"), fragment, Samples::One);
    each_pixel(|x, y| {
        let left = f64::from(x & !1) + 0.5;
        let square = (left + 1.0).powi(2) - left.powi(2);
        close(
            &scene.floats(0, x, y, 0),
            [3.0, -5.0, 8.0, square],
            "derivatives",
        );
    });
}

#[test]
fn builtins() {
    let fragment = "layout(location = 0) out vec4 o;
        void main() {
            o = vec4(gl_FrontFacing ? 1 : 2, gl_PrimitiveID + 3, gl_SampleMaskIn[0], gl_HelperInvocation ? 1 : 0);
        }";
    let scene = picture(&vertex("smooth"), fragment, Samples::One);
    each_pixel(|x, y| {
        let got = scene.floats(0, x, y, 0);
        assert!(got[0] == 1.0 || got[0] == 2.0);
        assert_eq!(got[1..], [3.0, 1.0, 0.0]);
    });
}

/// Standard places of samples.
fn sample_place(samples: Samples, sample: usize) -> [f64; 2] {
    match samples {
        Samples::One => [0.5, 0.5],
        Samples::Two => [[0.75, 0.75], [0.25, 0.25]][sample],
        Samples::Four => [
            [0.375, 0.125],
            [0.875, 0.375],
            [0.125, 0.625],
            [0.625, 0.875],
        ][sample],
    }
}

#[test]
fn every_sample_has_its_own_place() {
    let fragment = "layout(location = 3) sample in vec4 v; layout(location = 0) out vec4 o;
        void main() { o = vec4(v.xyz, gl_FragCoord.x * 64.0 + gl_FragCoord.y + gl_SampleID * 4096.0
            + (gl_SamplePosition.x - gl_SamplePosition.y) * 0.0); }";
    for samples in [Samples::One, Samples::Two, Samples::Four] {
        let scene = picture(&vertex("sample"), fragment, samples);
        each_pixel(|x, y| {
            for sample in 0..count(samples) as usize {
                let inside = sample_place(samples, sample);
                let place = [f64::from(x) + inside[0], f64::from(y) + inside[1]];
                let (_, persp, _) = weights(place[0], place[1]);
                let v = combine(persp);
                let last = place[0] * 64.0 + place[1] + sample as f64 * 4096.0;
                close(
                    &scene.floats(0, x, y, sample as u8),
                    [v[0], v[1], v[2], last],
                    "sample",
                );
            }
        });
    }
}

#[test]
fn interpolation_where_the_shader_says() {
    let fragment = "layout(location = 3) in vec4 v; layout(location = 0) out vec4 o;
        void main() {
            int s = int(gl_FragCoord.x) & 3;
            vec2 off = vec2(0.25, -0.375);
            o = vec4(interpolateAtSample(v, s).x, interpolateAtOffset(v, off).yw, interpolateAtCentroid(v).z);
        }";
    let scene = picture(&vertex("smooth"), fragment, Samples::Four);
    each_pixel(|x, y| {
        let centre = [f64::from(x) + 0.5, f64::from(y) + 0.5];
        let inside = sample_place(Samples::Four, (x & 3) as usize);
        let at = |x, y| combine(weights(x, y).1);
        let sample = at(f64::from(x) + inside[0], f64::from(y) + inside[1]);
        let offset = at(centre[0] + 0.25, centre[1] - 0.375);
        // All samples are covered: the centroid is the centre.
        let centroid = at(centre[0], centre[1]);
        let expected = [sample[0], offset[1], offset[3], centroid[2]];
        close(&scene.floats(0, x, y, 0), expected, "interpolateAt");
    });
}

#[test]
fn quads_and_subgroups() {
    let fragment = "
        #extension GL_KHR_shader_subgroup_quad : require
        layout(location = 0) out vec4 o;
        void main() {
            vec2 p = gl_FragCoord.xy;
            o = vec4(subgroupQuadSwapHorizontal(p.x), subgroupQuadSwapVertical(p.y),
                     subgroupQuadBroadcast(p.x, 1), subgroupQuadSwapDiagonal(p.x + 100.0 * p.y));
        }";
    let fragment = fragment.trim_start();
    let mut scene = Scene::new(SIZE, Samples::One, &[format("R32G32B32A32_SFLOAT")], [0; 4]);
    scene.draw(&Draw::new(COVER, fragment), |_| {});
    scene.render();
    each_pixel(|x, y| {
        let centre = |v: u32| f64::from(v) + 0.5;
        let expected = [
            centre(x ^ 1),
            centre(y ^ 1),
            centre(x | 1),
            centre(x ^ 1) + 100.0 * centre(y ^ 1),
        ];
        close(&scene.floats(0, x, y, 0), expected, "quads");
    });
}
