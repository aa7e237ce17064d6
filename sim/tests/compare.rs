// SPDX-License-Identifier: MIT
//! Minimum, maximum, selects and predicates against models on values, and measured vectors.

use std::cmp::Ordering;

use agx_isa::FormId;
use agx_sim::shader::{Exit, Lanes};
use proptest::prelude::*;

mod numeric;
mod support;
use numeric::{half_value, line};
use support::{Rig, stopped};

/// An fp32 as comparisons see it.
fn single_value(bits: u32) -> f64 {
    let value = f32::from_bits(bits);
    if value.is_subnormal() {
        0.0
    } else {
        f64::from(value)
    }
}

/// Order of two values under a condition name; `None` when unordered.
fn order(condition: &str, a: u32, b: u32) -> Option<Ordering> {
    match condition.as_bytes()[0] {
        b'f' => single_value(a).partial_cmp(&single_value(b)),
        b'u' => Some(a.cmp(&b)),
        _ => Some((a as i32).cmp(&(b as i32))),
    }
}

fn accepts(condition: &str, order: Option<Ordering>) -> bool {
    let Some(order) = order else { return false };
    match &condition[1..] {
        "gt" => order.is_gt(),
        "lt" => order.is_lt(),
        "eq" => order.is_eq(),
        "ge" => order.is_ge(),
        "le" => order.is_le(),
        other => panic!("{other}"),
    }
}

const ORDERS: [&str; 6] = ["fgt", "flt", "ugt", "ult", "igt", "ilt"];
const EQUALS: [&str; 5] = ["feq", "fge", "fle", "ige", "ieq"];

fn conditions() -> impl Iterator<Item = &'static str> {
    ORDERS.into_iter().chain(EQUALS)
}

fn pattern() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        (-4.0f32..4.0).prop_map(f32::to_bits),
        proptest::sample::select(vec![
            0,
            1,
            2,
            0x007f_ffff,
            0x8000_0000,
            0x8000_0001,
            0x0080_0000,
            0x8080_0000,
            0x3f80_0000,
            0xbf80_0000,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            0x7fc1_2345,
            0xffc5_4321,
            0x7f80_0001,
            0x7fff_ffff,
            0xffff_ffff,
        ]),
    ]
}

fn half_pattern() -> impl Strategy<Value = u32> {
    prop_oneof![
        0u32..0x1_0000,
        proptest::sample::select(vec![
            0, 0x8000, 1, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x7bff, 0x7c00, 0xfc00, 0x7c01,
            0x7e00, 0xfe12, 0xffff, 0x7fff,
        ]),
    ]
}

/// A list whose elements often equal those of another.
fn lanes(strategy: impl Strategy<Value = u32> + Clone + 'static) -> BoxedStrategy<[Vec<u32>; 2]> {
    let list = proptest::collection::vec(strategy, 32);
    (list.clone(), list, any::<u32>())
        .prop_map(|(a, mut b, same)| {
            for i in 0..32 {
                if same >> i & 1 == 1 && i % 3 == 0 {
                    b[i] = a[i];
                }
            }
            [a, b]
        })
        .boxed()
}

/// Minimum or maximum of isa-4, 11.2: `value` gives the numbers to compare.
fn choose(max: bool, a: u32, b: u32, value: impl Fn(u32) -> f64) -> u32 {
    let (x, y) = (value(a), value(b));
    match x.partial_cmp(&y) {
        Some(Ordering::Greater) if max => a,
        Some(Ordering::Less) if !max => a,
        Some(_) => b,
        None if y.is_nan() && !x.is_nan() => a,
        None => b,
    }
}

