// SPDX-License-Identifier: MIT
//! Threadgroup memory against a model, and its edges.

use agx_sim::fault::FaultKind;
use agx_sim::shader::{Exit, Lanes};
use proptest::prelude::*;

mod support;
#[path = "support/vectors.rs"]
mod vectors;
use support::{Rig, stopped};

/// The value that the root pair holds (isa-2, 3.1).
const ROOT: u64 = 0x8000_0000;

/// Index registers: the upper half must not matter.
fn index() -> impl Strategy<Value = Vec<u32>> {
    let low = prop_oneof![6 => 0u32..64, 1 => 0u32..0x1_0000];
    proptest::collection::vec((low, any::<u16>()), 32).prop_map(|v| {
        v.into_iter()
            .map(|(low, high)| low | u32::from(high) << 16)
            .collect()
    })
}

proptest! {
    #[test]
    fn store_then_load(
        stored_to in index(),
        loaded_from in index(),
        data: [u32; 32],
        before: [u32; 64],
        active in prop_oneof![Just(!0u32), Just(0), any::<u32>()],
        strict in any::<bool>(),
    ) {
        let mut rig = Rig::new(
            "threadgroup_store r2, u8:u9, r10.l\nthreadgroup_load r63, u8:u9, r11.l",
        );
        rig.threadgroup_bytes = 256;
        rig.active = active;
        rig.strict = strict;
        rig.pointer(4, ROOT);
        let lanes: Vec<usize> = (0..32).filter(|lane| active >> lane & 1 == 1).collect();
        // The first access outside, in execution order.
        let outside = [("threadgroup store", &stored_to), ("threadgroup load", &loaded_from)]
            .into_iter()
            .flat_map(|(access, index)| lanes.iter().map(move |&l| (access, l, index[l] & 0xffff)))
            .find(|&(_, _, word)| word >= 64);
        rig.run(
            |wave| {
                wave.gprs[10] = Lanes::from_fn(|lane| stored_to[lane]);
                wave.gprs[11] = Lanes::from_fn(|lane| loaded_from[lane]);
                wave.gprs[2] = Lanes(data);
                wave.gprs[63] = Lanes::splat(77);
                for (cell, word) in wave.group.shared.iter().zip(before) {
                    cell.set(word);
                }
            },
            |wave, exit| {
                if let (true, Some((access, lane, word))) = (strict, outside) {
                    let Exit::Fault(fault) = exit else { panic!("{exit:?}") };
                    let va = ROOT + 4 * u64::from(word);
                    let reason = "past the threadgroup allocation";
                    prop_assert_eq!(fault.kind, FaultKind::Memory { access, va, bytes: 4, reason });
                    prop_assert_eq!(fault.shader.unwrap().lane, Some(lane as u8));
                    return Ok(());
                }
                stopped(exit);
                let mut words = before.to_vec();
                // Past the end: dropped here, and reading 0 below.
                words.resize(0x1_0000, 0);
                for &lane in &lanes {
                    words[(stored_to[lane] & 0xffff) as usize] = data[lane];
                }
                words[64..].fill(0);
                for lane in 0..32 {
                    let word = words[(loaded_from[lane] & 0xffff) as usize];
                    let expected = if lanes.contains(&lane) { word } else { 77 };
                    prop_assert_eq!(wave.gprs[63].0[lane], expected);
                }
                for (cell, word) in wave.group.shared.iter().zip(words) {
                    prop_assert_eq!(cell.get(), word);
                }
                Ok(())
            },
        )?;
    }

    /// The direct atomic (isa-4, 3.2), lane after lane.
    #[test]
    fn atomics(
        operation in proptest::sample::select(vec![
            "add", "and", "cmpxchg", "fadd", "imax", "imin", "or", "sub", "umax", "umin", "xchg",
            "xor",
        ]),
        first in prop_oneof![any::<u32>(), 0u32..3],
        data in any::<[u32; 32]>(),
        compare in proptest::collection::vec(0u32..3, 32),
        small in any::<bool>(),
        active in prop_oneof![Just(!0u32), Just(0), any::<u32>()],
        returns in any::<bool>(),
    ) {
        let data = data.map(|word| if small { word % 3 } else { word });
        let dst = if returns { "r7" } else { "none" };
        let mut rig = Rig::new(&format!("threadgroup_atomic.{operation} {dst}, r2"));
        rig.threadgroup_bytes = 128;
        rig.active = active;
        rig.run(
            |wave| {
                wave.gprs[2] = Lanes(data);
                wave.gprs[3] = Lanes::from_fn(|lane| compare[lane]);
                wave.gprs[7] = Lanes::splat(0xabcd);
                wave.group.shared[0].set(first);
            },
            |wave, exit| {
                stopped(exit);
                let mut word = first;
                for lane in 0..32 {
                    let mut expected = 0xabcd;
                    if active >> lane & 1 == 1 {
                        if returns {
                            expected = word;
                        }
                        let (a, b) = (word, data[lane]);
                        let (sa, sb) = (a as i32, b as i32);
                        word = match operation {
                            "add" => (u64::from(a) + u64::from(b)) as u32,
                            "sub" => (u64::from(a) + (1 << 32) - u64::from(b)) as u32,
                            "and" => !(!a | !b),
                            "or" => !(!a & !b),
                            "xor" => (a | b) - (a & b),
                            "cmpxchg" if a == compare[lane] => b,
                            "cmpxchg" => a,
                            "imax" => if sa < sb { b } else { a },
                            "imin" => if sa > sb { b } else { a },
                            "umax" => if a < b { b } else { a },
                            "umin" => if a > b { b } else { a },
                            "xchg" => b,
                            _ => float_sum(a, b),
                        };
                    }
                    prop_assert_eq!(wave.gprs[7].0[lane], expected, "lane {}", lane);
                }
                prop_assert_eq!(wave.group.shared[0].get(), word);
                Ok(())
            },
        )?;
    }
}

