// SPDX-License-Identifier: MIT
//! Shifts against 128-bit arithmetic, the examples of isa-1, 4.13 and isa-4, 7.3 to 7.5, and the
//! measured vectors.

use agx_isa::FormId;
use agx_sim::shader::{Lanes, Stage};
use proptest::prelude::*;

#[path = "support/programs.rs"]
mod programs;
mod support;
use programs::{any_of, example, kernel, numbers, records, survives};
use support::{Rig, stopped};

/// `value * 2^amount`, for any amount, cut to 32 bits.
fn left(value: u32, amount: u32) -> u32 {
    if amount > 64 {
        0
    } else {
        (u128::from(value) << amount) as u32
    }
}

/// `floor(value / 2^amount)`, for any amount.
fn right(value: i128, amount: u32) -> u32 {
    value.div_euclid(1i128 << amount.min(100)) as u32
}

fn signed(value: u32) -> i128 {
    i128::from(value as i32)
}

fn unsigned(value: u32) -> i128 {
    i128::from(value)
}

/// A register amount: its low 16 bits.
fn amount(reg: u32) -> u32 {
    reg % 0x1_0000
}

#[test]
fn examples() {
    // isa-1, 4.13.
    example("a701541802341c786200", |l| {
        vec![(12, right(signed(l.r(13)), 7))]
    });
    example("a70154a0027c011ae200", |l| {
        vec![(80, right(signed(l.r(95)), amount(l.r(64))))]
    });
    example("2700540802140c00f0110100", |l| vec![(4, left(l.r(5), 3))]);
    example("a700540802147c00f0100100", |l| {
        vec![(4, right(unsigned(l.r(5)), 31))]
    });
    example("a70054a0027c0102f0100500", |l| {
        vec![(80, right(unsigned(l.r(95)), amount(l.r(64))))]
    });
    example("2700540802143000f0130500", |l| {
        vec![(4, left(l.r(5), amount(l.r(6))))]
    });
    // isa-4, 7.3: rotate left by 5, 1 and 31.
    for (byte, by) in [("6c", 5), ("7c", 1), ("04", 31)] {
        example(&format!("270156000200{byte}00f0150900"), |l| {
            let twice = unsigned(l.r(0)) << 32 | unsigned(l.r(0));
            vec![(0, right(twice, 32 - by))]
        });
    }
    example("2711540002042a04f0140d00", |l| {
        vec![(0, right(i128::from(l.rr(0)), amount(l.r(5))))]
    });
    // isa-4, 7.4: bits 4 to 11.
    example("a700560002001000f0118100", |l| vec![(0, l.r(0) / 16 % 256)]);
    example("a700560003081200f0108100", |l| vec![(0, l.r(2) / 16 % 256)]);
    // isa-4, 7.5: r1.l = r1.l << r1.h.
    example("2710540202040c0080130500", |l| {
        let low = left(l.r(1) % 0x1_0000, l.r(1) / 0x1_0000) % 0x1_0000;
        vec![(1, l.r(1) / 0x1_0000 * 0x1_0000 + low)]
    });
}

/// The values that isa-1, 4.13 names.
#[test]
fn amounts_are_not_reduced() {
    let run = |line: &str, by: u32| {
        Rig::new(line).run(
            |wave| {
                wave.gprs[1] = Lanes::splat(0x8123_4567);
                wave.gprs[2] = Lanes::splat(by);
            },
            |wave, exit| {
                stopped(exit);
                wave.gprs[0].0[9]
            },
        )
    };
    assert_eq!(run("asr r0, r1, r2", 33), 0xffff_ffff);
    assert_eq!(run("shr r0, r1, r2", 33), 0);
    assert_eq!(run("shl r0, r1, r2", 32), 0);
    assert_eq!(run("shr r0, r1, r2", 0x1_0004), 0x0812_3456);
    assert_eq!(run("shl r0, r1, r2", 0xffff_0004), 0x1234_5670);
    assert_eq!(run("asr r0, r1, r2", 0x8001_0000), 0x8123_4567);
}