proptest! {
    #[test]
    fn minimum_and_maximum([a, b] in lanes(pattern().boxed())) {
        let run = |name: &str| line(&format!("{name} r95, r64, r79"), &[a.clone(), b.clone()]);
        let negated = line("fmin r4, r2, -r3", &[a.clone(), b.clone()]);
        let [fmax, fmin, umax, umin, imax, imin] =
            ["fmax", "fmin", "umax", "umin", "imax", "imin"].map(run);
        for i in 0..32 {
            let (a, b) = (a[i], b[i]);
            prop_assert_eq!(fmax[i], choose(true, a, b, single_value));
            prop_assert_eq!(fmin[i], choose(false, a, b, single_value));
            prop_assert_eq!(negated[i], choose(false, a, b ^ 1 << 31, single_value));
            prop_assert_eq!(umax[i], a.max(b));
            prop_assert_eq!(umin[i], a.min(b));
            prop_assert_eq!(imax[i], (a as i32).max(b as i32) as u32);
            prop_assert_eq!(imin[i], (a as i32).min(b as i32) as u32);
        }
    }

    #[test]
    fn half_minimum_and_maximum([a, b] in lanes(half_pattern().boxed())) {
        let max = line("hmax r95.l, r64.h, r79.l", &[a.clone(), b.clone()]);
        let min = line("hmin r1.l, r1.l, r1.h", &[a.clone(), b.clone()]);
        for i in 0..32 {
            prop_assert_eq!(max[i], choose(true, a[i], b[i], half_value));
            prop_assert_eq!(min[i], choose(false, a[i], b[i], half_value));
        }
    }

    #[test]
    fn select([a, b] in lanes(pattern().boxed()), [t, f] in lanes(pattern().boxed())) {
        let sources = [a.clone(), b.clone(), t.clone(), f.clone()];
        for condition in conditions() {
            let text = format!("select.10.{condition} r15, r95, r64, r63, r94");
            let results = line(&text, &sources);
            for i in 0..32 {
                let holds = accepts(condition, order(condition, a[i], b[i]));
                prop_assert_eq!(results[i], if holds { t[i] } else { f[i] }, "{}", text);
            }
        }
    }

    #[test]
    fn select_with_modifiers([a, b] in lanes(pattern().boxed()), [t, f] in lanes(pattern().boxed())) {
        let sources = [a.clone(), b.clone(), t.clone(), f.clone()];
        for condition in ["fgt", "flt", "feq", "fge", "fle"] {
            let text = format!("select.14.{condition} r95, |r64|, -|r65|, -|r66|, -r67");
            let results = line(&text, &sources);
            for i in 0..32 {
                let (x, y) = (a[i] & 0x7fff_ffff, b[i] | 0x8000_0000);
                let holds = accepts(condition, order(condition, x, y));
                let expected = if holds { t[i] | 0x8000_0000 } else { f[i] ^ 0x8000_0000 };
                prop_assert_eq!(results[i], expected, "{}", text);
            }
        }
    }

    #[test]
    fn half_comparands([a, b] in lanes(half_pattern().boxed()), t in any::<u32>(), f in any::<u32>()) {
        for condition in ["fgt", "flt", "feq", "fge", "fle"] {
            let text = format!("select.10.{condition} r3, r4.l, -r5.l, r6, r7");
            let results = line(&text, &[a.clone(), b.clone(), vec![t; 32], vec![f; 32]]);
            for i in 0..32 {
                let order = half_value(a[i]).partial_cmp(&half_value(b[i] ^ 0x8000));
                let expected = if accepts(condition, order) { t } else { f };
                prop_assert_eq!(results[i], expected, "{} {:x} {:x}", text, a[i], b[i]);
            }
        }
    }

    #[test]
    fn predicates([a, b] in lanes(pattern().boxed()), active in any::<u32>(), old in any::<u32>()) {
        for (bank, condition) in conditions().enumerate() {
            let bank = bank % 6;
            for inverted in [false, true] {
                let length = if ORDERS.contains(&condition) { 6 } else { 10 };
                let inv = if inverted { ", inv=1" } else { "" };
                let text = format!("pcmp.{length}.{condition} P{bank}, r70, r5{inv}");
                let mut rig = Rig::new(&text);
                rig.active = active;
                let banks = rig.run(
                    |wave| {
                        wave.gprs[70].0.copy_from_slice(&a);
                        wave.gprs[5].0.copy_from_slice(&b);
                        wave.predicates = [old; 6];
                    },
                    |wave, exit| {
                        stopped(exit);
                        wave.predicates
                    },
                );
                for (i, bits) in banks.into_iter().enumerate() {
                    for lane in 0..32 {
                        let written = i == bank && active >> lane & 1 == 1;
                        let holds = accepts(condition, order(condition, a[lane], b[lane]));
                        let expected = if written { holds ^ inverted } else { old >> lane & 1 == 1 };
                        prop_assert_eq!(bits >> lane & 1 == 1, expected, "{} lane {}", text, lane);
                    }
                }
            }
        }
    }
}

