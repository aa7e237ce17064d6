// SPDX-License-Identifier: MIT
//! Corrupted modules: each gives a shader or an error, never an abort.
//!
//! `CORTLAND_MUTATIONS` sets how many there are. The sequence is the same each time; when one kills the process,
//! `CORTLAND_MUTATION_LOG` names a file that then holds the number and the words of each thread's last one.

mod common;

use common::{APPLE9, CASES, Case, KEY, apple9_lowering, apple9_shader};
use mesa_nir::{Error, SpirvOptions, assemble};
use std::collections::BTreeMap;
use std::io::{Seek, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Several times what the requirement asks for; a few seconds.
const DEFAULT: usize = 60_000;

/// A small generator of uniform numbers (splitmix64), seeded by a mutation's number.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Where instructions start.
fn starts(words: &[u32]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut at = 5;
    while at < words.len() {
        starts.push(at);
        at += ((words[at] >> 16) as usize).max(1);
    }
    starts
}

/// Three in four mutations are gentle: they leave the outer form of the module intact, so they get furthest.
fn mutate(original: &[u32], r: &mut Random) -> Vec<u32> {
    let mut words = original.to_vec();
    let gentle = r.below(4) != 0;
    for _ in 0..1 + r.below(2) {
        if words.len() > 6 {
            mutate_once(&mut words, gentle, r);
        }
    }
    words
}

fn mutate_once(words: &mut Vec<u32>, gentle: bool, r: &mut Random) {
    let starts = starts(words);
    let start = starts[r.below(starts.len())];
    let count = ((words[start] >> 16) as usize).clamp(1, words.len() - start);
    let anywhere = r.below(words.len());
    let operand = start + 1 + r.below(count - 1);
    let operand = operand.min(words.len() - 1);
    let bound = words[3].clamp(2, 1000) as usize;
    match if gentle {
        11 + r.below(16)
    } else {
        r.below(16)
    } {
        0 => words.truncate(anywhere),
        1 => words[anywhere] ^= 1 << r.below(32),
        2 => words[anywhere] = r.next() as u32,
        3 => words[start] = (words[start] & 0xffff) | (r.below(12) as u32) << 16,
        4 => {
            words[0] = if r.below(2) == 0 {
                words[0].swap_bytes()
            } else {
                r.next() as u32
            }
        }
        5 => {
            for word in words.iter_mut() {
                *word = word.swap_bytes();
            }
        }
        6 => words[1 + r.below(4)] = r.next() as u32 >> r.below(32),
        7 => words.insert(anywhere.max(5), r.next() as u32),
        8 => {
            let end = words.len();
            words[end - 1 - r.below(8).min(end - 1)] = 0;
        }
        // The name of an entry point, or what else the preamble holds.
        9 | 10 => {
            let early = 5 + r.below(60.min(words.len() - 5));
            words[early] = words[early].wrapping_add(1 << (8 * r.below(4)));
        }
        // Another opcode with the same operands.
        11 => words[start] = (words[start] & 0xffff_0000) | r.below(420) as u32,
        12 => words[start] = words[start].wrapping_add(r.below(7) as u32).wrapping_sub(3),
        13 => drop(words.drain(start..start + count)),
        14 => {
            let copy = words[start..start + count].to_vec();
            words.splice(start..start, copy);
        }
        // Put another instruction of the module in its place.
        15 => {
            let other = starts[r.below(starts.len())];
            let length = ((words[other] >> 16) as usize).clamp(1, words.len() - other);
            let copy = words[other..other + length].to_vec();
            words.splice(start..start + count, copy);
        }
        // Another identifier.
        16..=20 => words[operand] = 1 + r.below(bound) as u32,
        // Another small literal.
        21..=23 => words[operand] = r.below(40) as u32,
        24 => {
            words[operand] = [
                0,
                1,
                0x7fff_ffff,
                0x8000_0000,
                u32::MAX,
                1 << 20,
                0xffff,
                64,
            ][r.below(8)]
        }
        _ => {
            words[operand] = words[operand]
                .wrapping_add(r.below(5) as u32)
                .wrapping_sub(2)
        }
    }
}

/// Record what a thread is about to try, so that a dead process leaves its cause behind.
struct Recorder(Option<std::fs::File>);

impl Recorder {
    fn open(thread: usize) -> Self {
        let path = std::env::var("CORTLAND_MUTATION_LOG").ok();
        Self(path.map(|p| std::fs::File::create(format!("{p}.{thread}")).expect("a log file")))
    }

    fn note(&mut self, number: usize, case: &Case, words: &[u32]) {
        self.write(
            &format!("{number} {} {} {}", case.name, case.stage, case.entry_point),
            words,
        );
    }

    fn write(&mut self, what: &str, words: &[u32]) {
        if let Some(file) = &mut self.0 {
            let mut line = what.to_owned();
            for word in words {
                line += &format!(" {word:08x}");
            }
            file.set_len(0)
                .and_then(|()| file.rewind())
                .and_then(|()| writeln!(file, "{line}"))
                .expect("a log");
        }
    }
}

fn kind(result: &Result<mesa_nir::Shader, Error>) -> &'static str {
    match result {
        Ok(_) => "shader",
        Err(Error::Malformed(_)) => "malformed",
        Err(Error::Invalid(_)) => "invalid",
        Err(Error::EntryPointNotFound { .. }) => "no entry point",
        Err(Error::UnsupportedCapability(_)) => "capability",
        Err(Error::TooLarge(_)) => "too large",
        Err(Error::Translation(_)) => "rejected by Mesa",
        Err(Error::Internal(_)) => "Mesa assertion",
        Err(Error::BrokenNir(_)) => "broken NIR",
        Err(Error::OutOfMemory) => "out of memory",
        Err(_) => "other",
    }
}

