// SPDX-License-Identifier: MIT
//! Device loads and stores against a model that works byte by byte.

use std::collections::BTreeMap;
use std::sync::Arc;

use agx_isa::{FormId, Instr};
use agx_sim::fault::FaultKind;
use agx_sim::memory::{Bo, PAGE_SIZE, Region};
use agx_sim::shader::{Exit, Lanes};
use proptest::prelude::*;
use serde_json::Value;

mod support;
#[path = "support/vectors.rs"]
mod vectors;
use support::{DATA, Rig, stopped};

/// Formats: name, element bytes, elements (isa-2, 2.2).
const FORMATS: [(&str, u64, usize); 10] = [
    ("i8", 1, 1),
    ("i16", 2, 1),
    ("i32", 4, 1),
    ("i32x2", 4, 2),
    ("i32x3", 4, 3),
    ("i32x4", 4, 4),
    ("i16x2", 2, 2),
    ("i16x3", 2, 3),
    ("i16x4", 2, 4),
    ("i8x4", 1, 4),
];

/// Pages past the four of [`Rig::data`]: what the GPU may do, and whether they exist.
const PAGES: [(u64, bool, bool); 4] = [
    (4, true, false),
    (5, false, true),
    // A hole at 6.
    (7, true, true),
    // The last page below 2^42.
    ((1 << 28) - 1 - (DATA >> 14), true, true),
];

/// The memory of the tests, as the model sees it.
struct Memory {
    bos: Vec<(u64, Arc<Bo>, bool, bool)>,
}

impl Memory {
    /// Fills `rig`'s memory with bytes that depend on the address.
    fn new(rig: &mut Rig) -> Memory {
        let mut bos = vec![(DATA, Arc::clone(&rig.data), true, true)];
        for (page, read, write) in PAGES {
            let bo = Arc::new(Bo::new(PAGE_SIZE).unwrap());
            let start = DATA + page * PAGE_SIZE;
            rig.more.push(Region {
                start,
                end: start + PAGE_SIZE,
                bo: Arc::clone(&bo),
                offset: 0,
                single_page: false,
                read,
                write,
            });
            bos.push((start, bo, read, write));
        }
        for (start, bo, ..) in &bos {
            for i in 0..bo.size() {
                let byte = (start + i).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
                // SAFETY: inside the object, and nothing runs.
                unsafe { bo.base().add(i as usize).write(byte as u8) };
            }
        }
        Memory { bos }
    }

    /// The byte at `va`, if it is mapped with the permission.
    fn byte(&self, va: u64, write: bool) -> Option<u8> {
        let (start, bo, ..) = self.bos.iter().find(|(start, bo, r, w)| {
            (*start..start + bo.size()).contains(&va) && if write { *w } else { *r }
        })?;
        // SAFETY: inside the object, and nothing runs.
        Some(unsafe { bo.base().add((va - start) as usize).read() })
    }

    /// All bytes of all objects.
    fn content(&self) -> Vec<(u64, Vec<u8>)> {
        let bytes = |bo: &Bo| {
            // SAFETY: the whole object, and nothing runs.
            unsafe { std::slice::from_raw_parts(bo.base(), bo.size() as usize) }.to_vec()
        };
        self.bos
            .iter()
            .map(|(start, bo, ..)| (*start, bytes(bo)))
            .collect()
    }
}

/// One access of 32 lanes.
#[derive(Clone, Debug)]
struct Case {
    format: usize,
    scale: u32,
    offset: i16,
    /// `None` = without index.
    index: Option<Vec<u32>>,
    /// One = uniform base, 32 = register base.
    base: Vec<u64>,
    high: bool,
    active: u32,
}

impl Case {
    /// Addresses of the elements that a lane accesses, before rounding.
    fn elements(&self, lane: usize) -> Vec<u64> {
        let (_, size, count) = FORMATS[self.format];
        let base = i128::from(self.base[lane % self.base.len()]);
        let index = self.index.as_ref().map_or(0, |index| index[lane]);
        let address = base + i128::from(index) * (1i128 << self.scale) + i128::from(self.offset);
        (0..count)
            .map(|i| (address + i128::from(size) * i as i128).rem_euclid(1 << 43) as u64)
            .collect()
    }

