// SPDX-License-Identifier: MIT
//! Scratch frames against a model: a map from lane and word to value.

use std::collections::HashMap;

use agx_sim::fault::FaultKind;
use agx_sim::shader::{Exit, Lanes};
use proptest::prelude::*;

mod support;
use support::{Rig, stopped};

/// One access.
#[derive(Clone, Debug)]
enum Access {
    Save { word: u32, src: u8 },
    Fill { word: u32, dst: u8 },
    Store { data: u8, index: u8, offset: u32 },
    Load { dst: u8, index: u8, offset: u32 },
}

fn access() -> impl Strategy<Value = Access> {
    let word = || prop_oneof![4 => 0u32..12, 1 => 0u32..8192];
    // Registers 0 to 7 hold data, 8 to 11 indices; 95 only the constant forms reach.
    let data = || prop_oneof![0u8..8, Just(63)];
    let any_data = || prop_oneof![0u8..8, Just(95)];
    prop_oneof![
        (word(), any_data()).prop_map(|(word, src)| Access::Save { word, src }),
        (word(), any_data()).prop_map(|(word, dst)| Access::Fill { word, dst }),
        (data(), 8u8..12, word()).prop_map(|(data, index, offset)| Access::Store {
            data,
            index,
            offset
        }),
        (data(), 8u8..12, word()).prop_map(|(dst, index, offset)| Access::Load {
            dst,
            index,
            offset
        }),
    ]
}

impl Access {
    fn text(&self) -> String {
        match self {
            Access::Save { word, src } => format!("scratch_save scr{word}, r{src}, slot=6\n"),
            Access::Fill { word, dst } => format!("scratch_fill r{dst}, scr{word}, slot=6\n"),
            Access::Store {
                data,
                index,
                offset,
            } => {
                format!("private_store r{data}, r{index}, #{offset}\n")
            }
            Access::Load { dst, index, offset } => {
                format!("private_load r{dst}, r{index}, #{offset}\n")
            }
        }
    }

    /// Word number of `lane`.
    fn word(&self, gprs: &[Lanes], lane: usize) -> u64 {
        match *self {
            Access::Save { word, .. } | Access::Fill { word, .. } => u64::from(word),
            Access::Store { index, offset, .. } | Access::Load { index, offset, .. } => {
                u64::from(gprs[usize::from(index)].0[lane]) + u64::from(offset)
            }
        }
    }

    /// Moves `lane`'s value; a word at or past `words` does not exist.
    fn model(&self, gprs: &mut [Lanes], frame: &mut Frame, lane: usize, words: u64) {
        let word = self.word(gprs, lane);
        match *self {
            Access::Save { src: data, .. } | Access::Store { data, .. } => {
                if word < words {
                    frame.insert((lane, word), gprs[usize::from(data)].0[lane]);
                }
            }
            Access::Fill { dst, .. } | Access::Load { dst, .. } => {
                let value = frame.get(&(lane, word)).copied().unwrap_or(0);
                gprs[usize::from(dst)].0[lane] = value;
            }
        }
    }
}

type Frame = HashMap<(usize, u64), u32>;

