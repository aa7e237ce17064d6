// SPDX-License-Identifier: MIT
//! Conversions against integer arithmetic, and measured vectors.

use agx_isa::FormId;
use agx_sim::shader::Lanes;
use proptest::prelude::*;
use serde_json::json;

mod numeric;
mod support;
use numeric::{half_from, half_value, line, sweep};

/// The integer nearest to an fp32, or the next one towards zero, as far as `i128` reaches; NaN is 0.
fn integer(value: f32, to_zero: bool) -> i128 {
    let bits = value.to_bits();
    let exponent = (bits >> 23 & 255) as i32;
    let fraction = i128::from(bits & 0x007f_ffff);
    let magnitude = match exponent {
        0 => 0,
        255 if fraction != 0 => 0,
        // Far outside every type.
        200.. => 1 << 80,
        _ => {
            let significand = fraction | 0x0080_0000;
            let shift = exponent - 150;
            if shift >= 0 {
                significand << shift
            } else if shift < -30 {
                0
            } else {
                let down = -shift as u32;
                let (whole, rest) = (significand >> down, significand & ((1 << down) - 1));
                let half = 1i128 << (down - 1);
                let up = !to_zero && (rest > half || rest == half && whole & 1 == 1);
                whole + i128::from(up)
            }
        }
    };
    if bits >> 31 == 1 {
        -magnitude
    } else {
        magnitude
    }
}

/// Result types: name, range, mask of the register.
const TYPES: [(&str, i128, i128, u32); 4] = [
    ("s32", -(1 << 31), (1 << 31) - 1, !0),
    ("u32", 0, (1 << 32) - 1, !0),
    ("s8", -128, 127, 0xff),
    ("u16", 0, 0xffff, 0xffff),
];

fn expected(value: f32, kind: (&str, i128, i128, u32), to_zero: bool) -> u32 {
    integer(value, to_zero).clamp(kind.1, kind.2) as u32 & kind.3
}

fn single() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        (-300.0f32..300.0).prop_map(f32::to_bits),
        (-7e4f32..7e4).prop_map(f32::to_bits),
        (-5e9f32..5e9).prop_map(f32::to_bits),
        // Halves of integers.
        (-600i32..600).prop_map(|n| (n as f32 / 2.0).to_bits()),
        // Around the limits of the types.
        (
            proptest::sample::select(vec![
                0f32,
                1.0,
                127.0,
                127.5,
                128.0,
                128.5,
                255.0,
                65535.0,
                65535.5,
                2147483648.0,
                4294967296.0,
                8388608.0,
                8388607.5
            ]),
            any::<bool>(),
            -2i32..=2
        )
            .prop_map(|(v, negative, off)| {
                let v = if negative { -v } else { v };
                v.to_bits().wrapping_add_signed(off)
            }),
        proptest::sample::select(vec![
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            0xffff_ffff,
            1,
            0x807f_ffff
        ]),
    ]
}

proptest! {
    #[test]
    fn float_to_integer(a in proptest::collection::vec(single(), 32)) {
        for kind in TYPES {
            for (rounding, to_zero) in [("rtz", true), ("rne", false)] {
                let text = format!("f2i.{}.f32.{rounding} r95, r64", kind.0);
                let results = line(&text, std::slice::from_ref(&a));
                for i in 0..32 {
                    let value = f32::from_bits(a[i]);
                    prop_assert_eq!(results[i], expected(value, kind, to_zero), "{} {}", text, value);
                }
            }
        }
    }

    #[test]
    fn integer_to_float(
        a in proptest::collection::vec(
            prop_oneof![any::<u32>(), 0u32..70000, (any::<u32>(), 0u32..32).prop_map(|(v, s)| v >> s),
                (any::<u32>(), 0u32..32).prop_map(|(v, s)| ((v as i32) >> s) as u32)],
            32,
        )
    ) {
        let run = |text: &str| line(text, std::slice::from_ref(&a));
        let (i32s, u32s) = (run("i2f.f32 r16, r17"), run("u2f.f32 r16, r17"));
        let (i16s, u16s) = (run("i2f.f16 r16.l, r17"), run("u2f.f16 r16.l, r17"));
        for i in 0..32 {
            // fp64 holds every 32-bit integer.
            let signed = f64::from(a[i] as i32);
            let unsigned = f64::from(a[i]);
            prop_assert_eq!(i32s[i], (signed as f32).to_bits());
            prop_assert_eq!(u32s[i], (unsigned as f32).to_bits());
            prop_assert_eq!(i16s[i], half_from(signed));
            prop_assert_eq!(u16s[i], half_from(unsigned));
        }
    }

    #[test]
    fn single_to_half(a in proptest::collection::vec(single(), 32)) {
        let results = line("f32_to_f16 r95.h, r64", std::slice::from_ref(&a));
        for i in 0..32 {
            prop_assert_eq!(results[i], half_from(f64::from(f32::from_bits(a[i]))));
        }
    }
}