/// Runs machine code with some registers given and u4 = 4.0, u5 = -2; answers the registers and
/// predicates of the first four lanes.
fn run(hex: &str, set: &[(usize, [u32; 4])]) -> (Vec<[u32; 4]>, [u32; 6]) {
    let code = [numeric::bytes(&hex.replace(' ', "")), vec![0x0e, 0, 0, 0]].concat();
    let rig = Rig::bytes(code);
    rig.uniforms.set(4, 4.0f32.to_bits());
    rig.uniforms.set(5, -2i32 as u32);
    rig.run(
        |wave| {
            for (index, values) in set {
                wave.gprs[*index].0[..4].copy_from_slice(values);
            }
        },
        |wave, exit| {
            stopped(exit);
            let first = |lanes: &Lanes| [0, 1, 2, 3].map(|lane| lanes.0[lane]);
            let predicates = wave.predicates.map(|bits| bits & 15);
            (wave.gprs.iter().map(first).collect(), predicates)
        },
    )
}

/// The byte strings that isa-0, 3 and isa-4, 7.1 decode.
#[test]
fn constants_and_uniforms() {
    // r4 = (r2 == 1.0) ? r4 : r3.
    let (gprs, _) = run(
        "42 05 2f b1 84 06 00 02",
        &[
            (2, [1.0f32.to_bits(), 2.0f32.to_bits(), 1, 0x7fc0_0000]),
            (3, [30, 31, 32, 33]),
            (4, [40, 41, 42, 43]),
        ],
    );
    assert_eq!(gprs[4], [40, 31, 32, 33]);
    // r0 = (u4 == r1) ? 1 : 2, integer.
    let (gprs, _) = run(
        "02 09 07 03 26 81 87 20 20 82",
        &[(1, [0x4080_0000, 0, 5, 0xffff_ffff])],
    );
    assert_eq!(gprs[0], [1, 2, 2, 2]);
    // r1.lo = (r1 <s r2) ? 1 : 0; the high half stays.
    let (gprs, _) = run(
        "12 03 1d 05 22 81 07 c0 20 80",
        &[
            (1, [0x0005_0001, 0xffff_fffd, 7, 8]),
            (2, [0x0005_0002, 2, 7, 7]),
        ],
    );
    assert_eq!(gprs[1], [0x0005_0001, 0xffff_0001, 0, 0]);
    // r0 = (r0 >s 1) ? 100 : 200.
    let (gprs, _) = run("02 01 0f 80 22 e4 16 c2 a0 c8", &[(0, [0, 1, 2, !0])]);
    assert_eq!(gprs[0], [200, 200, 100, 200]);
    // P0 = r0 >u 15; P0 = r1 <s u5; P0 = r1 <u 17; P0 = r1 < 0.5.
    let (_, banks) = run("0a 01 22 8e 14 22", &[(0, [15, 16, !0, 0])]);
    assert_eq!(banks[0], 0b0110);
    let (_, banks) = run("0a 03 2a 0b 07 c2", &[(1, [!0, !1, !2, 3])]);
    assert_eq!(banks[0], 0b0100);
    let (_, banks) = run("0a 03 2a 90 15 c2", &[(1, [16, 17, 18, !0])]);
    assert_eq!(banks[0], 0b0001);
    let half = 0.5f32.to_bits();
    let (_, banks) = run(
        "0a 03 2a a1 03 c2",
        &[(1, [half, half - 1, 0x8000_0000, 0x7fc0_0000])],
    );
    assert_eq!(banks[0], 0b0110);
    // P0 = (r0.l == 0).
    let (_, banks) = run(
        "0a 00 2b 80 06 00 07 22 02 00",
        &[(0, [0, 0x1_0000, 1, 0xffff])],
    );
    assert_eq!(banks[0], 0b0011);
}

