// SPDX-License-Identifier: MIT
//! Subgroup and quad operations against models that look at one lane at a time.

#![expect(
    clippy::needless_range_loop,
    reason = "lane numbers index several arrays alike"
)]

use agx_sim::fault::FaultKind;
use agx_sim::shader::{Exit, Lanes};
use proptest::prelude::*;

mod support;
#[path = "support/vectors.rs"]
mod vectors;
use support::{Rig, stopped};

/// Runs one line with r5 and r7 and answers r4, which starts as 0xdead_beef.
fn run(line: &str, active: u32, source: [u32; 32], other: [u32; 32]) -> [u32; 32] {
    let mut rig = Rig::new(line);
    rig.active = active;
    rig.run(
        |wave| {
            wave.gprs[4] = Lanes::splat(UNTOUCHED);
            wave.gprs[5] = Lanes(source);
            wave.gprs[7] = Lanes(other);
        },
        |wave, exit| {
            stopped(exit);
            wave.gprs[4].0
        },
    )
}

const UNTOUCHED: u32 = 0xdead_beef;

/// What a ballot asks of a value.
type Test = fn(u32) -> bool;
/// A lane's expected result.
type LaneValue<'a> = dyn Fn(usize) -> u32 + 'a;

/// An fp32 operand of arithmetic.
fn single(bits: u32) -> f64 {
    let value = f32::from_bits(bits);
    if value.is_subnormal() {
        f64::from(value) * 0.0
    } else {
        f64::from(value)
    }
}

/// An fp32 result of arithmetic.
fn rounded(value: f64) -> u32 {
    let value = value as f32;
    if value.is_nan() {
        0x7fc0_0000
    } else if value.is_subnormal() {
        value.to_bits() & 0x8000_0000
    } else {
        value.to_bits()
    }
}

/// The value of an fp16, by its definition.
fn half(bits: u32) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (bits >> 10 & 31, f64::from(bits & 0x3ff));
    sign * match exponent {
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        0 => fraction * 2f64.powi(-24),
        _ => (1024.0 + fraction) * 2f64.powi(exponent as i32 - 25),
    }
}

/// The fp16 next to a value, found among all of them; an even one on a tie.
fn nearest_half(value: f64) -> u32 {
    if value.is_nan() {
        return 0x7e00;
    }
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    // Infinity begins where the next number after the largest would round up to.
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    let above = (0u32..0x7c00)
        .collect::<Vec<_>>()
        .partition_point(|&bits| half(bits) < magnitude) as u32;
    let below = above.saturating_sub(1);
    let (up, down) = if above == 0x7c00 {
        (f64::INFINITY, magnitude - half(below))
    } else {
        (half(above) - magnitude, magnitude - half(below))
    };
    let chosen = if up < down || up == down && above.is_multiple_of(2) {
        above
    } else {
        below
    };
    sign | chosen
}

/// Minimum or maximum of isa-4, 11.2.
fn choose(a: u32, b: u32, less: bool) -> u32 {
    let (x, y) = (single(a), single(b));
    match (x.is_nan(), y.is_nan()) {
        (true, true) => 0x7fc0_0000,
        (true, false) => b,
        (false, true) => a,
        (false, false) if x == y => b,
        (false, false) => [b, a][usize::from((x < y) == less)],
    }
}

