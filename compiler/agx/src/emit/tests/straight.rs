// SPDX-License-Identifier: MIT
//! Slots and waits: random straight code with everything that is late, watched by the strict checks and compared with the
//! model; and the forms that particular waits must take.

use super::bench::{PIECE, ROOT, check_memory, disassemble, model};
use super::build::{d, dsts, iadd, imm, lane, load, r, srcs, store, straight};
use super::model::{LANES, Model};
use super::operations::{KINDS, Maker};
use super::random::Random;
use crate::emit::{accepts, run};
use crate::ir::*;

/// The lane's number.
const LANE: u8 = 0;
/// A pointer to pair 1's memory.
const POINTER: u8 = 4;
/// A small number.
const SMALL: u8 = 8;
/// Registers for computation: these, and [`HIGH`] on.
const LOW: u8 = 10;
const LOW_COUNT: u8 = 28;
const HIGH: u8 = 66;
const HIGH_COUNT: u8 = 28;
/// Registers that are written right before they are destroyed.
const TEMPS: u8 = 40;
const TEMP_COUNT: u8 = 12;
/// Scratch words from here on are indexed.
const INDEXED: u16 = 32;
/// Words of pair 3 from here on are never written: numbers of words, then pointers.
const NUMBERS: i16 = 0x1000;
const POINTERS: i16 = 0x2000;

struct Program {
    maker: Maker,
    code: Vec<Instr>,
    next_temp: u8,
    saved: Vec<u16>,
}

impl Program {
    fn below(&mut self, n: usize) -> usize {
        self.maker.random.below(n)
    }

    fn temp(&mut self) -> u8 {
        self.next_temp = (self.next_temp + 1) % TEMP_COUNT;
        TEMPS + self.next_temp
    }

    fn pool(&mut self) -> u8 {
        if self.maker.random.flip() {
            self.low()
        } else {
            HIGH + self.below(HIGH_COUNT.into()) as u8
        }
    }

    fn low(&mut self) -> u8 {
        LOW + self.below(LOW_COUNT.into()) as u8
    }

    /// Room for a tuple.
    fn tuple(&mut self, count: u8) -> u8 {
        if self.maker.random.flip() {
            LOW + self.below((LOW_COUNT - count).into()) as u8
        } else {
            HIGH + self.below((HIGH_COUNT - count).into()) as u8
        }
    }

    fn push(&mut self, instr: impl Into<Instr>) {
        self.code.push(instr.into());
    }

    /// A copy that may be destroyed.
    fn copy(&mut self, src: u8) -> u8 {
        let temp = self.temp();
        self.push(Mov {
            dst: d(temp),
            src: r(src),
        });
        temp
    }

    /// Its registers, moved into the pool.
    fn arithmetic(&mut self) {
        let kind = self.below(KINDS);
        // Not: special functions, halves' NaNs and sums of floats, which are exact only within limits; shuffles by
        // numbers that are no lanes.
        if matches!(kind, 6..=10 | 31 | 33) {
            return;
        }
        let Some(mut instr) = self.maker.make(kind) else {
            return;
        };
        let plain = instr.clone();
        let place = |first: u8, shape: Shape| {
            let (base, count) = if shape.last < 64 || first < 64 {
                (LOW, LOW_COUNT)
            } else {
                (HIGH, HIGH_COUNT)
            };
            base + first % (count - 2) / shape.align * shape.align
        };
        let mut group = 0;
        let mut copies = Vec::new();
        instr.for_each_src_mut(|members, shape| {
            let first = members.first().and_then(Src::reg).unwrap_or(0);
            let at = place(first, shape);
            if shape.destroyed {
                copies.push(at);
            }
            for (reg, src) in (at..).zip(members) {
                let legal = accepts(&plain, group, src);
                *src = Src {
                    from: Ref::Reg(reg),
                    neg: legal && src.neg,
                    abs: legal && src.abs,
                    high: legal && src.high,
                };
            }
            group += 1;
        });
        instr.for_each_dst_mut(|members, shape| {
            let first = members[0].reg().unwrap_or(0);
            for (reg, dst) in (place(first, shape)..).zip(members) {
                *dst = d(reg);
            }
        });
        let temps: Vec<u8> = copies.into_iter().map(|reg| self.copy(reg)).collect();
        let mut temps = temps.into_iter();
        instr.for_each_src_mut(|members, shape| {
            if shape.destroyed {
                members[0] = r(temps.next().unwrap());
            }
        });
        self.code.push(instr);
    }