fn indices() -> impl Strategy<Value = Lanes> {
    let index = prop_oneof![8 => 0u32..12, 1 => any::<u32>(), 1 => Just(u32::MAX)];
    proptest::collection::vec(index, 32).prop_map(|v| Lanes(v.try_into().unwrap()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn as_the_model(
        accesses in proptest::collection::vec(access(), 1..12),
        data in proptest::collection::vec(any::<[u32; 32]>(), 8),
        indices in [indices(), indices(), indices(), indices()],
        bytes in prop_oneof![Just(0u32), Just(48), Just(51), 0u32..100, Just(32768)],
        active in prop_oneof![Just(!0u32), Just(0), any::<u32>()],
        strict in any::<bool>(),
    ) {
        let mut gprs = vec![Lanes::ZERO; 96];
        for (register, value) in data.iter().enumerate() {
            gprs[register] = Lanes(*value);
        }
        gprs[8..12].copy_from_slice(&indices);
        let start = gprs.clone();

        let mut frame = Frame::new();
        let mut fault = None;
        let words = u64::from(bytes / 4);
        let lanes: Vec<usize> = (0..32).filter(|lane| active >> lane & 1 == 1).collect();
        for access in &accesses {
            let outside = lanes.iter().find(|&&lane| access.word(&gprs, lane) >= words);
            if let (true, Some(&lane)) = (strict, outside) {
                fault = Some((4 * access.word(&gprs, lane), lane));
                break;
            }
            for &lane in &lanes {
                access.model(&mut gprs, &mut frame, lane, words);
            }
        }

        let mut rig = Rig::new(&accesses.iter().map(Access::text).collect::<String>());
        rig.scratch_bytes = bytes;
        rig.active = active;
        rig.strict = strict;
        rig.run(
            |wave| wave.gprs.copy_from_slice(&start),
            |wave, exit| {
                match (exit, fault) {
                    (Exit::Stop, None) => {}
                    (Exit::Fault(found), Some((at, lane))) => {
                        let FaultKind::Memory { va, bytes: 4, reason, .. } = found.kind else {
                            panic!("{found}")
                        };
                        prop_assert_eq!((va, reason), (at, "past the scratch extent A"));
                        prop_assert_eq!(found.shader.unwrap().lane, Some(lane as u8));
                    }
                    (exit, fault) => panic!("{exit:?}, expected {fault:?}"),
                }
                prop_assert!(wave.gprs[..] == gprs[..]);
                prop_assert!(wave.scratch.len() as u64 <= words * 32);
                Ok(())
            },
        )?;
    }
}

/// launch, 4.7: with highest word S, 4 * (S + 1) bytes work and one less fails.
#[test]
fn extent_is_byte_exact() {
    for word in [0u32, 1, 1234, 8191] {
        let text =
            format!("scratch_save scr{word}, r1, slot=1\nscratch_fill r2, scr{word}, slot=1");
        for (bytes, works) in [(4 * (word + 1), true), (4 * (word + 1) - 1, false)] {
            for strict in [false, true] {
                let mut rig = Rig::new(&text);
                rig.scratch_bytes = bytes;
                rig.strict = strict;
                rig.run(
                    |wave| {
                        wave.gprs[1] = Lanes::from_fn(|lane| lane as u32 + 1);
                        wave.gprs[2] = Lanes::splat(99);
                    },
                    |wave, exit| {
                        if strict && !works {
                            assert!(matches!(exit, Exit::Fault(_)), "{exit:?}");
                        } else {
                            stopped(exit);
                            let expected = if works { wave.gprs[1] } else { Lanes::ZERO };
                            assert_eq!(wave.gprs[2], expected);
                        }
                    },
                );
            }
        }
    }
}

/// The byte strings of isa-2, 4: word 1234, r77 saved, r70 filled; r5 through r6 plus 300.
#[test]
fn encoded_examples() {
    let mut rig = Rig::hex(
        "2b 1b 4f 00 22 11 24 04 00 00  6c a4 01 41 26 00 00 10
         ef 00 54 0a 0c 02 09 03 4b 60  6f 00 54 0e 0c 02 49 01 2c 01 03 00  0e 00 00 00",
    );
    rig.scratch_bytes = 4 * 1235;
    rig.strict = true;
    rig.run(
        |wave| {
            wave.gprs[77] = Lanes::from_fn(|lane| 1000 + lane as u32);
            wave.gprs[5] = Lanes::from_fn(|lane| 2000 + lane as u32);
            wave.gprs[6] = Lanes::from_fn(|lane| 3 * lane as u32);
        },
        |wave, exit| {
            stopped(exit);
            assert_eq!(wave.gprs[70], wave.gprs[77]);
            assert_eq!(wave.gprs[7], wave.gprs[5]);
            for lane in 0..32 {
                assert_eq!(wave.scratch[1234 * 32 + lane], 1000 + lane as u32);
                assert_eq!(
                    wave.scratch[(300 + 3 * lane) * 32 + lane],
                    2000 + lane as u32
                );
            }
        },
    );
}
