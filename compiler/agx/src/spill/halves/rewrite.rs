// SPDX-License-Identifier: MIT
//! Puts values into pairs and takes them out again.

use std::collections::HashMap;

use crate::analysis::{Dominators, ValueSet};
use crate::emit::accepts;
use crate::ir::{
    Block, End, F16ToF32, F32ToF16High, Format, Function, Imm, Instr, LoadHigh, Logic, LogicOp,
    Mov, PackNorm8High, Phi, Ref, ShiftImm, ShiftOp, Src, Value, Zext16,
};

use super::choose::{Chosen, Pair, PhiPair};
use super::demand::{Constants, clears_high_half, constant, plain};

/// How a value gets into the high half of the register that the other value is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Insertion {
    /// Its definition writes a high half.
    Direct,
    /// fp32 and back. Only results of fp16 arithmetic and conversion, in which one NaN is as good as another.
    Convert,
    /// A shift and a union, all bits as they are.
    Shift,
}

/// How an instruction's result gets there.
pub(super) fn as_defined(instr: &Instr) -> Insertion {
    match instr {
        Instr::F32ToF16(_) | Instr::PackNorm8(_) => Insertion::Direct,
        Instr::Load(op) if op.format == Format::I16 => Insertion::Direct,
        _ => behind(instr),
    }
}

/// How it gets there when it is in a register already.
pub(super) fn behind(instr: &Instr) -> Insertion {
    match instr {
        Instr::H2(_)
        | Instr::HFma(_)
        | Instr::HMulMix(_)
        | Instr::HMinMax(_)
        | Instr::F32ToF16(_) => Insertion::Convert,
        Instr::Sfu(op) if op.ty == crate::ir::SfuType::F16 => Insertion::Convert,
        _ => Insertion::Shift,
    }
}

/// Can the operand be a high half without a shift?
pub(super) fn takes_high(instr: &Instr, group: usize, src: &Src) -> bool {
    let high = Src { high: true, ..*src };
    match instr {
        Instr::F16ToF32(op) => !op.high,
        Instr::ShiftImm(op) => op.op == ShiftOp::Shl && op.amount == 16,
        _ => accepts(instr, group, &high),
    }
}

/// A value that is in a pair from some place on.
#[derive(Debug, Clone, Copy)]
struct Place {
    pair: usize,
    high: bool,
}

struct Rewriter<'p> {
    pairs: &'p [Pair],
    constants: &'p Constants,
    /// By pair, those of phis behind the others: the block from which on it may be there.
    homes: Vec<Block>,
    dominators: Dominators,
    places: HashMap<Value, Place>,
    /// By pair, as soon as its definition was passed: its value. That of phis is one at once.
    made: Vec<Option<Value>>,
    /// Values whose upper half is 0.
    clean: HashMap<Value, bool>,
    /// `high half << 16`, and the pair that it came from.
    shifted: HashMap<Value, Value>,
    num_values: u32,
}

/// Makes the pairs.
pub(super) fn rewrite(function: &mut Function, chosen: &Chosen, constants: &Constants) {
    let Chosen { pairs, phis } = chosen;
    let mut rewriter = Rewriter {
        pairs,
        constants,
        dominators: Dominators::of(function),
        places: HashMap::new(),
        homes: pairs.iter().map(|pair| pair.at.0).collect(),
        made: vec![None; pairs.len()],
        clean: HashMap::new(),
        shifted: HashMap::new(),
        num_values: function.num_values,
    };
    let mut by_place: HashMap<(Block, usize), Vec<usize>> = HashMap::new();
    for (index, pair) in pairs.iter().enumerate() {
        let place = |high| Place { pair: index, high };
        rewriter.places.insert(pair.low, place(false));
        rewriter.places.insert(pair.high, place(true));
        by_place.entry(pair.at).or_default().push(index);
    }
    let joined: Vec<(PhiPair, [Phi; 2])> = phis
        .iter()
        .filter_map(|pair| rewriter.join(function, pair))
        .collect();
    for block in function.block_ids() {
        let data = &mut function.blocks[block.index()];
        let instrs = std::mem::take(&mut data.instrs);
        let mut end = data.end.clone();
        let mut out = Vec::with_capacity(instrs.len() + instrs.len() / 4);
        for (index, instr) in instrs.into_iter().enumerate() {
            let instr = rewriter.reads(block, instr, &mut out);
            rewriter.note(&instr);
            let here = by_place.get(&(block, index));
            rewriter.define(instr, here.map_or(&[], Vec::as_slice), &mut out);
        }
        if let End::If { cond, .. } = &mut end {
            for src in cond.srcs_mut() {
                rewriter.read(block, src, false, &mut out);
            }
        }
        let data = &mut function.blocks[block.index()];
        (data.instrs, data.end) = (out, end);
    }
    rewriter.phis(function);
    for (pair, phis) in &joined {
        rewriter.joined(function, *pair, phis);
    }
    function.num_values = rewriter.num_values;
    remove_unread(function);
}