/// The combination of some values, in order; `None` of none.
fn combined(operation: &str, values: &[u32]) -> Option<u32> {
    let signed = || values.iter().map(|&v| v as i32);
    let singles = |f: fn(f64, f64) -> f64| {
        let first = rounded(single(*values.first()?));
        Some(
            values[1..]
                .iter()
                .fold(first, |sum, &v| rounded(f(single(sum), single(v)))),
        )
    };
    let halves = |f: fn(f64, f64) -> f64| {
        let first = nearest_half(half(values.first()? & 0xffff));
        let next = |sum: u32, &v: &u32| nearest_half(f(half(sum), half(v & 0xffff)));
        Some(values[1..].iter().fold(first, next))
    };
    let chosen = |less| {
        let first = choose(*values.first()?, values[0], less);
        Some(values[1..].iter().fold(first, |a, &b| choose(a, b, less)))
    };
    if values.is_empty() {
        return None;
    }
    match operation {
        "iadd" => Some((values.iter().map(|&v| u64::from(v)).sum::<u64>() % (1 << 32)) as u32),
        "and" => Some(
            (0..32)
                .map(|b| u32::from(values.iter().all(|v| v >> b & 1 == 1)) << b)
                .sum(),
        ),
        "or" => Some(
            (0..32)
                .map(|b| u32::from(values.iter().any(|v| v >> b & 1 == 1)) << b)
                .sum(),
        ),
        "xor" => Some(
            (0..32)
                .map(|b| (values.iter().filter(|&v| v >> b & 1 == 1).count() as u32 % 2) << b)
                .sum(),
        ),
        "imax" => signed().max().map(|v| v as u32),
        "imin" => signed().min().map(|v| v as u32),
        "umax" => values.iter().max().copied(),
        "umin" => values.iter().min().copied(),
        "fadd" => singles(|x, y| x + y),
        "fmul" => singles(|x, y| x * y),
        "hadd" => halves(|x, y| x + y),
        "hmul" => halves(|x, y| x * y),
        "fmin" => chosen(true),
        "fmax" => chosen(false),
        other => panic!("{other}"),
    }
}

/// The table of isa-2, 8.1 with the additions of isa-4, 4.2: operation, type byte, scan with its
/// identity, source released.
const REDUCTIONS: [(&str, u32, Option<u32>, bool); 33] = [
    ("iadd", 0x03, None, true),
    ("iadd", 0x01, None, false),
    ("iadd", 0x0b, Some(0), true),
    ("iadd", 0x09, Some(0), false),
    ("or", 0x03, None, true),
    ("or", 0x01, None, false),
    ("and", 0x03, None, true),
    ("and", 0x01, None, false),
    ("xor", 0x03, None, true),
    ("xor", 0x01, None, false),
    ("imax", 0x07, None, true),
    ("imax", 0x05, None, false),
    ("imin", 0x07, None, true),
    ("imin", 0x05, None, false),
    ("umax", 0x03, None, true),
    ("umax", 0x01, None, false),
    ("umin", 0x03, None, true),
    ("umin", 0x01, None, false),
    ("umin", 0x07, Some(!0), true),
    ("fadd", 0x12, None, true),
    ("fadd", 0x02, None, false),
    ("fadd", 0x32, Some(0), true),
    ("fadd", 0x22, Some(0), false),
    ("fmul", 0x12, None, true),
    ("fmul", 0x02, None, false),
    ("fmul", 0x32, Some(0x3f80_0000), true),
    ("fmul", 0x22, Some(0x3f80_0000), false),
    ("fmin", 0x12, None, true),
    ("fmax", 0x12, None, true),
    ("hadd", 0x08, None, true),
    ("hadd", 0x18, Some(0), true),
    ("hadd", 0x10, Some(0), false),
    ("hmul", 0x10, Some(0x3c00), false),
];

fn word() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        0u32..8,
        (-8.0f32..8.0).prop_map(f32::to_bits),
        any::<f32>().prop_map(f32::to_bits),
        // Pairs of fp16, also subnormal.
        (0u32..0x7c01, any::<u16>()).prop_map(|(low, high)| low | u32::from(high) << 16),
        proptest::sample::select(vec![
            0x8000_0000,
            0x7fff_ffff,
            !0,
            1,
            0x8000_0001,
            0x7f80_0000,
            0xff80_0000,
            0x7fc1_2345,
            0x3f80_0000,
            0x0000_7bff,
            0x0000_8001,
        ]),
    ]
}

fn words() -> impl Strategy<Value = [u32; 32]> {
    prop_oneof![
        proptest::collection::vec(word(), 32),
        // Tame values: sums that do not end in infinity or NaN.
        proptest::collection::vec((-4.0f32..4.0).prop_map(f32::to_bits), 32),
        proptest::collection::vec(0x3400u32..0x4400, 32),
    ]
    .prop_map(|v| v.try_into().unwrap())
}

fn active() -> impl Strategy<Value = u32> {
    prop_oneof![
        Just(!0u32),
        Just(0),
        any::<u32>(),
        (0u32..32).prop_map(|lane| 1 << lane)
    ]
}

