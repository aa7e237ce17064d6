// SPDX-License-Identifier: MIT
//! Integer arithmetic against 128-bit arithmetic, the examples of isa-1, 4.11 and 4.12, and the
//! measured vectors.

use agx_isa::FormId;
use agx_sim::shader::{Lanes, Stage};
use proptest::prelude::*;

#[path = "support/programs.rs"]
mod programs;
mod support;
use programs::{any_of, example, fault, kernel, numbers, records, survives};
use support::{Rig, stopped};

/// Modulo 2^32.
fn word(value: i128) -> u32 {
    value.rem_euclid(1 << 32) as u32
}

/// As a signed or unsigned number.
fn as_number(value: u32, signed: bool) -> i128 {
    let value = i128::from(value);
    if signed && value >= 1 << 31 {
        value - (1 << 32)
    } else {
        value
    }
}

fn n(value: u32) -> i128 {
    as_number(value, false)
}

/// A 64-bit result's two registers.
fn two(reg: u32, value: i128) -> Vec<(u32, u32)> {
    vec![(reg, word(value)), (reg + 1, word(value >> 32))]
}

#[test]
fn examples() {
    // isa-1, 4.11.
    example("9f0154800208f8aa1705", |l| {
        vec![(64, word(n(l.r(2)) + n(l.r(95))))]
    });
    example("1f01540e02204aac1105", |l| {
        vec![(7, word(n(l.r(8)) - n(l.r(9))))]
    });
    example("9f01540e022040ae1701", |l| {
        vec![(7, word(n(l.r(8)) + n(l.u(200))))]
    });
    example("9f00540802081850d02f2a00", |l| {
        vec![(4, word(n(l.r(2)) * n(l.r(3)) + n(l.r(5))))]
    });
    example("9f10540802081850d8272200", |l| {
        vec![(4, word(n(l.r(2)) * n(l.u(3)) + n(l.r(5))))]
    });
    example("9f0054bc02008102e0261e00", |l| {
        two(94, as_number(l.r(64), true) * as_number(l.r(80), true))
    });
    example("9f00540802081a04e0200a00", |l| {
        two(4, n(l.r(2)) * n(l.r(3)))
    });
    // isa-4, 7.1, 7.2 and 7.5; isa-0, 3 and 8.
    example("9f01560002c800881504", |l| vec![(0, word(100 + n(l.r(0))))]);
    example("1f015408031004281301", |l| vec![(4, word(n(l.r(4)) - 1))]);
    example("9f015608020818a81705", |l| {
        vec![(4, word(n(l.r(2)) + n(l.r(3))))]
    });
    example("9f015600020800501705", |l| {
        two(0, i128::from(l.rr(2)) + i128::from(l.rr(0)))
    });
    example("1f015600020800501705", |l| {
        two(0, i128::from(l.rr(2)) - i128::from(l.rr(0)))
    });
    example("9f015600020000c81414", |l| vec![(0, word(8 * n(l.r(0))))]);
    // r4.l = 31 - r3.l.
    example("1f015408023e18001504", |l| {
        let low = (31 - n(l.r(3)) % 0x1_0000).rem_euclid(0x1_0000);
        vec![(4, l.r(4) / 0x1_0000 * 0x1_0000 + low as u32)]
    });
}

fn operands() -> impl Strategy<Value = [Lanes; 4]> {
    let edge = proptest::sample::select(vec![
        0,
        1,
        2,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0xffff_fffe,
        0x1_0000,
        0xffff,
    ]);
    let value = prop_oneof![any::<u32>(), edge];
    let lanes = proptest::collection::vec(value, 32).prop_map(|v| Lanes(v.try_into().unwrap()));
    [lanes.clone(), lanes.clone(), lanes.clone(), lanes]
}

/// Runs one line with sources r2..r5 and answers r0 and r1.
fn run(line: &str, sources: &[Lanes; 4]) -> [Lanes; 2] {
    Rig::new(line).run(
        |wave| wave.gprs[2..6].copy_from_slice(sources),
        |wave, exit| {
            stopped(exit);
            [wave.gprs[0], wave.gprs[1]]
        },
    )
}

