// SPDX-License-Identifier: MIT
//! Normalised pack and unpack against exact arithmetic, and measured vectors.

use agx_isa::FormId;
use agx_sim::shader::Lanes;
use proptest::prelude::*;

mod numeric;
mod support;
use numeric::line;

/// Formats: name, signed, bits.
const FORMATS: [(&str, bool, u32); 4] = [
    ("unorm16", false, 16),
    ("unorm8", false, 8),
    ("snorm16", true, 16),
    ("snorm8", true, 8),
];

fn scale(signed: bool, bits: u32) -> i64 {
    (1i64 << (bits - u32::from(signed))) - 1
}

/// The exact product as an integer times 2^-63, rounded half to even.
fn model_pack(value: f32, signed: bool, bits: u32) -> u32 {
    let least = if signed { -1.0 } else { 0.0 };
    let clamped = if value.is_nan() {
        0.0
    } else {
        value.clamp(least, 1.0)
    };
    let scaled = (f64::from(clamped.abs()) * 2f64.powi(63)) as u128 * scale(signed, bits) as u128;
    let (whole, rest) = (scaled >> 63, scaled & ((1 << 63) - 1));
    let half = 1u128 << 62;
    let up = rest > half || rest == half && whole & 1 == 1;
    let magnitude = (whole + u128::from(up)) as i64;
    let number = if clamped < 0.0 { -magnitude } else { magnitude };
    number as u32 & ((1u64 << bits) - 1) as u32
}

fn single() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        (-1.1f32..1.1).prop_map(f32::to_bits),
        // Close to the middle between two values of each scale.
        (0i64..0x1_0000, 0usize..4, any::<bool>(), -2i32..=2).prop_map(
            |(n, format, negative, off)| {
                let (_, signed, bits) = FORMATS[format];
                let scale = scale(signed, bits);
                let value = ((n % scale) as f64 + 0.5) / scale as f64;
                let value = if negative { -value } else { value };
                (value as f32).to_bits().wrapping_add_signed(off)
            }
        ),
        proptest::sample::select(vec![
            0,
            0x8000_0000,
            1,
            0x3f80_0000,
            0x3f80_0001,
            0xbf80_0000,
            0xbf80_0001,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            0xffc0_0001,
            0x3f00_0000,
        ]),
    ]
}

proptest! {
    #[test]
    fn pack(a in proptest::collection::vec(single(), 32), b in proptest::collection::vec(single(), 32)) {
        for (name, signed, bits) in FORMATS {
            let text = if bits == 16 {
                format!("pack_norm.{name} r95, r64, r31")
            } else {
                format!("pack_norm.{name} r95.h, r64, r31")
            };
            let results = line(&text, &[a.clone(), b.clone()]);
            for i in 0..32 {
                let [x, y] = [a[i], b[i]].map(|v| model_pack(f32::from_bits(v), signed, bits));
                prop_assert_eq!(results[i], x | y << bits, "{} {:x} {:x}", name, a[i], b[i]);
            }
        }
    }
}

/// Every value of every format, and both halves of the source of the 8-bit ones.
#[test]
fn unpack_everything() {
    for (name, signed, bits) in FORMATS {
        let values = 1u32 << bits;
        for start in (0..values).step_by(32) {
            let mut registers = numeric::registers();
            // The components of one word differ.
            let low = |lane: usize| (start + lane as u32) % values;
            let high =
                |lane: usize| (start + lane as u32).wrapping_mul(77).wrapping_add(5) % values;
            let word = |lane| low(lane) | high(lane) << bits;
            registers[3] = Lanes::from_fn(|lane| match bits {
                16 => word(lane),
                _ => word(lane) | word(lane) << 16 ^ 0xff_0000,
            });
            let halves: &[(&str, u32)] = if bits == 16 {
                &[("r3", 0)]
            } else {
                &[("r3.l", 0), ("r3.h", 0xff)]
            };
            for &(source, flip) in halves {
                let code = numeric::code(&format!("unpack_norm.{name} r94:r95, {source}"));
                numeric::execute(&code, &mut registers);
                for lane in 0..32 {
                    let pair = [(94, low(lane) ^ flip), (95, high(lane))];
                    for (reg, raw) in pair {
                        let number = if signed && raw >> (bits - 1) == 1 {
                            i64::from(raw) - i64::from(values)
                        } else {
                            i64::from(raw)
                        };
                        // The fp64 quotient of small integers is far enough from every middle between
                        // two fp32 for rounding twice.
                        let exact = number as f64 / scale(signed, bits) as f64;
                        let expected = (exact.max(-1.0) as f32).to_bits();
                        assert_eq!(registers[reg].0[lane], expected, "{name} {raw:#x}");
                    }
                }
            }
        }
    }
}

/// What is unpacked packs to the same value; the most negative one to its neighbour.
#[test]
fn there_and_back() {
    for (name, signed, bits) in FORMATS {
        let all: Vec<u32> = (0..1 << bits).collect();
        let source = if bits == 16 { "r1" } else { "r1.l" };
        let floats = line(&format!("unpack_norm.{name} r2:r3, {source}"), &[all]);
        let dst = if bits == 16 { "r0" } else { "r0.l" };
        let ones = vec![0x3f80_0000; floats.len()];
        let back = line(&format!("pack_norm.{name} {dst}, r1, r2"), &[floats, ones]);
        for (value, back) in back.iter().enumerate() {
            let value = value as u32;
            let least = signed && value == 1 << (bits - 1);
            let expected = value + u32::from(least);
            assert_eq!(back & ((1 << bits) - 1), expected, "{name}");
            assert_eq!(back >> bits, scale(signed, bits) as u32, "{name}");
        }
    }
}

#[test]
fn anything_executes() {
    let executed = numeric::executes_anything(&[FormId::PackN, FormId::UnpackN], 6000);
    assert!(executed > 200, "{executed}");
}

#[test]
fn vectors() {
    let mut count = 0;
    for record in numeric::records(&["pack"]) {
        assert_eq!(record["form"], "kernel");
        numeric::kernel(&record);
        count += 1;
    }
    assert_eq!(count, 6);
}
