// SPDX-License-Identifier: MIT
//! Every operation, on random registers with edge values, against the model; and that exactly the operands of
//! [`accepts`] can be encoded.

use std::collections::BTreeSet;

use super::bench::{ROOT, SCRATCH_WORDS, SHARED_WORDS, disassemble, execute, model};
use super::build::{d, dsts, r, srcs, straight, u};
use super::model::{LANES, Model, narrow, widen};
use super::random::Random;
use crate::emit::{accepts, run};
use crate::ir::*;

/// Values at which something happens, of all types.
const EDGES: &[u32] = &[
    0,
    1,
    2,
    7,
    31,
    32,
    33,
    63,
    127,
    128,
    255,
    256,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0x1_0004,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_fffe,
    0xffff_ffff,
    0x0000_0400,
    0x03ff,
    0x7bff,
    0x7c00,
    0x7e00,
    0xfc00,
    0x3c00,
    0xbc00,
    0x3555,
    0x0080_0000,
    0x007f_ffff,
    0x8070_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x3f7f_ffff,
    0x3f80_0001,
    0x4000_0000,
    0xc1f0_0000,
    0x3e00_0000,
    0x3eaa_aaab,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffc0_0001,
    0x7f80_0001,
    0x4b00_0001,
    0x4f00_0000,
    0x4f80_0000,
    0xcf00_0001,
    0x4120_0000,
    0x477f_e000,
    0x477f_f000,
    0x3380_0000,
    0x3300_0001,
    0x1234_5678,
    0xdead_beef,
];

pub(super) struct Maker {
    pub(super) random: Random,
}

impl Maker {
    /// Any register up to `last`, often a high one.
    fn reg(&mut self, last: u8) -> u8 {
        let last = usize::from(last);
        match self.random.below(3) {
            0 => self.random.below(16.min(last + 1)) as u8,
            1 => (last - self.random.below(32.min(last + 1))) as u8,
            _ => self.random.below(last + 1) as u8,
        }
    }

    fn dst(&mut self) -> Dst {
        d(self.reg(95))
    }

    fn low(&mut self) -> u8 {
        self.reg(63)
    }

    fn even(&mut self) -> u8 {
        self.reg(94) & !1
    }

    /// A register, sometimes with signs.
    fn src(&mut self) -> Src {
        let mut src = r(self.reg(95));
        if self.random.below(3) == 0 {
            src.neg = self.random.flip();
            src.abs = self.random.flip();
        }
        src.high = self.random.below(4) == 0;
        src
    }

    /// Something that may or may not be an operand.
    fn any(&mut self) -> Src {
        let mut src = self.src();
        match self.random.below(6) {
            0 => src.from = Ref::Uniform(self.random.below(256) as u8),
            1 => {
                let floats = [
                    0.0, 0.03125, 0.5, 1.0, 1.125, 2.0, 30.0, -0.0, -3.5, 0.1, 31.0,
                ];
                src.from = Ref::Imm(f32::to_bits(self.random.pick(&floats)));
            }
            2 => src.from = Ref::Imm(self.random.pick(EDGES)),
            _ => {}
        }
        src.high = self.random.below(4) == 0;
        src
    }

    fn bit(&mut self) -> bool {
        self.random.flip()
    }