proptest! {
    #[test]
    fn words(v in operands()) {
        let sum = run("iadd r0, r2, r3", &v)[0];
        let difference = run("isub r0, r2, r3", &v)[0];
        let mad = run("imad r0, r2, r3, r4", &v)[0];
        let shifted = run("iadd_shl3 r0, #77, r3", &v)[0];
        let from = run("isub_imm_a r0, #255, r3", &v)[0];
        let high = run("iadd16 r0.h, #200, r3.h", &v)[0];
        for lane in 0..32 {
            let [a, b, c, _] = v.map(|lanes| n(lanes.0[lane]));
            prop_assert_eq!(sum.0[lane], word(a + b));
            prop_assert_eq!(difference.0[lane], word(a - b));
            prop_assert_eq!(mad.0[lane], word(a * b + c));
            prop_assert_eq!(shifted.0[lane], word(77 + 8 * b));
            prop_assert_eq!(from.0[lane], word(255 - b));
            prop_assert_eq!(high.0[lane], word((200 + b / 0x1_0000) * 0x1_0000));
        }
    }

    #[test]
    fn double_words(v in operands()) {
        let [low, high] = run("iadd64 r0:r1, r2:r3, r4:r5", &v);
        let [low_difference, high_difference] = run("isub64 r0:r1, r2:r3, r4:r5", &v);
        for lane in 0..32 {
            let [a, b, c, d] = v.map(|lanes| n(lanes.0[lane]));
            let (x, y) = (a + (b << 32), c + (d << 32));
            prop_assert_eq!((low.0[lane], high.0[lane]), (word(x + y), word((x + y) >> 32)));
            let pair = (low_difference.0[lane], high_difference.0[lane]);
            prop_assert_eq!(pair, (word(x - y), word((x - y) >> 32)));
        }
    }

    #[test]
    fn wide_products(v in operands(), signed_a: bool, signed_b: bool) {
        let flag = |name, set| if set { format!(", {name}=1") } else { String::new() };
        let flags = flag("sgnA", signed_a) + &flag("sgnB", signed_b);
        let [low, high] = run(&format!("imul_wide r0:r1, r2, r3{flags}"), &v);
        for lane in 0..32 {
            let a = as_number(v[0].0[lane], signed_a);
            let b = as_number(v[1].0[lane], signed_b);
            prop_assert_eq!((low.0[lane], high.0[lane]), (word(a * b), word((a * b) >> 32)));
        }
    }
}

/// A pair as both destination and source is read before it is written.
#[test]
fn overlapping_pairs() {
    let lanes = |value| Lanes::splat(value);
    Rig::new("iadd64 r0:r1, r0:r1, r0:r1\nimul_wide r0:r1, r0, r1").run(
        |wave| wave.gprs[..2].copy_from_slice(&[lanes(0x8000_0003), lanes(5)]),
        |wave, exit| {
            stopped(exit);
            let product = 6u64 * 11;
            assert_eq!(wave.gprs[0], lanes(product as u32));
            assert_eq!(wave.gprs[1], lanes((product >> 32) as u32));
        },
    );
}