/// fp32 addition by way of f64.
fn float_sum(a: u32, b: u32) -> u32 {
    let value = |bits: u32| {
        let value = f32::from_bits(bits);
        if value.is_subnormal() {
            f64::from(value) * 0.0
        } else {
            f64::from(value)
        }
    };
    let sum = (value(a) + value(b)) as f32;
    match sum.classify() {
        std::num::FpCategory::Nan => 0x7fc0_0000,
        std::num::FpCategory::Subnormal => sum.to_bits() & 0x8000_0000,
        _ => sum.to_bits(),
    }
}

/// The byte strings of isa-4, 5 and 3.2: word 0 without an index.
#[test]
fn direct_forms() {
    let mut rig = Rig::hex(
        "e7 02 54 00 00 00 00 00 44 01 00 10 00 00
         67 02 54 02 00 00 00 00 44 05 00 40 00 00
         67 03 54 03 00 02 00 00 22 00 40 07
         0e 00 00 00",
    );
    rig.threadgroup_bytes = 128;
    rig.strict = true;
    rig.active = 0xf0;
    rig.pointer(0, ROOT);
    rig.run(
        |wave| {
            wave.gprs[0] = Lanes::from_fn(|lane| 100 + lane as u32);
            // Unsigned minimum: lanes 4 to 7 lower the word one after the other.
            wave.gprs[2] = Lanes::from_fn(|lane| 50 - lane as u32);
        },
        |wave, exit| {
            stopped(exit);
            // The highest lane's store stays.
            assert_eq!(wave.gprs[1].0[4..8], [107; 4]);
            assert_eq!(wave.gprs[3].0[4..8], [107, 46, 45, 44]);
            assert_eq!(wave.gprs[3].0[3], 0);
            assert_eq!(wave.group.shared[0].get(), 43);
        },
    );
}

#[test]
fn other_roots() {
    for (strict, root) in [
        (false, 0x8000_0004),
        (true, 0x8000_0004),
        (true, 0),
        (true, ROOT << 1),
    ] {
        let mut rig = Rig::new("threadgroup_load r3, u8:u9, r10.l");
        rig.threadgroup_bytes = 128;
        rig.strict = strict;
        rig.pointer(4, root);
        rig.run(
            |wave| {
                wave.gprs[3] = Lanes::splat(5);
                wave.group.shared.iter().for_each(|word| word.set(9));
            },
            |wave, exit| match exit {
                Exit::Fault(fault) if strict => {
                    assert!(matches!(fault.kind, FaultKind::Strict(_)), "{fault}");
                }
                Exit::Stop if !strict => assert_eq!(wave.gprs[3], Lanes::ZERO),
                other => panic!("{other:?}"),
            },
        );
    }
}

#[test]
fn no_allocation() {
    for strict in [false, true] {
        let mut rig = Rig::new("threadgroup_atomic.add r3, r2");
        rig.strict = strict;
        rig.run(
            |wave| wave.gprs[3] = Lanes::splat(5),
            |wave, exit| match exit {
                Exit::Fault(_) if strict => {}
                Exit::Stop if !strict => assert_eq!(wave.gprs[3], Lanes::ZERO),
                other => panic!("{other:?}"),
            },
        );
    }
}

/// isa-2, 5.4: the operands of the indexed form are unknown; unknown operation codes of the direct one.
#[test]
fn refused_atomics() {
    for (hex, text) in [
        (
            "67 03 54 00 00 02 00 00 21 00 00 04 0e 00 00 00",
            "not decoded",
        ),
        ("67 03 54 00 00 02 00 00 20 00 00 00 0e 00 00 00", ""),
    ] {
        let mut rig = Rig::hex(hex);
        rig.threadgroup_bytes = 128;
        rig.run(
            |_| {},
            |_, exit| match exit {
                Exit::Fault(fault) => {
                    let FaultKind::IllegalInstruction(reason) = &fault.kind else {
                        panic!("{fault}")
                    };
                    assert!(reason.contains(text), "{reason}");
                }
                other => panic!("{other:?}"),
            },
        );
    }
}

#[test]
fn measured() {
    for record in vectors::records("threadgroup") {
        vectors::run_kernel(&record, true);
    }
}
