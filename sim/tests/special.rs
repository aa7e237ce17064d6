// SPDX-License-Identifier: MIT
//! Special functions against the host's fp64 functions, exact integer arithmetic and measured vectors.

use agx_isa::FormId;
use proptest::prelude::*;

mod numeric;
mod support;
use numeric::{half_from, half_value, line, sweep};

const NAN: u32 = 0x7fc0_0000;

/// What a function is, with the host's library.
type Model = fn(f64) -> f64;

fn rsqrt(x: f64) -> f64 {
    1.0 / x.sqrt()
}

fn sqrt_factor(x: f64) -> f64 {
    if x == 0.0 || x == f64::INFINITY {
        1.0
    } else {
        rsqrt(x)
    }
}

fn log2(x: f64) -> f64 {
    // Of -0, too.
    if x == 0.0 {
        f64::NEG_INFINITY
    } else {
        x.log2()
    }
}

fn sin_factor(x: f64) -> f64 {
    if x == 0.0 {
        std::f64::consts::FRAC_PI_2
    } else if x.abs() <= 1.0 {
        (x * std::f64::consts::FRAC_PI_2).sin() / x
    } else {
        f64::NAN
    }
}

/// Functions that round, with what the host's library makes of them.
const FUNCTIONS: [(&str, Model); 7] = [
    ("rcp", |x| 1.0 / x),
    ("rsqrt", rsqrt),
    ("rsqrt_fn3", rsqrt),
    ("exp2", f64::exp2),
    ("log2", log2),
    ("sqrt_factor", sqrt_factor),
    ("sin_factor", sin_factor),
];

const ROUNDING: [(&str, Model); 4] = [
    ("round_even", f64::round_ties_even),
    ("floor", f64::floor),
    ("ceil", f64::ceil),
    ("trunc", f64::trunc),
];

fn flushed(value: f32) -> f32 {
    if value.is_subnormal() {
        0f32.copysign(value)
    } else {
        value
    }
}

fn canonical(value: f32) -> u32 {
    if value.is_nan() {
        NAN
    } else {
        flushed(value).to_bits()
    }
}

fn saturated(bits: u32) -> u32 {
    let value = f32::from_bits(bits);
    if value.is_nan() || value <= 0.0 {
        0
    } else {
        value.min(1.0).to_bits()
    }
}

/// Is `result` the fp32 next to `exact`? The host's function may itself be off by a little, so that of
/// two candidates at nearly the same distance either will do.
fn nearest(result: u32, exact: f64) -> bool {
    let candidate = canonical(exact as f32);
    let off = |bits: u32| (f64::from(f32::from_bits(bits)) - exact).abs();
    result == candidate || off(result) <= off(candidate) * (1.0 + 1e-6)
}

fn single() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        (-1.0f32..=1.0).prop_map(f32::to_bits),
        (-200.0f32..200.0).prop_map(f32::to_bits),
        // Around 1, where the logarithm is near 0.
        (0x3f7f_f000u32..0x3f80_1000),
        // Around powers of two and integers.
        (1u32..255, -2i32..=2, any::<bool>())
            .prop_map(|(e, off, s)| ((e << 23).wrapping_add_signed(off)) | u32::from(s) << 31),
        (-300i32..300, -1i32..=1)
            .prop_map(|(n, off)| { (n as f32 / 2.0).to_bits().wrapping_add_signed(off) }),
        (0x4a00_0000u32..0x4c00_0000, any::<bool>()).prop_map(|(v, s)| v | u32::from(s) << 31),
        proptest::sample::select(vec![
            0,
            0x8000_0000,
            1,
            0x8000_0001,
            0x007f_ffff,
            0x0080_0000,
            0x7f7f_ffff,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            0xffff_ffff,
            0x7f80_0001,
        ]),
    ]
}

proptest! {
    #[test]
    fn singles(a in proptest::collection::vec(single(), 32)) {
        for (name, model) in FUNCTIONS {
            let plain = line(&format!("{name}.f32.d32 r95, r64"), std::slice::from_ref(&a));
            let other = line(&format!("{name}.f32.d32 r0, -|r1|, sat=1"), std::slice::from_ref(&a));
            let negative = a.iter().map(|v| v | 1 << 31).collect();
            let expected = line(&format!("{name}.f32.d32 r0, r1"), &[negative]);
            for i in 0..32 {
                let exact = model(f64::from(flushed(f32::from_bits(a[i]))));
                prop_assert!(nearest(plain[i], exact), "{} {:x}: {:x}", name, a[i], plain[i]);
                prop_assert_eq!(other[i], saturated(expected[i]), "{} {:x}", name, a[i]);
            }
        }
    }

    #[test]
    fn rounding(a in proptest::collection::vec(single(), 32)) {
        for (name, model) in ROUNDING {
            let plain = line(&format!("{name}.f32.d32 r95, r64"), std::slice::from_ref(&a));
            // Saturation does nothing here.
            let other = line(&format!("{name}.f32.d32 r0, -r1, sat=1"), std::slice::from_ref(&a));
            for i in 0..32 {
                let value = f64::from(flushed(f32::from_bits(a[i])));
                prop_assert_eq!(plain[i], canonical(model(value) as f32), "{} {:x}", name, a[i]);
                prop_assert_eq!(other[i], canonical(model(-value) as f32), "{} {:x}", name, a[i]);
            }
        }
    }
}