/// Machine code, the first argument word that it writes, and the words it writes from registers.
type UniformForm = (&'static str, u8, fn(&[u32]) -> Vec<u32>);

/// The forms that write argument words: isa-1, 4.12 and isa-2, 2.8.
const UNIFORM_FORMS: &[UniformForm] = &[
    ("9f0154fe011800a81301", 255, |r| vec![r[6]]),
    ("1f015404011838a81705", 130, |r| {
        vec![r[6].wrapping_sub(r[7])]
    }),
    ("9f015428001400a81301", 20, |r| vec![r[5]]),
    ("9f0054fe01081850d02f2a00", 255, |r| {
        vec![(u64::from(r[2]) * u64::from(r[3]) + u64::from(r[5])) as u32]
    }),
    ("9f0054fc01081800e0261e00", 254, |r| {
        let product = i64::from(r[2] as i32) * i64::from(r[3] as i32);
        vec![product as u32, (product >> 32) as u32]
    }),
];

#[test]
fn argument_words() {
    let value = |reg: u32| 0x1234_5678u32.wrapping_mul(2 * reg + 1);
    let regs: Vec<u32> = (0..96).map(value).collect();
    for (hex, word, expected) in UNIFORM_FORMS {
        let mut rig = Rig::hex(&format!("{hex} 0e 00 00 00"));
        rig.stage = Stage::Launcher;
        rig.active = 1;
        rig.run(
            |wave| {
                for (reg, value) in wave.gprs.iter_mut().zip(&regs) {
                    *reg = Lanes([0; 32]);
                    reg.0[0] = *value;
                }
            },
            |_, exit| stopped(exit),
        );
        let expected = expected(&regs);
        for other in 0..=255u8 {
            let place = usize::from(other).checked_sub(usize::from(*word));
            let written = place.and_then(|i| expected.get(i));
            assert_eq!(
                rig.uniforms.is_written(other),
                written.is_some(),
                "{hex} u{other}"
            );
            assert_eq!(
                rig.uniforms.get(other),
                written.copied().unwrap_or(0),
                "{hex} u{other}"
            );
        }
        // A compute program may not.
        rig.stage = Stage::Compute;
        let reason = fault(&rig);
        assert!(
            reason.contains("launch programs in a compute program"),
            "{reason}"
        );
    }
}

#[test]
fn measured() {
    for record in records(&["int_alu", "int_wide"]) {
        let id = record["id"].as_str().unwrap();
        if record["form"] == "kernel" {
            kernel(&record);
            continue;
        }
        match id {
            // Two 16-bit products in a word, each the low half of a 32-bit one.
            "ex.short2.mul" => {
                let halves = |value: &serde_json::Value| -> Vec<[i16; 2]> {
                    let pair =
                        |v: &serde_json::Value| [0, 1].map(|i| v[i].as_i64().unwrap() as i16);
                    value.as_array().unwrap().iter().map(pair).collect()
                };
                let [a, b] = ["a", "b"].map(|name| halves(&record["inputs"][name]));
                for (i, expected) in halves(&record["expected"]).into_iter().enumerate() {
                    for half in 0..2 {
                        let sources = [a[i][half], b[i][half], 0, 0];
                        let lanes = sources.map(|v| Lanes::splat(v as u16 as u32));
                        let product = run("imad r0, r2, r3, r4", &lanes)[0].0[7];
                        assert_eq!(product as i16, expected[half], "{id}");
                    }
                }
            }
            "g17.umul_widening" => {
                let [a, b] = ["a", "b"].map(|name| numbers(&record["inputs"][name])[0] as u32);
                let sources = [a, b, 0, 0].map(Lanes::splat);
                let [low, high] = run("imul_wide r0:r1, r2, r3", &sources);
                let product = u64::from(low.0[3]) | u64::from(high.0[3]) << 32;
                assert_eq!(product, numbers(&record["expected"])[0]);
            }
            other => panic!("{other}: not tested"),
        }
    }
}

/// The forms of this family.
const FORMS: &[FormId] = &[
    FormId::IAdd,
    FormId::IAddIA,
    FormId::IAddIB,
    FormId::IAdd16A,
    FormId::IAdd64,
    FormId::UAdd,
    FormId::IMad,
    FormId::IMulW,
    FormId::UMad,
    FormId::UMulW,
    FormId::IAddSh,
];

proptest! {
    #[test]
    fn every_decodable_instruction(
        code in any_of(FORMS), active: u32, launcher: bool, strict: bool,
    ) {
        let stage = if launcher { Stage::Launcher } else { Stage::Compute };
        survives(&code, active, stage, strict);
    }
}
