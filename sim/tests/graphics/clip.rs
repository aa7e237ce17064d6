// SPDX-License-Identifier: MIT
//! Clipping, culling, and positions that are no good.

use agx_hw::format::Format;
use agx_hw::launcher::Samples;
use agx_hw::ppp::PassType;

use crate::depth::{cover, draw_of};
use crate::reference::Corner;
use crate::shaders;
use crate::studio::{Studio, gpu};
use crate::triangles::{Random, SIZE, corner};

/// How often each pixel is drawn.
fn counts(corners: &[Corner], change: impl FnOnce(&mut crate::studio::Setup)) -> Vec<u32> {
    let mut studio = Studio::new(SIZE, Samples::One, 4);
    let image = studio.image(Format::from_name("R32_UINT").unwrap());
    studio.tile_programs(&[0], &[(&image, 0)]);
    let fragment = shaders::counting(&mut studio, 1);
    let mut setup = draw_of(&mut studio, corners, fragment);
    setup.control2.pass = PassType::Translucent;
    change(&mut setup);
    studio.draw(&setup);
    studio
        .render(&gpu(1))
        .unwrap_or_else(|fault| panic!("{fault}"));
    (0..u32::from(SIZE[1]))
        .flat_map(|y| (0..u32::from(SIZE[0])).map(move |x| (x, y)))
        .map(|(x, y)| studio.pixel(&image, x, y))
        .collect()
}

/// What of a point of the window comes from each corner, in clip space: the corners' weighted sum is the
/// point with w = 1. `None` for a triangle without area.
fn weights(corners: &[Corner], x: f64, y: f64) -> Option<[f64; 3]> {
    let row = |axis: usize| [0, 1, 2].map(|i| corners[i].position[axis]);
    let m = [row(0), row(1), row(3)];
    let det = |m: [[f64; 3]; 3]| {
        m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
            - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
            + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
    };
    let whole = det(m);
    let right = [x, y, 1.0];
    (whole != 0.0).then(|| {
        [0, 1, 2].map(|column| {
            let mut m = m;
            for (row, value) in m.iter_mut().zip(right) {
                row[column] = value;
            }
            det(m) / whole
        })
    })
}

/// Smallest distance from inside, over the conditions; negative outside.
fn margin(corners: &[Corner], x: f64, y: f64, distances: Option<[f64; 3]>) -> f64 {
    let Some(weights) = weights(corners, x, y) else {
        return -1.0;
    };
    let sum = |value: &dyn Fn(usize) -> f64| -> f64 { (0..3).map(|i| weights[i] * value(i)).sum() };
    let depth = sum(&|i| corners[i].position[2]);
    let mut least = weights.into_iter().fold(f64::INFINITY, f64::min);
    least = least.min(depth).min(1.0 - depth);
    if let Some(distances) = distances {
        least = least.min(sum(&|i| distances[i]));
    }
    least
}

fn ndc(x: u32, y: u32) -> [f64; 2] {
    [
        (f64::from(x) + 0.5) / f64::from(SIZE[0]) * 2.0 - 1.0,
        (f64::from(y) + 0.5) / f64::from(SIZE[1]) * 2.0 - 1.0,
    ]
}

#[test]
fn near_and_far_planes_cut_triangles() {
    let mut random = Random(77);
    let mut looked_at = 0;
    for round in 0..40 {
        // Corners on all sides of both planes, and behind the eye.
        let corners: Vec<Corner> = (0..3)
            .map(|_| {
                let w = 2.0 * random.signed();
                let z = 0.5 + 1.5 * random.signed();
                corner(
                    [2.0 * random.signed(), 2.0 * random.signed(), z, w],
                    [0.0; 4],
                )
            })
            .collect();
        let counts = counts(&corners, |_| {});
        for y in 0..u32::from(SIZE[1]) {
            for x in 0..u32::from(SIZE[0]) {
                let found = counts[(y * u32::from(SIZE[0]) + x) as usize];
                assert!(found <= 1, "round {round}: {x} {y} drawn {found} times");
                let [px, py] = ndc(x, y);
                let margin = margin(&corners, px, py, None);
                // Rounding to 1/256 pixel may decide closer ones.
                if margin.abs() > 0.02 {
                    looked_at += 1;
                    assert_eq!(found == 1, margin > 0.0, "round {round}: {x} {y} {margin}");
                }
            }
        }
    }
    assert!(looked_at > 10_000);
}

#[test]
fn clip_distances_cut_triangles() {
    let mut random = Random(78);
    for round in 0..10 {
        let mut corners = cover(0.5, [0.0; 4]);
        for corner in &mut corners {
            // The last word is the distance.
            corner.attributes[3] = f64::from(random.signed() as f32);
        }
        let distances = corners.map(|corner| corner.attributes[3]);
        let counts = counts(&corners, |setup| {
            setup.layout.scalars = 3;
            setup.layout.clip_distances = 1;
            setup.interpolation.truncate(3);
        });
        for y in 0..u32::from(SIZE[1]) {
            for x in 0..u32::from(SIZE[0]) {
                let [px, py] = ndc(x, y);
                let margin = margin(&corners, px, py, Some(distances));
                let found = counts[(y * u32::from(SIZE[0]) + x) as usize];
                if margin.abs() > 0.01 {
                    assert_eq!(found == 1, margin > 0.0, "round {round}: {x} {y} {margin}");
                }
            }
        }
    }
}