    fn step(&mut self) {
        match self.below(24) {
            0..=7 => self.arithmetic(),
            // Words of the lane's own.
            8 | 9 => {
                let dst = self.pool();
                let base = self.base();
                let offset = self.offset();
                self.push(Load {
                    dst: dsts(dst, 1),
                    base,
                    index: Some(r(LANE)),
                    format: Format::I32,
                    shift: 2,
                    offset,
                });
            }
            10 => {
                let count = 2 + self.below(3) as u8;
                let dst = self.tuple(count);
                let code = load(dst, count, 2, LANE, 4);
                self.push(code);
            }
            11 => {
                let (dst, offset) = (self.pool(), self.offset());
                let format = self
                    .maker
                    .random
                    .pick(&[Format::I8, Format::I16, Format::I16x2]);
                self.push(Load {
                    dst: dsts(dst, 1),
                    base: Base::Pair(1),
                    index: Some(r(LANE)),
                    format,
                    shift: 2,
                    offset,
                });
                if format == Format::I16 && self.maker.random.flip() {
                    let offset = self.offset();
                    self.push(LoadHigh {
                        dst: d(dst),
                        old: r(dst),
                        base: Base::Pair(1),
                        index: Some(r(LANE)),
                        shift: 2,
                        offset,
                    });
                }
            }
            // A number from memory, a pointer from memory, and what they lead to.
            12 => {
                let (number, dst) = (self.pool(), self.pool());
                self.push(Load {
                    dst: dsts(number, 1),
                    base: Base::Pair(3),
                    index: Some(r(LANE)),
                    format: Format::I32,
                    shift: 2,
                    offset: NUMBERS,
                });
                let code = load(dst, 1, 1, number, 2);
                self.push(code);
            }
            13 => {
                let (pointer, dst) = (self.tuple(2), self.pool());
                self.push(Load {
                    dst: dsts(pointer, 2),
                    base: Base::Pair(3),
                    index: Some(r(LANE)),
                    format: Format::I32x2,
                    shift: 3,
                    offset: POINTERS,
                });
                let with_index = self.maker.random.flip();
                self.push(Load {
                    dst: dsts(dst, 1),
                    base: Base::Regs([r(pointer), r(pointer + 1)]),
                    index: with_index.then(|| r(LANE)),
                    format: Format::I32,
                    shift: 2,
                    offset: 16,
                });
            }
            14 | 15 => {
                let (data, offset) = (self.pool(), self.offset());
                let format = self
                    .maker
                    .random
                    .pick(&[Format::I8, Format::I16, Format::I32]);
                let base = self.base();
                self.push(Store {
                    data: srcs(data, 1),
                    base,
                    index: r(LANE),
                    format,
                    shift: 2,
                    offset,
                });
            }
            16 => {
                let count = 2 + self.below(3) as u8;
                let data = self.tuple(count);
                let code = store(data, count, 2, LANE, 4);
                self.push(code);
            }
            17 | 18 => self.atomic(),
            19 => {
                let (index, data) = (self.shared_index(), self.pool());
                let data = self.copy(data);
                self.push(SharedStore {
                    data: r(data),
                    index: r(index),
                    root: ROOT,
                });
            }
            20 => {
                let (index, dst) = (self.shared_index(), self.low());
                self.push(SharedLoad {
                    dst: d(dst),
                    index: r(index),
                    root: ROOT,
                });
            }
            21 => {
                let offset = INDEXED + self.below(16) as u16;
                if self.maker.random.flip() {
                    let data = self.pool();
                    let data = self.copy(data);
                    self.push(ScratchStore {
                        data: r(data),
                        index: r(SMALL),
                        offset,
                    });
                } else {
                    let dst = self.low();
                    self.push(ScratchLoad {
                        dst: d(dst),
                        index: r(SMALL),
                        offset,
                    });
                }
            }
            22 => {
                let src = self.pool();
                let src = self.copy(src);
                let word = self.below(4) as u16;
                self.saved.push(word);
                self.push(Spill { src: r(src), word });
            }
            _ => {
                if let Some(word) = self.saved.last().copied() {
                    let dst = self.pool();
                    self.push(Fill { dst: d(dst), word });
                }
            }
        }
    }