#[test]
fn every_half() {
    let all: Vec<u32> = (0..0x1_0000).collect();
    let low = sweep("f16_to_f32 D, S.l", &all);
    let high = {
        let high: Vec<u32> = all.iter().map(|v| v << 16 | v ^ 0x5555).collect();
        sweep("f16_to_f32 D, S.h", &high)
    };
    assert_eq!(low, high);
    for &half in &all {
        let value = half_value(half);
        let expected = if value.is_nan() {
            0x7fc0_0000
        } else {
            (value as f32).to_bits()
        };
        assert_eq!(low[half as usize], expected, "{half:#06x}");
    }
    for kind in TYPES {
        for (rounding, to_zero) in [("rtz", true), ("rne", false)] {
            let text = format!("f2i.{}.f16.{rounding} D, S.l", kind.0);
            let results = sweep(&text, &all);
            for &half in &all {
                let value = half_value(half) as f32;
                let expected = expected(value, kind, to_zero);
                assert_eq!(results[half as usize], expected, "{text} {value}");
            }
        }
    }
}

#[test]
fn bit_24_selects_no_half() {
    // r95 with bit 24 set: the vector g17.enc.f2i.dst95alias.
    let text = "f2i.s32.f32.rtz r95, r1";
    let mut code = numeric::code(text);
    code[3] |= 1;
    assert_eq!(code[3] >> 1, 95);
    let mut registers = numeric::registers();
    registers[1] = Lanes::splat((-3.75f32).to_bits());
    numeric::execute(&code, &mut registers);
    assert_eq!(registers[95], Lanes::splat(-3i32 as u32));
}

#[test]
fn two_narrowings_make_a_pack() {
    let mut registers = numeric::registers();
    registers[64] = Lanes::splat(1.0f32.to_bits());
    registers[65] = Lanes::splat((-2.0f32).to_bits());
    let code = numeric::code("f32_to_f16 r95.l, r64\nf32_to_f16 r95.h, r65");
    numeric::execute(&code, &mut registers);
    assert_eq!(registers[95], Lanes::splat(0xc000_3c00));
}

#[test]
fn anything_executes() {
    let forms = [
        FormId::CvtF32F16,
        FormId::CvtF16F32,
        FormId::I2F,
        FormId::F2I,
    ];
    let executed = numeric::executes_anything(&forms, 4000);
    assert!(executed > 1000, "{executed}");
}

#[test]
fn vectors() {
    let mut count = 0;
    for mut record in numeric::records(&["convert", "pack"]) {
        let op = record["op"].as_str().unwrap().to_owned();
        let form = record["form"].as_str().unwrap().to_owned();
        let source = numeric::words(&record["inputs"]["src0"]);
        match (op.as_str(), form.as_str()) {
            ("zext16", _) => continue,
            (_, "kernel") if record["family"] == "convert" => numeric::kernel(&record),
            ("f32x2_to_f16x2" | "f16x2_to_f32x2", _) => numeric::kernel(&record),
            (_, "kernel") => continue,
            (_, "instruction") => {
                let code = numeric::bytes(record["hex"].as_str().unwrap());
                numeric::compare(&record, &numeric::instruction(&code, &[source]));
            }
            ("f32_to_i32", _) => {
                numeric::compare(&record, &line("f2i.s32.f32.rtz r0, r1", &[source]));
            }
            ("f32_to_u32", _) => {
                numeric::compare(&record, &line("f2i.u32.f32.rtz r0, r1", &[source]));
            }
            ("f32_to_i8", _) => {
                // The program went on to extend the sign, which the instruction does not.
                let cut = |value| json!(format!("{:#x}", numeric::word(value) & 0xff));
                let list = record["expected"].as_array().unwrap();
                record["expected"] = list.iter().map(cut).collect();
                numeric::compare(&record, &line("f2i.s8.f32.rtz r0, r1", &[source]));
            }
            other => panic!("{other:?}"),
        }
        count += 1;
    }
    assert_eq!(count, 7 + 5 + 3 + 2);
}