fn inputs() -> impl Strategy<Value = [Lanes; 3]> {
    let value = prop_oneof![
        any::<u32>(),
        0..70u32,
        (0..70u32, any::<u16>()).prop_map(|(low, high)| low | u32::from(high) << 16),
        Just(0x8000_0000),
        Just(0xffff_ffff),
    ];
    let lanes = proptest::collection::vec(value, 32).prop_map(|v| Lanes(v.try_into().unwrap()));
    [lanes.clone(), lanes.clone(), lanes]
}

/// Runs one line with r1, r2, r3 and answers r0.
fn run(line: &str, sources: &[Lanes; 3]) -> Lanes {
    Rig::new(line).run(
        |wave| wave.gprs[1..4].copy_from_slice(sources),
        |wave, exit| {
            stopped(exit);
            wave.gprs[0]
        },
    )
}

proptest! {
    #[test]
    fn by_register(v in inputs()) {
        let shl = run("shl r0, r1, r2", &v);
        let shr = run("shr r0, r1, r2", &v);
        let asr = run("asr r0, r1, r2", &v);
        let funnel = run("fshr r0, r1, r2, r3", &v);
        let narrow = run("shr16 r0.h, r1.h, r2.l", &v);
        for lane in 0..32 {
            let [a, b, c] = [0, 1, 2].map(|i| v[i].0[lane]);
            prop_assert_eq!(shl.0[lane], left(a, amount(b)));
            prop_assert_eq!(shr.0[lane], right(unsigned(a), amount(b)));
            prop_assert_eq!(asr.0[lane], right(signed(a), amount(b)));
            prop_assert_eq!(funnel.0[lane], right(unsigned(a) << 32 | unsigned(b), amount(c)));
            let half = right(unsigned(a / 0x1_0000), amount(b));
            prop_assert_eq!(narrow.0[lane], half * 0x1_0000);
        }
    }

    #[test]
    fn by_constant(v in inputs(), by in 0..32u32, width in 1..32u32) {
        let shl = run(&format!("shl r0, r1, #{by}"), &v);
        let shr = run(&format!("shr r0, r1, #{by}"), &v);
        let asr = run(&format!("asr r0, r1, #{by}"), &v);
        let rotated = run(&format!("rotr r0, r1, r1, #{by}"), &v);
        let field = run(&format!("ubfe r0, r1, #{by}, #{width}"), &v);
        for lane in 0..32 {
            let a = v[0].0[lane];
            prop_assert_eq!(shl.0[lane], left(a, by));
            prop_assert_eq!(shr.0[lane], right(unsigned(a), by));
            prop_assert_eq!(asr.0[lane], right(signed(a), by));
            prop_assert_eq!(rotated.0[lane], right(unsigned(a) << 32 | unsigned(a), by));
            prop_assert_eq!(field.0[lane], right(unsigned(a), by) % (1 << width));
        }
    }
}

#[test]
fn measured() {
    for record in records(&["int_shift"]) {
        if record["form"] == "kernel" {
            kernel(&record);
            continue;
        }
        // The vendor's rotation by a variable amount (isa-4, 7.3).
        assert_eq!(record["id"], "ex.rotl.var.0");
        let [a, by] = ["a", "amount"].map(|name| numbers(&record["inputs"][name]));
        for (i, expected) in numbers(&record["expected"]).into_iter().enumerate() {
            let text = "mov_imm r3, #31\nand r4, r2, r3\nmov_imm r5, #0\nisub r5, r5, r2\n\
                        and r5, r5, r3\nshl r4, r1, r4\nshr r5, r1, r5\nor r0, r4, r5";
            let sources = [a[i] as u32, by[i] as u32, 0].map(Lanes::splat);
            assert_eq!(
                u64::from(run(text, &sources).0[0]),
                expected,
                "{a:x?} {by:x?}"
            );
        }
    }
}

/// The forms of this family.
const FORMS: &[FormId] = &[
    FormId::AsrI,
    FormId::AsrR,
    FormId::LsI,
    FormId::UBfe,
    FormId::LsR,
    FormId::LsR16,
    FormId::RotR,
    FormId::FShR,
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
