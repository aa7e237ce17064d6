// SPDX-License-Identifier: MIT
//! What holds for every instruction form, whatever its bits and operands: it does not panic, leaves the
//! registers of inactive lanes alone, and does for 32 lanes at once what it does for one lane after the
//! other (isa-2, 1.3), unless it exchanges data between lanes.

#[path = "../../hw/isa/tests/support/random.rs"]
#[allow(dead_code, reason = "the generator alone is wanted")]
mod random;
mod support;

use agx_isa::{FormId, Instr, Mode, decode};
use agx_sim::shader::{Exit, Lanes, Stage};
use random::Rng;
use support::{DATA, Rig};

/// An instruction of the form with random bits where the form leaves them free.
fn any(random: &mut Rng, id: FormId) -> Option<Instr> {
    let form = id.form();
    for _ in 0..400 {
        // Some fields hold few legal values: try sparse bits as well.
        let mut bits = u128::from(random.next()) << 64 | u128::from(random.next());
        for _ in 0..random.below(4) {
            bits &= u128::from(random.next()) << 64 | u128::from(random.next());
        }
        let all = u128::MAX >> (128 - 8 * u32::from(form.len));
        let bits = (bits & !form.mask | form.value) & all;
        let bytes = bits.to_le_bytes();
        if let Ok(instr) = decode(&bytes[..usize::from(form.len)], Mode::Lenient)
            && instr.id() == id
        {
            return Some(instr);
        }
    }
    None
}

fn code(instr: &Instr) -> Vec<u8> {
    let mut bytes = instr.bits().to_le_bytes()[..usize::from(instr.form().len)].to_vec();
    if instr.wants_atomic_result() {
        // To r11.
        bytes.extend([0xbc, 0x80, 0x09, 0xa7, 0, 0x20, 0, 0]);
    }
    bytes.extend([0x0e, 0, 0, 0]);
    bytes
}

/// Registers good as bases, as indices of all kinds, and as anything else.
fn registers(random: &mut Rng) -> [Lanes; 96] {
    let wild = random.below(3) == 0;
    std::array::from_fn(|index| {
        let start = random.below(64) as u32;
        match (wild, index % 8) {
            (true, _) => Lanes::from_fn(|_| {
                let value = random.next();
                match value % 5 {
                    0 => (value >> 32) as u32 % 70,
                    1 => [0, 0x8000_0000, 0x7f80_0000, 0xff80_0001, !0, 0x7c00_7c01, 1]
                        [(value >> 8) as usize % 7],
                    _ => (value >> 32) as u32,
                }
            }),
            (_, 1 | 5) => Lanes::splat(0x20),
            (_, 0) => Lanes::from_fn(|lane| start + lane as u32),
            (_, 2) => Lanes::from_fn(|lane| 0x7f00 + start + 4 * lane as u32),
            (_, 3) => Lanes::splat(start),
            (_, 4) => Lanes::from_fn(|lane| 0x8000 + start * 4 + 16 * lane as u32),
            (_, 6) => Lanes::from_fn(|_| random.below(0x1000) as u32),
            _ => Lanes::from_fn(|lane| (start ^ lane as u32) % 40),
        }
    })
}

fn rig(random: &mut Rng, code: &[u8]) -> Rig {
    let mut rig = Rig::bytes(code.to_vec());
    for pair in 0..128u8 {
        match random.below(8) {
            0 => rig.pointer(pair, random.next()),
            1 => rig.pointer(pair, 0x8000_0000),
            _ => rig.pointer(pair, DATA + 0x7e00 + random.below(0x400)),
        }
    }
    (rig.scratch_bytes, rig.threadgroup_bytes, rig.watchdog) = (0x400, 0x400, 100);
    rig
}

fn fill(rig: &Rig, seed: u64) {
    let mut random = Rng::new(seed);
    let words: Vec<u32> = (0..0x4000).map(|_| (random.next() >> 20) as u32).collect();
    rig.write_words(0, &words);
}

