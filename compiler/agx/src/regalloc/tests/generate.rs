// SPDX-License-Identifier: MIT
//! Makes random functions: structured control flow, phis, groups of all shapes, as much pressure as wanted.

use crate::ir::*;

/// What functions to make.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Config {
    pub(crate) seed: u64,
    /// Statements, roughly.
    pub(crate) size: u32,
    /// Values that are made at the beginning and still wanted at the end.
    pub(crate) live: u32,
    /// How deep constructs nest.
    pub(crate) depth: u32,
    /// Of 100 operations so many are on 16-bit values.
    pub(crate) halves: u32,
}

/// SplitMix64.
#[derive(Debug, Clone)]
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: u32) -> u32 {
        (self.next() >> 32) as u32 % end.max(1)
    }

    pub(crate) fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }
}

struct Generator {
    function: Function,
    rng: Rng,
    budget: u32,
    max_depth: u32,
    loop_depth: u32,
    /// See [`Config::halves`].
    share: u32,
    /// Known values whose upper 16 bits are undefined.
    halves: Vec<Value>,
}

/// Breaks out of a loop: the block, and the values known there.
type Breaks = Vec<(Block, Vec<Value>)>;

/// A function.
pub(crate) fn function(config: Config) -> Function {
    let mut g = Generator {
        function: Function {
            blocks: Vec::new(),
            num_values: 0,
            scratch_words: 3,
        },
        rng: Rng(config.seed),
        budget: config.size,
        max_depth: config.depth,
        loop_depth: 0,
        share: config.halves,
        halves: Vec::new(),
    };
    g.open();
    let mut known = Vec::new();
    for i in 0..4 {
        let dst = g.function.value();
        g.push(SysReg {
            dst: dst.into(),
            number: i,
            narrow: false,
        });
        known.push(dst);
    }
    while known.len() + g.halves.len() < config.live as usize {
        g.operation(&mut known);
    }
    let first_halves = g.halves.clone();
    let first: Vec<Value> = known.iter().copied().take(config.live as usize).collect();
    g.region(&mut known, 0, &mut None);
    g.sink(&first);
    g.sink_halves(&first_halves);
    g.sink(&known[known.len().saturating_sub(8)..]);
    g.end(End::Stop);
    g.function.compute_preds();
    g.function
}

impl Generator {
    fn open(&mut self) -> Block {
        self.function.blocks.push(BlockData {
            preds: Vec::new(),
            phis: Vec::new(),
            instrs: Vec::new(),
            end: End::Stop,
            loop_depth: self.loop_depth,
        });
        self.here()
    }

    fn here(&self) -> Block {
        Block(self.function.blocks.len() as u32 - 1)
    }

    fn push(&mut self, instr: impl Into<Instr>) {
        let here = self.here();
        self.function.blocks[here.index()].instrs.push(instr.into());
    }

    fn end(&mut self, end: End) -> Block {
        let here = self.here();
        self.function.blocks[here.index()].end = end;
        here
    }

    /// Stores all the values, in tuples.
    fn sink(&mut self, values: &[Value]) {
        let mut rest = values;
        while !rest.is_empty() {
            let n = (1 + self.rng.below(4) as usize).min(rest.len());
            let (now, later) = rest.split_at(n);
            rest = later;
            self.push(Store {
                data: now.iter().map(|v| Src::from(*v)).collect(),
                base: Base::Pair(1),
                index: Src::from(now[0]),
                format: Format::words(n).expect("1..=4"),
                shift: 0,
                offset: 0,
            });
        }
    }

    /// Stores all the 16-bit values.
    fn sink_halves(&mut self, values: &[Value]) {
        for value in values {
            let index = Src::from(Value(self.rng.below(4)));
            self.push(Store {
                data: [Src::from(*value)].into_iter().collect(),
                base: Base::Pair(1),
                index,
                format: Format::I16,
                shift: 0,
                offset: 0,
            });
        }
    }

    fn region(&mut self, known: &mut Vec<Value>, depth: u32, breaks: &mut Option<Breaks>) {
        let statements = 1 + self.rng.below(12);
        for _ in 0..statements {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            match self.rng.below(100) {
                0..12 if depth < self.max_depth => self.branch(known, depth, breaks),
                12..20 if depth < self.max_depth => self.repeat(known, depth),
                _ => self.operation(known),
            }
        }
        if depth == 0 && self.budget > 0 {
            self.region(known, depth, breaks);
        }
    }

