// SPDX-License-Identifier: MIT
//! fp16 arithmetic against exact integer arithmetic, and measured vectors.

use agx_isa::FormId;
use agx_sim::shader::Lanes;
use agx_sim::shader::alu::half::{narrow, narrow_f64, widen};
use proptest::prelude::*;

mod numeric;
mod support;
use numeric::{half_from, half_parts, half_value, line, round_half};

const NAN: u32 = 0x7e00;

/// Sign and magnitude in units of 2^-60.
fn exact(half: u32) -> Option<(bool, u128)> {
    half_parts(half).map(|(sign, magnitude)| (sign, magnitude << 36))
}

fn is_nan(half: u32) -> bool {
    half & 0x7fff > 0x7c00
}

fn is_infinite(half: u32) -> bool {
    half & 0x7fff == 0x7c00
}

/// The sum of two exact values; a zero sum is +0 unless both are negative zeros.
fn sum(a: (bool, u128), b: (bool, u128)) -> u32 {
    let signed = |(negative, magnitude): (bool, u128)| {
        let value = magnitude as i128;
        if negative { -value } else { value }
    };
    let total = signed(a) + signed(b);
    let negative = total < 0 || total == 0 && a.0 && b.0;
    round_half(negative, total.unsigned_abs())
}

fn model_add(a: u32, b: u32) -> u32 {
    match (exact(a), exact(b)) {
        _ if is_nan(a) || is_nan(b) => NAN,
        (Some(a), Some(b)) => sum(a, b),
        (None, None) if a != b => NAN,
        (None, _) => a,
        (_, None) => b,
    }
}

/// a * b as sign and magnitude in units of 2^-60, exactly; or the special result.
fn product(a: u32, b: u32) -> Result<(bool, u128), u32> {
    let negative = (a ^ b) >> 15 & 1 == 1;
    if is_nan(a) || is_nan(b) {
        return Err(NAN);
    }
    match (half_parts(a), half_parts(b)) {
        (Some((_, x)), Some((_, y))) => Ok((negative, (x * y) << 12)),
        // Infinity times zero.
        _ if a & 0x7fff == 0 || b & 0x7fff == 0 => Err(NAN),
        _ => Err(u32::from(negative) << 15 | 0x7c00),
    }
}

fn model_mul(a: u32, b: u32) -> u32 {
    match product(a, b) {
        Ok((negative, magnitude)) => round_half(negative, magnitude),
        Err(special) => special,
    }
}

fn model_fma(a: u32, b: u32, c: u32) -> u32 {
    match product(a, b) {
        _ if is_nan(c) => NAN,
        Err(special) => model_add(special, c),
        Ok(product) => match exact(c) {
            Some(c) => sum(product, c),
            None => c,
        },
    }
}

/// fp32 times fp16: significands as integers.
fn model_mul_mix(a: u32, b: u32) -> u32 {
    let a = f32::from_bits(a);
    let a = if a.is_subnormal() {
        0f32.copysign(a)
    } else {
        a
    };
    let negative = a.is_sign_negative() ^ (b >> 15 & 1 == 1);
    let infinity = u32::from(negative) << 15 | 0x7c00;
    if a.is_nan() || is_nan(b) || a.is_infinite() && b & 0x7fff == 0 || a == 0.0 && is_infinite(b) {
        return NAN;
    }
    if a.is_infinite() || is_infinite(b) {
        return infinity;
    }
    if a == 0.0 {
        return u32::from(negative) << 15;
    }
    let bits = a.to_bits();
    let significand = u128::from(bits & 0x007f_ffff | 0x0080_0000);
    let exponent = (bits >> 23 & 255) as i32 - 127 - 23;
    let (_, magnitude) = half_parts(b).unwrap();
    // In units of 2^(exponent - 24), to be brought to 2^-60.
    let product = significand * magnitude;
    match exponent - 24 + 60 {
        _ if product == 0 => u32::from(negative) << 15,
        up @ 0.. if up > 60 => infinity,
        up @ 0.. => round_half(negative, product << up),
        down => {
            let down = -down as u32;
            let (kept, lost) = if down < 128 {
                (product >> down, product & ((1 << down) - 1) != 0)
            } else {
                (0, true)
            };
            round_half(negative, kept | u128::from(lost))
        }
    }
}

fn half() -> impl Strategy<Value = u32> {
    prop_oneof![
        0u32..0x1_0000,
        // Around 1, subnormals, the largest, specials.
        0x3b00u32..0x3d00,
        0u32..0x0800,
        0x7b00u32..0x7d00,
        proptest::sample::select(vec![0, 0x8000, 1, 0x8001, 0x7bff, 0xfbff, 0x7c00, 0xfc00]),
    ]
}

