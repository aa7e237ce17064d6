// SPDX-License-Identifier: MIT
//! The cube-map helper against the definition of cube maps: the chosen face's plane, scaled to the
//! unit cube, must hold the direction.

use agx_sim::shader::Lanes;
use proptest::prelude::*;

mod support;
use support::{Rig, stopped};

fn run(line: &str, direction: [Lanes; 3]) -> [Lanes; 2] {
    Rig::new(line).run(
        |wave| {
            wave.gprs[1].0.fill(0xabcd_0000);
            wave.gprs[6..9].copy_from_slice(&direction);
        },
        |wave, exit| {
            stopped(exit);
            [wave.gprs[0], wave.gprs[1]]
        },
    )
}

/// The direction that (s, t) in [-1, 1] means on a face (Vulkan, "Cube Map Face Selection", solved for
/// the direction).
fn direction(face: u32, s: f64, t: f64) -> [f64; 3] {
    match face {
        0 => [1.0, -t, -s],
        1 => [-1.0, -t, s],
        2 => [s, 1.0, t],
        3 => [s, -1.0, -t],
        4 => [s, -t, 1.0],
        _ => [-s, -t, -1.0],
    }
}

proptest! {
    #[test]
    fn the_face_holds_the_direction(
        v in proptest::collection::vec((-8.0f32..8.0, -8.0f32..8.0, -8.0f32..8.0), 32)
    ) {
        let column = |f: fn(&(f32, f32, f32)) -> f32| Lanes::from_fn(|lane| f(&v[lane]).to_bits());
        let inputs = [column(|c| c.0), column(|c| c.1), column(|c| c.2)];
        let [major, face] = run("cube_face r0, r6, r7, r8", inputs);
        let [s, _] = run("cube_s r0, r6, r7, r8", inputs);
        let [t, _] = run("cube_t r0, r6, r7, r8", inputs);
        for (lane, (x, y, z)) in v.into_iter().enumerate() {
            let [m, s, t] = [major, s, t].map(|r| f64::from(f32::from_bits(r.0[lane])));
            prop_assert_eq!(face.0[lane] >> 16, 0xabcd, "the high half stays");
            let face = face.0[lane] & 0xffff;
            prop_assert!(face < 6 && m > 0.0 && s.abs() * 2.0 <= m && t.abs() * 2.0 <= m);
            // s and t are half the numerators.
            let back = direction(face, 2.0 * s / m, 2.0 * t / m).map(|c| c * m);
            for (a, b) in back.into_iter().zip([x, y, z]) {
                prop_assert!((a - f64::from(b)).abs() <= 1e-5 * m, "{back:?} {x} {y} {z}");
            }
        }
    }
}

#[test]
fn ties_prefer_x_then_y() {
    for (v, expected) in [
        ([1.0f32, 1.0, 0.0], 0),
        ([-1.0, 1.0, -1.0], 1),
        ([0.0, -1.0, 1.0], 3),
        ([0.0, 0.0, -0.5], 5),
        ([0.0, 0.0, 0.0], 0),
        ([f32::NAN, 0.5, 0.25], 2),
    ] {
        let inputs = v.map(|c| Lanes::splat(c.to_bits()));
        let [_, face] = run("cube_face r0, r6, r7, r8", inputs);
        assert_eq!(face.0[5] & 0xffff, expected, "{v:?}");
    }
}