    fn cond(&mut self, known: &[Value]) -> Cond {
        let cmp = [Cmp::FGt, Cmp::ULt, Cmp::IEq, Cmp::ILt][self.rng.below(4) as usize];
        let (a, b) = (self.src(known), self.value(known).into());
        Cond {
            cmp,
            half: false,
            a,
            b,
            invert: self.rng.chance(30),
        }
    }

    fn branch(&mut self, known: &mut Vec<Value>, depth: u32, breaks: &mut Option<Breaks>) {
        let cond = self.cond(known);
        let head = self.end(End::Stop);
        let mut ends: Vec<(Block, Vec<Value>)> = Vec::new();
        let mut broken = Vec::new();
        let mut else_block = Block(0);
        for arm in 0..2 {
            let first = self.open();
            if arm == 1 {
                else_block = first;
            }
            let mut inner = known.clone();
            let halves = self.halves.len();
            if self.rng.chance(80) {
                self.region(&mut inner, depth + 1, breaks);
            }
            self.halves.truncate(halves);
            let here = self.here();
            let breaking = breaks.is_some() && self.rng.chance(25);
            match breaks {
                Some(list) if breaking => {
                    list.push((here, inner));
                    broken.push((here, arm));
                }
                _ => ends.push((here, inner)),
            }
        }
        let merge = self.open();
        self.function.blocks[head.index()].end = End::If {
            cond,
            else_block,
            merge,
            divergent: self.rng.chance(70),
        };
        let arms = [Block(else_block.0 - 1), Block(merge.0 - 1)];
        for (arm, last) in arms.iter().enumerate() {
            let breaks_here = broken.iter().any(|b| b.0 == *last);
            self.function.blocks[last.index()].end = match (breaks_here, arm) {
                // The exit is filled in by `repeat`.
                (true, 0) => End::Break {
                    exit: Block(u32::MAX),
                    closes: Closes::Then(merge),
                },
                (true, _) => End::Break {
                    exit: Block(u32::MAX),
                    closes: Closes::Else,
                },
                (false, 0) => End::EndThen { merge },
                (false, _) => End::EndElse,
            };
        }
        self.phis(known, &ends);
    }

    /// Phis in the current block for its predecessors.
    fn phis(&mut self, known: &mut Vec<Value>, preds: &[(Block, Vec<Value>)]) {
        if preds.is_empty() {
            return;
        }
        if !self.halves.is_empty() {
            let srcs = preds.iter().map(|_| self.half().into()).collect();
            let dst = self.function.value();
            let here = self.here();
            let phis = &mut self.function.blocks[here.index()].phis;
            phis.push(Phi { dst, srcs });
            self.halves.push(dst);
        }
        for _ in 0..self.rng.below(5) {
            let mut srcs = Vec::new();
            for (_, known) in preds {
                let constant = self.rng.chance(15);
                srcs.push(if constant {
                    Src::imm(self.rng.below(9))
                } else {
                    // Mostly something recent.
                    let recent = known.len().saturating_sub(6);
                    self.value(&known[recent..]).into()
                });
            }
            let dst = self.function.value();
            let here = self.here();
            self.function.blocks[here.index()]
                .phis
                .push(Phi { dst, srcs });
            known.push(dst);
        }
    }