fn single() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        (-2.0f32..2.0).prop_map(f32::to_bits),
        (-1e-6f32..1e-6).prop_map(f32::to_bits),
        (-1e5f32..1e5).prop_map(f32::to_bits),
        // Close to the middle between two fp16.
        (half(), -3i32..4)
            .prop_map(|(h, off)| { widen(h).wrapping_add(1 << 12).wrapping_add_signed(off) }),
        proptest::sample::select(vec![0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 1, 0x8000_0000]),
    ]
}

fn list(strategy: impl Strategy<Value = u32>) -> impl Strategy<Value = Vec<u32>> {
    proptest::collection::vec(strategy, 32)
}

#[test]
fn widening_is_exact_and_narrowing_its_inverse() {
    for half in 0..0x1_0000 {
        let wide = widen(half);
        let value = half_value(half);
        if value.is_nan() {
            assert_eq!(wide, 0x7fc0_0000);
            assert_eq!(narrow(wide), NAN);
        } else {
            let expected = (value as f32).to_bits();
            assert_eq!(wide, expected, "{half:#06x}");
            assert_eq!(narrow(wide), half);
        }
        // The upper half of the word plays no part.
        assert_eq!(widen(half | 0xabcd_0000), wide);
    }
}

#[test]
fn narrowing_rounds_to_nearest_even() {
    // Around every fp16 and every middle between two of them.
    for half in 0..0x7c00u32 {
        for centre in [widen(half), (widen(half) + widen(half + 1)) / 2] {
            for off in -2..=2 {
                let bits = centre.wrapping_add_signed(off);
                if bits >> 31 == 1 {
                    continue;
                }
                let value = f64::from(f32::from_bits(bits));
                assert_eq!(narrow(bits), half_from(value), "{bits:#010x}");
                assert_eq!(narrow(bits | 1 << 31), half_from(-value), "{bits:#010x}");
            }
        }
    }
    // The middle between the largest fp16 and 2^16 is infinite.
    assert_eq!(narrow(65520f32.to_bits()), 0x7c00);
    assert_eq!(narrow(65519.996f32.to_bits()), 0x7bff);
}

#[test]
fn every_sum_and_product_with_some_operands() {
    let partners = [
        0, 0x8000, 1, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc01, 0x3bff, 0x4248, 0x7bff, 0xfbff,
        0x7c00, 0xfc00, 0x7e00, 0x7c01, 0x1234, 0xa987,
    ];
    let all: Vec<u32> = (0..0x1_0000).collect();
    for b in partners {
        let same = vec![b; all.len()];
        let sums = line("hadd.6 r3.l, r4.l, -r5.h", &[all.clone(), same.clone()]);
        let products = line("hmul.6 r3.h, r4.h, r5.l", &[all.clone(), same]);
        for &a in &all {
            let i = a as usize;
            assert_eq!(sums[i], model_add(a, b ^ 0x8000), "{a:#06x} - {b:#06x}");
            assert_eq!(products[i], model_mul(a, b), "{a:#06x} * {b:#06x}");
        }
    }
}