    /// The operation of this number, with random registers.
    pub(super) fn make(&mut self, kind: usize) -> Option<Instr> {
        let random = &mut self.random;
        let add_mul = random.pick(AddMul::ALL);
        let cmp = random.pick(Cmp::ALL);
        Some(match kind {
            0 => Mov {
                dst: self.dst(),
                src: self.src(),
            }
            .into(),
            1 => Imm {
                dst: d(self.low()),
                value: self.random.pick(EDGES),
            }
            .into(),
            2 => {
                let (number, narrow) = self.random.pick(&[
                    (0x82, true),
                    (0xa4, true),
                    (0xa7, true),
                    (0x98, true),
                    (0xa0, false),
                    (0x9c, false),
                ]);
                SysReg {
                    dst: d(self.low()),
                    number,
                    narrow,
                }
                .into()
            }
            3 => F2 {
                dst: self.dst(),
                a: self.src(),
                b: self.src(),
                op: add_mul,
                sat: self.bit(),
            }
            .into(),
            4 => Fma {
                dst: self.dst(),
                a: self.src(),
                b: self.src(),
                c: self.src(),
                sat: self.bit(),
            }
            .into(),
            5 => MinMax {
                dst: self.dst(),
                a: self.src(),
                b: self.src(),
                op: self.random.pick(MinMaxOp::ALL),
            }
            .into(),
            6 => H2 {
                dst: self.dst(),
                a: self.src(),
                b: self.src(),
                op: add_mul,
            }
            .into(),
            7 => HFma {
                dst: self.dst(),
                a: self.src(),
                b: self.src(),
                c: self.src(),
            }
            .into(),
            8 => HMinMax {
                dst: self.dst(),
                a: self.src(),
                b: self.src(),
                max: self.bit(),
            }
            .into(),
            9 => HMulMix {
                dst: self.dst(),
                a: self.src(),
                b: self.src(),
            }
            .into(),
            10 => {
                let op = self.random.pick(SfuOp::ALL);
                let ty = self.random.pick(SfuType::ALL);
                let legal = match ty {
                    SfuType::F32 => true,
                    SfuType::F16 => !matches!(op, SfuOp::SqrtFactor | SfuOp::SinFactor),
                    SfuType::F16ToF32 => matches!(op, SfuOp::Rcp | SfuOp::SqrtFactor),
                };
                let rounds = matches!(
                    op,
                    SfuOp::RoundEven | SfuOp::Floor | SfuOp::Ceil | SfuOp::Trunc
                );
                if !legal {
                    return None;
                }
                Sfu {
                    dst: self.dst(),
                    a: self.src(),
                    op,
                    ty,
                    sat: self.bit() && !rounds,
                }
                .into()
            }
            11 => F32ToF16 {
                dst: self.dst(),
                a: self.src(),
            }
            .into(),
            12 => {
                let dst = self.reg(95);
                F32ToF16High {
                    dst: d(dst),
                    old: r(dst),
                    a: self.src(),
                }
                .into()
            }
            13 => F16ToF32 {
                dst: self.dst(),
                a: self.src(),
                high: self.bit(),
            }
            .into(),
            14 => IntToFloat {
                dst: self.dst(),
                a: self.src(),
                signed: self.bit(),
            }
            .into(),
            15 => FloatToInt {
                dst: self.dst(),
                a: self.src(),
                signed: self.bit(),
            }
            .into(),
            16 => Logic {
                dst: self.dst(),
                a: self.src(),
                b: self.src(),
                op: self.random.pick(LogicOp::ALL),
            }
            .into(),
            17 => IAdd {
                dst: self.dst(),
                a: self.src(),
                b: self.src(),
                sub: self.bit(),
            }
            .into(),
            18 => IMad {
                dst: self.dst(),
                a: self.src(),
                b: self.src(),
                c: self.src(),
            }
            .into(),
            19 => {
                let dst = self.even();
                IMulWide {
                    dst: [d(dst), d(dst + 1)],
                    a: self.src(),
                    b: self.src(),
                    signed: self.bit(),
                }
                .into()
            }
            20 => {
                let (dst, a, b) = (self.even(), self.even(), self.even());
                IAdd64 {
                    dst: [d(dst), d(dst + 1)],
                    a: [r(a), r(a + 1)],
                    b: [r(b), r(b + 1)],
                    sub: self.bit(),
                }
                .into()
            }
            21 => ShiftImm {
                dst: self.dst(),
                a: self.src(),
                op: self.random.pick(ShiftOp::ALL),
                amount: self.random.below(32) as u8,
            }
            .into(),
            22 => Shift {
                dst: self.dst(),
                a: self.src(),
                b: self.src(),
                op: self.random.pick(ShiftOp::ALL),
            }
            .into(),
            23 => {
                let dst = self.reg(95);
                Rotate {
                    dst: d(dst),
                    a: r(dst),
                    amount: 1 + self.random.below(31) as u8,
                }
                .into()
            }
            24 => Bits {
                dst: self.dst(),
                a: self.src(),
                op: self.random.pick(BitOp::ALL),
            }
            .into(),
            25 => Select {
                dst: self.dst(),
                a: self.src(),
                b: self.src(),
                t: self.src(),
                f: self.src(),
                cmp,
                half: cmp.is_float() && self.bit(),
            }
            .into(),
            26 => PackNorm16 {
                dst: self.dst(),
                a: self.src(),
                b: self.src(),
                signed: self.bit(),
            }
            .into(),
            27 => PackNorm8 {
                dst: self.dst(),
                a: self.src(),
                b: self.src(),
                signed: self.bit(),
            }
            .into(),
            28 => {
                let dst = self.reg(95);
                PackNorm8High {
                    dst: d(dst),
                    old: r(dst),
                    a: self.src(),
                    b: self.src(),
                    signed: self.bit(),
                }
                .into()
            }
            29 => {
                let (dst, norm) = (self.even(), self.random.pick(Norm::ALL));
                UnpackNorm {
                    dst: [d(dst), d(dst + 1)],
                    a: self.src(),
                    norm,
                    high: matches!(norm, Norm::Unorm8 | Norm::Snorm8) && self.bit(),
                }
                .into()
            }
            30 => Ballot {
                dst: d(self.low()),
                src: r(self.low()),
            }
            .into(),
            31 => Shuffle {
                dst: d(self.low()),
                src: r(self.low()),
                lane: r(LANE_REG),
            }
            .into(),
            32 => ShuffleImm {
                dst: d(self.low()),
                src: r(self.low()),
                xor: self.bit(),
                lane: self.random.below(32) as u8,
            }
            .into(),
            33 => {
                let (op, scan) = (self.random.pick(ReduceOp::ALL), self.bit());
                let sums = matches!(op, ReduceOp::IAdd | ReduceOp::FAdd | ReduceOp::FMul);
                Reduce {
                    dst: d(self.low()),
                    src: r(self.low()),
                    op,
                    scan: scan && sums,
                }
                .into()
            }
            34 => Barrier {
                op: self.random.pick(BarrierOp::ALL),
            }
            .into(),
            35 => {
                let (x, y) = (self.reg(95), self.reg(95));
                Swap {
                    x: d(x),
                    y: d(y),
                    a: r(x),
                    b: r(y),
                }
                .into()
            }
            36 => {
                let dst = self.low();
                Zext16 {
                    dst: d(dst),
                    a: r(dst),
                }
                .into()
            }
            _ => return None,
        })
    }
}

