// SPDX-License-Identifier: MIT
//! Bit counting and reversal, bit by bit, the examples of isa-1, 4.14, and the measured vectors.

use agx_isa::FormId;
use agx_sim::shader::{Lanes, Stage};
use proptest::prelude::*;

#[path = "support/programs.rs"]
mod programs;
mod support;
use programs::{any_of, bytes, example, kernel, numbers, records, survives};
use support::{Rig, stopped};

fn bit(value: u32, index: u32) -> u32 {
    value / 2u32.pow(index) % 2
}

fn count(value: u32) -> u32 {
    (0..32).map(|i| bit(value, i)).sum()
}

fn reverse(value: u32) -> u32 {
    (0..32).map(|i| bit(value, i) * 2u32.pow(31 - i)).sum()
}

fn highest(value: u32) -> u32 {
    (0..32)
        .filter(|i| bit(value, *i) == 1)
        .max()
        .unwrap_or(0xffff_ffff)
}

#[test]
fn examples() {
    example("2705540802145c04", |l| vec![(4, count(l.r(5)))]);
    example("a705540802184f04", |l| vec![(4, highest(l.r(70)))]);
    example("a70456b402145c04", |l| vec![(90, reverse(l.r(5)))]);
}

/// Runs lines with sources from r1 on and answers r0.
fn run(text: &str, sources: &[Lanes]) -> Lanes {
    Rig::new(text).run(
        |wave| wave.gprs[1..=sources.len()].copy_from_slice(sources),
        |wave, exit| {
            stopped(exit);
            wave.gprs[0]
        },
    )
}

proptest! {
    #[test]
    fn every_function(values: [u32; 32], shift in 0..32u32) {
        // Shifted, so that small numbers and zero occur.
        let values = [Lanes(values.map(|v| v >> shift & !(v & 1)))];
        let [counted, reversed, found] =
            ["popcount", "bitrev", "find_msb"].map(|op| run(&format!("{op} r0, r1"), &values));
        for (lane, &value) in values[0].0.iter().enumerate() {
            prop_assert_eq!(counted.0[lane], count(value));
            prop_assert_eq!(reversed.0[lane], reverse(value));
            prop_assert_eq!(found.0[lane], highest(value));
        }
    }
}

#[test]
fn zero_and_single_bits() {
    for shift in 0..=32 {
        let value = 1u64.checked_shl(shift).unwrap() as u32;
        let source = [Lanes::splat(value)];
        let results =
            ["popcount", "bitrev", "find_msb"].map(|op| run(&format!("{op} r0, r1"), &source).0[5]);
        let expected = match shift {
            32 => [0, 0, 0xffff_ffff],
            _ => [1, 1 << (31 - shift), shift],
        };
        assert_eq!(results, expected, "bit {shift}");
    }
}

/// Bit-field extraction as the vendor's builtin defines it (isa-4, 7.4), from shifts and logic: r1 the
/// value, r2 the offset, r3 the width. A width of exactly 32 ignores the offset.
const EXTRACT: &str = "
    mov_imm r4, #32
    xor r5, r3, r4          // 0 when the width is 32
    mov_imm r6, #0
    isub r7, r6, r5
    or r5, r5, r7
    asr r5, r5, #31         // all ones when it is not
    isub_imm_b r6, r6, #1
    shl r7, r6, r3
    shr r8, r1, r2
    andn2 r8, r8, r7        // the field
    and r8, r8, r5
    andn2 r9, r1, r5
    or r0, r8, r9";

/// Sign extension from bit min(width, 32) - 1 behind it.
const EXTEND: &str = "
    shr r5, r3, #5
    mov_imm r6, #0
    isub r7, r6, r5
    or r5, r5, r7
    asr r5, r5, #31         // all ones when the width is 32 or more
    andn2 r7, r3, r5
    and r5, r4, r5
    or r7, r7, r5           // min(width, 32)
    isub r7, r4, r7
    shl r0, r0, r7
    asr r0, r0, r7";

/// Leading zeros: 31 less the highest bit.
const LEADING: &str = "find_msb r0, r1\nmov_imm r2, #31\nisub r0, r2, r0";

#[test]
fn measured() {
    for record in records(&["int_bit"]) {
        let id = record["id"].as_str().unwrap();
        let inputs = |name: &str| numbers(&record["inputs"][name]);
        let text = match record["form"].as_str().unwrap() {
            "kernel" => {
                kernel(&record);
                continue;
            }
            "instruction" => {
                // r2 = the highest bit of r1, by the record's own bytes.
                assert_eq!(id, "g17.find_msb");
                let mut code = bytes(record["hex"].as_str().unwrap());
                let instr = agx_isa::decode(&code, agx_isa::Mode::Strict).unwrap();
                let [result, source] = [0, 1].map(|index| instr.raw(index) as usize);
                code.extend([0x0e, 0, 0, 0]);
                for (value, expected) in
                    inputs("src0").into_iter().zip(numbers(&record["expected"]))
                {
                    Rig::bytes(code.clone()).run(
                        |wave| wave.gprs[source] = Lanes::splat(value as u32),
                        |wave, exit| {
                            stopped(exit);
                            assert_eq!(u64::from(wave.gprs[result].0[30]), expected, "{value:x}");
                        },
                    );
                }
                continue;
            }
            _ => match record["op"].as_str().unwrap() {
                "extract_bits_unsigned" => EXTRACT.to_owned(),
                "extract_bits_signed" => format!("{EXTRACT}{EXTEND}"),
                "clz" => LEADING.to_owned(),
                other => panic!("{other}: not tested"),
            },
        };
        let names: &[&str] = if record["op"] == "clz" {
            &["src0"]
        } else {
            &["a", "offset", "width"]
        };
        let columns: Vec<Vec<u64>> = names.iter().map(|name| inputs(name)).collect();
        for (i, expected) in numbers(&record["expected"]).into_iter().enumerate() {
            let sources: Vec<Lanes> = columns.iter().map(|c| Lanes::splat(c[i] as u32)).collect();
            assert_eq!(u64::from(run(&text, &sources).0[31]), expected, "{id} {i}");
        }
    }
}

/// The forms of this family.
const FORMS: &[FormId] = &[FormId::PopCount, FormId::BitRevMsb];

proptest! {
    #[test]
    fn every_decodable_instruction(
        code in any_of(FORMS), active: u32, launcher: bool, strict: bool,
    ) {
        let stage = if launcher { Stage::Launcher } else { Stage::Compute };
        survives(&code, active, stage, strict);
    }
}
