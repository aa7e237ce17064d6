// SPDX-License-Identifier: MIT
//! The blocks of launch programs: the bytes of launch, 4.5 to 4.7 and 12.5, and the measured fields.

use agx_isa::FormId;
use agx_sim::shader::Stage;
use agx_sim::shader::control::LaunchState;
use agx_sim::shader::launch::{Extents, Storage};
use proptest::prelude::*;

#[path = "support/programs.rs"]
mod programs;
mod support;
use programs::{any_of, fault, survives};
use support::{Rig, stopped};

/// What a launch program leaves behind.
fn launch(rig: &mut Rig) -> LaunchState {
    rig.stage = Stage::Launcher;
    rig.active = 1;
    rig.run(
        |_| {},
        |wave, exit| {
            stopped(exit);
            wave.launch
        },
    )
}

fn hex(text: &str) -> LaunchState {
    launch(&mut Rig::hex(&format!("{text} 0e000000")))
}

#[test]
fn storage() {
    let none = Storage::None;
    let threadgroup = |bytes| Storage::Threadgroup { bytes };
    let tile = |samples, bytes| Storage::Tile { samples, bytes };
    // launch, 4.5: the table, its checks ("samples x bytes"), and 12.5.
    for (bytes, expected) in [
        ("77002a4100000000", none),
        ("77002a4180020000", threadgroup(128)),
        ("77002a4180040000", threadgroup(256)),
        ("77002a4180080000", threadgroup(512)),
        ("77002a4180100000", threadgroup(1024)),
        ("77002a4180000200", threadgroup(32768)),
        ("77002a434b000000", tile(1, 8)),
        ("77002a464b000000", tile(2, 24)),
        ("7700aa1043000000", tile(4, 64)),
        ("77002a614b000000", tile(1, 128)),
        ("77002a414b000000", tile(1, 0)),
        ("77002a404b000000", tile(2, 0)),
        ("7700aa0043000000", tile(4, 0)),
    ] {
        let state = hex(bytes);
        assert_eq!(state.storage(), Some(expected), "{bytes}");
        assert_eq!(
            (state.entry_offset(), state.extents()),
            (None, None),
            "{bytes}"
        );
    }
}

#[test]
fn entry_and_extents() {
    let extents = |publications, scratch, b| Extents {
        publications,
        scratch,
        b,
    };
    // launch, 12.5 and its variants; isa-0, 8.
    assert_eq!(hex("7701aa07000000028000").entry_offset(), Some(0x3c0));
    assert_eq!(hex("7701aa46020000028000").entry_offset(), Some(0x12340));
    assert_eq!(
        hex("f7002a00000000000000").extents(),
        Some(extents(0, 0, 0))
    );
    assert_eq!(
        hex("f7002a80020400001000").extents(),
        Some(extents(10, 4, 4096))
    );
    // launch, 4.7: P to p.
    for (count, p) in [
        (0, 0),
        (1, 0x80),
        (2, 0x80),
        (8, 0x200),
        (9, 0x280),
        (36, 0x900),
        (1022, 0xff80),
    ] {
        let bytes = format!("f7002a{:02x}{:02x}0000000000", p & 0xff, p >> 8);
        let rounded = u32::next_multiple_of(count, 2);
        assert_eq!(
            hex(&bytes).extents(),
            Some(extents(rounded, 0, 0)),
            "{count}"
        );
    }
}

/// The launcher of launch, 12.5, without the load that another family does.
#[test]
fn whole_launcher() {
    let mut rig = Rig::hex(
        "2c80020010008004 3c80020004000000 77002a4100000000 7701aa07000000028000
         f7002a00000000000000 0b240944 1b260904 2b280904 3b2a0904 0e000000",
    );
    rig.stage = Stage::Launcher;
    rig.active = 1;
    let words = [0x0090_04c0, 0x100, 0x0001_0000, 0x20];
    rig.run(
        |wave| {
            for (reg, word) in wave.gprs[18..22].iter_mut().zip(words) {
                reg.0[0] = word;
            }
        },
        |wave, exit| {
            stopped(exit);
            assert_eq!((wave.gprs[2].0[0], wave.gprs[3].0[0]), (0x0090_0400, 0x100));
            let state = wave.launch;
            assert_eq!(state.storage(), Some(Storage::None));
            assert_eq!(state.entry_offset(), Some(0x3c0));
            assert_eq!(
                state.extents().map(|e| (e.publications, e.scratch, e.b)),
                Some((0, 0, 0))
            );
            // The bits themselves.
            assert_eq!(state.target, Some(0x0080_0200_0000_07aa_0177));
        },
    );
    for (i, word) in words.into_iter().enumerate() {
        assert_eq!(rig.uniforms.get(i as u8), word);
    }
    assert!(!rig.uniforms.is_written(4));
}