    fn repeat(&mut self, known: &mut Vec<Value>, depth: u32) {
        let before = self.end(End::Stop);
        let halves = self.halves.len();
        self.loop_depth += 1;
        let header = self.open();
        let counter = self.function.value();
        let mut phis = vec![Phi {
            dst: counter,
            srcs: vec![Src::imm(0)],
        }];
        for _ in 0..self.rng.below(6) {
            let init = if self.rng.chance(20) {
                Src::imm(3)
            } else {
                self.value(known).into()
            };
            phis.push(Phi {
                dst: self.function.value(),
                srcs: vec![init],
            });
        }
        let mut narrow: Vec<Phi> = Vec::new();
        for _ in 0..self.rng.below(self.halves.len().min(5) as u32 + 1) {
            let srcs = vec![self.half().into()];
            let dst = self.function.value();
            narrow.push(Phi { dst, srcs });
        }
        let narrow_dsts: Vec<Value> = narrow.iter().map(|p| p.dst).collect();
        self.halves.extend(&narrow_dsts);
        let mut inner = known.clone();
        inner.extend(phis.iter().map(|p| p.dst));
        known.extend(phis.iter().map(|p| p.dst));
        for _ in 0..self.rng.below(3) {
            self.operation(&mut inner);
        }
        let cond = Cond {
            cmp: Cmp::UGt,
            half: false,
            a: counter.into(),
            b: Src::imm(self.rng.below(4)),
            invert: false,
        };
        let head = self.end(End::Stop);
        let leaving = self.open();
        let going_on = self.open();
        self.end(End::EndElse);
        let merge = self.open();
        let end = End::If {
            cond,
            else_block: going_on,
            merge,
            divergent: true,
        };
        self.function.blocks[head.index()].end = end;
        let end = End::Break {
            exit: Block(u32::MAX),
            closes: Closes::Then(merge),
        };
        self.function.blocks[leaving.index()].end = end;
        let mut breaks = Some(vec![(leaving, inner.clone())]);
        self.region(&mut inner, depth + 1, &mut breaks);
        let mut breaks = breaks.unwrap_or_default();
        let next = self.function.value();
        self.push(IAdd {
            dst: next.into(),
            a: counter.into(),
            b: Src::imm(1),
            sub: false,
        });
        if self.rng.chance(5) {
            let here = self.end(End::Break {
                exit: Block(u32::MAX),
                closes: Closes::Loop,
            });
            breaks.push((here, inner));
        } else {
            self.end(End::EndLoop { header });
            for (i, phi) in phis.iter_mut().enumerate() {
                let src = match i {
                    0 => next.into(),
                    _ if self.rng.chance(8) => Src::imm(5),
                    _ => {
                        let recent = if self.rng.chance(70) {
                            inner.len() - 6.min(inner.len())
                        } else {
                            0
                        };
                        self.value(&inner[recent..]).into()
                    }
                };
                phi.srcs.push(src);
            }
        }
        if phis.iter().all(|phi| phi.srcs.len() == 2) {
            for phi in &mut narrow {
                phi.srcs.push(self.half().into());
            }
        }
        phis.append(&mut narrow);
        self.function.blocks[header.index()].phis = phis;
        self.halves.truncate(halves);
        self.halves.extend(narrow_dsts);
        self.loop_depth -= 1;
        let exit = self.open();
        self.function.blocks[before.index()].end = End::Loop { exit };
        for (block, _) in &breaks {
            if let End::Break { exit: to, .. } = &mut self.function.blocks[block.index()].end {
                *to = exit;
            }
        }
        breaks.sort_by_key(|b| b.0);
        self.phis(known, &breaks);
    }

    fn value(&mut self, known: &[Value]) -> Value {
        // Half of the uses are of recent values.
        let n = known.len() as u32;
        let back = if self.rng.chance(50) {
            self.rng.below(n.min(8))
        } else {
            self.rng.below(n)
        };
        known[(n - 1 - back) as usize]
    }

    fn src(&mut self, known: &[Value]) -> Src {
        let from = match self.rng.below(100) {
            0..5 => Ref::Imm(self.rng.below(16)),
            5..12 => Ref::Uniform(self.rng.below(200) as u8),
            _ => Ref::Value(self.value(known)),
        };
        let mut src = Src::new(from);
        src.neg = self.rng.chance(10);
        src
    }

    fn tuple(&mut self, known: &[Value], n: usize) -> Tuple<Src> {
        // Often what was made together.
        let n32 = known.len() as u32;
        if self.rng.chance(40) && n32 as usize >= n {
            let first = self.rng.below(n32 - n as u32 + 1) as usize;
            return known[first..first + n]
                .iter()
                .map(|v| Src::from(*v))
                .collect();
        }
        (0..n).map(|_| self.value(known).into()).collect()
    }

    fn pair(&mut self, known: &[Value]) -> [Src; 2] {
        let t = self.tuple(known, 2);
        [t[0], t[1]]
    }

    fn base(&mut self, known: &[Value]) -> Base {
        if self.rng.chance(50) {
            Base::Pair(2)
        } else {
            Base::Regs(self.pair(known))
        }
    }

    fn dst(&mut self, known: &mut Vec<Value>) -> Dst {
        let value = self.function.value();
        known.push(value);
        value.into()
    }

    /// A 16-bit value; only where there is one.
    fn half(&mut self) -> Value {
        let halves = std::mem::take(&mut self.halves);
        let value = self.value(&halves);
        self.halves = halves;
        value
    }