    fn active(&self) -> impl Iterator<Item = usize> + '_ {
        (0..32).filter(|lane| self.active >> lane & 1 == 1)
    }

    /// The instruction; data in r20 and up, index in r10, base in r12 and r13 or u6 and u7.
    fn text(&self, store: bool) -> String {
        let (name, _, count) = FORMATS[self.format];
        let operation = if store { "store" } else { "load" };
        let half = match (name, self.high) {
            ("i8" | "i16", true) => ".h",
            ("i8" | "i16", false) => ".l",
            _ => "",
        };
        assert!(count <= 4);
        let base = if self.base.len() == 1 {
            "u6:u7"
        } else {
            "r12:r13"
        };
        let index = if self.index.is_some() || store {
            "r10"
        } else {
            "none"
        };
        format!(
            "device_{operation}.{name} r20{half}, {base}, {index}, scale=lsl{}, offset={}",
            self.scale, self.offset
        )
    }

    /// Runs it with `data` in r20 to r23 and answers them.
    fn run(&self, rig: &mut Rig, data: &[Lanes; 4]) -> [Lanes; 4] {
        rig.active = self.active;
        rig.pointer(3, self.base[0]);
        let index = self.index.clone().unwrap_or(vec![0; 32]);
        rig.run(
            |wave| {
                wave.gprs[10] = Lanes::from_fn(|lane| index[lane]);
                wave.gprs[12] = Lanes::from_fn(|lane| self.base[lane % self.base.len()] as u32);
                wave.gprs[13] =
                    Lanes::from_fn(|lane| (self.base[lane % self.base.len()] >> 32) as u32);
                wave.gprs[20..24].copy_from_slice(data);
            },
            |wave, exit| {
                stopped(exit);
                std::array::from_fn(|i| wave.gprs[20 + i])
            },
        )
    }
}

/// Bits of r20 to r23 that an access covers: bit position of each element.
fn element_bit(case: &Case, element: usize) -> usize {
    let (_, size, count) = FORMATS[case.format];
    if count == 1 && size < 4 && case.high {
        16
    } else {
        element * size as usize * 8
    }
}

fn loaded(case: &Case, memory: &Memory, data: &[Lanes; 4]) -> [Lanes; 4] {
    let (_, size, count) = FORMATS[case.format];
    let mut out = *data;
    for lane in case.active() {
        let mut wide: u128 = (0..4)
            .map(|i| u128::from(data[i].0[lane]) << (32 * i))
            .sum();
        for (i, address) in case.elements(lane).into_iter().enumerate() {
            let first = address - address % size;
            let value = (0..size)
                .map(|b| u128::from(memory.byte(first + b, false).unwrap_or(0)) << (8 * b))
                .sum::<u128>();
            // A single byte fills its half with zeros.
            let bits = if count == 1 {
                (size * 8).max(16)
            } else {
                size * 8
            };
            let at = element_bit(case, i);
            let mask = ((1u128 << bits) - 1) << at;
            wide = wide & !mask | value << at;
        }
        for (i, register) in out.iter_mut().enumerate() {
            register.0[lane] = (wide >> (32 * i)) as u32;
        }
    }
    out
}

fn stored(case: &Case, memory: &Memory, data: &[Lanes; 4]) -> Vec<(u64, Vec<u8>)> {
    let (_, size, _) = FORMATS[case.format];
    let mut bytes = BTreeMap::new();
    for lane in case.active() {
        let wide: u128 = (0..4)
            .map(|i| u128::from(data[i].0[lane]) << (32 * i))
            .sum();
        for (i, address) in case.elements(lane).into_iter().enumerate() {
            let value = wide >> element_bit(case, i);
            for b in 0..size {
                let at = address - address % size + b;
                if memory.byte(at, true).is_some() {
                    bytes.insert(at, (value >> (8 * b)) as u8);
                }
            }
        }
    }
    let mut content = memory.content();
    for (start, page) in &mut content {
        for (at, byte) in bytes.range(*start..*start + page.len() as u64) {
            page[(at - *start) as usize] = *byte;
        }
    }
    content
}

/// Addresses near page ends, permission changes, holes, and the ends of the address space.
fn base() -> impl Strategy<Value = u64> {
    let place = proptest::sample::select(vec![
        DATA,
        DATA + 0x4000,
        DATA + 0x1_0000,
        DATA + 0x1_4000,
        DATA + 0x1_8000,
        DATA + 0x1_c000,
        DATA + 0x2_0000,
        0,
        1 << 42,
        1 << 43,
        (1 << 43) + DATA,
        (1 << 42) + DATA,
        u64::MAX << 43 | DATA,
    ]);
    (place, -300i64..300).prop_map(|(place, by)| place.wrapping_add_signed(by))
}