/// A preamble behind a jump is part of the set-up (launch, 5.3).
#[test]
fn preamble() {
    let mut rig = Rig::new(
        "alloc.none\ntarget t=0x7aa\nframe\nbr_any preamble\nstop\n\
         preamble: mov_imm r5, #77\nuniform_iadd u200, r5, #0",
    );
    let state = launch(&mut rig);
    assert!(state.alloc.is_some() && state.target.is_some() && state.frame.is_some());
    assert_eq!(rig.uniforms.get(200), 77);
}

/// Fields that a proven driver's tests state, by their distance from TARGET's entry field.
#[test]
fn measured() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../hw/stream/vectors/launch.jsonl"
    );
    let text = std::fs::read_to_string(path).unwrap();
    let mut checked = 0;
    for line in text.lines() {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let input = |name: &str| record["inputs"][name].as_u64().map(|value| value as u32);
        let op = record["op"].as_str().unwrap();
        if !op.starts_with("launcher_") {
            continue;
        }
        // ALLOC, TARGET and FRAME; the entry field is ten bytes in.
        let blocks = "77002a4100000000 77012a00000000028000 f7002a00000000000000 0e000000";
        let mut rig = Rig::hex(blocks);
        if input("samples") == Some(4) {
            rig.code[2] = 0xaa;
        }
        for (field, value) in record["expected"].as_object().unwrap() {
            if field == "value" {
                continue;
            }
            let (_, place) = field.split_once("call").unwrap();
            let place = place.split("..").next().unwrap();
            let first: i32 = place.parse().unwrap_or(0);
            let bytes = match value.as_str() {
                Some(text) => Rig::hex(text).code.clone(),
                None if field.starts_with("u16") => {
                    (value.as_u64().unwrap() as u16).to_le_bytes().to_vec()
                }
                None => vec![value.as_u64().unwrap() as u8],
            };
            let first = (10 + first) as usize;
            rig.code[first..first + bytes.len()].copy_from_slice(&bytes);
        }
        let state = launch(&mut rig);
        let extents = state.extents().unwrap();
        let got = match op {
            "launcher_call_entry" => (state.entry_offset(), input("entry_offset")),
            "launcher_frame" => {
                assert_eq!(Some(extents.b), input("frame_extent_b"));
                (Some(extents.scratch), input("frame_extent_a"))
            }
            "launcher_publication_capacity" => {
                let even = |count: u32| count.next_multiple_of(2);
                (
                    Some(extents.publications),
                    input("publication_count").map(even),
                )
            }
            "launcher_threadgroup_bytes" => {
                let bytes = input("threadgroup_memory_bytes").unwrap();
                assert_eq!(state.storage(), Some(Storage::Threadgroup { bytes }));
                checked += 1;
                continue;
            }
            "launcher_tile_mode" => {
                let samples = input("samples").unwrap();
                let bytes = input("tile_bytes_per_pixel").unwrap();
                assert_eq!(
                    state.storage(),
                    Some(Storage::Tile { samples, bytes }),
                    "{line}"
                );
                checked += 1;
                continue;
            }
            other => panic!("{other}: not tested"),
        };
        assert_eq!(got.0, got.1, "{line}");
        checked += 1;
    }
    assert!(checked >= 14, "{checked}");
}

#[test]
fn nothing_said_nothing_recorded() {
    assert_eq!(
        launch(&mut Rig::new("mov_imm r1, #1")),
        LaunchState::default()
    );
    assert_eq!(LaunchState::default().storage(), None);
}

#[test]
fn compute_programs_may_not() {
    for line in ["alloc.none", "target t=0x7aa", "frame pairs=5, a=4"] {
        let reason = fault(&Rig::new(line));
        assert!(
            reason.contains("launch programs in a compute program"),
            "{line}: {reason}"
        );
    }
}

proptest! {
    /// Any extents and entries, and the last block counts.
    #[test]
    fn every_value(
        pairs in 0..512u32, a in 0..0x1_0000u32, b in 0..0x1_0000u32,
        entry in 0..0x40_0000u32, blocks in 1..=256u32,
    ) {
        let entry = entry / 64 * 64;
        let text = format!(
            "alloc.threadgroup tg128=1\nframe pairs=7\ntarget t=0x2a\n\
             frame pairs={pairs}, a={a}, b={b}\ntarget t={}\nalloc.threadgroup tg128={blocks}",
            2 * entry + 0x2a
        );
        let state = launch(&mut Rig::new(&text));
        let extents = Extents { publications: 2 * pairs, scratch: a, b };
        prop_assert_eq!(state.extents(), Some(extents));
        prop_assert_eq!(state.entry_offset(), Some(entry));
        prop_assert_eq!(state.storage(), Some(Storage::Threadgroup { bytes: 128 * blocks }));
    }
}

/// The forms of this family.
const FORMS: &[FormId] = &[FormId::Alloc, FormId::Target, FormId::Frame];

proptest! {
    #[test]
    fn every_decodable_instruction(
        code in any_of(FORMS), active: u32, launcher: bool, strict: bool,
    ) {
        let stage = if launcher { Stage::Launcher } else { Stage::Compute };
        survives(&code, active, stage, strict);
    }
}
