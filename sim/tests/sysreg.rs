// SPDX-License-Identifier: MIT
//! System registers against a walk over the invocations of a workgroup, and a measured program.

use agx_isa::{FormId, SYSTEM_REGISTERS};
use agx_sim::shader::{Lanes, Stage};
use proptest::prelude::*;

#[path = "support/programs.rs"]
mod programs;
mod support;
use programs::{any_of, fault, kernel, records, survives};
use support::{Rig, stopped};

/// What the registers are, in the order of isa-0, 5, for the invocation at `local`, the `index`th.
fn expected(rig: &Rig, index: u32, local: [u32; 3]) -> Vec<(u32, u32)> {
    let lane = index % 32;
    let below = rig.active & !(u32::MAX << lane);
    let mut registers = vec![
        (0x82, lane),
        (0x84, 0),
        (0x85, index / 32),
        (0x95, below.count_ones()),
        (0xa7, index),
    ];
    for (axis, position) in local.into_iter().enumerate() {
        let number = axis as u32;
        registers.push((0x98 + number, rig.local[axis]));
        registers.push((0x9c + number, rig.id[axis]));
        registers.push((0xa0 + number, rig.id[axis] * rig.local[axis] + position));
        registers.push((0xa4 + number, position));
        registers.push((0xa8 + number, rig.groups[axis]));
    }
    registers
}

/// Reads register `number` into r9 by both forms: whole, and through the low half.
fn read(rig: &mut Rig, number: u32) -> [Lanes; 2] {
    // D = r9: bits 4..7; the selector in byte 1 (isa-1, 4.1).
    [
        [0x9c, number as u8, 0x10, 0x06],
        [0x94, number as u8, 0x10, 0x06],
    ]
    .map(|code| {
        rig.code = [code, [0x0e, 0, 0, 0]].concat();
        rig.run(
            |wave| wave.gprs[9] = Lanes::splat(0xabcd_ef01),
            |wave, exit| {
                stopped(exit);
                wave.gprs[9]
            },
        )
    })
}

/// A workgroup's size, with at most 1024 invocations.
fn size() -> impl Strategy<Value = [u32; 3]> {
    (1..=64u32, 1..=16u32, 1..=16u32)
        .prop_filter("at most 1024 invocations", |(x, y, z)| x * y * z <= 1024)
        .prop_map(|(x, y, z)| [x, y, z])
}

proptest! {
    #[test]
    fn compute_registers(
        local in size(),
        id in [0..65536u32, 0..65536u32, 0..65536u32],
        groups in [1..65536u32, 1..65536u32, 1..65536u32],
        holes: u32,
        group in 0..32u32,
    ) {
        let count = local.iter().product::<u32>();
        let mut rig = Rig::bytes(Vec::new());
        (rig.local, rig.id, rig.groups) = (local, id, groups);
        rig.simd_group = group % count.div_ceil(32);
        let first = rig.simd_group * 32;
        let existing = (count - first).min(32);
        rig.active = u32::MAX >> (32 - existing) & holes;
        // Walk: x fastest.
        let mut index = 0;
        let mut walk = Vec::new();
        for z in 0..local[2] {
            for y in 0..local[1] {
                for x in 0..local[0] {
                    if (first..first + 32).contains(&index) {
                        walk.push(expected(&rig, index, [x, y, z]));
                    }
                    index += 1;
                }
            }
        }
        let numbers: Vec<u32> = walk[0].iter().map(|(number, _)| *number).collect();
        prop_assert_eq!(numbers.len(), 20);
        for (place, number) in numbers.into_iter().enumerate() {
            let [whole, half] = read(&mut rig, number);
            for lane in 0..32 {
                let active = rig.active >> lane & 1 == 1;
                let value = walk.get(lane).filter(|_| active).map(|values| values[place].1);
                let want = value.unwrap_or(0xabcd_ef01);
                prop_assert_eq!(whole.0[lane], want, "{:#x} in lane {}", number, lane);
                let want = value.map_or(0xabcd_ef01, |value| 0xabcd_0000 + value % 0x1_0000);
                prop_assert_eq!(half.0[lane], want, "{:#x} in lane {}", number, lane);
            }
        }
    }
}

/// Examples of isa-0, 8, isa-1, 4.1 and isa-2, 10.1 and 10.2.
#[test]
fn examples() {
    let run = |hex: &str, reg: usize, lane: usize| {
        let mut rig = Rig::hex(&format!("{hex} 0e000000"));
        (rig.local, rig.id, rig.simd_group) = ([8, 4, 3], [5, 6, 7], 2);
        rig.run(
            |wave| wave.gprs[reg] = Lanes::splat(0xffff_ffff),
            |wave, exit| {
                stopped(exit);
                wave.gprs[reg].0[lane]
            },
        )
    };
    // Lane 13 of SIMD group 2: invocation 77 = 5 + 8 * (1 + 4 * 2).
    assert_eq!(run("0ca11006", 0, 13), 6 * 4 + 1);
    assert_eq!(run("4c9c5006", 20, 13), 5);
    assert_eq!(run("5ca09006", 37, 13), 5 * 8 + 5);
    assert_eq!(run("1ca01006", 1, 13), 5 * 8 + 5);
    assert_eq!(run("1ca11026", 1, 13), 6 * 4 + 1);
    assert_eq!(run("2c9e9006", 34, 13), 7);
    assert_eq!(run("24a410a6", 2, 13), 0xffff_0005);
    assert_eq!(run("14a41006 13000001", 1, 13), 5);
    assert_eq!(run("54a71006 53000001", 5, 13), 77);
    assert_eq!(run("54821466", 5, 13), 0xffff_000d);
    // The helper-lane read.
    assert_eq!(run("04841106", 0, 13), 0xffff_0000);
}

#[test]
fn registers_of_graphics_stages_fault() {
    let compute: Vec<u32> = expected(&Rig::bytes(Vec::new()), 0, [0; 3])
        .into_iter()
        .map(|(number, _)| number)
        .collect();
    for number in 0x80..=0xffu32 {
        let rig = Rig::bytes(vec![0x9c, number as u8, 0x10, 0x06, 0x0e, 0, 0, 0]);
        if compute.contains(&number) {
            rig.run(|_| {}, |_, exit| stopped(exit));
            continue;
        }
        let reason = fault(&rig);
        let known = SYSTEM_REGISTERS
            .iter()
            .find(|r| u32::from(r.number) == number);
        let name = known.map_or("unknown", |register| register.name);
        assert!(
            reason.contains(&format!("{number:#x} ({name})")),
            "{reason}"
        );
    }
}

/// A launch program belongs to no workgroup.
#[test]
fn launch_programs_read_zero() {
    let mut rig = Rig::bytes(Vec::new());
    rig.stage = Stage::Launcher;
    (rig.local, rig.id, rig.groups) = ([8, 4, 3], [5, 6, 7], [9, 9, 9]);
    rig.active = 1;
    for (number, _) in expected(&rig, 0, [0; 3]) {
        assert_eq!(read(&mut rig, number)[0].0[0], 0, "{number:#x}");
    }
}

#[test]
fn measured() {
    for record in records(&["special_register"]) {
        kernel(&record);
    }
}

/// The forms of this family.
const FORMS: &[FormId] = &[FormId::GetSr32, FormId::GetSr16];

proptest! {
    #[test]
    fn every_decodable_instruction(
        code in any_of(FORMS), active: u32, launcher: bool, strict: bool,
    ) {
        let stage = if launcher { Stage::Launcher } else { Stage::Compute };
        survives(&code, active, stage, strict);
    }
}