/// Lanes that are active, of some.
fn among(active: u32, lanes: std::ops::Range<usize>) -> Vec<usize> {
    lanes.filter(|lane| active >> lane & 1 == 1).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn reductions(
        which in 0..REDUCTIONS.len(),
        quad in any::<bool>(),
        source in words(),
        active in active(),
    ) {
        let (operation, code, scan, released) = REDUCTIONS[which];
        let (name, size) = if quad { ("quad", 4) } else { ("subgroup", 32) };
        let mark = if released { "^" } else { "" };
        let line = format!("{name}_reduce.{operation} r4, {mark}r5, type={code}");
        let found = run(&line, active, source, [0; 32]);
        for lane in 0..32 {
            let group = lane / size * size;
            let end = if scan.is_some() { lane } else { group + size };
            let values: Vec<u32> = among(active, group..end).iter().map(|&l| source[l]).collect();
            let value = combined(operation, &values).or(scan);
            let expected = match value {
                _ if active >> lane & 1 == 0 => UNTOUCHED,
                // The fp16 forms write half a register.
                Some(value) if operation.starts_with('h') => UNTOUCHED & 0xffff_0000 | value,
                Some(value) => value,
                None => panic!("an active lane without values"),
            };
            prop_assert_eq!(found[lane], expected, "{} lane {}", line, lane);
        }
    }

    #[test]
    fn shuffles(
        quad in any::<bool>(),
        xor in any::<bool>(),
        immediate in prop_oneof![Just(None), (0u32..128).prop_map(Some)],
        source in any::<[u32; 32]>(),
        numbers in proptest::collection::vec(prop_oneof![6 => 0u32..32, 2 => 0u32..4, 1 => 0u32..0x1_0000], 32),
        high in any::<bool>(),
        rest in any::<u16>(),
        active in active(),
    ) {
        let mode = if quad { "quad" } else { "subgroup" };
        let dir = if xor { "xor" } else { "lane" };
        let operand = match (immediate, high) {
            (Some(number), _) => format!("r5, #{number}"),
            (None, false) => "^r5, ^r7.l".to_owned(),
            (None, true) => "^r5, ^r7.h".to_owned(),
        };
        let other = std::array::from_fn(|lane| {
            if high { numbers[lane] << 16 | u32::from(rest) } else { numbers[lane] | u32::from(rest) << 16 }
        });
        let line = format!("shuffle.{mode}.{dir} r4, {operand}");
        let found = run(&line, active, source, other);
        for lane in 0..32usize {
            let number = immediate.unwrap_or(numbers[lane]) as usize;
            let from = match (quad, xor) {
                (true, _) if number > 3 => None,
                (true, false) => Some(lane / 4 * 4 + number),
                (true, true) => Some(lane ^ number),
                (false, true) => (number < 32).then_some(lane ^ number),
                (false, false) if number < 32 => Some(number),
                // Measured: 33 -> 0, 40 -> 8, 63 -> 28.
                (false, false) if immediate.is_none() => Some(number & 0x1c),
                (false, false) => None,
            };
            let expected = match from {
                _ if active >> lane & 1 == 0 => UNTOUCHED,
                Some(from) => source[from],
                None => 0,
            };
            prop_assert_eq!(found[lane], expected, "{} lane {}", line, lane);
        }
    }

    /// Up and down: in the middle the neighbour, at the edges clamped.
    #[test]
    fn shifts(
        quad in any::<bool>(),
        down in any::<bool>(),
        by in 0u32..40,
        source in any::<[u32; 32]>(),
        active in active(),
    ) {
        let mode = if quad { "quad_shift" } else { "subgroup_shift" };
        let dir = if down { "xor" } else { "lane" };
        let found = run(&format!("shuffle.{mode}.{dir} r4, r5, #{by}"), active, source, [0; 32]);
        let size = if quad { 4 } else { 32 };
        for lane in 0..32i32 {
            let first = lane / size * size;
            let from = if down { lane + by as i32 } else { lane - by as i32 };
            let from = from.clamp(first, first + size - 1);
            let expected = if active >> lane & 1 == 1 { source[from as usize] } else { UNTOUCHED };
            prop_assert_eq!(found[lane as usize], expected, "lane {}", lane);
        }
    }

    #[test]
    fn ballots(source in proptest::collection::vec(prop_oneof![0u32..8, any::<u32>()], 32), active in active()) {
        let source: [u32; 32] = source.try_into().unwrap();
        // isa-4, 4.3, with r4 as destination where the text names another, and r5 as source.
        let cases: [(&str, Test); 4] = [
            ("17 07 54 08 03 14 00 58 22 12", |v| v != 0),
            ("17 07 56 08 02 14 00 58 22 04", |v| v != 0),
            ("17 17 54 08 02 00 14 48 22 0c", |v| v < 5),
            ("17 07 54 08 03 02 04 08 02 08", |_| true),
        ];
        for (hex, test) in cases {
            let mut rig = Rig::hex(&format!("{hex} 0e 00 00 00"));
            rig.active = active;
            let found = rig.run(
                |wave| {
                    wave.gprs[0] = Lanes(source);
                    wave.gprs[4] = Lanes::splat(UNTOUCHED);
                    wave.gprs[5] = Lanes(source);
                },
                |wave, exit| {
                    stopped(exit);
                    wave.gprs[4].0
                },
            );
            let lanes = among(active, 0..32).into_iter();
            let ballot: u32 = lanes.filter(|&l| test(source[l])).map(|l| 1 << l).sum();
            for lane in 0..32 {
                let expected = if active >> lane & 1 == 1 { ballot } else { UNTOUCHED };
                prop_assert_eq!(found[lane], expected, "{} lane {}", hex, lane);
            }
        }
    }

    #[test]
    fn derivatives(source in words(), active in active()) {
        // Lane in quad: 0 top left, 1 top right, 2 bottom left, 3 bottom right (isa-4, 4.1).
        let x = [(0, 1), (0, 1), (2, 3), (2, 3)];
        let y = [(0, 2), (1, 3), (0, 2), (1, 3)];
        for (name, pairs) in [("ddx", x), ("ddy", y)] {
            for saturate in [false, true] {
                let line = format!("{name} r4, ^r5{}", if saturate { ", sat" } else { "" });
                let found = run(&line, active, source, [0; 32]);
                for lane in 0..32 {
                    let (from, to) = pairs[lane % 4];
                    let quad = lane / 4 * 4;
                    let mut value = single(source[quad + to]) - single(source[quad + from]);
                    if saturate {
                        value = if value > 0.0 { value.min(1.0) } else { 0.0 };
                    }
                    let expected = if active >> lane & 1 == 1 { rounded(value) } else { UNTOUCHED };
                    // Saturation turns what would be flushed into +0.
                    prop_assert_eq!(found[lane], expected, "{} lane {}", line, lane);
                }
            }
        }
    }
}