/// Holds lane numbers 0..=31 in every test.
const LANE_REG: u8 = 60;
pub(super) const KINDS: usize = 37;

pub(super) fn random_model(random: &mut Random) -> Model {
    let mut model = model();
    for (reg, lanes) in model.regs.iter_mut().enumerate() {
        for lane in lanes.iter_mut() {
            *lane = match random.below(4) {
                0 => random.next() as u32,
                // Numbers of moderate size.
                1 => ((random.next() as i32 >> 8) as f32 / 65536.0).to_bits(),
                2 => {
                    (narrow(f64::from(random.next() as i16) / 256.0)) | (random.next() as u32) << 16
                }
                _ => random.pick(EDGES),
            };
            if reg == usize::from(LANE_REG) {
                *lane = random.below(LANES) as u32;
            }
        }
    }
    for word in 8..256 {
        model.uniforms[word] = random.pick(EDGES);
    }
    model
}

/// Results of special functions are right to some units in the last place, all others exactly.
fn close(instr: &Instr, got: u32, want: u32) -> bool {
    if got == want {
        return true;
    }
    match instr {
        // Which NaN halves give is not said.
        Instr::H2(_) | Instr::HFma(_) | Instr::HMinMax(_) | Instr::HMulMix(_) => {
            let nans = widen(got & 0xffff).is_nan() && widen(want & 0xffff).is_nan();
            got >> 16 == want >> 16 && nans
        }
        Instr::Sfu(op) if op.ty == SfuType::F16 => {
            let (x, y) = (widen(got & 0xffff), widen(want & 0xffff));
            got >> 16 == want >> 16
                && ((x.is_nan() && y.is_nan()) || (x - y).abs() <= y.abs() / 512.0)
        }
        // Of two NaNs either one may come out (isa-1, 3).
        Instr::MinMax(op) if matches!(op.op, MinMaxOp::FMax | MinMaxOp::FMin) => {
            f32::from_bits(got).is_nan() && f32::from_bits(want).is_nan()
        }
        Instr::Sfu(_) => {
            let (x, y) = (f32::from_bits(got), f32::from_bits(want));
            (x.is_nan() && y.is_nan()) || (x - y).abs() <= y.abs() * 1e-6
        }
        // The order in which floats are combined is not known.
        Instr::Reduce(op) if matches!(op.op, ReduceOp::FAdd | ReduceOp::FMul) => {
            let (x, y) = (f32::from_bits(got), f32::from_bits(want));
            (x.is_nan() && y.is_nan()) || (x - y).abs() <= y.abs() * 1e-4
        }
        _ => false,
    }
}