/// Correctly rounded reciprocal square roots: with r the result and h half a unit, exactly
/// (r - h)^2 x <= 1 <= (r + h)^2 x.
#[test]
fn rsqrt_is_correctly_rounded() {
    let significands = (0x80_0000u32..0x100_0000).step_by(1021);
    // Two exponents cover all: x / 4 has twice the result.
    let inputs: Vec<u32> = significands
        .flat_map(|s| [s & 0x7f_ffff | 127 << 23, s & 0x7f_ffff | 128 << 23])
        .collect();
    let results = sweep("rsqrt.f32.d32 D, S", &inputs);
    for (&x, &r) in inputs.iter().zip(&results) {
        let power = (x >> 23) - 127;
        let x = u128::from(x & 0x7f_ffff | 0x80_0000) << power;
        // The result lies in (1/2, 1]: in units of 2^-25, half a unit in the last place is 1 below 1.
        let r = (f64::from(f32::from_bits(r)) * 2f64.powi(25)) as u128;
        // x counts 2^-23, squares count 2^-50.
        let one = 1u128 << 73;
        assert!((r - 1) * (r - 1) * x <= one && one <= (r + 1) * (r + 1) * x);
    }
}

#[test]
fn every_half() {
    let all: Vec<u32> = (0..0x1_0000).collect();
    let run = |text: String| sweep(&text, &all);
    for (name, model) in FUNCTIONS.into_iter().chain(ROUNDING) {
        if name != "sqrt_factor" && name != "sin_factor" {
            let format = if name == "rcp" { "h=1" } else { "fmt=2" };
            let plain = run(format!("{name}.f16.d16 D.l, S.l, {format}"));
            let clamped = run(format!("{name}.f16.d16 D.l, -|S.l|, {format}, sat=1"));
            for &half in &all {
                let i = half as usize;
                let exact = half_from(model(half_value(half)));
                assert_eq!(plain[i], exact, "{name} {half:#06x}");
                let negative = half_from(model(-half_value(half).abs()));
                let expected = match half_value(negative) {
                    _ if ROUNDING.iter().any(|(rounding, _)| *rounding == name) => negative,
                    v if v.is_nan() || v <= 0.0 => 0,
                    v if v >= 1.0 => 0x3c00,
                    _ => negative,
                };
                assert_eq!(clamped[i], expected, "{name} {half:#06x} saturated");
            }
        }
        if name == "rcp" || name == "sqrt_factor" {
            let format = if name == "rcp" { "" } else { ", fmt=1" };
            let plain = run(format!("{name}.f16.d32 D, S.l{format}"));
            for &half in &all {
                let exact = canonical(model(half_value(half)) as f32);
                assert_eq!(plain[half as usize], exact, "{name} {half:#06x}");
            }
        }
    }
}

/// A bfloat16 is the upper half of an fp32.
#[test]
fn every_bfloat() {
    let all: Vec<u32> = (0..0x1_0000).collect();
    let wide: Vec<u32> = all.iter().map(|v| v << 16).collect();
    for (name, _) in FUNCTIONS.into_iter().chain(ROUNDING) {
        if name == "rcp" {
            continue;
        }
        for source in ["S", "-S", "|S|", "-|S|"] {
            let narrow = source.replace('S', "S.l");
            let actual = sweep(&format!("{name}.bf16.d32 D, {narrow}"), &all);
            let expected = sweep(&format!("{name}.f32.d32 D, {source}"), &wide);
            assert_eq!(actual, expected, "{name} {source}");
        }
    }
}

