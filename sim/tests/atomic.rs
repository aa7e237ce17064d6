// SPDX-License-Identifier: MIT
//! Device atomics: each operation against a model, and many threads on one word.

use std::sync::Arc;
use std::thread;

use agx_sim::fault::FaultKind;
use agx_sim::memory::{Bo, PAGE_SIZE, Region};
use agx_sim::shader::{Exit, Lanes};
use proptest::prelude::*;

mod support;
#[path = "support/vectors.rs"]
mod vectors;
use support::{DATA, Rig, stopped};

/// The operations of isa-2, 5.1.
const OPERATIONS: [&str; 12] = [
    "add", "and", "cmpxchg", "fadd", "imax", "imin", "or", "sub", "umax", "umin", "xchg", "xor",
];

/// fp32 addition by way of f64, which is exact for it up to one rounding.
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
    if sum.is_nan() {
        0x7fc0_0000
    } else if sum.is_subnormal() {
        sum.to_bits() & 0x8000_0000
    } else {
        sum.to_bits()
    }
}

/// What a word holds after an operation.
fn model(operation: &str, old: u32, data: u32, compare: u32) -> u32 {
    let (old_signed, data_signed) = (i64::from(old as i32), i64::from(data as i32));
    match operation {
        "add" => ((u64::from(old) + u64::from(data)) % (1 << 32)) as u32,
        "sub" => ((u64::from(old) + (1 << 32) - u64::from(data)) % (1 << 32)) as u32,
        "and" => !(!old | !data),
        "or" => !(!old & !data),
        "xor" => (old | data) - (old & data),
        "cmpxchg" => [old, data][usize::from(old == compare)],
        "fadd" => float_sum(old, data),
        "imax" => [old, data][usize::from(data_signed > old_signed)],
        "imin" => [old, data][usize::from(data_signed < old_signed)],
        "umax" => [old, data][usize::from(data > old)],
        "umin" => [old, data][usize::from(data < old)],
        "xchg" => data,
        other => panic!("{other}"),
    }
}

fn word() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        0u32..4,
        any::<f32>().prop_map(f32::to_bits),
        proptest::sample::select(vec![
            0x8000_0000,
            0x7fff_ffff,
            0xffff_ffff,
            0x0000_0001,
            0x8000_0001,
            0x7f80_0000,
            0xff80_0000,
            0x7fc1_2345,
            0x0080_0000,
            0x8080_0000,
        ]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn as_the_model(
        operation in proptest::sample::select(OPERATIONS.to_vec()),
        returns in any::<bool>(),
        register_base in any::<bool>(),
        misaligned in 0u64..4,
        memory in proptest::collection::vec(word(), 16),
        index in proptest::collection::vec(prop_oneof![8 => 0u32..16, 1 => any::<u32>()], 32),
        data in proptest::collection::vec(word(), 32),
        compare in proptest::collection::vec(prop_oneof![0u32..4, word()], 32),
        active in prop_oneof![Just(!0u32), Just(0), any::<u32>()],
    ) {
        let base = if register_base { "r12:r13" } else { "u6:u7" };
        let result = if returns { "ret" } else { "void" };
        let mut text = format!("device_atomic.{operation}.{result} r20, {base}, r10\n");
        if returns {
            text += "atomic_result r30, slot=1\n";
        }
        let mut rig = Rig::new(&text);
        rig.active = active;
        rig.write_words(0, &memory);
        rig.pointer(3, DATA + misaligned);
        let found = rig.run(
            |wave| {
                wave.gprs[10] = Lanes::from_fn(|lane| index[lane]);
                wave.gprs[12] = Lanes::splat(DATA as u32 + misaligned as u32);
                wave.gprs[13] = Lanes::splat((DATA >> 32) as u32);
                wave.gprs[20] = Lanes::from_fn(|lane| data[lane]);
                wave.gprs[21] = Lanes::from_fn(|lane| compare[lane]);
                wave.gprs[30] = Lanes::splat(0x1234_5678);
            },
            |wave, exit| {
                stopped(exit);
                wave.gprs[30]
            },
        );
        let words = rig.data.size() / 4;
        let mut expected: Vec<u32> = memory.clone();
        expected.resize(words as usize, 0);
        for lane in 0..32 {
            let mut old = 0x1234_5678;
            if active >> lane & 1 == 1 {
                // The bytes below the word belong to the misalignment, which is dropped.
                old = 0;
                if let Some(word) = expected.get_mut(index[lane] as usize) {
                    old = *word;
                    *word = model(operation, old, data[lane], compare[lane]);
                }
                if !returns {
                    old = 0x1234_5678;
                }
            }
            prop_assert_eq!(found.0[lane], old, "lane {}", lane);
        }
        prop_assert_eq!(rig.read_words(0, words as usize), expected);
    }
}