    /// Two ways to the same memory.
    fn base(&mut self) -> Base {
        if self.below(3) == 0 {
            Base::Regs([r(POINTER), r(POINTER + 1)])
        } else {
            Base::Pair(1)
        }
    }

    fn offset(&mut self) -> i16 {
        128 * self.below(8) as i16
    }

    fn shared_index(&mut self) -> u8 {
        let temp = self.temp();
        let base = 32 * self.below(4) as u32;
        self.push(imm(temp, base));
        self.push(iadd(temp, temp, LANE));
        temp
    }

    fn atomic(&mut self) {
        let index = self.shared_index();
        let op = self.maker.random.pick(AtomicOp::ALL);
        let data = if op == AtomicOp::CompareExchange {
            let (a, b) = (self.pool(), self.pool());
            let first = TEMPS + TEMP_COUNT;
            for (dst, src) in [(first, a), (first + 1, b)] {
                self.push(Mov {
                    dst: d(dst),
                    src: r(src),
                });
            }
            srcs(first, 2)
        } else if self.maker.random.flip() {
            // Straight from memory: this wait may ride on the atomic.
            let temp = self.temp();
            let code = load(temp, 1, 1, LANE, 2);
            self.push(code);
            srcs(temp, 1)
        } else {
            let src = self.pool();
            srcs(self.copy(src), 1)
        };
        let dst = self.maker.random.flip().then(|| d(self.pool()));
        self.push(Atomic {
            dst,
            data,
            base: Base::Pair(3),
            index: r(index),
            op,
        });
    }
}

fn prepared(random: &mut Random) -> Model {
    let mut start = model();
    for byte in &mut start.memory {
        *byte = random.next() as u8;
    }
    let piece = |pair: u64, offset: i16| (PIECE * pair) as usize + offset as usize;
    for lane in 0..LANES {
        let number = random.below(200) as u32;
        let at = piece(3, NUMBERS) + 4 * lane;
        start.memory[at..at + 4].copy_from_slice(&number.to_le_bytes());
        let pointer = start.base + PIECE + 512;
        let at = piece(3, POINTERS) + 8 * lane;
        start.memory[at..at + 8].copy_from_slice(&pointer.to_le_bytes());
    }
    start
}

fn program(random: Random, steps: usize) -> Vec<Instr> {
    let mut program = Program {
        maker: Maker { random },
        code: Vec::new(),
        next_temp: 0,
        saved: Vec::new(),
    };
    program.push(lane(LANE));
    let pointer = agx_sim::rig::DATA + PIECE;
    program.push(imm(POINTER, pointer as u32));
    program.push(imm(POINTER + 1, (pointer >> 32) as u32));
    program.push(imm(SMALL, 3));
    // All registers hold something; some of it is late.
    for reg in (LOW..LOW + LOW_COUNT).chain(HIGH..HIGH + HIGH_COUNT) {
        let mut code = load(reg, 1, 1, LANE, 2);
        if let Instr::Load(op) = &mut code {
            op.offset = 128 * i16::from(reg % 8);
        }
        program.push(code);
    }
    for _ in 0..steps {
        program.step();
    }
    for reg in (LOW..LOW + LOW_COUNT).chain(HIGH..HIGH + HIGH_COUNT) {
        let mut code = store(reg, 1, 2, LANE, 2);
        if let Instr::Store(op) = &mut code {
            op.offset = 0x1000 + 128 * i16::from(reg);
        }
        program.push(code);
    }
    program.code
}