fn index() -> impl Strategy<Value = Vec<u32>> {
    prop_oneof![
        // A run, also one that wraps at 32 bits.
        prop_oneof![0u32..600, Just(u32::MAX - 31), u32::MAX - 40..=u32::MAX]
            .prop_map(|first| (0..32).map(|lane| first.wrapping_add(lane)).collect()),
        // The same everywhere.
        (0u32..600).prop_map(|all| vec![all; 32]),
        // Almost a run.
        (0u32..600, 0usize..32, any::<u32>()).prop_map(|(first, odd, value)| {
            let mut index: Vec<u32> = (0..32).map(|lane| first + lane).collect();
            index[odd] = value;
            index
        }),
        proptest::collection::vec(0u32..2000, 32),
        proptest::collection::vec(any::<u32>(), 32),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    prop_oneof![any_case(), near_run()]
}

/// Runs that end near the end of a page, and accesses that only just are none.
fn near_run() -> impl Strategy<Value = Case> {
    let odd = prop_oneof![Just(None), (0usize..32, -5i64..6).prop_map(Some)];
    (
        0..FORMATS.len(),
        proptest::sample::select(vec![4u64, 0x10, 0x14, 0x18, 0x1c, 0x20]),
        0u64..34,
        0u64..4,
        odd,
        any::<bool>(),
        any::<bool>(),
        prop_oneof![Just(!0u32), any::<u32>()],
    )
        .prop_map(|(format, page, lanes, more, odd, register, high, active)| {
            let (_, size, count) = FORMATS[format];
            let bytes = size * count as u64;
            let start = DATA + page * 0x1000 - lanes * bytes + more;
            let shift = |lane: usize| match odd {
                Some((odd, by)) if odd == lane => by,
                _ => 0,
            };
            // The index counts accesses where a scale allows that, else there is none.
            let indexed = bytes.is_power_of_two() && !register;
            Case {
                format,
                scale: if indexed { bytes.trailing_zeros() } else { 0 },
                offset: 0,
                index: Some(
                    (0..32)
                        .map(|lane| {
                            if indexed {
                                (100 + lane as i64 + shift(lane)) as u32
                            } else {
                                0
                            }
                        })
                        .collect(),
                ),
                base: if indexed {
                    vec![start - 100 * bytes]
                } else {
                    (0..32)
                        .map(|lane| (start + lane as u64 * bytes).wrapping_add_signed(shift(lane)))
                        .collect()
                },
                high,
                active,
            }
        })
}

fn any_case() -> impl Strategy<Value = Case> {
    (
        0..FORMATS.len(),
        0u32..5,
        prop_oneof![Just(0i16), -16i16..16, any::<i16>()],
        index(),
        prop_oneof![
            base().prop_map(|base| vec![base]),
            base().prop_map(|base| vec![base; 32]),
            (base(), 0u64..40)
                .prop_map(|(base, step)| (0..32).map(|l| base.wrapping_add(l * step)).collect()),
            proptest::collection::vec(base(), 32),
        ],
        any::<bool>(),
        prop_oneof![Just(!0u32), Just(0), Just(1), any::<u32>()],
        0..4,
    )
        .prop_map(
            |(format, scale, offset, index, base, high, active, without)| {
                // Half of the runs at the stride that makes them contiguous: that path must be seen.
                let (_, size, count) = FORMATS[format];
                let bytes = size * count as u64;
                let scale = if bytes.is_power_of_two() && without % 2 == 0 {
                    bytes.trailing_zeros()
                } else {
                    scale
                };
                Case {
                    format,
                    scale,
                    offset,
                    index: (without != 3).then_some(index),
                    base,
                    high,
                    active,
                }
            },
        )
}

fn lanes() -> impl Strategy<Value = Lanes> {
    any::<[u32; 32]>().prop_map(Lanes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn loads_as_the_model(case in case(), data in [lanes(), lanes(), lanes(), lanes()]) {
        let mut rig = Rig::new(&case.text(false));
        let memory = Memory::new(&mut rig);
        let found = case.run(&mut rig, &data);
        prop_assert_eq!(found, loaded(&case, &memory, &data));
    }

    #[test]
    fn stores_as_the_model(case in case(), data in [lanes(), lanes(), lanes(), lanes()]) {
        let mut rig = Rig::new(&case.text(true));
        let memory = Memory::new(&mut rig);
        let expected = stored(&case, &memory, &data);
        prop_assert_eq!(case.run(&mut rig, &data), data);
        for ((start, expected), (_, found)) in expected.iter().zip(memory.content()) {
            let wrong = (0..found.len()).find(|&i| expected[i] != found[i]);
            prop_assert_eq!(wrong, None, "in the page at {:#x}", start);
        }
    }

    /// Strict mode faults exactly when an element is misaligned or not accessible, names the first
    /// one, and leaves everything as it was; else it does what lenient mode does.
    #[test]
    fn strict_mode(case in case(), store in any::<bool>()) {
        let (_, size, _) = FORMATS[case.format];
        let data = std::array::from_fn(|i| Lanes::splat(0x0101_0101 * (i as u32 + 1)));
        let mut rig = Rig::new(&case.text(store));
        let memory = Memory::new(&mut rig);
        rig.strict = true;
        rig.active = case.active;
        let first = case
            .active()
            .flat_map(|lane| case.elements(lane).into_iter().map(move |at| (lane, at)))
            .find(|&(_, at)| at % size != 0 || memory.byte(at, store).is_none());
        let before = memory.content();
        let after = if store { stored(&case, &memory, &data) } else { before.clone() };
        let Some((lane, at)) = first else {
            let expected = if store { data } else { loaded(&case, &memory, &data) };
            prop_assert_eq!(case.run(&mut rig, &data), expected);
            prop_assert!(memory.content() == after);
            return Ok(());
        };
        rig.pointer(3, case.base[0]);
        let index = case.index.clone().unwrap_or(vec![0; 32]);
        let base = &case.base;
        let fault = rig.run(
            |wave| {
                wave.gprs[10] = Lanes::from_fn(|lane| index[lane]);
                wave.gprs[12] = Lanes::from_fn(|lane| base[lane % base.len()] as u32);
                wave.gprs[13] = Lanes::from_fn(|lane| (base[lane % base.len()] >> 32) as u32);
            },
            |_, exit| match exit {
                Exit::Fault(fault) => *fault,
                other => panic!("{other:?}"),
            },
        );
        let reason = if at % size != 0 {
            "not aligned to its element size"
        } else {
            match (memory.byte(at, false), memory.byte(at, true)) {
                (None, None) => "not mapped",
                (Some(_), None) => "mapped read-only",
                _ => "mapped write-only",
            }
        };
        prop_assert_eq!(fault.kind, FaultKind::Memory {
            access: if store { "store" } else { "load" },
            va: at,
            bytes: size as u32,
            reason,
        });
        prop_assert_eq!(fault.shader.unwrap().lane, Some(lane as u8));
        prop_assert!(memory.content() == before);
    }
}

/// Forms of device, threadgroup and scratch memory, atomics, subgroups and barriers.
const FORMS: [FormId; 25] = [
    FormId::DevLoad,
    FormId::DevStore,
    FormId::DevAtomic,
    FormId::DevAtomic0,
    FormId::AtomicResult,
    FormId::TgLoad,
    FormId::TgLoad0,
    FormId::TgStore,
    FormId::TgStore0,
    FormId::TgAtomic0,
    FormId::TgAtomic,
    FormId::ScrSave,
    FormId::ScrFill,
    FormId::PrivLoad,
    FormId::PrivStore,
    FormId::SgReduce,
    FormId::SgShuffle,
    FormId::SgShuffle12,
    FormId::SgBallot,
    FormId::SgBallotC,
    FormId::Deriv,
    FormId::Barrier,
    FormId::TileAccess,
    FormId::TileFence,
    FormId::TileStore,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6000))]

    /// Whatever decodes runs to an end or a fault, on any register contents, and changes no register of
    /// an inactive lane.
    #[test]
    fn anything_that_decodes_executes(
        form in proptest::sample::select(FORMS.to_vec()),
        bits: u128,
        keep: u128,
        seed: u64,
        active in prop_oneof![Just(0u32), Just(!0), any::<u32>()],
        strict in any::<bool>(),
        bytes in proptest::sample::select(vec![0u32, 2, 128]),
    ) {
        // Some of the free bits zero: otherwise most forms would rarely be legal.
        let row = form.form();
        let free = bits & if seed % 3 == 0 { !0 } else { keep };
        let inside = (1u128 << (8 * u32::from(row.len).min(15))) - 1;
        let Ok(instr) = Instr::from_word(form, (row.value | free & !row.mask) & inside) else {
            return Ok(());
        };
        let mut code = instr.bits().to_le_bytes()[..usize::from(row.len)].to_vec();
        if instr.wants_atomic_result() {
            code.extend([0x4c, 0x80, 0x09, 0xa7, 0x00, 0x20, 0x00, 0x00]);
        }
        code.extend([0x0e, 0, 0, 0]);
        let mut rig = Rig::bytes(code);
        rig.active = active;
        rig.strict = strict;
        rig.scratch_bytes = bytes;
        rig.threadgroup_bytes = bytes;
        for word in 0..=255u8 {
            rig.uniforms.set(word, (seed as u32).wrapping_mul(u32::from(word) | 1));
        }
        rig.run(
            |wave| {
                let mut state = seed | 1;
                for register in &mut wave.gprs {
                    *register = Lanes::from_fn(|_| {
                        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                        // Large and small numbers.
                        (state >> 32) as u32 >> (state >> 27 & 31)
                    });
                }
            },
            |wave, exit| {
                prop_assert!(matches!(exit, Exit::Stop | Exit::Fault(_)), "{:?}", exit);
                if let Exit::Fault(fault) = exit {
                    prop_assert!(strict || !fault.kind.is_strict(), "{}", fault);
                }
                let mut state = seed | 1;
                for register in &wave.gprs {
                    for lane in 0..32 {
                        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                        let before = (state >> 32) as u32 >> (state >> 27 & 31);
                        if active >> lane & 1 == 0 {
                            prop_assert_eq!(register.0[lane], before, "{}", instr);
                        }
                    }
                }
                Ok(())
            },
        )?;
    }
}