/// Removes extensions and constants that nobody reads any more.
pub(super) fn remove_unread(function: &mut Function) {
    let mut removed = true;
    while removed {
        removed = false;
        let mut read = ValueSet::new(function.num_values);
        for data in &function.blocks {
            let phis = data.phis.iter().flat_map(|p| &p.srcs);
            phis.filter_map(Src::value).for_each(|v| {
                read.insert(v);
            });
            for instr in &data.instrs {
                instr.for_each_src_value(|v| {
                    read.insert(v);
                });
            }
            if let End::If { cond, .. } = &data.end {
                cond.srcs().iter().filter_map(Src::value).for_each(|v| {
                    read.insert(v);
                });
            }
        }
        for data in &mut function.blocks {
            let before = data.instrs.len();
            data.instrs.retain(|instr| {
                let mut keep =
                    !matches!(instr, Instr::ShiftImm(_) | Instr::Logic(_) | Instr::Imm(_));
                instr.for_each_dst_value(|v| keep |= read.contains(v));
                keep
            });
            removed |= data.instrs.len() < before;
        }
    }
}

impl Rewriter<'_> {
    fn value(&mut self) -> Value {
        self.num_values += 1;
        Value(self.num_values - 1)
    }

    fn note(&mut self, instr: &Instr) {
        let clean = clears_high_half(instr, self.constants);
        instr.for_each_dst_value(|value| {
            if self.places.contains_key(&value) {
                self.clean.insert(value, clean);
            }
        });
    }

    /// The pair that a value is part of in this block, now, and whether it is the high half.
    fn part(&self, block: Block, value: Value) -> Option<(Value, bool)> {
        let place = self.places.get(&value)?;
        let made = self.made[place.pair]?;
        let home = self.homes[place.pair];
        (home == block || self.dominators.dominates(home, block)).then_some((made, place.high))
    }

    /// Brings an operand to what it is called now. A high half comes out first, unless the operand can be one.
    fn read(&mut self, block: Block, src: &mut Src, takes_high: bool, out: &mut Vec<Instr>) {
        let Some((pair, high)) = src.value().and_then(|v| self.part(block, v)) else {
            return;
        };
        src.from = Ref::Value(match high && !takes_high {
            true => self.extract(pair, out),
            false => pair,
        });
        src.high |= high && takes_high;
    }

    fn extract(&mut self, pair: Value, out: &mut Vec<Instr>) -> Value {
        let dst = self.value();
        out.push(shift(dst, pair, ShiftOp::Shr));
        dst
    }

    /// The instruction with its operands as they are called now.
    fn reads(&mut self, block: Block, mut instr: Instr, out: &mut Vec<Instr>) -> Instr {
        if let Some(other) = self.shorter(block, &instr) {
            return other;
        }
        let mut operands: Vec<(usize, usize, Src)> = Vec::new();
        let mut group = 0;
        instr.for_each_src(|members, _| {
            for (member, src) in members.iter().enumerate() {
                if src.value().is_some_and(|v| self.places.contains_key(&v)) {
                    operands.push((group, member, *src));
                }
            }
            group += 1;
        });
        // One shift serves all operands of an instruction.
        let mut extracted: Vec<(Src, Src)> = Vec::new();
        for (group, member, old) in operands {
            let mut new = old;
            let takes = takes_high(&instr, group, &old) && !matches!(instr, Instr::ShiftImm(_));
            let same = extracted.iter().find(|(from, _)| from.from == old.from);
            match same.filter(|_| !takes) {
                Some((_, to)) if alone(&instr, group) => new.from = to.from,
                _ => {
                    self.read(block, &mut new, takes, out);
                    if !takes {
                        extracted.push((old, new));
                    }
                }
            }
            if let (Instr::F16ToF32(op), true) = (&mut instr, new.high) {
                (op.high, new.high) = (true, false);
            }
            set(&mut instr, group, member, new);
        }
        instr
    }

    /// Extensions of a high half are one shift.
    fn shorter(&mut self, block: Block, instr: &Instr) -> Option<Instr> {
        let high_of = |this: &Self, src: &Src| {
            let (pair, high) = this.part(block, plain(src)?)?;
            high.then_some(pair)
        };
        match instr {
            Instr::Logic(op) if op.op == LogicOp::And => {
                let is_mask = |src: &Src| constant(src, self.constants) == Some(0xffff);
                let (src, mask) = match is_mask(&op.a) {
                    true => (&op.b, &op.a),
                    false => (&op.a, &op.b),
                };
                let pair = high_of(self, src).filter(|_| is_mask(mask))?;
                Some(shift(op.dst.value()?, pair, ShiftOp::Shr))
            }
            Instr::ShiftImm(op) if op.amount == 16 && op.op == ShiftOp::Shl => {
                let pair = high_of(self, &op.a)?;
                self.shifted.insert(op.dst.value()?, pair);
                None
            }
            Instr::ShiftImm(op) if op.amount == 16 => {
                let pair = *self.shifted.get(&plain(&op.a)?)?;
                Some(shift(op.dst.value()?, pair, op.op))
            }
            _ => None,
        }
    }

    /// Appends an instruction and the pairs that begin with it.
    fn define(&mut self, instr: Instr, pairs: &[usize], out: &mut Vec<Instr>) {
        if let [index] = pairs
            && self.pairs[*index].how == Insertion::Direct
        {
            let pair = self.value();
            let old = self.pairs[*index].low.into();
            if let Some(instr) = into_high(&instr, pair, old) {
                out.push(instr);
                self.made[*index] = Some(pair);
                return;
            }
        }
        out.push(instr);
        for index in pairs {
            let Pair { low, high, how, .. } = self.pairs[*index];
            let pair = self.value();
            match how {
                Insertion::Convert => {
                    let wide = self.value();
                    out.push(
                        F16ToF32 {
                            dst: wide.into(),
                            a: high.into(),
                            high: false,
                        }
                        .into(),
                    );
                    out.push(
                        F32ToF16High {
                            dst: pair.into(),
                            old: low.into(),
                            a: wide.into(),
                        }
                        .into(),
                    );
                }
                Insertion::Direct | Insertion::Shift => {
                    let clean = self.clean.get(&low) == Some(&true);
                    self.unite(pair, low, high, clean, out);
                }
            }
            self.made[*index] = Some(pair);
        }
    }

    /// Takes two phis out of their block; their pair is there from the block's beginning on.
    fn join(&mut self, function: &mut Function, pair: &PhiPair) -> Option<(PhiPair, [Phi; 2])> {
        let phis = &mut function.blocks[pair.block.index()].phis;
        let place = |phis: &[Phi], value| phis.iter().position(|phi: &Phi| phi.dst == value);
        // Both are there, or none is taken.
        place(phis, pair.high)?;
        let low = phis.remove(place(phis, pair.low)?);
        let high = phis.remove(place(phis, pair.high)?);
        let index = self.made.len();
        self.homes.push(pair.block);
        let value = self.value();
        self.made.push(Some(value));
        for (half, high) in [(pair.low, false), (pair.high, true)] {
            self.places.insert(half, Place { pair: index, high });
        }
        Some((*pair, [low, high]))
    }

    /// The phi of a pair: what comes in is a pair already, or becomes one at the end of the predecessor.
    fn joined(&mut self, function: &mut Function, pair: PhiPair, halves: &[Phi; 2]) {
        let Some(dst) = self.places.get(&pair.low).and_then(|p| self.made[p.pair]) else {
            return;
        };
        let preds = function.blocks[pair.block.index()].preds.clone();
        let mut srcs = Vec::new();
        for (edge, pred) in preds.iter().enumerate() {
            let [low, high] = [halves[0].srcs[edge], halves[1].srcs[edge]];
            if !self.dominators.is_reachable(*pred) {
                srcs.push(Src::imm(0));
                continue;
            }
            let part = |src: &Src| src.value().and_then(|v| self.part(*pred, v));
            if let (Some((a, false)), Some((b, true))) = (part(&low), part(&high))
                && a == b
            {
                srcs.push(a.into());
                continue;
            }
            let mut out = std::mem::take(&mut function.blocks[pred.index()].instrs);
            let [low, high] = [low, high].map(|src| self.in_register(*pred, src, &mut out));
            let value = self.value();
            self.unite(value, low, high, false, &mut out);
            function.blocks[pred.index()].instrs = out;
            srcs.push(value.into());
        }
        let phis = &mut function.blocks[pair.block.index()].phis;
        phis.push(Phi { dst, srcs });
    }

    /// A phi's source as a value.
    fn in_register(&mut self, pred: Block, src: Src, out: &mut Vec<Instr>) -> Value {
        let mut src = src;
        self.read(pred, &mut src, false, out);
        if let Some(value) = src.value() {
            return value;
        }
        let dst = self.value();
        match src.from {
            Ref::Imm(value) => out.push(
                Imm {
                    dst: dst.into(),
                    value,
                }
                .into(),
            ),
            _ => out.push(
                Mov {
                    dst: dst.into(),
                    src,
                }
                .into(),
            ),
        }
        dst
    }

    /// `high << 16 | low & 0xffff`. `clean`: the low one has nothing above 16 bits.
    fn unite(&mut self, pair: Value, low: Value, high: Value, clean: bool, out: &mut Vec<Instr>) {
        let up = self.value();
        out.push(shift(up, high, ShiftOp::Shl));
        let mut clear = low;
        if !clean {
            clear = self.value();
            out.push(
                Zext16 {
                    dst: clear.into(),
                    a: low.into(),
                }
                .into(),
            );
        }
        out.push(
            Logic {
                dst: pair.into(),
                a: up.into(),
                b: clear.into(),
                op: LogicOp::Or,
            }
            .into(),
        );
    }

    /// Phis read at the ends of predecessors.
    fn phis(&mut self, function: &mut Function) {
        let mut extracted: HashMap<(Block, Value), Value> = HashMap::new();
        for block in function.block_ids() {
            let preds = function.blocks[block.index()].preds.clone();
            for phi in 0..function.blocks[block.index()].phis.len() {
                for (edge, pred) in preds.iter().enumerate() {
                    let src = function.blocks[block.index()].phis[phi].srcs[edge];
                    let Some((pair, high)) = src.value().and_then(|v| self.part(*pred, v)) else {
                        continue;
                    };
                    let new = match high {
                        false => pair,
                        true => *extracted.entry((*pred, pair)).or_insert_with(|| {
                            self.extract(pair, &mut function.blocks[pred.index()].instrs)
                        }),
                    };
                    function.blocks[block.index()].phis[phi].srcs[edge].from = Ref::Value(new);
                }
            }
        }
    }
}