#[test]
fn random_programs() {
    let (mut waits, mut instructions) = (0, 0);
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let start = prepared(&mut random);
        let steps = 5 + random.below(60);
        let code = program(random, steps);
        let mut expected = start.clone();
        for instr in &code {
            expected.step(instr, !0);
        }
        let code = check_memory(&straight(code), &start, &expected);
        waits += code.stats.waits;
        instructions += code.stats.instructions;
    }
    // One in fifty would do for real programs; these are full of what cannot wait.
    assert!(waits * 12 < instructions, "{waits} of {instructions}");
}

/// Straight chains of load and use need no wait of their own.
#[test]
fn waits_ride_on_consumers() {
    let uses: Vec<Vec<Instr>> = vec![
        vec![iadd(20, 10, 11)],
        vec![
            F2 {
                dst: d(20),
                a: r(10),
                b: r(11),
                op: AddMul::Add,
                sat: false,
            }
            .into(),
        ],
        vec![
            Fma {
                dst: d(20),
                a: r(10),
                b: r(11),
                c: r(12),
                sat: false,
            }
            .into(),
        ],
        // The second operand is late, the first is not.
        vec![
            iadd(21, 10, 10),
            Logic {
                dst: d(20),
                a: r(21),
                b: r(11),
                op: LogicOp::Xor,
            }
            .into(),
        ],
        vec![
            Select {
                dst: d(20),
                a: r(10),
                b: r(11),
                t: r(12),
                f: r(13),
                cmp: Cmp::ULt,
                half: false,
            }
            .into(),
        ],
        vec![
            MinMax {
                dst: d(20),
                a: r(10),
                b: r(11),
                op: MinMaxOp::IMax,
            }
            .into(),
        ],
        vec![store(10, 4, 2, LANE, 4)],
        vec![
            iadd(20, 10, LANE),
            iadd(20, 20, 11),
            iadd(20, 20, 12),
            iadd(20, 20, 13),
        ],
    ];
    for consumers in uses {
        let mut code = vec![lane(LANE)];
        for reg in 10..14 {
            code.push(load(reg, 1, 1, LANE, 2));
        }
        code.extend(consumers);
        // What was not consumed is, and the chain goes on.
        code.push(store(20, 1, 2, LANE, 2));
        if let Some(Instr::Store(_)) = code.iter().rev().nth(1) {
            code.pop();
        }
        let code = run(&straight(code)).unwrap();
        assert_eq!(code.stats.waits, 0, "{}", disassemble(&code));
    }
}

/// Loads that are consumed together share a slot, others do not, and a consumer does not wait for later loads.
#[test]
fn slots_go_by_consumers() {
    let code = run(&straight(vec![
        lane(LANE),
        load(10, 1, 1, LANE, 2),
        load(11, 1, 1, LANE, 2),
        load(12, 1, 1, LANE, 2),
        iadd(20, 10, 11),
        iadd(20, 20, 12),
        store(20, 1, 2, LANE, 2),
    ]))
    .unwrap();
    let text = disassemble(&code);
    let slots: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split("slot=").nth(1))
        .collect();
    assert_eq!(slots, ["6", "6", "1"], "{text}");
    assert!(text.contains("iadd r20, ^r10, ^r11, wait=6"), "{text}");
    assert!(text.contains("iadd r20, r20, ^r12, wait=1"), "{text}");
}

/// More groups than slots: some share, nothing else waits.
#[test]
fn more_loads_than_slots() {
    let mut code = vec![lane(LANE)];
    for reg in 10..30 {
        code.push(load(reg, 1, 1, LANE, 2));
    }
    code.push(imm(31, 0));
    for reg in 10..30 {
        code.push(iadd(31, 31, reg));
    }
    code.push(store(31, 1, 2, LANE, 2));
    let code = run(&straight(code)).unwrap();
    assert_eq!(code.stats.waits, 0, "{}", disassemble(&code));
    let first = disassemble(&code)
        .lines()
        .find(|line| line.contains("iadd"))
        .map(str::to_owned)
        .unwrap();
    assert!(first.ends_with("wait=6"), "{first}");
}