/// Runs `rig` on four threads at once; `before` gets the thread's number.
fn on_threads<R: Send>(
    rig: &Rig,
    before: impl Fn(usize, &mut agx_sim::shader::Wave<'_>) + Sync,
    after: impl Fn(&agx_sim::shader::Wave<'_>) -> R + Sync,
) -> Vec<R> {
    thread::scope(|scope| {
        let (before, after) = (&before, &after);
        let run = |thread| {
            move || {
                rig.run(
                    |wave| before(thread, wave),
                    |wave, exit| {
                        stopped(exit);
                        after(wave)
                    },
                )
            }
        };
        let workers: Vec<_> = (0..4).map(|thread| scope.spawn(run(thread))).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .collect()
    })
}

#[test]
fn sums_of_many_threads_are_exact() {
    const TIMES: usize = 3000;
    let line = "device_atomic.add.void r20, u6:u7, r10
                device_atomic.sub.void r21, u6:u7, r11
                device_atomic.fadd.void r22, u6:u7, r12
                device_atomic.xor.void r23, u6:u7, r13\n";
    let rig = Rig::new(&line.repeat(TIMES));
    rig.pointer(3, DATA);
    on_threads(
        &rig,
        |thread, wave| {
            for register in 10..14 {
                wave.gprs[register] = Lanes::splat(register as u32);
            }
            wave.gprs[20] = Lanes::from_fn(|lane| (lane + 32 * thread) as u32);
            wave.gprs[21] = Lanes::splat(3);
            // 128 lanes * 3000 additions of 1 stay below 2^24: exact.
            wave.gprs[22] = Lanes::splat(1.0f32.to_bits());
            // Each lane an even number of times: nothing stays.
            wave.gprs[23] = Lanes::from_fn(|lane| 1 << lane);
        },
        |_| (),
    );
    let all = (TIMES * 128) as u32;
    let sum = (0..128u32).sum::<u32>() * TIMES as u32;
    let expected = [
        sum,
        all.wrapping_mul(3).wrapping_neg(),
        (all as f32).to_bits(),
        0,
    ];
    assert_eq!(rig.read_words(40, 4), expected);
}

/// Every value that an exchange puts in comes out exactly once, or is the last.
#[test]
fn exchanges_lose_nothing() {
    const TIMES: usize = 200;
    let line = |i: usize| {
        let (data, old) = (2 * (i % 8) + 20, 2 * (i % 8) + 21);
        // The old value goes back in: what circulates is the set of all values.
        format!(
            "device_atomic.xchg.ret r{data}, u6:u7, r10\natomic_result r{old}, slot=1\n\
             device_atomic.xchg.ret r{old}, u6:u7, r10\natomic_result r{data}, slot=1\n"
        )
    };
    let rig = Rig::new(&(0..TIMES).map(line).collect::<String>());
    rig.pointer(3, DATA);
    rig.write_words(0, &[u32::MAX]);
    let held = on_threads(
        &rig,
        |thread, wave| {
            for i in 0..8 {
                wave.gprs[20 + 2 * i] =
                    Lanes::from_fn(|lane| ((thread * 8 + i) * 32 + lane) as u32);
            }
        },
        |wave| {
            let values = (0..8).flat_map(|i| wave.gprs[20 + 2 * i].0);
            values.collect::<Vec<u32>>()
        },
    );
    let mut all: Vec<u32> = held.into_iter().flatten().collect();
    all.push(rig.read_words(0, 1)[0]);
    all.sort_unstable();
    let mut expected: Vec<u32> = (0..4 * 8 * 32).collect();
    expected.push(u32::MAX);
    assert_eq!(all, expected);
}

/// Of many compare-exchanges from the same value one succeeds.
#[test]
fn one_compare_exchange_wins() {
    let round = |i: usize| {
        format!(
            "device_atomic.cmpxchg.ret r20, u6:u7, r{}\natomic_result r{}, slot=1\n",
            60 + i,
            40 + i
        )
    };
    let rig = Rig::new(&(0..16).map(round).collect::<String>());
    rig.pointer(3, DATA);
    let won = on_threads(
        &rig,
        |thread, wave| {
            wave.gprs[20] = Lanes::from_fn(|lane| (1 + thread * 32 + lane) as u32);
            for i in 0..16 {
                wave.gprs[60 + i] = Lanes::splat(i as u32);
            }
        },
        |wave| std::array::from_fn::<_, 16, _>(|i| wave.gprs[40 + i]),
    );
    let lane = |n: u32, i: usize| won[n as usize / 32][i].0[n as usize % 32];
    for i in 0..16 {
        let winners: Vec<u32> = (0..128)
            .filter(|&n| lane(n, i) == 0)
            .map(|n| n + 1)
            .collect();
        assert_eq!(winners, rig.read_words(4 * i, 1), "word {i}");
    }
}

/// A rig whose pair 3 points at a page with these permissions, or at nothing.
fn forbidden(mapped: Option<(bool, bool)>, text: &str) -> (Rig, Arc<Bo>) {
    let mut rig = Rig::new(text);
    let bo = Arc::new(Bo::new(PAGE_SIZE).unwrap());
    let start = DATA + 0x10_0000;
    if let Some((read, write)) = mapped {
        rig.more.push(Region {
            start,
            end: start + PAGE_SIZE,
            bo: Arc::clone(&bo),
            offset: 0,
            single_page: false,
            read,
            write,
        });
    }
    rig.pointer(3, start);
    (rig, bo)
}

#[test]
fn both_permissions_are_needed() {
    let text = "device_atomic.add.ret r20, u6:u7, r10\natomic_result r30, slot=1\n";
    let cases = [
        (None, "not mapped"),
        (Some((true, false)), "mapped read-only"),
        (Some((false, true)), "mapped write-only"),
    ];
    for (mapped, reason) in cases {
        for strict in [false, true] {
            let (mut rig, bo) = forbidden(mapped, text);
            rig.strict = strict;
            rig.scratch_bytes = 4;
            rig.active = 0xff00;
            // SAFETY: inside the object, aligned, and nothing runs.
            unsafe { bo.base().cast::<u32>().write(5) };
            rig.run(
                |wave| {
                    wave.gprs[20] = Lanes::splat(3);
                    wave.gprs[30] = Lanes::splat(9);
                },
                |wave, exit| match exit {
                    Exit::Fault(fault) if strict => {
                        let expected = FaultKind::Memory {
                            access: "atomic",
                            va: DATA + 0x10_0000,
                            bytes: 4,
                            reason,
                        };
                        assert_eq!(fault.kind, expected);
                        assert_eq!(fault.shader.unwrap().lane, Some(8));
                    }
                    Exit::Stop if !strict => {
                        let lanes = |lane| if (8..16).contains(&lane) { 0 } else { 9 };
                        assert_eq!(wave.gprs[30], Lanes::from_fn(lanes));
                    }
                    other => panic!("{other:?}"),
                },
            );
            // SAFETY: as above.
            assert_eq!(unsafe { bo.base().cast::<u32>().read() }, 5);
        }
    }
}

/// launch, 4.7: a returned value needs four bytes of scratch extent A.
#[test]
fn strict_mode_wants_scratch_for_results() {
    for (text, bytes, fails) in [
        (
            "device_atomic.add.ret r20, u6:u7, r10\natomic_result r30, slot=1\n",
            3,
            true,
        ),
        (
            "device_atomic.add.ret r20, u6:u7, r10\natomic_result r30, slot=1\n",
            4,
            false,
        ),
        ("device_atomic.add.void r20, u6:u7, r10\n", 0, false),
    ] {
        let mut rig = Rig::new(text);
        rig.strict = true;
        rig.scratch_bytes = bytes;
        rig.pointer(3, DATA);
        rig.run(
            |_| {},
            |_, exit| assert_eq!(matches!(exit, Exit::Fault(_)), fails, "{exit:?}"),
        );
    }
}

/// The index-less form of isa-2, 5.2: wait 1, base pair 0, data r3, add, returned.
#[test]
fn without_index() {
    let rig =
        Rig::hex("67 11 54 00 00 80 01 00 00 42 00 00 20 00 4c 80 09 a7 00 20 00 00 0e 00 00 00");
    rig.pointer(0, DATA + 8);
    rig.write_words(8, &[100]);
    rig.run(
        |wave| wave.gprs[3] = Lanes::from_fn(|lane| lane as u32),
        |wave, exit| {
            stopped(exit);
            let below = |lane: usize| (0..lane as u32).sum::<u32>();
            assert_eq!(wave.gprs[4], Lanes::from_fn(|lane| 100 + below(lane)));
        },
    );
    assert_eq!(rig.read_words(8, 1), [100 + 31 * 32 / 2]);
}

/// Operation codes outside the table are refused (isa-2, 5.1), and so is a compare-exchange whose
/// second data register does not exist.
#[test]
fn unknown_operations() {
    use agx_isa::{Mode, asm::assemble_one, decode};

    let instr = assemble_one("device_atomic.add.void r95, u6:u7, r10").unwrap();
    let mut refused = 0;
    for code in 0..32u128 {
        let bits = instr.bits() & !(31 << 97) | code << 97;
        let mut bytes = bits.to_le_bytes()[..14].to_vec();
        let decodes = decode(&bytes, Mode::Lenient).is_ok();
        bytes.extend([0x0e, 0, 0, 0]);
        let rig = Rig::bytes(bytes);
        rig.pointer(3, DATA);
        let known = matches!(code, 0x10 | 0x11 | 0x13..=0x16 | 0x1b..=0x1f);
        rig.run(
            |_| {},
            |_, exit| match exit {
                Exit::Stop => assert!(known, "{code:#x}"),
                Exit::Fault(fault) => {
                    assert!(!known, "{code:#x}");
                    assert!(matches!(fault.kind, FaultKind::IllegalInstruction(_)));
                    refused += 1;
                }
                other => panic!("{other:?}, decodes: {decodes}"),
            },
        );
    }
    assert_eq!(refused, 21);
}

/// ATOMIC_RESULT is reserved unless it stands directly behind an atomic that returns its value
/// (isa-0, 1.4): there is nothing that it could deliver.
#[test]
fn results_without_an_atomic() {
    let result = "4c 80 09 a7 00 20 00 00";
    let returning = "67 01 54 00 00 82 81 82 00 02 00 00 60 02";
    let discarding = "67 01 54 00 00 82 81 82 00 40 00 00 60 02";
    let over = "0f 00 54 18 00 00 00 00 00 00";
    for (before, refused) in [
        (String::new(), true),
        (discarding.to_owned(), true),
        // The value is delivered once.
        (format!("{returning} {result}"), true),
        // Jumped to, past the atomic.
        (format!("{over} {returning}"), true),
        (returning.to_owned(), false),
    ] {
        let rig = Rig::hex(&format!("{before} {result} 0e 00 00 00"));
        rig.pointer(2, DATA);
        rig.run(
            |_| {},
            |wave, exit| match exit {
                Exit::Fault(fault) => {
                    assert!(refused, "{before}");
                    assert!(matches!(fault.kind, FaultKind::IllegalInstruction(_)));
                    assert_eq!(wave.gprs[4], Lanes::ZERO, "{before}");
                }
                exit => {
                    stopped(exit);
                    assert!(!refused, "{before}");
                }
            },
        );
    }
}

#[test]
fn measured() {
    for record in vectors::records("atomic") {
        let operation = record["op"].as_str().unwrap();
        if operation == "image_atomic_add" {
            // A device atomic on the texel's address (isa-2, 5.5); eight SIMD groups, one texel.
            let inputs = &record["inputs"];
            let threads = inputs["threads"].as_u64().unwrap();
            let rig = Rig::new("device_atomic.add.void r20, u6:u7, r10");
            rig.write_words(0, &[vectors::number(&inputs["initial"])]);
            rig.pointer(3, DATA);
            let operand = vectors::number(&inputs["operand"]);
            for _ in 0..threads / 32 {
                rig.run(
                    |wave| wave.gprs[20] = Lanes::splat(operand),
                    |_, exit| stopped(exit),
                );
            }
            assert_eq!(rig.read_words(0, 1), [vectors::number(&record["expected"])]);
            continue;
        }
        let name = operation.strip_prefix("device_atomic_").unwrap();
        let memory = vectors::numbers(&record["inputs"]["memory"]);
        let operand = vectors::numbers(&record["inputs"]["operand"]);
        let text = format!("device_atomic.{name}.ret r20, u6:u7, r10\natomic_result r30, slot=1\n");
        let mut rig = Rig::new(&text);
        rig.strict = true;
        rig.scratch_bytes = 4;
        rig.active = ((1u64 << memory.len()) - 1) as u32;
        rig.pointer(3, DATA);
        rig.write_words(0, &memory);
        let returned = rig.run(
            |wave| {
                wave.gprs[10] = Lanes::from_fn(|lane| lane as u32);
                wave.gprs[20] = Lanes::from_fn(|lane| operand.get(lane).copied().unwrap_or(0));
            },
            |wave, exit| {
                stopped(exit);
                wave.gprs[30].0[..memory.len()].to_vec()
            },
        );
        let expected = &record["expected"];
        assert_eq!(
            returned,
            vectors::numbers(&expected["returned"]),
            "{}",
            record["id"]
        );
        let after = rig.read_words(0, memory.len());
        assert_eq!(
            after,
            vectors::numbers(&expected["memory_after"]),
            "{}",
            record["id"]
        );
    }
}