/// isa-4, 11.1 and 11.2, row by row.
#[test]
fn special_values() {
    let one = 1.0f32.to_bits();
    let cases: [(&str, &[(u32, u32)]); 9] = [
        (
            "rcp",
            &[
                (0, 0x7f80_0000),
                (0x8000_0000, 0xff80_0000),
                (0x007f_ffff, 0x7f80_0000),
                (0x8000_0001, 0xff80_0000),
                (0x7f80_0000, 0),
                (0xff80_0000, 0x8000_0000),
                (0x7f7f_ffff, 0),
                (0xff7f_ffff, 0x8000_0000),
                (0x7fc1_2345, NAN),
            ],
        ),
        (
            "rsqrt",
            &[
                (0, 0x7f80_0000),
                (1, 0x7f80_0000),
                (0x8000_0000, 0xff80_0000),
                (0x8000_0001, 0xff80_0000),
                (0xbf80_0000, NAN),
                (0x7f80_0000, 0),
                (0xffc0_0000, NAN),
            ],
        ),
        (
            "sqrt_factor",
            &[
                (0, one),
                (0x8000_0000, one),
                (1, one),
                (0x807f_ffff, one),
                (0x7f80_0000, one),
                (0xff80_0000, NAN),
                (0x8080_0000, NAN),
            ],
        ),
        (
            "exp2",
            &[
                (0xff80_0000, 0),
                (0x7f80_0000, 0x7f80_0000),
                (0x7fc0_0000, NAN),
                (0x807f_ffff, one),
                (0xc2fc_0000, 0x0080_0000),
                // 2^-126.5.
                (0xc2fd_0000, 0),
                (0x4300_0000, 0x7f80_0000),
            ],
        ),
        (
            "log2",
            &[
                (0, 0xff80_0000),
                (0x8000_0000, 0xff80_0000),
                (0x007f_ffff, 0xff80_0000),
                (0x8000_0001, 0xff80_0000),
                (0xbf80_0000, NAN),
                (0x7f80_0000, 0x7f80_0000),
                (one, 0),
                (0x0080_0000, 0xc2fc_0000),
            ],
        ),
        (
            "sin_factor",
            &[
                (0, 0x3fc9_0fdb),
                (0x8000_0000, 0x3fc9_0fdb),
                (0x007f_ffff, 0x3fc9_0fdb),
                (one, one),
                (0xbf80_0000, one),
                (0x3f80_0001, NAN),
                (0xff80_0000, NAN),
            ],
        ),
        (
            "floor",
            &[
                (0x8000_0001, 0x8000_0000),
                (0x007f_ffff, 0),
                (0xff80_0000, 0xff80_0000),
                (0xffff_ffff, NAN),
            ],
        ),
        (
            "ceil",
            &[
                (0x007f_ffff, 0),
                (0x8000_0001, 0x8000_0000),
                (0x7f80_0000, 0x7f80_0000),
                // -0.5.
                (0xbf00_0000, 0x8000_0000),
            ],
        ),
        (
            "trunc",
            &[(0x8000_0001, 0x8000_0000), (0xbf00_0000, 0x8000_0000)],
        ),
    ];
    for (name, pairs) in cases {
        for &(input, expected) in pairs {
            let result = line(&format!("{name}.f32.d32 r0, r1"), &[vec![input]]);
            assert_eq!(result[0], expected, "{name} {input:#010x}");
        }
    }
}

/// The inputs whose results lie closest to the middle between two fp32 (relatively nearer than
/// 2^-48), with the nearest fp32 as found in 300 bits.
#[test]
fn hardest_to_round() {
    let cases: [(&str, &[(u32, u32)]); 4] = [
        (
            "exp2",
            &[
                (0xb52d_1f9a, 0x3f7f_fff8),
                (0xbcf3_a937, 0x3f7a_c6b1),
                (0xb8d3_d026, 0x3f7f_fb69),
                (0x3b42_9d37, 0x3f80_4385),
                (0xbaec_2b40, 0x3f7f_ae34),
            ],
        ),
        (
            "log2",
            &[
                (0x3ea0_7ab9, 0xbfd6_3da2),
                (0x7f11_4a90, 0x42fe_5d98),
                (0x7e91_4a90, 0x42fc_5d98),
                (0x0091_4a90, 0xc2fb_a268),
                (0x7e11_4a90, 0x42fa_5d98),
            ],
        ),
        (
            "sin_factor",
            &[
                (0x3f7f_ffff, 0x3f80_0000),
                (0x3b4b_46f9, 0x3fc9_0fa6),
                (0x3924_79d1, 0x3fc9_0fdb),
                (0x3924_79d2, 0x3fc9_0fda),
                (0x3dc7_4cd1, 0x3fc8_47a2),
            ],
        ),
        (
            "rsqrt",
            &[(0x403a_18e3, 0x3f16_209e), (0x4009_f038, 0x3f2e_6055)],
        ),
    ];
    for (name, pairs) in cases {
        for &(input, expected) in pairs {
            let result = line(&format!("{name}.f32.d32 r0, r1"), &[vec![input]]);
            assert_eq!(result[0], expected, "{name} {input:#010x}");
        }
    }
}