/// p0 = (r2 <u u4) ? r2 : u4: the self-check of isa-0, 8.
#[test]
fn select_to_publication() {
    let code = numeric::bytes("02052f09830445222008000c0000");
    let rig = Rig::bytes([&code[..], &[0x0e, 0, 0, 0]].concat());
    rig.uniforms.set(4, 50);
    rig.run(
        |wave| wave.gprs[2] = Lanes::from_fn(|lane| 35 + lane as u32),
        |wave, exit| match exit {
            Exit::Stop => {
                let expected = Lanes::from_fn(|lane| (35 + lane as u32).min(50));
                assert_eq!(wave.publication(0), expected);
            }
            other => panic!("{other:?}"),
        },
    );
}

/// A select may write one of its sources.
#[test]
fn destination_as_source() {
    let mut registers = numeric::registers();
    registers[1] = Lanes::from_fn(|lane| lane as u32);
    registers[2] = Lanes::splat(10);
    let code = numeric::code("select.10.ult r1, r1, r2, r2, r1");
    numeric::execute(&code, &mut registers);
    assert_eq!(registers[1], Lanes::from_fn(|lane| (lane as u32).max(10)));
}

#[test]
fn anything_executes() {
    let forms = [
        FormId::MinMax,
        FormId::HMinMax,
        FormId::Select8,
        FormId::Select10,
        FormId::Select14,
        FormId::SelectI10,
        FormId::SelectI14,
        FormId::SelectX14,
        FormId::Pred6,
        FormId::PredI6,
        FormId::Pred10,
        FormId::PredI10,
    ];
    let executed = numeric::executes_anything(&forms, 12_000);
    assert!(executed > 2000, "{executed}");
}

/// Evaluates one predicate instruction for each pair.
fn predicate(text: &str, a: &[u32], b: &[u32]) -> Vec<bool> {
    Rig::new(text).run(
        |wave| {
            wave.gprs[1].0[..a.len()].copy_from_slice(a);
            wave.gprs[2].0[..b.len()].copy_from_slice(b);
        },
        |wave, exit| {
            stopped(exit);
            (0..a.len())
                .map(|lane| wave.predicates[0] >> lane & 1 == 1)
                .collect()
        },
    )
}

#[test]
fn vectors() {
    let (mut instructions, mut kernels, mut sources) = (0, 0, 0);
    for record in numeric::records(&["minmax", "select", "predicate"]) {
        let inputs = &record["inputs"];
        let (a, b) = (numeric::words(&inputs["a"]), numeric::words(&inputs["b"]));
        let booleans = || -> Vec<bool> {
            let list = record["expected"].as_array().unwrap();
            list.iter().map(|v| v.as_bool().unwrap()).collect()
        };
        match (
            record["form"].as_str().unwrap(),
            record["op"].as_str().unwrap(),
        ) {
            ("kernel", _) => {
                numeric::kernel(&record);
                kernels += 1;
            }
            ("instruction", op) => {
                let code = match record["hex"].as_str() {
                    Some(hex) => numeric::bytes(hex),
                    None => numeric::code(&format!("{op} r0, r1, r2")),
                };
                numeric::compare(&record, &numeric::instruction(&code, &[a, b]));
                instructions += 1;
            }
            ("source", "predicate_feq") => {
                assert_eq!(predicate("pcmp.10.feq P0, r1, r2", &a, &b), booleans());
                sources += 1;
            }
            ("source", "predicate_fge") => {
                assert_eq!(predicate("pcmp.10.fge P0, r1, r2", &a, &b), booleans());
                sources += 1;
            }
            ("source", "predicate_invert_rules") => {
                // The inversion of the compare; that of the push is a matter of control flow.
                let flags = inputs["predicate_inverted"].as_array().unwrap();
                let push = inputs["push_inverted"].as_array().unwrap();
                let expected = record["expected"].as_array().unwrap();
                for ((flag, push), expected) in flags.iter().zip(push).zip(expected) {
                    let inv = u32::from(flag.as_bool().unwrap());
                    let text = format!("pcmp.6.ult P0, r1, r2, inv={inv}");
                    let bits = predicate(&text, &[1, 2], &[2, 1]);
                    let pushed = [0, 1].map(|i| bits[i] ^ push.as_bool().unwrap());
                    let complement = expected == "complement";
                    assert_eq!(pushed, [!complement, complement]);
                }
                sources += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((instructions, kernels, sources), (1 + 3, 7 + 14, 3));
}