#[test]
fn a_fan_across_the_near_plane_has_no_seams() {
    // A ground plane around the eye: triangles that share edges which the near plane cuts.
    let mut random = Random(79);
    let mut corners = Vec::new();
    let ring: Vec<[f64; 2]> = (0..24)
        .map(|i| {
            let angle = f64::from(i) / 24.0 * std::f64::consts::TAU;
            let reach = 30.0 + 10.0 * random.signed();
            [reach * angle.cos(), reach * angle.sin()]
        })
        .collect();
    let point = |[x, z]: [f64; 2]| corner([x, 1.0, 0.9 * z - 0.1, z], [0.0; 4]);
    for i in 0..ring.len() {
        corners.extend([
            point([0.1, 0.3]),
            point(ring[i]),
            point(ring[(i + 1) % ring.len()]),
        ]);
    }
    let counts = counts(&corners, |_| {});
    for y in 0..u32::from(SIZE[1]) {
        for x in 0..u32::from(SIZE[0]) {
            let found = counts[(y * u32::from(SIZE[0]) + x) as usize];
            assert!(found <= 1, "{x} {y} drawn {found} times");
            // The ground is seen below the horizon, which the far ring stands a little under.
            let [_, py] = ndc(x, y);
            if py > 0.08 {
                assert_eq!(found, 1, "{x} {y}");
            }
            if py < 0.0 {
                assert_eq!(found, 0, "{x} {y}");
            }
        }
    }
}

#[test]
fn culling_looks_at_the_window() {
    for reversed in [false, true] {
        for counter_clockwise in [false, true] {
            for (front, back) in [(false, false), (true, false), (false, true), (true, true)] {
                // In the window, with y down, (-1, -1), (3, -1), (-1, 3) go around clockwise.
                let mut corners = cover(0.5, [0.0; 4]);
                if reversed {
                    corners.swap(1, 2);
                }
                let counts = counts(&corners, |setup| {
                    setup.cull.front = front;
                    setup.cull.back = back;
                    setup.cull.front_counter_clockwise = counter_clockwise;
                });
                let is_front = reversed == counter_clockwise;
                let drawn = !(if is_front { front } else { back });
                assert!(counts.iter().all(|&n| n == u32::from(drawn)));
            }
        }
    }
}

#[test]
fn positions_that_draw_nothing() {
    let nan = f64::NAN;
    let infinity = f64::INFINITY;
    for (what, positions) in [
        (
            "not a number",
            [
                [nan, 0.0, 0.5, 1.0],
                [3.0, -1.0, 0.5, 1.0],
                [-1.0, 3.0, 0.5, 1.0],
            ],
        ),
        (
            "w not a number",
            [
                [0.0, 0.0, 0.5, nan],
                [3.0, -1.0, 0.5, 1.0],
                [-1.0, 3.0, 0.5, 1.0],
            ],
        ),
        (
            "infinite",
            [
                [infinity, 0.0, 0.5, 1.0],
                [3.0, -1.0, 0.5, 1.0],
                [-1.0, 3.0, 0.5, 1.0],
            ],
        ),
        (
            "no area",
            [
                [-1.0, -1.0, 0.5, 1.0],
                [0.0, 0.0, 0.5, 1.0],
                [1.0, 1.0, 0.5, 1.0],
            ],
        ),
        ("one point", [[0.0, 0.0, 0.5, 1.0]; 3]),
        (
            "w zero",
            [
                [-1.0, -1.0, 0.0, 0.0],
                [3.0, -1.0, 0.0, 0.0],
                [-1.0, 3.0, 0.0, 0.0],
            ],
        ),
        (
            "behind the eye",
            [
                [1.0, 1.0, -0.5, -1.0],
                [-3.0, 1.0, -0.5, -1.0],
                [1.0, -3.0, -0.5, -1.0],
            ],
        ),
        (
            "beside the window",
            [
                [2.0, 0.0, 0.5, 1.0],
                [9.0, 0.0, 0.5, 1.0],
                [2.0, 9.0, 0.5, 1.0],
            ],
        ),
    ] {
        let corners = positions.map(|position| corner(position, [0.0; 4]));
        let counts = counts(&corners, |_| {});
        assert!(counts.iter().all(|&n| n == 0), "{what}");
    }
}

#[test]
fn huge_triangles_cover_everything() {
    for size in [1e3, 1e6, 1e9, 1e30] {
        let corners = [[-size, -size], [3.0 * size, -size], [-size, 3.0 * size]]
            .map(|[x, y]| corner([x, y, 0.5, 1.0], [0.0; 4]));
        let counts = counts(&corners, |_| {});
        assert!(counts.iter().all(|&n| n == 1), "{size}");
    }
}