/// Everything that an instruction may leave behind.
#[derive(PartialEq)]
struct State {
    registers: Box<[Lanes; 96]>,
    predicates: [u32; 6],
    scratch: Vec<u32>,
    publications: Vec<Lanes>,
    faulted: bool,
}

/// Runs the rig on top of a state; publications are those of this run alone.
fn step(rig: &Rig, from: &State) -> State {
    rig.run(
        |wave| {
            wave.gprs = *from.registers;
            wave.predicates = from.predicates;
            wave.scratch.clone_from(&from.scratch);
        },
        |wave, exit| {
            assert!(matches!(exit, Exit::Stop | Exit::Fault(_)), "{exit:?}");
            let mut scratch = wave.scratch.clone();
            scratch.resize(0x100 * 32, 0);
            State {
                registers: Box::new(wave.gprs),
                predicates: wave.predicates,
                scratch,
                publications: (0..128).map(|index| wave.publication(index)).collect(),
                faulted: matches!(exit, Exit::Fault(_)),
            }
        },
    )
}

/// Does what a lane gets depend on others, or on the mask, or may it run several times?
fn exchanges(instr: &Instr) -> bool {
    matches!(
        instr.id(),
        FormId::SgReduce
            | FormId::SgShuffle
            | FormId::SgShuffle12
            | FormId::SgBallot
            | FormId::SgBallotC
            | FormId::Deriv
            | FormId::Branch
            | FormId::CallBr
            // Threadgroup memory is new in each run of a rig.
            | FormId::TgLoad
            | FormId::TgLoad0
            | FormId::TgStore
            | FormId::TgStore0
            | FormId::TgAtomic0
    ) || matches!(instr.id(), FormId::GetSr16 | FormId::GetSr32) && instr.raw(1) == 0x95
}

#[test]
fn lanes_at_once_are_lanes_in_turn() {
    let mut random = Rng::new(0x1234_5678_9abc_def1);
    let mut tried = 0;
    for &id in FormId::ALL {
        for _ in 0..60 {
            let Some(instr) = any(&mut random, id) else {
                break;
            };
            let mut rig = rig(&mut random, &code(&instr));
            let seed = random.next();
            let start = State {
                registers: Box::new(registers(&mut random)),
                predicates: std::array::from_fn(|_| random.next() as u32),
                scratch: (0..0x100 * 32).map(|_| random.next() as u32).collect(),
                publications: Vec::new(),
                faulted: false,
            };
            let active = match random.below(4) {
                0 => 0x8000_0000 >> random.below(32),
                1 => random.next() as u32,
                _ => !0,
            };
            fill(&rig, seed);
            rig.active = active;
            let at_once = step(&rig, &start);
            for lane in (0..32).filter(|lane| active >> lane & 1 == 0) {
                for (index, reg) in at_once.registers.iter().enumerate() {
                    assert_eq!(
                        reg.0[lane], start.registers[index].0[lane],
                        "{instr}: r{index}"
                    );
                }
            }
            if exchanges(&instr) {
                continue;
            }
            let memory = rig.read_words(0, 0x4000);
            fill(&rig, seed);
            let mut now = start;
            let mut publications = vec![Lanes::ZERO; 128];
            let mut faulted = false;
            for lane in (0..32).filter(|lane| active >> lane & 1 == 1) {
                rig.active = 1 << lane;
                now = step(&rig, &now);
                faulted |= now.faulted;
                for (all, one) in publications.iter_mut().zip(&now.publications) {
                    all.0[lane] = one.0[lane];
                }
            }
            if active == 0 {
                continue;
            }
            tried += 1;
            assert_eq!(at_once.faulted, faulted, "{instr}");
            if faulted {
                continue;
            }
            for (index, (a, b)) in at_once.registers.iter().zip(&*now.registers).enumerate() {
                assert_eq!(a, b, "{instr} under {active:#x}: r{index}");
            }
            assert!(at_once.predicates == now.predicates, "{instr}");
            assert!(at_once.scratch == now.scratch, "{instr}");
            assert!(at_once.publications == publications, "{instr}");
            assert!(
                memory == rig.read_words(0, 0x4000),
                "{instr} under {active:#x}"
            );
        }
    }
    assert!(tried > 2000, "{tried}");
}