/// Bit 49 with an fp32 source, seen in a vendor program only, does not change the factor.
#[test]
fn factor_with_format_1() {
    let inputs: Vec<u32> = (0..64u32).map(|i| i.wrapping_mul(0x0404_0404)).collect();
    let plain = line("sqrt_factor.f32.d32 r0, r1", std::slice::from_ref(&inputs));
    let format = line("sqrt_factor.f32.d32 r0, r1, fmt=1", &[inputs]);
    assert_eq!(plain, format);
}

#[test]
fn anything_executes() {
    let forms = [
        FormId::Rcp,
        FormId::Sfu,
        FormId::SfuRsqrt,
        FormId::SfuExp2,
        FormId::SfuRsqrt3,
    ];
    let executed = numeric::executes_anything(&forms, 12_000);
    assert!(executed > 300, "{executed}");
}

/// sin(pi x) or cos(pi x): folds twice |x| modulo 2 into [-1, 1] as isa-1, 6.2 does with turns.
fn sine_of_turns(cosine: bool, x: &[u32]) -> Vec<u32> {
    let constants = [
        (10, 0.5f32),
        (11, -2.0),
        (12, 2.0),
        (13, 1.0),
        (14, 3.0),
        (15, 4.0),
    ];
    let shift = if cosine {
        // One quarter further, modulo 4.
        "fadd r3, r3, r13\nfadd r4, r3, -r15\nselect.10.fge r3, r3, r15, r4, r3"
    } else {
        ""
    };
    let sign = if cosine {
        "fadd r0, r8, r9"
    } else {
        "select.10.flt r0, r1, r9, -r13, r13\nfmul r0, r0, r8"
    };
    let text = format!(
        "fmul.12 r2, |r1|, |r10|
        floor.f32.d32 r2, r2
        fmul.12 r3, |r1|, |r13|
        fma r3, r2, r11, r3
        fadd r3, r3, r3
        {shift}
        fadd r4, r12, -r3
        fadd r5, r3, -r15
        select.10.flt r6, r3, r14, r4, r5
        select.10.flt r6, r3, r13, r3, r6
        sin_factor.f32.d32 r7, r6
        fmul r8, r6, r7
        {sign}"
    );
    let mut registers = numeric::registers();
    for (reg, value) in constants {
        registers[reg].0 = [value.to_bits(); 32];
    }
    registers[1].0[..x.len()].copy_from_slice(x);
    numeric::execute(&numeric::code(&text), &mut registers);
    registers[0].0[..x.len()].to_vec()
}

#[test]
fn vectors() {
    let (mut instructions, mut kernels, mut sequences, mut skipped) = (0, 0, 0, Vec::new());
    for record in numeric::records(&["sfu", "sfu_round", "sfu_sequence"]) {
        let op = record["op"].as_str().unwrap();
        let inputs = &record["inputs"];
        let source = match numeric::words(&inputs["src0"]) {
            list if list.is_empty() => numeric::words(&inputs["src0_words"]),
            list => list,
        };
        match (record["form"].as_str().unwrap(), op) {
            ("kernel", _) => {
                numeric::kernel(&record);
                kernels += 1;
            }
            ("instruction", _) => {
                let code = match record["hex"].as_str() {
                    Some(hex) => numeric::bytes(hex),
                    // Only the operation is named.
                    None => {
                        let name = op.strip_suffix("_f32").unwrap();
                        numeric::code(&format!("{name}.f32.d32 r0, r1"))
                    }
                };
                numeric::compare(&record, &numeric::instruction(&code, &[source]));
                instructions += 1;
            }
            ("source", "sqrt_fast_f32") => {
                let mut registers = numeric::registers();
                registers[1].0[..source.len()].copy_from_slice(&source);
                let text = "sqrt_factor.f32.d32 r2, r1\nfmul r0, r1, r2";
                numeric::execute(&numeric::code(text), &mut registers);
                numeric::compare(&record, &registers[0].0[..source.len()]);
                sequences += 1;
            }
            ("source", "sinpi_f32" | "cospi_f32") => {
                let results = sine_of_turns(op == "cospi_f32", &source);
                let expected = record["expected"].as_array().unwrap();
                for (result, expected) in results.iter().zip(expected) {
                    // The vendor's sequence gives its zeros other signs.
                    let zeros = result << 1 == 0 && numeric::word(expected) << 1 == 0;
                    assert!(
                        zeros || numeric::agrees(*result, expected, &record["tolerance"]),
                        "{}: {result:#010x} instead of {expected}",
                        record["id"]
                    );
                }
                sequences += 1;
            }
            // Vendor sequences that the reference does not give.
            ("source", "sin_fast_f32" | "round_half_away_f32") => skipped.push(op.to_owned()),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((instructions, kernels, sequences), (47 + 8, 4 + 6, 3 + 4));
    assert_eq!(skipped, ["round_half_away_f32", "sin_fast_f32"]);
}