fn shift(dst: Value, a: Value, op: ShiftOp) -> Instr {
    ShiftImm {
        dst: dst.into(),
        a: a.into(),
        op,
        amount: 16,
    }
    .into()
}

/// The same operation with its result in the high half.
fn into_high(instr: &Instr, pair: Value, old: Src) -> Option<Instr> {
    let dst = pair.into();
    Some(match instr {
        Instr::F32ToF16(op) => F32ToF16High { dst, old, a: op.a }.into(),
        Instr::PackNorm8(op) => PackNorm8High {
            dst,
            old,
            a: op.a,
            b: op.b,
            signed: op.signed,
        }
        .into(),
        Instr::Load(op) if op.format == Format::I16 => LoadHigh {
            dst,
            old,
            base: op.base,
            index: op.index,
            shift: op.shift,
            offset: op.offset,
        }
        .into(),
        _ => return None,
    })
}

/// An operand by itself, which may share its register with another one.
fn alone(instr: &Instr, group: usize) -> bool {
    let (mut at, mut alone) = (0, false);
    instr.for_each_src(|members, shape| {
        if at == group {
            alone = members.len() == 1 && !shape.destroyed && !shape.tied;
        }
        at += 1;
    });
    alone
}

fn set(instr: &mut Instr, group: usize, member: usize, src: Src) {
    let mut at = 0;
    instr.for_each_src_mut(|members, _| {
        if at == group {
            members[member] = src;
        }
        at += 1;
    });
}