/// The destination may be the base or the index of the load.
#[test]
fn results_over_operands() {
    let rig = Rig::new("device_load.i32x4 r12:r15, r12:r13, r14, scale=lsl4");
    let words: Vec<u32> = (0..128).map(|i| i * 3 + 1).collect();
    rig.write_words(0, &words);
    rig.run(
        |wave| {
            wave.gprs[12] = Lanes::splat(DATA as u32);
            wave.gprs[13] = Lanes::splat((DATA >> 32) as u32);
            wave.gprs[14] = Lanes::from_fn(|lane| 31 - lane as u32);
        },
        |wave, exit| {
            stopped(exit);
            for lane in 0..32 {
                for i in 0..4 {
                    let expected = words[4 * (31 - lane) + i];
                    assert_eq!(wave.gprs[12 + i].0[lane], expected, "lane {lane}, word {i}");
                }
            }
        },
    );
}

/// The last registers, as data and as base.
#[test]
fn last_registers() {
    let rig = Rig::new(
        "device_load.i32x4 r92:r95, u6:u7, r0, scale=lsl4
         device_store.i32x3 r93:r95, u6:u7, r0, scale=lsl4, offset=512
         device_load.i32 r1, r94:r95, r2, scale=lsl2",
    );
    let words: Vec<u32> = (0..128)
        .map(|i| if i % 4 == 3 { (DATA >> 32) as u32 } else { i })
        .collect();
    rig.write_words(0, &words);
    rig.pointer(3, DATA);
    rig.run(
        |wave| {
            wave.gprs[0] = Lanes::from_fn(|lane| lane as u32);
            wave.gprs[2] = Lanes::from_fn(|lane| 5 + lane as u32);
        },
        |wave, exit| {
            stopped(exit);
            for lane in 0..32 {
                for i in 0..4 {
                    assert_eq!(wave.gprs[92 + i].0[lane], words[4 * lane + i]);
                }
                // Base of lane l: DATA + 4 l + 2; index 5 + l; rounded down.
                assert_eq!(
                    wave.gprs[1].0[lane],
                    rig.read_words(4 * (lane + 5 + lane), 1)[0]
                );
            }
        },
    );
    for lane in 0..32 {
        assert_eq!(
            rig.read_words(512 + 16 * lane, 3),
            words[4 * lane + 1..4 * lane + 4]
        );
    }
}