/// In other stages and in strict runs, with any registers: no panic.
#[test]
fn nothing_panics() {
    let mut random = Rng::new(0x0fed_cba9_8765_4321);
    for &id in FormId::ALL {
        for round in 0..60 {
            let Some(instr) = any(&mut random, id) else {
                break;
            };
            let mut rig = rig(&mut random, &code(&instr));
            rig.stage = [Stage::Compute, Stage::Launcher][round % 2];
            rig.strict = round % 4 < 2;
            rig.active = [!0, 0, 1, random.next() as u32][random.below(4) as usize];
            rig.id = [random.next() as u32, !0, 0];
            rig.local = [7, 3, 1];
            rig.simd_group = random.below(32) as u32;
            let state = State {
                registers: Box::new(registers(&mut random)),
                predicates: [random.next() as u32; 6],
                scratch: Vec::new(),
                publications: Vec::new(),
                faulted: false,
            };
            step(&rig, &state);
        }
    }
}

/// What the forms compute, a line for each: its name, how often it ran, and a sum over all results.
fn results() -> Vec<String> {
    let mut random = Rng::new(0x5eed_0f0f_1234_4321);
    let mut lines = Vec::new();
    for &id in FormId::ALL {
        let (mut sum, mut runs) = (0xcbf2_9ce4_8422_2325u64, 0);
        let mut add = |word: u32| sum = (sum ^ u64::from(word)).wrapping_mul(0x100_0000_01b3);
        for _ in 0..200 {
            let Some(instr) = any(&mut random, id) else {
                break;
            };
            let rig = rig(&mut random, &code(&instr));
            fill(&rig, random.next());
            let start = State {
                registers: Box::new(registers(&mut random)),
                predicates: std::array::from_fn(|_| random.next() as u32),
                scratch: vec![0x3f80_1234; 0x100 * 32],
                publications: Vec::new(),
                faulted: false,
            };
            let end = step(&rig, &start);
            runs += u32::from(!end.faulted);
            let registers = end.registers.iter().chain(&end.publications);
            registers.flat_map(|reg| reg.0).for_each(&mut add);
            end.predicates.into_iter().for_each(&mut add);
            end.scratch.into_iter().for_each(&mut add);
            rig.read_words(0, 0x4000).into_iter().for_each(&mut add);
        }
        lines.push(format!("{} {runs} {sum:016x}", id.ident()));
    }
    lines
}

/// The same bits whatever the host can do: the functions compiled for the baseline agree with those
/// for the best level of this CPU. Where that is the baseline, the test compares nothing.
#[test]
fn levels_agree() {
    const CHILD: &str = "CORTLAND_TEST_LEVELS";
    if std::env::var_os(CHILD).is_some() {
        for line in results() {
            println!("form {line}");
        }
        return;
    }
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "levels_agree", "--nocapture"])
        .env(CHILD, "1")
        .env("CORTLAND_SIM_LEVEL", "portable")
        .output()
        .unwrap();
    assert!(child.status.success(), "{child:?}");
    let text = String::from_utf8(child.stdout).unwrap();
    let portable: Vec<&str> = text
        .lines()
        .filter_map(|l| l.strip_prefix("form "))
        .collect();
    let best = results();
    assert_eq!(portable.len(), FormId::ALL.len());
    for (portable, best) in portable.iter().zip(&best) {
        assert_eq!(portable, best);
    }
    let ran = best.iter().filter(|line| !line.contains(" 0 ")).count();
    assert!(ran > 80, "only {ran} forms ran");
}