/// What cannot wait is waited for by what stands before it, or by a copy.
#[test]
fn waits_that_cannot_ride() {
    let spill = |reg| {
        Instr::from(SharedStore {
            data: r(reg),
            index: r(LANE),
            root: ROOT,
        })
    };
    // Nothing before it can wait: a copy.
    let code = run(&straight(vec![
        lane(LANE),
        load(10, 1, 1, LANE, 2),
        spill(10),
    ]))
    .unwrap();
    assert_eq!(code.stats.waits, 1, "{}", disassemble(&code));
    // An unrelated addition before it can.
    let code = run(&straight(vec![
        lane(LANE),
        imm(11, 5),
        load(10, 1, 1, LANE, 2),
        iadd(12, 11, 11),
        spill(10),
        store(12, 1, 2, LANE, 2),
    ]))
    .unwrap();
    assert_eq!(code.stats.waits, 0, "{}", disassemble(&code));
    assert!(disassemble(&code).contains("iadd r12, ^r11, ^r11, wait=6"));
}

/// The copy that waits before an operation stays where a wait for something else is added to the operation: both halves of
/// a register are on their way, on two slots, and the addition of halves has room for one.
#[test]
fn waits_in_front_stay() {
    let code = run(&straight(vec![
        lane(LANE),
        load(11, 1, 1, LANE, 2),
        Load {
            dst: dsts(10, 1),
            base: Base::Pair(1),
            index: Some(r(LANE)),
            format: Format::I16,
            shift: 1,
            offset: 0,
        }
        .into(),
        LoadHigh {
            dst: d(10),
            old: r(10),
            base: Base::Pair(1),
            index: Some(r(LANE)),
            shift: 1,
            offset: 2,
        }
        .into(),
        H2 {
            dst: d(20),
            a: Src {
                high: true,
                ..r(10)
            },
            b: r(10),
            op: AddMul::Add,
        }
        .into(),
        SharedStore {
            data: r(11),
            index: r(LANE),
            root: ROOT,
        }
        .into(),
        store(20, 1, 2, LANE, 2),
    ]))
    .unwrap();
    let text = disassemble(&code);
    let lines: Vec<&str> = text.lines().collect();
    let place = |what: &str| lines.iter().position(|line| line.contains(what));
    let addition = place("hadd").expect("an addition of halves");
    let loads = lines.iter().filter(|line| line.contains("device_load"));
    let slot = |line: &str| line.split("slot=").nth(1).map(str::to_owned);
    for slot in loads.filter_map(|line| slot(line)) {
        // Of what is read here; the first is read by the store that follows.
        let waited = lines[..=addition].iter().any(|line| {
            let waits = line.split("wait=").nth(1).unwrap_or("");
            waits.split(['|', ',']).any(|one| one == slot)
        });
        assert!(waited, "slot {slot} in\n{text}");
    }
}

/// What an atomic with a result destroys is not written again before the result is there.
#[test]
fn operands_of_an_atomic_rest_until_it_is_done() {
    for operand in [10, 11, 12, 13] {
        let code = run(&straight(vec![
            imm(10, 1),
            imm(11, 2),
            imm(12, 3),
            imm(13, 4),
            Atomic {
                dst: Some(d(20)),
                data: srcs(10, 1),
                base: Base::Regs([r(11), r(12)]),
                index: r(13),
                op: AtomicOp::Add,
            }
            .into(),
            imm(operand, 9),
        ]))
        .unwrap();
        let text = disassemble(&code);
        let written = text.find(&format!("r{operand}, #9")).unwrap();
        let waited = text.find("wait=").unwrap();
        assert!(waited < written, "{text}");
    }
}
