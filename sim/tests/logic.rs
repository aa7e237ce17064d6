// SPDX-License-Identifier: MIT
//! Truth tables bit by bit, the examples of isa-1, 4.10 and isa-4, 7, and the measured vectors.

use agx_isa::{Arg, FormId, Instr, Value};
use agx_sim::shader::{Lanes, Stage};
use proptest::prelude::*;

#[path = "support/programs.rs"]
mod programs;
mod support;
use programs::{any_of, example, fault, kernel, records, survives};
use support::{Rig, stopped};

/// The functions by name, from isa-1, 4.10: t11, t10, t01, t00. Names are those of the assembler.
const TABLES: &[(&str, [u32; 4])] = &[
    ("and", [1, 0, 0, 0]),
    ("or", [1, 1, 1, 0]),
    ("xor", [0, 1, 1, 0]),
    ("mova", [1, 1, 0, 0]),
    ("nand", [0, 1, 1, 1]),
    ("nor", [0, 0, 0, 1]),
    ("xnor", [1, 0, 0, 1]),
    ("andn2", [0, 1, 0, 0]),
    ("andn1", [0, 0, 1, 0]),
    ("orn2", [1, 1, 0, 1]),
    ("orn1", [1, 0, 1, 1]),
    ("nota", [0, 0, 1, 1]),
    ("zeros", [0, 0, 0, 0]),
    ("ones", [1, 1, 1, 1]),
];

/// A function of two words, one bit after the other.
fn apply(table: [u32; 4], a: u32, b: u32) -> u32 {
    let bit = |i: u32| match (a / 2u32.pow(i) % 2, b / 2u32.pow(i) % 2) {
        (1, 1) => table[0],
        (1, _) => table[1],
        (_, 1) => table[2],
        _ => table[3],
    };
    (0..32).map(|i| bit(i) * 2u32.pow(i)).sum()
}

#[test]
fn examples() {
    example("4b051e07020800000000", |l| vec![(4, l.r(2) ^ l.r(3))]);
    example("4b852687020800000000", |l| vec![(4, l.r(2) ^ l.r(3))]);
    example("4b051f07000000000000", |l| vec![(4, l.r(2) & l.r(3))]);
    example("0ba967a9021800200000", |l| vec![(80, l.r(20))]);
    example("3b290f01020000000000", |l| vec![(3, l.r(20))]);
    example("3b053701820900000000", |l| vec![(3, l.u(130) | l.r(0))]);
    // isa-0, 3 and 8; isa-4, 7.1 and 7.5.
    example("0b010e00010800800000", |l| vec![(0, !l.r(0))]);
    example("2b852785020800800000", |l| vec![(2, l.r(2))]);
    example("0b011fff100200800000", |l| vec![(0, l.r(0) & 255)]);
    example("2b052f9f100200800000", |l| vec![(2, l.r(2) & 31)]);
    // r1.h = r1.h & 15.
    example("13022f8f1c0200800000", |l| {
        vec![(1, l.r(1) % 0x1_0000 + l.r(1) / 0x1_0000 % 16 * 0x1_0000)]
    });
    example("0b051c01", |l| vec![(0, l.r(2) | l.r(0))]);
}

/// Exports: isa-1, 4.10 and isa-0, 8. The registers stay.
#[test]
fn publications() {
    for (hex, word, sources) in [
        ("4b0bbe0d421800000000", 100, [5, 6]),
        ("2b072f00420000001000", 2, [3, 3]),
        ("0b072f00420000001000", 0, [3, 3]),
    ] {
        let mut rig = Rig::hex(&format!("{hex} 0e 00 00 00"));
        rig.active = 0x0f0f_3333;
        rig.run(
            |wave| {
                for (index, reg) in wave.gprs.iter_mut().enumerate() {
                    *reg = Lanes::from_fn(|lane| (index * 1000 + lane * 7) as u32);
                }
            },
            |wave, exit| {
                stopped(exit);
                let [a, b] = sources.map(|index: usize| wave.gprs[index]);
                for lane in 0..32 {
                    let value = if a == b {
                        a.0[lane]
                    } else {
                        a.0[lane] ^ b.0[lane]
                    };
                    let active = 0x0f0f_3333u32 >> lane & 1;
                    assert_eq!(
                        wave.publication(word).0[lane],
                        value * active,
                        "{hex} {lane}"
                    );
                }
                assert_eq!(wave.publication(word ^ 1), Lanes::ZERO);
            },
        );
    }
}

fn lanes() -> impl Strategy<Value = Lanes> {
    any::<[u32; 32]>().prop_map(Lanes)
}

fn run(text: &str, a: Lanes, b: Lanes) -> Lanes {
    Rig::new(text).run(
        |wave| wave.gprs[1..3].copy_from_slice(&[a, b]),
        |wave, exit| {
            stopped(exit);
            wave.gprs[0]
        },
    )
}

proptest! {
    #[test]
    fn tables(a in lanes(), b in lanes(), constant in 0..128u32) {
        let constant = 2 * constant + 1;
        for (name, table) in TABLES {
            let two = run(&format!("{name} r0, r1, r2"), a, b);
            let same = run(&format!("{name} r0, r2, r2"), a, b);
            let inline = run(&format!("{name} r0, r1, #{constant}"), a, b);
            let suffix = if name.ends_with(['1', '2']) { "_16" } else { "16" };
            let halves = run(&format!("{name}{suffix} r0.h, r1.h, r2.l"), a, b);
            for lane in 0..32 {
                let (x, y) = (a.0[lane], b.0[lane]);
                prop_assert_eq!(two.0[lane], apply(*table, x, y), "{}", name);
                prop_assert_eq!(same.0[lane], apply(*table, y, y), "{}", name);
                prop_assert_eq!(inline.0[lane], apply(*table, x, constant), "{}", name);
                let half = apply(*table, x / 0x1_0000, y % 0x1_0000) % 0x1_0000;
                prop_assert_eq!(halves.0[lane], half * 0x1_0000, "{}", name);
            }
        }
    }
}

/// "Do not emit the two that depend on B alone ... A simulator traps on both."
#[test]
fn functions_of_b_alone_fault() {
    for name in ["movb", "notb"] {
        for text in [
            format!("{name} r0, r1, r2"),
            format!("{name} r0, r1, r1"),
            format!("{name} r0, r1, #9"),
            format!("{name}16 r0.l, r1.l, r2.l"),
        ] {
            let reason = fault(&Rig::new(&text));
            assert!(reason.contains("function of B alone"), "{text}: {reason}");
        }
    }
}

/// Half operands that no sample explains are refused, not guessed.
#[test]
fn unknown_halves_fault() {
    let mut instr = Instr::new(FormId::Logic16);
    instr.set_operation("and16").unwrap();
    instr.set_arg(0, Value::gpr_half(0, false)).unwrap();
    instr.set_arg(1, Value::gpr_half(1, false)).unwrap();
    instr.set_arg(2, Arg::new(Value::uniform(5))).unwrap();
    let mut code = instr.encode().unwrap().to_vec();
    code.extend([0x0e, 0, 0, 0]);
    let reason = fault(&Rig::bytes(code));
    assert!(reason.contains("LOGIC16.10"), "{reason}");
}

#[test]
fn measured() {
    for record in records(&["int_logic"]) {
        assert_eq!(record["form"], "kernel");
        kernel(&record);
    }
}

/// The forms of this family.
const FORMS: &[FormId] = &[
    FormId::Logic,
    FormId::LogicI,
    FormId::Logic1,
    FormId::Logic4,
    FormId::Logic16,
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