    fn half_dst(&mut self) -> Dst {
        let value = self.function.value();
        self.halves.push(value);
        value.into()
    }

    /// Makes or reads 16-bit values.
    fn half_operation(&mut self, known: &mut Vec<Value>) {
        let k = known.clone();
        let k = &k[..];
        let kinds = if self.halves.is_empty() { 5 } else { 22 };
        let instr: Instr = match self.rng.below(kinds) {
            0..2 => F32ToF16 {
                a: self.src(k),
                dst: self.half_dst(),
            }
            .into(),
            2..4 => Load {
                base: self.base(k),
                index: self.rng.chance(70).then(|| self.value(k).into()),
                dst: [self.half_dst()].into_iter().collect(),
                format: Format::I16,
                shift: 1,
                offset: 2,
            }
            .into(),
            4 => H2 {
                a: Src::high(self.value(k)),
                b: Src::high(self.value(k)),
                dst: self.half_dst(),
                op: AddMul::Add,
            }
            .into(),
            5 => H2 {
                a: self.half().into(),
                b: Src::high(self.value(k)),
                dst: self.half_dst(),
                op: AddMul::Mul,
            }
            .into(),
            6..8 => {
                let mut b = Src::from(self.half());
                b.neg = self.rng.chance(30);
                H2 {
                    a: self.half().into(),
                    b,
                    dst: self.half_dst(),
                    op: AddMul::Add,
                }
                .into()
            }
            8..10 => HFma {
                a: self.half().into(),
                b: self.half().into(),
                c: self.half().into(),
                dst: self.half_dst(),
            }
            .into(),
            10 => HMinMax {
                a: self.half().into(),
                b: self.half().into(),
                dst: self.half_dst(),
                max: true,
            }
            .into(),
            11 => Sfu {
                a: self.half().into(),
                dst: self.half_dst(),
                op: SfuOp::Floor,
                ty: SfuType::F16,
                sat: false,
            }
            .into(),
            12 => F16ToF32 {
                a: self.half().into(),
                dst: self.dst(known),
                high: false,
            }
            .into(),
            13 => Store {
                data: [Src::from(self.half())].into_iter().collect(),
                base: self.base(k),
                index: self.value(k).into(),
                format: Format::I16,
                shift: 0,
                offset: 4,
            }
            .into(),
            14 => {
                let up = self.function.value();
                self.shift(up.into(), self.halves[0], ShiftOp::Shl);
                let dst = self.dst(known);
                self.shift(dst, up, ShiftOp::Asr);
                return;
            }
            15 => {
                let mask = self.function.value();
                self.push(Imm {
                    dst: mask.into(),
                    value: 0xffff,
                });
                Logic {
                    a: self.half().into(),
                    b: mask.into(),
                    dst: self.dst(known),
                    op: LogicOp::And,
                }
                .into()
            }
            16..18 => IAdd {
                a: self.half().into(),
                b: self.half().into(),
                dst: self.half_dst(),
                sub: false,
            }
            .into(),
            18 => PackNorm8 {
                a: self.src(k),
                b: self.src(k),
                dst: self.half_dst(),
                signed: false,
            }
            .into(),
            19 => LoadHigh {
                old: self.half().into(),
                base: self.base(k),
                index: None,
                dst: self.dst(known),
                shift: 0,
                offset: 6,
            }
            .into(),
            20 => Zext16 {
                a: self.half().into(),
                dst: self.dst(known),
            }
            .into(),
            _ => Select {
                a: self.half().into(),
                b: self.half().into(),
                t: self.half().into(),
                f: self.half().into(),
                dst: self.half_dst(),
                cmp: Cmp::FGt,
                half: true,
            }
            .into(),
        };
        self.push(instr);
    }

    fn shift(&mut self, dst: Dst, a: Value, op: ShiftOp) {
        self.push(ShiftImm {
            dst,
            a: a.into(),
            op,
            amount: 16,
        });
    }