/// Inputs for which the reference gives a result.
fn has_result(instr: &Instr, start: &Model, lane: usize) -> bool {
    match instr {
        Instr::Sfu(op) if op.op == SfuOp::SinFactor => {
            let reg = usize::from(op.a.reg().unwrap());
            f32::from_bits(start.regs[reg][lane]).abs() <= 1.0
        }
        _ => true,
    }
}

fn check(instr: &Instr, start: &Model) {
    let function = straight(vec![instr.clone()]);
    let code = run(&function).unwrap_or_else(|error| panic!("{error}"));
    let outcome = execute(&code, start, true)
        .unwrap_or_else(|fault| panic!("{fault}\n{instr}\n{}", disassemble(&code)));
    let mut expected = start.clone();
    expected.step(instr, start.lanes);
    for reg in 0..96 {
        for lane in 0..LANES {
            let (got, want) = (outcome.regs[reg][lane], expected.regs[reg][lane]);
            assert!(
                close(instr, got, want) || !has_result(instr, start, lane),
                "`{instr}`: r{reg} of lane {lane} is {got:#x} instead of {want:#x}\n{}",
                disassemble(&code)
            );
        }
    }
}

/// Operations that only registers are tried with here; memory has its own test.
#[test]
fn arithmetic() {
    let mut maker = Maker {
        random: Random::new(1),
    };
    let mut seen = BTreeSet::new();
    for round in 0..KINDS * 60 {
        let Some(mut instr) = maker.make(round % KINDS) else {
            continue;
        };
        // Signs only where they may be.
        let mut group = 0;
        let plain = instr.clone();
        instr.for_each_src_mut(|members, _| {
            for src in members {
                let text = *src;
                if !accepts(&plain, group, &text) {
                    (src.neg, src.abs, src.high) = (false, false, false);
                }
            }
            group += 1;
        });
        if !all_accepted(&instr) {
            continue;
        }
        seen.insert(instr.name());
        let mut random = Random::new(round as u64);
        check(&instr, &random_model(&mut random));
    }
    assert_eq!(seen.len(), KINDS, "{seen:?}");
}

fn all_accepted(instr: &Instr) -> bool {
    let (mut group, mut good) = (0, true);
    instr.for_each_src(|members, _| {
        good &= members.iter().all(|src| accepts(instr, group, src));
        group += 1;
    });
    good
}

/// What `accepts` takes can be encoded and means what it should; what it does not take is refused.
#[test]
fn operands() {
    let mut maker = Maker {
        random: Random::new(2),
    };
    let (mut taken, mut refused) = (0, 0);
    for round in 0..12000 {
        let kind = maker.random.below(30);
        let Some(mut instr) = maker.make(kind) else {
            continue;
        };
        // Tied operands stay what they are.
        instr.for_each_src_mut(|members, shape| {
            if members.len() == 1 && !shape.tied {
                members[0] = maker.any();
            }
        });
        if all_accepted(&instr) {
            taken += 1;
            let mut random = Random::new(round);
            check(&instr, &random_model(&mut random));
        } else {
            refused += 1;
            let result = run(&straight(vec![instr.clone()]));
            assert!(result.is_err(), "`{instr}` was emitted");
        }
    }
    assert!(taken > 2000 && refused > 2000, "{taken} {refused}");
}