/// 0x80000000 as the base of a device access is a device address (isa-2, 3.1).
#[test]
fn threadgroup_root_is_no_device_memory() {
    let mut rig = Rig::new("device_load.i32 r1, u6:u7, r0, scale=lsl2");
    rig.threadgroup_bytes = 256;
    rig.pointer(3, 0x8000_0000);
    rig.run(
        |wave| {
            wave.gprs[1] = Lanes::splat(7);
            wave.group.shared.iter().for_each(|word| word.set(9));
        },
        |wave, exit| {
            stopped(exit);
            assert_eq!(wave.gprs[1], Lanes::ZERO);
        },
    );
}

/// Every page of a mapping of a single page shows the same bytes.
#[test]
fn single_page_mappings() {
    let mut rig = Rig::new("device_store.i32x4 r20:r23, u6:u7, r10, scale=lsl4");
    let bo = Arc::new(Bo::new(PAGE_SIZE).unwrap());
    let start = DATA + 0x10_0000;
    rig.more.push(Region {
        start,
        end: start + 4 * PAGE_SIZE,
        bo: Arc::clone(&bo),
        offset: 0,
        single_page: true,
        read: true,
        write: true,
    });
    // The run begins 256 bytes before the third page.
    rig.pointer(3, start + 2 * PAGE_SIZE - 256);
    rig.run(
        |wave| {
            for i in 0..4 {
                wave.gprs[20 + i] = Lanes::from_fn(|lane| (4 * lane + i + 1) as u32);
            }
            wave.gprs[10] = Lanes::from_fn(|lane| lane as u32);
        },
        |_, exit| stopped(exit),
    );
    for i in 0..128 {
        let at = (PAGE_SIZE as usize - 256 + 4 * i) % PAGE_SIZE as usize;
        // SAFETY: inside the object, aligned, and nothing runs.
        let word = unsafe { bo.base().add(at).cast::<u32>().read() };
        assert_eq!(word, i as u32 + 1);
    }
}