#[test]
fn no_corrupted_module_ends_the_process() {
    let total = std::env::var("CORTLAND_MUTATIONS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(DEFAULT);
    let first: usize = std::env::var("CORTLAND_MUTATION_FIRST")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(0);
    let originals: Vec<_> = CASES.iter().map(Case::words).collect();
    let next = AtomicUsize::new(first);
    let counts = Mutex::new(BTreeMap::<&str, usize>::new());
    let slowest = Mutex::new((Duration::ZERO, 0));
    let assertions = Mutex::new(BTreeMap::<String, (usize, usize)>::new());
    let spirv = SpirvOptions::vulkan_1_3();
    std::thread::scope(|scope| {
        for thread in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            let (originals, next, counts, slowest, assertions, spirv) =
                (&originals, &next, &counts, &slowest, &assertions, &spirv);
            scope.spawn(move || {
                let mut recorder = Recorder::open(thread);
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= first + total {
                        break;
                    }
                    let at = number % CASES.len();
                    let words = mutate(&originals[at], &mut Random(number as u64));
                    recorder.note(number, &CASES[at], &words);
                    let start = Instant::now();
                    let result = CASES[at].translate(&words, spirv);
                    if let Ok(shader) = &result {
                        use_shader(shader);
                    }
                    let took = start.elapsed();
                    *counts
                        .lock()
                        .expect("counts")
                        .entry(kind(&result))
                        .or_default() += 1;
                    if let Err(Error::Internal(message)) = result {
                        assertions
                            .lock()
                            .expect("assertions")
                            .entry(message)
                            .or_insert((0, number))
                            .0 += 1;
                    }
                    let mut slowest = slowest.lock().expect("slowest");
                    *slowest = (*slowest).max((took, number));
                }
            });
        }
    });
    let counts = counts.into_inner().expect("counts");
    let (took, number) = slowest.into_inner().expect("slowest");
    println!("{total} mutations: {counts:?}; slowest {took:?} (number {number})");
    for (message, (times, number)) in assertions.into_inner().expect("assertions") {
        println!("  {times} times, first by number {number}: {message}");
    }
    // Were every one rejected at the door, or none, the test would say little.
    for kind in [
        "shader",
        "malformed",
        "invalid",
        "no entry point",
        "capability",
    ] {
        assert!(
            counts.get(kind).is_some_and(|&n| n > total / 1000),
            "too few of: {kind}"
        );
    }
}