/// Every fp16 passes a reduction of one lane as it is, NaN becoming canonical.
#[test]
fn all_halves() {
    for first in (0..0x1_0000u32).step_by(32) {
        // A quad scan's second lane is the single first value; in lanes of their own here.
        let source: [u32; 32] = std::array::from_fn(|lane| first + lane as u32);
        for (lane, &value) in source.iter().enumerate().step_by(7) {
            let found = run(
                "subgroup_reduce.hadd r4, ^r5, type=8",
                1 << lane,
                source,
                [0; 32],
            );
            let expected = if half(value).is_nan() { 0x7e00 } else { value };
            assert_eq!(found[lane] & 0xffff, expected);
        }
    }
}

/// Values at which the rounding of fp16 sums turns.
#[test]
fn half_rounding() {
    for (a, b) in [
        (0x7bff, 0x4c00), // 65504 + 16: the tie to infinity
        (0x7bff, 0x4bff),
        (0x6800, 0x3c00), // 2048 + 1: tie, down to even
        (0x6801, 0x3c00), // 2050 + 1: tie, up to even
        (0x0001, 0x0001),
        (0x03ff, 0x0001),
        (0x8000, 0x8000),
        (0x0000, 0x8000),
        (0x7c00, 0xfc00),
        (0x0400, 0x8001),
    ] {
        let mut source = [0; 32];
        source[..2].copy_from_slice(&[a, b]);
        for (operation, value) in [("hadd", half(a) + half(b)), ("hmul", half(a) * half(b))] {
            let line = format!("subgroup_reduce.{operation} r4, ^r5, type=8");
            let found = run(&line, 3, source, [0; 32]);
            assert_eq!(
                found[0] & 0xffff,
                nearest_half(value),
                "{operation} {a:#x} {b:#x}"
            );
        }
    }
}

