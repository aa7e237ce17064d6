// SPDX-License-Identifier: MIT
//! The measured vectors of `vectors/launch.jsonl`, all of them.
//!
//! Launcher vectors count offsets from the "call": the entry field of TARGET.

use agx_hw::cdm::{Grid, LocalSize};
use agx_hw::launcher::{Frame, Launcher, Samples, Storage};
use agx_hw::root::{Direct, Groups, RECORD_SIZE};
use agx_hw::window::{CodeAddress, EntryOffset, LauncherAddress};
use serde_json::Value;

fn number(value: &Value) -> u64 {
    match value {
        Value::String(text) => u64::from_str_radix(text.strip_prefix("0x").unwrap(), 16).unwrap(),
        value => value.as_u64().unwrap(),
    }
}

fn triple(value: &Value) -> [u32; 3] {
    let list: Vec<u32> = value
        .as_array()
        .unwrap()
        .iter()
        .map(|n| number(n) as u32)
        .collect();
    list.try_into().unwrap()
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b))
}

fn samples(count: u64) -> Option<Samples> {
    match count {
        1 => Some(Samples::One),
        2 => Some(Samples::Two),
        4 => Some(Samples::Four),
        _ => None,
    }
}

/// A launcher with one of its parts from the vector.
fn launcher(op: &str, inputs: &Value) -> Launcher {
    let input = |name: &str| number(&inputs[name]);
    let mut launcher = Launcher::new(0x1000, 2, EntryOffset::new(0x3c0).unwrap());
    match op {
        "launcher_call_entry" => {
            launcher.entry = EntryOffset::new(input("entry_offset") as u32).unwrap();
        }
        "launcher_frame" => {
            let (a, b) = (input("frame_extent_a"), input("frame_extent_b"));
            launcher.frame = Frame::new(0, a as u16, b as u16).unwrap();
        }
        "launcher_publication_capacity" => {
            launcher.frame = Frame::new(input("publication_count") as u16, 0, 0).unwrap();
        }
        "launcher_threadgroup_bytes" => {
            let bytes = input("threadgroup_memory_bytes") as u32;
            launcher.storage = Storage::threadgroup(bytes).unwrap();
        }
        "launcher_tile_mode" => {
            let samples = samples(input("samples")).unwrap();
            let bytes = input("tile_bytes_per_pixel") as u32;
            launcher.storage = Storage::tile(samples, bytes).unwrap();
        }
        other => panic!("{other}"),
    }
    launcher
}

fn check_launcher(op: &str, vector: &Value) {
    let launcher = launcher(op, &vector["inputs"]);
    let at = LauncherAddress::new(CodeAddress::from_offset(0x90_0000)).unwrap();
    let code = launcher.to_vec(at).unwrap();
    let call = launcher.entry_field_offset().unwrap() as i64;
    let from = |first: i64, last: i64| &code[(call + first) as usize..=(call + last) as usize];
    for (key, expected) in vector["expected"].as_object().unwrap() {
        let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        if key == "value" {
            assert_eq!(little_endian(from(0, 2)), number(expected));
            assert_eq!(u64::from(launcher.entry.field()), number(expected));
        } else if key == "call_bytes_0_2" {
            assert_eq!(hex(from(0, 2)), expected.as_str().unwrap());
        } else if let Some(offset) = key.strip_prefix("u16_at_call") {
            let offset = offset.parse().unwrap();
            assert_eq!(little_endian(from(offset, offset + 1)), number(expected));
        } else if let Some(offset) = key.strip_prefix("byte_at_call") {
            let offset = offset.parse().unwrap();
            assert_eq!(little_endian(from(offset, offset)), number(expected));
        } else if let Some((first, last)) = key
            .strip_prefix("bytes_at_call")
            .and_then(|range| range.split_once(".."))
        {
            let bytes = from(first.parse().unwrap(), last.parse().unwrap());
            assert_eq!(hex(bytes), expected.as_str().unwrap());
        } else {
            panic!("{key}");
        }
    }
}

fn check_geometry(vector: &Value) {
    let inputs = &vector["inputs"];
    let local = LocalSize::new(triple(&inputs["local"])).unwrap();
    let grid = Grid::new(triple(&inputs["threads"]), local).unwrap();
    let record = Direct::new(Groups::Direct(grid.groups()), &[0x2000]).unwrap();
    // The second vector names no address of its own in `expected`.
    let at = number(&inputs["record_address"]);
    let mut bytes = [0; RECORD_SIZE];
    record.pack(at, &mut bytes).unwrap();
    for (key, expected) in vector["expected"].as_object().unwrap() {
        match key.as_str() {
            "u64_at_0x00" => assert_eq!(little_endian(&bytes[..8]), number(expected)),
            "u32_at_0xc0" => {
                let words = [0xc0, 0xc4, 0xc8].map(|i| little_endian(&bytes[i..i + 4]) as u32);
                assert_eq!(words, triple(expected));
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn launch_vectors() {
    let mut checked = 0;
    for line in include_str!("../vectors/launch.jsonl").lines() {
        let vector: Value = serde_json::from_str(line).unwrap();
        match vector["op"].as_str().unwrap() {
            "compute_geometry_record" => check_geometry(&vector),
            op => check_launcher(op, &vector),
        }
        checked += 1;
    }
    assert_eq!(checked, 16);
}

/// What the vectors' notes call accepted and rejected.
#[test]
fn notes() {
    // The notes' driver takes only the sizes that have run with its launchers.
    for bytes in [128, 256, 512, 1024] {
        assert!(Storage::Threadgroup { bytes }.is_tested());
    }
    for bytes in [1, 64, 129, 384, 2048] {
        assert!(!Storage::Threadgroup { bytes }.is_tested());
    }
    let at = LauncherAddress::new(CodeAddress::from_offset(0)).unwrap();
    let pack = |storage| {
        let mut launcher = Launcher::new(0x1000, 2, EntryOffset::new(0x3c0).unwrap());
        launcher.storage = storage;
        launcher.to_vec(at)
    };
    // These no hardware takes: not a multiple of 128.
    for bytes in [0, 1, 64, 129] {
        assert!(pack(Storage::Threadgroup { bytes }).is_err(), "{bytes}");
    }
    assert!(Frame::new(1023, 0, 0).is_err());
    assert!(Frame::new(1022, 0, 0).is_ok());
    assert!(Storage::tile(Samples::One, 129).is_err());
    // "more than 65535 groups on an axis is rejected; local size product above 1024 is rejected".
    let local = LocalSize::new([7, 5, 3]).unwrap();
    assert!(Grid::new([458_745, 11, 1], local).is_ok());
    assert!(Grid::new([458_746, 11, 1], local).is_err());
    assert!(LocalSize::new([1024, 1, 1]).is_ok());
    for size in [[1025, 1, 1], [32, 33, 1], [1 << 16, 1 << 16, 1], [1, 0, 1]] {
        assert!(LocalSize::new(size).is_err(), "{size:?}");
    }
}