/// Registers, uniforms and constants in conditions, through a branch.
#[test]
fn conditions() {
    let mut maker = Maker {
        random: Random::new(3),
    };
    let mut taken = 0;
    for round in 0..3000 {
        let cmp = maker.random.pick(Cmp::ALL);
        let mut cond = Cond {
            cmp,
            half: cmp.is_float() && maker.random.below(4) == 0,
            a: r(maker.reg(95)),
            b: r(maker.reg(95)),
            invert: maker.bit(),
        };
        match maker.random.below(4) {
            0 => cond.a = maker.any(),
            1 | 2 => cond.b = maker.any(),
            _ => {}
        }
        let good = (0..2).all(|i| crate::emit::accepts_cond(&cond, i, &cond.srcs()[i]));
        let function = super::build::function(vec![
            (
                vec![],
                End::If {
                    cond,
                    else_block: Block(2),
                    merge: Block(3),
                    divergent: true,
                },
            ),
            (
                vec![super::build::imm(17, 1)],
                End::EndThen { merge: Block(3) },
            ),
            (vec![super::build::imm(17, 2)], End::EndElse),
            (vec![], End::Stop),
        ]);
        let code = match run(&function) {
            Ok(code) => code,
            Err(_) if !good => continue,
            Err(error) => panic!("{error}"),
        };
        assert!(good, "{cond} was emitted");
        taken += 1;
        let mut random = Random::new(round);
        let start = random_model(&mut random);
        let outcome = execute(&code, &start, true).unwrap_or_else(|fault| panic!("{fault} {cond}"));
        for lane in 0..LANES {
            let want = if start.holds(&cond, lane) { 1 } else { 2 };
            assert_eq!(
                outcome.regs[17][lane],
                want,
                "{cond} lane {lane}\n{}",
                disassemble(&code)
            );
        }
    }
    assert!(taken > 1000, "{taken}");
}

/// Loads, stores and atomics of all formats, through uniform and register bases.
#[test]
fn device_memory() {
    let mut random = Random::new(4);
    for round in 0..600 {
        let mut start = model();
        for byte in &mut start.memory {
            *byte = random.next() as u8;
        }
        let index = 8 + random.below(80) as u8;
        for lane in 0..LANES {
            // Distinct words, in an order that is not the lanes'.
            start.regs[usize::from(index)][lane] = ((lane as u32 * 7 + 3) % 32 + 64) * 4;
        }
        let format = random.pick(Format::ALL);
        let words = format.registers() as u8;
        let base = if random.flip() {
            Base::Pair(1 + random.below(3) as u8)
        } else {
            let at = super::bench::PIECE * 2 + 4096;
            for lane in 0..LANES {
                start.regs[4][lane] = (agx_sim::rig::DATA + at) as u32;
                start.regs[5][lane] = ((agx_sim::rig::DATA + at) >> 32) as u32;
            }
            Base::Regs([r(4), r(5)])
        };
        let data = loop {
            let first = 8 + random.below(89 - usize::from(words)) as u8;
            if !(first..first + words).contains(&index) {
                break first;
            }
        };
        for reg in data..data + words {
            start.regs[usize::from(reg)] = std::array::from_fn(|_| random.next() as u32);
        }
        // Stores of neighbouring lanes must not overlap.
        let shift = 2 + random.below(3) as u8;
        let offset = random.next() as i16 / 256 * 4;
        let instr: Instr = match round % 4 {
            3 => LoadHigh {
                dst: d(data),
                old: r(data),
                base,
                index: (random.below(4) != 0).then(|| r(index)),
                shift: random.below(5) as u8,
                offset,
            }
            .into(),
            0 => Load {
                dst: dsts(data, words),
                base,
                index: (random.below(4) != 0).then(|| r(index)),
                format,
                shift: random.below(5) as u8,
                offset,
            }
            .into(),
            1 => Store {
                data: srcs(data, words),
                base,
                index: r(index),
                format,
                shift,
                offset,
            }
            .into(),
            _ => {
                let op = random.pick(AtomicOp::ALL);
                let count = if op == AtomicOp::CompareExchange {
                    2
                } else {
                    1
                };
                if data <= index && index < data + count {
                    continue;
                }
                Atomic {
                    dst: random.flip().then(|| d(random.below(96) as u8)),
                    data: srcs(data, count),
                    base,
                    index: r(index),
                    op,
                }
                .into()
            }
        };
        let code = run(&straight(vec![instr.clone()])).unwrap();
        let outcome = execute(&code, &start, true).unwrap_or_else(|fault| panic!("{fault}"));
        let mut expected = start.clone();
        expected.step(&instr, !0);
        assert!(outcome.memory == expected.memory, "{instr}");
        for reg in 0..96 {
            assert_eq!(outcome.regs[reg], expected.regs[reg], "r{reg} {instr}");
        }
    }
}