/// As many as take half a minute; `CORTLAND_LOWERED_MUTATIONS` sets another number.
const DEFAULT_LOWERED: usize = 8000;

/// What survives translation for Apple9 is lowered and exported: a program or an error.
#[test]
fn no_corrupted_module_ends_the_process_when_it_is_lowered() {
    let number_in = |name: &str| {
        std::env::var(name)
            .ok()
            .and_then(|n| n.parse::<usize>().ok())
    };
    let total = number_in("CORTLAND_LOWERED_MUTATIONS").unwrap_or(DEFAULT_LOWERED);
    let first = number_in("CORTLAND_MUTATION_FIRST").unwrap_or(0);
    let originals: Vec<_> = APPLE9
        .iter()
        .map(|(name, text)| assemble(text).unwrap_or_else(|e| panic!("{name}: {e}")))
        .collect();
    let next = AtomicUsize::new(first);
    let counts = Mutex::new(BTreeMap::<String, (usize, usize)>::new());
    let slowest = Mutex::new((Duration::ZERO, 0));
    std::thread::scope(|scope| {
        for thread in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            let (originals, next, counts, slowest) = (&originals, &next, &counts, &slowest);
            scope.spawn(move || {
                let mut recorder = Recorder::open(1000 + thread);
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= first + total {
                        break;
                    }
                    let at = number % originals.len();
                    let words = mutate(&originals[at], &mut Random(number as u64 ^ 0x5eed));
                    recorder.write(&format!("{number} {}", APPLE9[at].0), &words);
                    let start = Instant::now();
                    let result = lower(&words, number % 2 == 0);
                    let took = start.elapsed();
                    let mut counts = counts.lock().expect("counts");
                    counts.entry(result).or_insert((0, number)).0 += 1;
                    let mut slowest = slowest.lock().expect("slowest");
                    *slowest = (*slowest).max((took, number));
                }
            });
        }
    });
    let counts = counts.into_inner().expect("counts");
    let (took, number) = slowest.into_inner().expect("slowest");
    println!("{total} mutations; slowest {took:?} (number {number})");
    for (result, (times, number)) in &counts {
        println!("  {times} times, first by number {number}: {result}");
    }
    assert!(counts.get("lowered").is_some_and(|(n, _)| *n > total / 50));
    assert!(
        counts
            .get("not translated")
            .is_some_and(|(n, _)| *n > total / 50)
    );
}

/// What becomes of a module.
fn lower(words: &[u32], robust: bool) -> String {
    let Ok(shader) = apple9_shader(words, "main") else {
        return "not translated".into();
    };
    let lowered = shader.lower_compute(&apple9_lowering(robust));
    // NIR that a pass breaks would harm what comes after.
    let exported = lowered.and_then(|s| s.validate()).and_then(|s| s.export());
    match exported {
        Ok(_) => "lowered".into(),
        Err(Error::BrokenNir(report)) => {
            let lines: Vec<_> = report.lines().filter(|l| l.contains("error:")).collect();
            panic!("lowering breaks a rule of NIR: {lines:?}\n{report}")
        }
        Err(Error::Unsupported(what)) => format!("unsupported: {what}"),
        Err(other) => other.to_string(),
    }
}

/// What survives translation must survive the rest.
fn use_shader(shader: &mesa_nir::Shader) {
    assert!(!shader.print().expect("prints").is_empty());
    let blob = shader.serialize(&KEY, true).expect("serialises");
    let back = mesa_nir::Shader::deserialize(&blob, &KEY, shader.options()).expect("deserialises");
    assert_eq!(back.info().instructions, shader.info().instructions);
    back.validate().expect("valid");
}

#[test]
fn a_module_cut_at_any_word_is_an_error() {
    for case in CASES {
        let words = case.words();
        for length in 0..words.len() {
            case.translate(&words[..length], &SpirvOptions::vulkan_1_3())
                .expect_err("cut");
        }
    }
}