/// The byte strings of isa-2, 8 and isa-4, 4.2.
#[test]
fn byte_strings() {
    let source: [u32; 32] = std::array::from_fn(|lane| 100 - 3 * lane as u32);
    let scan = |lane: usize| source[..lane].iter().sum::<u32>();
    let cases: [(&str, usize, usize, &LaneValue<'_>); 6] = [
        ("bf 01 54 06 03 14 16 09", 5, 3, &scan),
        ("3f 03 56 04 02 04 16 01", 1, 2, &|_| 7),
        ("3f 03 54 04 02 04 14 07", 1, 2, &|lane| match lane {
            0 => !0,
            lane => source[lane - 1],
        }),
        ("37 02 56 00 02 00 14 07", 0, 0, &|lane| source[lane | 3]),
        ("c7 04 56 00 02 00 3e 2c 04 00", 0, 0, &|lane| {
            source[31 - lane]
        }),
        ("47 04 54 08 03 18 1c 2c 1c 00", 6, 4, &|lane| {
            source[(lane * 5) % 32]
        }),
    ];
    for (hex, from, to, expected) in cases {
        let found = Rig::hex(&format!("{hex} 0e 00 00 00")).run(
            |wave| {
                wave.gprs[from] = Lanes(source);
                wave.gprs[7] = Lanes::from_fn(|lane| lane as u32 * 5 % 32);
            },
            |wave, exit| {
                stopped(exit);
                wave.gprs[to]
            },
        );
        assert_eq!(found, Lanes::from_fn(expected), "{hex}");
    }
}

#[test]
fn refused() {
    for hex in [
        // Rotate, shuffle-and-fill, a lane operand of unknown kind, ballots of other tests, a type byte
        // of another operation.
        "c7 06 56 00 02 00 02 00 14 a2 02 00",
        "47 06 56 00 02 00 02 08 14 11 03 00",
        "47 04 56 00 02 00 0a 2c 0c 00",
        "17 07 54 04 03 0c 00 58 22 13",
        "17 17 54 00 02 00 18 48 22 0c",
        "bf 01 56 00 02 00 14 12",
    ] {
        Rig::hex(&format!("{hex} 0e 00 00 00")).run(
            |_| {},
            |_, exit| match exit {
                Exit::Fault(fault) => {
                    assert!(
                        matches!(fault.kind, FaultKind::IllegalInstruction(_)),
                        "{hex}: {fault}"
                    );
                }
                other => panic!("{hex}: {other:?}"),
            },
        );
    }
}

/// Strict mode does not guess whether a ballot compares signed.
#[test]
fn undecided_ballots() {
    for hex in [
        "17 07 56 08 02 14 00 58 22 04",
        "17 17 54 08 02 00 14 48 22 0c",
    ] {
        for (active, faults) in [(!0, true), (0xff, false)] {
            let mut rig = Rig::hex(&format!("{hex} 0e 00 00 00"));
            rig.strict = true;
            rig.active = active;
            rig.run(
                |wave| {
                    for register in [0, 5] {
                        wave.gprs[register].0[20] = 0x8000_0000;
                    }
                },
                |_, exit| assert_eq!(matches!(exit, Exit::Fault(_)), faults, "{hex}: {exit:?}"),
            );
        }
    }
}

#[test]
fn measured() {
    for record in vectors::records("simd") {
        match record["form"].as_str().unwrap() {
            "kernel" => vectors::run_kernel(&record, true),
            "instruction" => {
                let lanes = vectors::numbers(&record["inputs"]["lanes"]);
                let mut code = vectors::bytes(record["hex"].as_str().unwrap());
                code.extend([0x0e, 0, 0, 0]);
                let found = Rig::bytes(code).run(
                    |wave| wave.gprs[0] = Lanes::from_fn(|lane| lanes[lane]),
                    |wave, exit| {
                        stopped(exit);
                        wave.gprs[0]
                    },
                );
                let expected = vectors::numbers(&record["expected"]);
                assert_eq!(found, Lanes::splat(expected[0]), "{}", record["id"]);
            }
            other => panic!("{other}"),
        }
    }
}
