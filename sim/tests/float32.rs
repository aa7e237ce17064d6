// SPDX-License-Identifier: MIT
//! fp32 arithmetic against an f64 model of isa-4, 11.2.

use agx_sim::shader::Lanes;
use proptest::prelude::*;

mod support;
use support::{Rig, stopped};

/// Subnormals read as signed zero.
fn input(bits: u32) -> f64 {
    let value = f32::from_bits(bits);
    if value.is_subnormal() {
        f64::from(0.0f32.copysign(value))
    } else {
        f64::from(value)
    }
}

/// A result rounded once from `f64`, flushed, NaN canonical.
fn output(value: f32) -> u32 {
    if value.is_nan() {
        0x7fc0_0000
    } else if value.is_subnormal() {
        value.to_bits() & 0x8000_0000
    } else {
        value.to_bits()
    }
}

fn saturated(value: f32) -> u32 {
    let value = f32::from_bits(output(value));
    if value.is_nan() {
        return 0;
    }
    // Adding zero turns -0 into +0.
    (value.clamp(0.0, 1.0) + 0.0).to_bits()
}

/// fp32 patterns with many special ones.
fn pattern() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        any::<f32>().prop_map(f32::to_bits),
        (-4.0f32..4.0).prop_map(f32::to_bits),
        proptest::sample::select(vec![
            0,
            0x8000_0000,
            1,
            0x8000_0001,
            0x007f_ffff,
            0x807f_ffff,
            0x0080_0000,
            0x8080_0000,
            0x3f80_0000,
            0xbf80_0000,
            0x7f7f_ffff,
            0xff7f_ffff,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            0xffc0_0000,
            0x7f80_0001,
            0xffff_ffff,
        ]),
    ]
}

fn lanes() -> impl Strategy<Value = Lanes> {
    proptest::collection::vec(pattern(), 32).prop_map(|v| Lanes(v.try_into().unwrap()))
}

/// Runs one line with r1, r2, r3 and answers r0.
fn run(line: &str, sources: [Lanes; 3]) -> Lanes {
    Rig::new(line).run(
        |wave| wave.gprs[1..4].copy_from_slice(&sources),
        |wave, exit| {
            stopped(exit);
            wave.gprs[0]
        },
    )
}

proptest! {
    #[test]
    fn add_and_multiply(a in lanes(), b in lanes()) {
        let sum = run("fadd.6 r0, r1, r2", [a, b, a]);
        let difference = run("fadd.6 r0, r1, -r2", [a, b, a]);
        let product = run("fmul.6 r0, r1, r2", [a, b, a]);
        let clamped = run("fadd.8 r0, -r1, r2, sat=1", [a, b, a]);
        let absolute = run("fmul.12 r0, |r1|, -|r2|", [a, b, a]);
        for lane in 0..32 {
            // A sum or product of two fp32 is exact in f64 or so far from a rounding boundary of fp32
            // that rounding twice is rounding once (53 >= 2 * 24 + 2).
            let (x, y) = (input(a.0[lane]), input(b.0[lane]));
            prop_assert_eq!(sum.0[lane], output((x + y) as f32));
            prop_assert_eq!(difference.0[lane], output((x - y) as f32));
            prop_assert_eq!(product.0[lane], output((x * y) as f32));
            prop_assert_eq!(clamped.0[lane], saturated((y - x) as f32));
            prop_assert_eq!(absolute.0[lane], output((x.abs() * -y.abs()) as f32));
        }
    }

    #[test]
    fn fused_multiply_add(a in lanes(), b in lanes(), c in lanes()) {
        let plain = run("fma.8 r0, r1, r2, r3", [a, b, c]);
        let negated = run("fma.12 r0, |r1|, r2, -|r3|, negP=1", [a, b, c]);
        for lane in 0..32 {
            let [x, y, z] = [a, b, c].map(|v| input(v.0[lane]) as f32);
            prop_assert_eq!(plain.0[lane], output(x.mul_add(y, z)));
            prop_assert_eq!(negated.0[lane], output((-x.abs()).mul_add(y, -z.abs())));
        }
    }
}

#[test]
fn inactive_lanes_keep_their_registers() {
    let mut rig = Rig::new("fadd.6 r0, r1, r2");
    rig.active = 0x0f0f_00f1;
    rig.run(
        |wave| {
            wave.gprs[0] = Lanes::splat(7);
            wave.gprs[1] = Lanes::splat(1.5f32.to_bits());
            wave.gprs[2] = Lanes::splat(2.0f32.to_bits());
        },
        |wave, exit| {
            stopped(exit);
            for lane in 0..32 {
                let expected = if 0x0f0f_00f1u32 >> lane & 1 == 1 {
                    3.5f32.to_bits()
                } else {
                    7
                };
                assert_eq!(wave.gprs[0].0[lane], expected, "lane {lane}");
            }
        },
    );
}