proptest! {
    #[test]
    fn two_and_three_operands(a in list(half()), b in list(half()), c in list(half())) {
        let sums = line("hadd.4 r63.h, r1.h, r2.l", &[a.clone(), b.clone()]);
        let products = line("hmul.4 r3.l, r1.h, r2.l", &[a.clone(), b.clone()]);
        let fused = line("hfma r95.l, r64.h, r80.l, r94.l", &[a.clone(), b.clone(), c.clone()]);
        for i in 0..32 {
            prop_assert_eq!(sums[i], model_add(a[i], b[i]));
            prop_assert_eq!(products[i], model_mul(a[i], b[i]));
            prop_assert_eq!(fused[i], model_fma(a[i], b[i], c[i]), "{:x} {:x} {:x}", a[i], b[i], c[i]);
        }
    }

    /// Products that are almost half a unit of the addend: fp32 alone would make ties of the sums.
    #[test]
    fn fused_near_ties(
        a in list(0x3c00u32..0x4000),
        c in list(0x3000u32..0x7b00),
        negative in any::<[u32; 2]>(),
    ) {
        let flip = |half: u32, which: usize, i: usize| half | (negative[which] >> i & 1) << 15;
        let b: Vec<u32> = (0..32)
            .map(|i| {
                let unit = half_value(c[i] + 1) - half_value(c[i]);
                flip(half_from(unit / 2.0 / half_value(a[i])), 0, i)
            })
            .collect();
        let c: Vec<u32> = (0..32).map(|i| flip(c[i], 1, i)).collect();
        let fused = line("hfma r3.h, r1.l, r2.l, r4.l", &[a.clone(), b.clone(), c.clone()]);
        for i in 0..32 {
            prop_assert_eq!(fused[i], model_fma(a[i], b[i], c[i]), "{:x} {:x} {:x}", a[i], b[i], c[i]);
        }
    }

    /// Products close to the middle between two fp16.
    #[test]
    fn mixed_near_ties(
        b in list(0x0001u32..0x7c00),
        target in list(0x0000u32..0x7bff),
        off in proptest::collection::vec(-3i32..=3, 32),
    ) {
        let a: Vec<u32> = (0..32)
            .map(|i| {
                let middle = (half_value(target[i]) + half_value(target[i] + 1)) / 2.0;
                ((middle / half_value(b[i])) as f32).to_bits().wrapping_add_signed(off[i])
            })
            .collect();
        let products = line("hmul_mix r95.l, r1, r2.l", &[a.clone(), b.clone()]);
        for i in 0..32 {
            prop_assert_eq!(products[i], model_mul_mix(a[i], b[i]), "{:x} {:x}", a[i], b[i]);
        }
    }

    #[test]
    fn mixed_product(a in list(single()), b in list(half())) {
        let products = line("hmul_mix r95.l, r1, r2.l", &[a.clone(), b.clone()]);
        for i in 0..32 {
            prop_assert_eq!(products[i], model_mul_mix(a[i], b[i]), "{:x} {:x}", a[i], b[i]);
        }
    }

    #[test]
    fn narrowing_fp64(bits in any::<u64>(), half in half(), off in -2i64..=2) {
        let near = (half_value(half) * (1.0 + 2f64.powi(-12))).to_bits().wrapping_add_signed(off);
        for value in [f64::from_bits(bits), f64::from_bits(near)] {
            prop_assert_eq!(narrow_f64(value), half_from(value), "{}", value);
        }
    }
}

/// (1 + 2^-10)(1 - 2^-10) is a little less than 1, which is half a unit of 2050. An fp32 sum would be
/// the tie 2051 and round to 2052.
#[test]
fn fused_rounds_once() {
    let inputs = [vec![0x3c01, 0xbc01], vec![0x3bfe; 2], vec![0x6801, 0xe801]];
    let results = line("hfma r3.l, r1.l, r2.l, r4.l", &inputs);
    assert_eq!(results, [0x6801, 0xe801]);
}

#[test]
fn one_half_is_written_in_active_lanes() {
    let forms = [FormId::H2_4, FormId::H2_6, FormId::HFma8, FormId::HMulMix];
    let executed = numeric::executes_anything(&forms, 2000);
    assert!(executed > 500, "{executed}");
    // The destination may be a source, and its other half stays.
    let mut registers = numeric::registers();
    registers[1] = Lanes::splat(0x4000_3c00);
    numeric::execute(&numeric::code("hadd.6 r1.l, r1.l, r1.h"), &mut registers);
    assert_eq!(registers[1], Lanes::splat(0x4000_4200));
}

#[test]
fn vectors() {
    let mut kernels = 0;
    let mut sources = 0;
    for record in numeric::records(&["half_alu"]) {
        if record["form"] == "kernel" {
            numeric::kernel(&record);
            kernels += 1;
            continue;
        }
        // Two lanes each: one instruction for each of them.
        let inputs = &record["inputs"];
        let column = |name: &str, i: usize| -> Vec<u32> {
            let pairs = inputs[name].as_array().unwrap();
            pairs.iter().map(|pair| numeric::word(&pair[i])).collect()
        };
        for i in 0..2 {
            let (a, b) = (column("a", i), column("b", i));
            let actual = match record["op"].as_str().unwrap() {
                "hmul_x2" => line("hmul.6 r0.h, r1.h, r2.h", &[a, b]),
                "hfma_x2" => line("hfma r0.h, r1.h, r2.h, r3.l", &[a, b, column("c", i)]),
                other => panic!("{other}"),
            };
            let expected = record["expected"].as_array().unwrap();
            for (actual, expected) in actual.iter().zip(expected) {
                assert_eq!(*actual, numeric::word(&expected[i]), "{}", record["id"]);
            }
        }
        sources += 1;
    }
    assert_eq!((kernels, sources), (3, 2));
}
