// SPDX-License-Identifier: MIT
//! The profile, against counts worked out by hand.

use agx_isa::{MemoryOp, Space};
use agx_sim::shader::profile::{Count, Profile};

mod support;
use support::{CODE, DATA, Rig, stopped};

/// Three turns of a loop in all lanes, of which 24 also load.
fn rig() -> Rig {
    let rig = Rig::new(
        "mov_imm r0, #0\n get_sr r5, %global_id_x\n mov_imm r1, #1\n mov_imm r2, #3\n mov_imm r3, #24\n\
         top:\n pcmp.6.ult P0, r5, r3\n push.if P0\n device_load.i32 r4, u2:u3, r0, slot=6\n\
         iadd r4, r4, r4, wait=6\n else\n pop.if\n iadd r0, r0, r1\n pcmp.10.ieq P0, r0, r2\n\
         loop_update P0\n br_any top\n pop.loop",
    );
    rig.pointer(1, DATA);
    rig
}

fn profile(rig: &Rig) -> Profile {
    let mut profile = Profile::new();
    rig.run_observed(&mut profile, |_| {}, |_, exit| stopped(exit));
    profile
}

#[test]
fn counts() {
    let profile = profile(&rig());
    // 5 in front, 3 turns of 10, 2 behind.
    let total = profile.total();
    assert_eq!(total.executed, 5 + 3 * 10 + 2);
    let operations = profile.by_operation();
    let of = |name: &str| {
        let found = operations.iter().find(|(n, _)| *n == name);
        found.map(|(_, count)| *count).unwrap()
    };
    let count = |executed, lanes| Count { executed, lanes };
    assert_eq!(of("mov_imm"), count(4, 4 * 32));
    // One with 24 lanes, one with all, in each turn.
    assert_eq!(of("iadd"), count(6, 3 * 24 + 3 * 32));
    assert_eq!(of("device_load"), count(3, 3 * 24));
    // The branch back, the last time with no lane left.
    assert_eq!(of("br_any"), count(3, 2 * 32));
    assert_eq!(of("else"), count(3, 3 * 24));
    assert!((of("iadd").utilisation() - 168.0 / 192.0).abs() < 1e-12);
    let sum: u64 = operations.iter().map(|(_, c)| c.executed).sum();
    assert_eq!(sum, total.executed);
    // Sorted.
    assert!(operations.is_sorted_by(|a, b| a.1.executed >= b.1.executed));
    assert_eq!(
        profile.by_memory(),
        [((Space::Device, MemoryOp::Load), count(3, 72))]
    );
    // The compares hold a 6 in their wait fields as well: PRED.6 and the ordinary PRED.10.
    assert_eq!(profile.waits(), [0, 0, 0, 0, 0, 3 + 3 + 3]);
}

#[test]
fn addresses() {
    let profile = profile(&rig());
    let lines = profile.by_address();
    assert!(lines.is_sorted_by(|a, b| a.0 < b.0));
    assert_eq!(lines.len(), 17);
    assert_eq!(lines[0].0, CODE);
    assert_eq!(lines[0].2.executed, 1);
    // Behind mov, get_sr, mov, mov, mov.
    assert_eq!(lines[5].0, CODE + 2 + 4 + 2 + 2 + 2);
    assert_eq!(lines[5].2.executed, 3);
    let listing = profile.listing();
    assert_eq!(listing.lines().count(), 17);
    let line = listing.lines().nth(7).unwrap();
    assert!(line.contains("device_load.i32 r4"), "{line}");
    // 3 of 37, 24 of 32 lanes.
    assert!(line.contains("  8.1%  75.0%"), "{line}");
}

#[test]
fn merging_adds_up() {
    let one = profile(&rig());
    let mut small = rig();
    small.active = 0xff;
    let other = profile(&small);
    let mut sum = Profile::new();
    sum.merge(&one);
    sum.merge(&other);
    let mut reverse = other.clone();
    reverse.merge(&one);
    assert_eq!(sum.to_string(), reverse.to_string());
    assert_eq!(sum.total().executed, 2 * one.total().executed);
    assert_eq!(sum.total().lanes, one.total().lanes + other.total().lanes);
    assert_eq!(sum.by_address().len(), one.by_address().len());
}

#[test]
fn table() {
    let text = profile(&rig()).to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("all "), "{text}");
    assert!(lines[0].contains(" 37 100.0%"), "{text}");
    // 6 of 37.
    assert!(lines[1].starts_with("iadd "), "{text}");
    assert!(lines[1].contains(" 6  16.2%  lanes  87.5%"), "{text}");
    assert!(text.contains("[device load]"), "{text}");
    assert!(text.contains("[wait for slot 6]"), "{text}");
    // Nothing executed, nothing divided by zero.
    let empty = Profile::new().to_string();
    assert!(empty.contains("0.0%"), "{empty}");
}