/// Records that say what was loaded from where, without a program.
fn alignment(record: &Value) {
    let inputs = &record["inputs"];
    let (format, registers): (&str, usize) = match inputs["total_bits"].as_u64().unwrap() {
        8 => ("i8", 1),
        16 => ("i16", 1),
        32 => ("i32", 1),
        64 => ("i32x2", 2),
        _ => ("i32x4", 4),
    };
    let half = if matches!(format, "i8" | "i16") {
        ".l"
    } else {
        ""
    };
    let offset = inputs["byte_address_offset"].as_u64().unwrap();
    let rig = Rig::new(&format!(
        "device_load.{format} r20{half}, u6:u7, none, offset={offset}"
    ));
    let memory = vectors::bytes(inputs["memory_hex"].as_str().unwrap());
    let words: Vec<u32> = memory
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .collect();
    rig.write_words(0, &words);
    rig.pointer(3, DATA);
    let expected = vectors::bytes(record["expected"]["loaded_hex"].as_str().unwrap());
    let found: Vec<u8> = rig.run(
        |_| {},
        |wave, exit| {
            stopped(exit);
            (20..20 + registers)
                .flat_map(|i| wave.gprs[i].0[17].to_le_bytes())
                .collect()
        },
    );
    assert_eq!(found[..expected.len()], expected, "{}", record["id"]);
    assert!(found[expected.len()..].iter().all(|&byte| byte == 0));
}

#[test]
fn measured_loads() {
    for record in vectors::records("memory_load") {
        match record["form"].as_str().unwrap() {
            "kernel" => run_unstrict(&record),
            "source" => alignment(&record),
            other => panic!("{other}"),
        }
    }
}

#[test]
fn measured_scoreboard() {
    for record in vectors::records("scoreboard") {
        vectors::run_kernel(&record, true);
    }
}

#[test]
fn measured_thread_numbers() {
    for record in vectors::records("special_register") {
        vectors::run_kernel(&record, true);
    }
}

/// Two records round misaligned addresses down, which strict mode refuses.
fn run_unstrict(record: &Value) {
    let misaligned = ["g17.k.copy_size16", "g17.k.copy_byte"];
    let strict = !misaligned.contains(&record["id"].as_str().unwrap());
    vectors::run_kernel(record, strict);
}