    fn operation(&mut self, known: &mut Vec<Value>) {
        if self.rng.chance(self.share) {
            return self.half_operation(known);
        }
        let k = known.clone();
        let k = &k[..];
        let instr: Instr = match self.rng.below(37) {
            0..4 => F2 {
                a: self.src(k),
                b: self.src(k),
                dst: self.dst(known),
                op: AddMul::Add,
                sat: false,
            }
            .into(),
            4..8 => Fma {
                a: self.src(k),
                b: self.src(k),
                c: self.src(k),
                dst: self.dst(known),
                sat: false,
            }
            .into(),
            8..11 => IAdd {
                a: self.src(k),
                b: self.src(k),
                dst: self.dst(known),
                sub: false,
            }
            .into(),
            11 => Logic {
                a: self.src(k),
                b: self.src(k),
                dst: self.dst(known),
                op: LogicOp::ALL[0],
            }
            .into(),
            12 => Select {
                a: self.src(k),
                b: self.src(k),
                t: self.src(k),
                f: self.src(k),
                dst: self.dst(known),
                cmp: Cmp::FGt,
                half: false,
            }
            .into(),
            13 => IMulWide {
                a: self.src(k),
                b: self.src(k),
                dst: [self.dst(known), self.dst(known)],
                signed: false,
            }
            .into(),
            14..16 => IAdd64 {
                a: self.pair(k),
                b: self.pair(k),
                dst: [self.dst(known), self.dst(known)],
                sub: self.rng.chance(50),
            }
            .into(),
            16 => Rotate {
                a: self.value(k).into(),
                dst: self.dst(known),
                amount: 5,
            }
            .into(),
            17 => F32ToF16High {
                old: self.value(k).into(),
                a: self.src(k),
                dst: self.dst(known),
            }
            .into(),
            18 => PackNorm8High {
                old: self.value(k).into(),
                a: self.src(k),
                b: self.src(k),
                dst: self.dst(known),
                signed: false,
            }
            .into(),
            19 => UnpackNorm {
                a: self.src(k),
                dst: [self.dst(known), self.dst(known)],
                norm: Norm::ALL[0],
                high: false,
            }
            .into(),
            20 => PackNorm16 {
                a: self.src(k),
                b: self.src(k),
                dst: self.dst(known),
                signed: true,
            }
            .into(),
            21..25 => {
                let n = 1 + self.rng.below(4) as usize;
                Load {
                    base: self.base(k),
                    index: self.rng.chance(70).then(|| self.value(k).into()),
                    dst: (0..n).map(|_| self.dst(known)).collect(),
                    format: Format::words(n).expect("1..=4"),
                    shift: 0,
                    offset: 4,
                }
                .into()
            }
            25..28 => {
                let n = 1 + self.rng.below(4) as usize;
                Store {
                    data: self.tuple(k, n),
                    base: self.base(k),
                    index: self.value(k).into(),
                    format: Format::words(n).expect("1..=4"),
                    shift: 0,
                    offset: 4,
                }
                .into()
            }
            28 => {
                let (n, op) = if self.rng.chance(50) {
                    (1, 0)
                } else {
                    (2, AtomicOp::ALL.len() - 1)
                };
                Atomic {
                    data: self.tuple(k, n),
                    base: self.base(k),
                    index: self.value(k).into(),
                    dst: self.rng.chance(60).then(|| self.dst(known)),
                    op: AtomicOp::ALL[op],
                }
                .into()
            }
            29 => SharedLoad {
                index: self.value(k).into(),
                dst: self.dst(known),
                root: 2,
            }
            .into(),
            30 => SharedStore {
                data: self.value(k).into(),
                index: self.value(k).into(),
                root: 2,
            }
            .into(),
            31 => ScratchStore {
                data: self.value(k).into(),
                index: self.value(k).into(),
                offset: 0,
            }
            .into(),
            32 => Ballot {
                src: self.value(k).into(),
                dst: self.dst(known),
            }
            .into(),
            33 => Shuffle {
                src: self.value(k).into(),
                lane: self.value(k).into(),
                dst: self.dst(known),
            }
            .into(),
            34 => Reduce {
                src: self.value(k).into(),
                dst: self.dst(known),
                op: ReduceOp::ALL[0],
                scan: false,
            }
            .into(),
            35 => {
                let from = if self.rng.chance(50) {
                    Ref::Uniform(self.rng.below(200) as u8)
                } else {
                    Ref::Value(self.value(k))
                };
                Mov {
                    src: Src::new(from),
                    dst: self.dst(known),
                }
                .into()
            }
            _ => Imm {
                dst: self.dst(known),
                value: self.rng.below(1000),
            }
            .into(),
        };
        self.push(instr);
    }
}
