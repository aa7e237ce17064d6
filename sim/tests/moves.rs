// SPDX-License-Identifier: MIT
//! Literals and moves: the examples of isa-1, 4.1, isa-0, 3 and 8, and launch, 12.5; measured vectors.

use agx_isa::FormId;
use agx_sim::shader::{Lanes, Stage};
use proptest::prelude::*;

#[path = "support/programs.rs"]
mod programs;
mod support;
use programs::{any_of, example, fault, kernel, records, survives};
use support::{Rig, stopped};

#[test]
fn examples() {
    example("fc7f", |_| vec![(15, 127)]);
    example("3c01", |_| vec![(3, 1)]);
    example("0cf802121808a201", |_| vec![(0, 0x1234_5678)]);
    example("2c80423e0000000c", |_| vec![(18, 0x3f80_0000)]);
    example("fcffc2fe1e0cff0f", |_| vec![(63, 0xffff_ffff)]);
    // launch, 12.5.
    example("2c80020010008004", |_| vec![(2, 0x0090_0400)]);
    example("3c80020004000000", |_| vec![(3, 0x100)]);
    example("13000001", |l| vec![(1, l.r(1) % 0x1_0000)]);
    example("53000001", |l| vec![(5, l.r(5) % 0x1_0000)]);
    example("13008001", |l| vec![(33, l.r(33) % 0x1_0000)]);
    example("0b000000", |_| vec![(0, 0)]);
}

proptest! {
    #[test]
    fn literals(value: u32, reg in 0..64u32) {
        let text = format!("mov_imm r{reg}, #{value}");
        let got = Rig::new(&text).run(|_| {}, |wave, exit| {
            stopped(exit);
            wave.gprs[reg as usize]
        });
        prop_assert_eq!(got, Lanes::splat(value));
    }

    #[test]
    fn exported_literals(value: u32, active: u32, word in 0..64u8) {
        let mut rig = Rig::new(&format!("export_imm p{word}, #{value}"));
        rig.active = active;
        let got = rig.run(|_| {}, |wave, exit| {
            stopped(exit);
            assert_eq!(wave.gprs, [Lanes::ZERO; 96]);
            wave.publication(word)
        });
        let expected = |lane: usize| if active >> lane & 1 == 1 { value } else { 0 };
        prop_assert_eq!(got, Lanes(std::array::from_fn(expected)));
    }
}

/// isa-0, 8: `p4 = 0x3f800000` and `p2 = r0`.
#[test]
fn exports() {
    Rig::hex("4c80233e0000000c4060 2b0029c4 0e000000").run(
        |wave| wave.gprs[0] = Lanes(std::array::from_fn(|lane| lane as u32 + 9)),
        |wave, exit| {
            stopped(exit);
            assert_eq!(wave.publication(4), Lanes::splat(0x3f80_0000));
            assert_eq!(wave.publication(2), wave.gprs[0]);
            assert_eq!(wave.publication(0), Lanes::ZERO);
        },
    );
}

/// `u4 = r10`, `u0 = r8`, `u17 = r9` (isa-1, 4.1; isa-2, 2.9) and the four of launch, 12.5.
#[test]
fn argument_moves() {
    let moves = [
        ("4b140944", 4, 10),
        ("0b100944", 0, 8),
        ("1b124904", 17, 9),
        ("0b240944", 0, 18),
        ("1b260904", 1, 19),
        ("2b280904", 2, 20),
        ("3b2a0904", 3, 21),
    ];
    for (hex, word, reg) in moves {
        let mut rig = Rig::hex(&format!("{hex} 0e 00 00 00"));
        rig.stage = Stage::Launcher;
        rig.active = 1;
        rig.run(
            |wave| wave.gprs[reg].0[0] = 0xdead_0000 + reg as u32,
            |_, exit| stopped(exit),
        );
        for other in 0..=255 {
            let value = if other == word {
                0xdead_0000 + reg as u32
            } else {
                0
            };
            assert_eq!(rig.uniforms.get(other), value, "{hex} u{other}");
            assert_eq!(
                rig.uniforms.is_written(other),
                other == word,
                "{hex} u{other}"
            );
        }
        rig.stage = Stage::Compute;
        let reason = fault(&rig);
        assert!(
            reason.contains("launch programs in a compute program"),
            "{reason}"
        );
    }
}

/// No lane, no word.
#[test]
fn argument_move_without_lanes() {
    let mut rig = Rig::hex("4b140944 0e000000");
    rig.stage = Stage::Launcher;
    rig.active = 0;
    rig.run(|_| {}, |_, exit| stopped(exit));
    assert!(!rig.uniforms.is_written(4));
}

#[test]
fn undecoded_uniform_copy_faults() {
    let reason = fault(&Rig::hex("3b040108 0e000000"));
    assert!(reason.contains("UMOV.4"), "{reason}");
}

#[test]
fn measured() {
    for record in records(&["move", "convert"]) {
        if record["family"] == "move" || record["id"] == "g17.k.zext16" {
            kernel(&record);
        }
    }
}

/// The forms of this family.
const FORMS: &[FormId] = &[
    FormId::MovImm7,
    FormId::MovImm32,
    FormId::ExportImm32,
    FormId::ExportMove4,
    FormId::Zext16,
    FormId::Zero,
    FormId::Argw,
    FormId::Umov,
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