/// Threadgroup memory and both ways to scratch.
#[test]
fn other_memory() {
    let mut random = Random::new(5);
    for _ in 0..200 {
        let mut start = model();
        let regs: Vec<u8> = {
            let mut all: Vec<u8> = (0..64).collect();
            (0..6)
                .map(|_| all.swap_remove(random.below(all.len())))
                .collect()
        };
        let [index, data, copy, loaded, spilled, filled] = regs[..] else {
            unreachable!()
        };
        for lane in 0..LANES {
            start.regs[usize::from(index)][lane] =
                0x7_0000 | ((lane as u32 * 5 + 2) % 32 + random.below(2) as u32 * 32);
            for reg in [data, copy, spilled] {
                start.regs[usize::from(reg)][lane] = random.next() as u32;
            }
        }
        let mut small = start.clone();
        for lane in 0..LANES {
            small.regs[usize::from(index)][lane] &= 0xffff;
        }
        let word = random.below(SCRATCH_WORDS) as u16;
        let programs: [(Vec<Instr>, &Model); 3] = [
            (
                vec![
                    SharedStore {
                        data: r(data),
                        index: r(index),
                        root: ROOT,
                    }
                    .into(),
                    SharedLoad {
                        dst: d(loaded),
                        index: r(index),
                        root: ROOT,
                    }
                    .into(),
                ],
                &start,
            ),
            (
                vec![
                    ScratchStore {
                        data: r(data),
                        index: r(index),
                        offset: 100,
                    }
                    .into(),
                    ScratchLoad {
                        dst: d(loaded),
                        index: r(index),
                        offset: 100,
                    }
                    .into(),
                ],
                &small,
            ),
            (
                vec![
                    Spill {
                        src: r(spilled),
                        word,
                    }
                    .into(),
                    Fill {
                        dst: d(filled),
                        word,
                    }
                    .into(),
                ],
                &start,
            ),
        ];
        for (instrs, start) in programs {
            let mut expected = start.clone();
            for instr in &instrs {
                expected.step(instr, !0);
            }
            let code = run(&straight(instrs)).unwrap();
            let outcome = execute(&code, start, true)
                .unwrap_or_else(|fault| panic!("{fault}\n{}", disassemble(&code)));
            for reg in [loaded, filled] {
                assert_eq!(
                    outcome.regs[usize::from(reg)],
                    expected.regs[usize::from(reg)],
                    "{}",
                    disassemble(&code)
                );
            }
        }
    }
    const { assert!(SHARED_WORDS >= 64) };
}

/// Uniforms come into registers of every kind, with and without another register to name.
#[test]
fn uniform_moves() {
    for dst in [0, 15, 63, 64, 95] {
        let mov = Instr::from(Mov {
            dst: d(dst),
            src: u(200),
        });
        let mut start = model();
        start.uniforms[200] = 0x1234_5678;
        check(&mov, &start);
    }
}

/// A partial subgroup: inactive lanes keep their registers and take no part.
#[test]
fn partial_subgroup() {
    let mut random = Random::new(6);
    for lanes in [1, 0x8000_0000, 0x0000_ffff, 0xaaaa_aaaa] {
        let mut maker = Maker {
            random: Random::new(lanes.into()),
        };
        for kind in [3, 16, 30, 33, 35] {
            let Some(mut instr) = maker.make(kind) else {
                continue;
            };
            instr.for_each_src_mut(|members, _| {
                for src in members {
                    (src.neg, src.abs, src.high) = (false, false, false);
                }
            });
            let mut start = random_model(&mut random);
            start.lanes = lanes;
            check(&instr, &start);
        }
    }
}
