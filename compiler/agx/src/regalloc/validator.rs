// SPDX-License-Identifier: MIT
//! Proves that allocated code computes what the SSA program does.
//!
//! Like the checker of regalloc2, this follows the final code and keeps for each register the set of SSA values that it
//! is known to hold; where control flow joins, what holds on all ways. Instructions of both functions are matched in
//! order. Each operand must name a register that holds the value that the SSA program reads there, and the shapes of
//! groups must be kept. It shares no code with the allocator but the list of instructions whose destinations must
//! stay away from their sources.
//!
//! Two 16-bit values in one register are one value to both functions ([`crate::spill`], `halves`). Which half an operand
//! reads must be the same; writes of one half are operations that name the whole as their operand, and are checked as
//! such.
//!
//! Copies have no counterpart: a move between registers copies a set, in the SSA program it makes two names of one
//! value. Literals are known by their bits and argument words by their number, whoever made them. So it does not matter
//! which of these instructions the allocator adds, drops or moves.
//!
//! Lanes wait for one another: for the other arm of an `if`, and where arms or the ways out of a loop meet. What the
//! instructions that the machine runs meanwhile destroy is lost for them, too.

use std::collections::{BTreeSet, HashMap};

use crate::analysis::{Dominators, loop_headers};
use crate::ir::{Block, Cond, Dst, End, Function, Instr, Phi, Ref, Shape, Src, Value};

use super::FILE;
use super::constraints::{Sharing, sharing};

/// What a register can hold, as far as the proof cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Content {
    Value(Value),
    Imm(u32),
    Uniform(u8),
}

type Held = BTreeSet<Content>;

/// For each register what it is known to hold.
type Registers = Vec<Held>;

/// Checks `after`, the result of allocation, against `before`, the SSA program that went in.
///
/// # Errors
/// What is wrong and where, for a person.
pub fn validate(before: &Function, after: &Function) -> Result<(), String> {
    let validator = Validator {
        before,
        after,
        names: names(before),
        dominators: Dominators::of(before),
        headers: loop_headers(before),
    };
    validator.same_structure()?;
    validator.solve()
}

struct Validator<'f> {
    before: &'f Function,
    after: &'f Function,
    /// What a value is a copy of.
    names: HashMap<Value, Content>,
    dominators: Dominators,
    /// For each block, the header of the innermost loop around it.
    headers: Vec<Option<Block>>,
}

/// Makes one name of a value and its copies, which in SSA form come behind it.
fn names(function: &Function) -> HashMap<Value, Content> {
    let mut names = HashMap::new();
    for block in &function.blocks {
        for instr in &block.instrs {
            let (dst, content) = match instr {
                Instr::Mov(op) if is_plain(&op.src) => match op.src.from {
                    Ref::Value(v) => (op.dst, *names.get(&v).unwrap_or(&Content::Value(v))),
                    Ref::Imm(bits) => (op.dst, Content::Imm(bits)),
                    Ref::Uniform(word) => (op.dst, Content::Uniform(word)),
                    Ref::Reg(_) => continue,
                },
                Instr::Imm(op) => (op.dst, Content::Imm(op.value)),
                _ => continue,
            };
            if let Some(dst) = dst.value() {
                names.insert(dst, content);
            }
        }
    }
    names
}

/// Reads all bits as they are.
fn is_plain(src: &Src) -> bool {
    !src.is_modified() && !src.high
}

/// Makes no difference to the proof: see the top of this file.
fn is_copy(instr: &Instr) -> bool {
    match instr {
        Instr::Mov(op) => is_plain(&op.src),
        Instr::Imm(_) | Instr::Swap(_) => true,
        _ => false,
    }
}

/// The instruction with its values and registers blanked out.
fn blank(instr: &Instr) -> Instr {
    let mut instr = instr.clone();
    instr.for_each_dst_mut(|group, _| group.fill(Dst::Reg(0)));
    instr.for_each_src_mut(|group, _| {
        for src in group {
            if matches!(src.from, Ref::Value(_) | Ref::Reg(_)) {
                src.from = Ref::Reg(0);
            }
        }
    });
    instr
}

impl Validator<'_> {
    fn name(&self, value: Value) -> Content {
        *self.names.get(&value).unwrap_or(&Content::Value(value))
    }

    fn content(&self, src: &Src) -> Option<Content> {
        match src.from {
            Ref::Value(v) => Some(self.name(v)),
            Ref::Imm(bits) => Some(Content::Imm(bits)),
            Ref::Uniform(word) => Some(Content::Uniform(word)),
            Ref::Reg(_) => None,
        }
    }

    fn same_structure(&self) -> Result<(), String> {
        if self.before.blocks.len() != self.after.blocks.len() {
            return Err("the number of blocks has changed".into());
        }
        for block in self.before.block_ids() {
            let (b, a) = (
                &self.before.blocks[block.index()],
                &self.after.blocks[block.index()],
            );
            let same_end = match (&b.end, &a.end) {
                (
                    End::If {
                        else_block: e1,
                        merge: m1,
                        divergent: d1,
                        ..
                    },
                    End::If {
                        else_block: e2,
                        merge: m2,
                        divergent: d2,
                        ..
                    },
                ) => (e1, m1, d1) == (e2, m2, d2),
                (x, y) => x == y,
            };
            if b.preds != a.preds || !same_end {
                return Err(format!("b{}: control flow has changed", block.0));
            }
            if !a.phis.is_empty() {
                return Err(format!("b{}: there are still phis", block.0));
            }
        }
        Ok(())
    }

    fn solve(&self) -> Result<(), String> {
        let count = self.after.blocks.len();
        let mut entries: Vec<Option<Registers>> = vec![None; count];
        entries[0] = Some(vec![Held::new(); FILE]);
        let mut changed = true;
        // The first rounds only find out what holds; a complaint means something when all joins are settled.
        while changed {
            changed = false;
            for block in self.before.block_ids() {
                let Some(mut registers) = entries[block.index()].clone() else {
                    continue;
                };
                let _ = self.block(block, &mut registers);
                for next in self.before.successors(block) {
                    let arrived = self.cross(block, next, &registers);
                    let slot = &mut entries[next.index()];
                    let met = match &*slot {
                        None => arrived,
                        Some(known) => known.iter().zip(&arrived).map(|(a, b)| a & b).collect(),
                    };
                    if slot.as_ref() != Some(&met) {
                        *slot = Some(met);
                        changed = true;
                    }
                }
            }
        }
        for block in self
            .before
            .block_ids()
            .filter(|b| self.dominators.is_reachable(*b))
        {
            if let Some(mut registers) = entries[block.index()].clone() {
                self.block(block, &mut registers)?;
            }
        }
        Ok(())
    }

    /// What registers hold behind an edge: phis have the values of their sources.
    fn cross(&self, from: Block, to: Block, registers: &Registers) -> Registers {
        let lost = self.lost_between(from, to);
        let data = &self.before.blocks[to.index()];
        let edge = data.preds.iter().position(|p| *p == from);
        let results: BTreeSet<Content> = data.phis.iter().map(|p| Content::Value(p.dst)).collect();
        let phi_source = |phi: &Phi| edge.and_then(|e| self.content(&phi.srcs[e]));
        let mut sources: Vec<(Content, Content)> = data
            .phis
            .iter()
            .filter_map(|phi| Some((phi_source(phi)?, Content::Value(phi.dst))))
            .collect();
        sources.sort_unstable();
        registers
            .iter()
            .zip(lost)
            .map(|(held, lost)| {
                if lost {
                    return Held::new();
                }
                let mut new: Held = held.difference(&results).copied().collect();
                for content in held {
                    let first = sources.partition_point(|s| s.0 < *content);
                    let same = sources[first..].iter().take_while(|s| s.0 == *content);
                    new.extend(same.map(|s| s.1));
                }
                new
            })
            .collect()
    }

    /// Which registers the machine destroys between the end of a block and the beginning of one that follows.
    fn lost_between(&self, from: Block, to: Block) -> [bool; FILE] {
        let first = match self.after.blocks[from.index()].end {
            End::Break { .. } => self.headers[from.index()].unwrap_or(from).index(),
            _ => from.index() + 1,
        };
        let mut lost = [false; FILE];
        let between = self.after.blocks.get(first..to.index()).unwrap_or(&[]);
        for instr in between.iter().flat_map(|block| &block.instrs) {
            instr.for_each_src(|group, shape| {
                for register in group.iter().filter_map(Src::reg) {
                    lost[register as usize] |= shape.destroyed;
                }
            });
        }
        lost
    }

    /// Runs through a block to the end, and gives the first complaint.
    fn block(&self, block: Block, registers: &mut Registers) -> Result<(), String> {
        let (b, a) = (
            &self.before.blocks[block.index()],
            &self.after.blocks[block.index()],
        );
        let mut complaint = Ok(());
        let mut complain = |result: Result<(), String>, instr: &dyn std::fmt::Display| {
            if let (Err(e), Ok(())) = (result, &complaint) {
                complaint = Err(format!("b{}: `{instr}`: {e}", block.0));
            }
        };
        let mut expected = b.instrs.iter().filter(|i| !is_copy(i));
        for instr in &a.instrs {
            complain(shapes(instr), instr);
            if is_copy(instr) {
                copy(instr, registers);
                continue;
            }
            let Some(ssa) = expected.next() else {
                complain(Err("nothing like that is in the SSA program".into()), instr);
                continue;
            };
            if blank(ssa) != blank(instr) {
                complain(Err(format!("should be `{ssa}`")), instr);
            }
            complain(self.sources(ssa, instr, registers), instr);
            self.write(ssa, instr, registers);
        }
        if let Some(missing) = expected.next() {
            complain(Err("is missing".into()), missing);
        }
        if let (End::If { cond: c1, .. }, End::If { cond: c2, .. }) = (&b.end, &a.end) {
            complain(self.condition(c1, c2, registers), &a.end);
        }
        complaint
    }

    fn condition(&self, b: &Cond, a: &Cond, registers: &Registers) -> Result<(), String> {
        if (b.cmp, b.half, b.invert) != (a.cmp, a.half, a.invert) {
            return Err("another condition".into());
        }
        for (ssa, src) in b.srcs().iter().zip(&a.srcs()) {
            self.reads(ssa, src, registers)?;
        }
        Ok(())
    }

    fn reads(&self, ssa: &Src, src: &Src, registers: &Registers) -> Result<(), String> {
        if (ssa.neg, ssa.abs, ssa.high) != (src.neg, src.abs, src.high) {
            return Err(format!(
                "{src} should have the modifiers of {ssa}, and its half"
            ));
        }
        match (ssa.from, src.from) {
            (Ref::Value(value), Ref::Reg(register)) => {
                let held = registers.get(register as usize);
                if held.is_some_and(|h| h.contains(&self.name(value))) {
                    return Ok(());
                }
                Err(format!(
                    "r{register} should hold {value} but holds {held:?}"
                ))
            }
            (x, y) if x == y && !matches!(x, Ref::Reg(_)) => Ok(()),
            _ => Err(format!("{src} stands for {ssa}")),
        }
    }

    fn sources(&self, ssa: &Instr, instr: &Instr, registers: &Registers) -> Result<(), String> {
        let mut wanted: Vec<Src> = Vec::new();
        ssa.for_each_src(|group, _| wanted.extend_from_slice(group));
        let mut actual: Vec<Src> = Vec::new();
        instr.for_each_src(|group, _| actual.extend_from_slice(group));
        if wanted.len() != actual.len() {
            return Err("another number of operands".into());
        }
        wanted
            .iter()
            .zip(&actual)
            .try_for_each(|(w, a)| self.reads(w, a, registers))
    }

    /// The effect of an instruction: destroyed operands are lost, then results are there.
    fn write(&self, ssa: &Instr, instr: &Instr, registers: &mut Registers) {
        instr.for_each_src(|group, shape| {
            if shape.destroyed {
                for register in group.iter().filter_map(Src::reg) {
                    registers[register as usize].clear();
                }
            }
        });
        let mut values = Vec::new();
        ssa.for_each_dst_value(|value| values.push(value));
        let mut results = Vec::new();
        instr.for_each_dst(|group, _| results.extend(group.iter().filter_map(Dst::reg)));
        // In a loop, registers may still hold what the value was in the last iteration.
        for held in registers.iter_mut() {
            for value in &values {
                held.remove(&Content::Value(*value));
            }
        }
        for register in &results {
            registers[*register as usize].clear();
        }
        for (value, register) in values.iter().zip(&results) {
            registers[*register as usize].insert(Content::Value(*value));
        }
    }
}

fn copy(instr: &Instr, registers: &mut Registers) {
    match instr {
        Instr::Mov(op) => {
            let held = match op.src.from {
                Ref::Reg(from) => registers[from as usize].clone(),
                Ref::Imm(bits) => Held::from([Content::Imm(bits)]),
                Ref::Uniform(word) => Held::from([Content::Uniform(word)]),
                Ref::Value(_) => Held::new(),
            };
            if let Some(to) = op.dst.reg() {
                registers[to as usize] = held;
            }
        }
        Instr::Imm(op) => {
            if let Some(to) = op.dst.reg() {
                registers[to as usize] = Held::from([Content::Imm(op.value)]);
            }
        }
        Instr::Swap(op) => {
            if let (Some(x), Some(y)) = (op.x.reg(), op.y.reg()) {
                registers.swap(x as usize, y as usize);
            }
        }
        _ => {}
    }
}

/// What can be said of an allocated instruction by itself.
fn shapes(instr: &Instr) -> Result<(), String> {
    let mut complaint = Ok(());
    let mut complain = |text: String| {
        if complaint.is_ok() {
            complaint = Err(text);
        }
    };
    let mut group_is_right = |registers: &[Option<u8>], shape: Shape| {
        let first = registers
            .iter()
            .enumerate()
            .find_map(|(i, r)| r.map(|r| (i, r)));
        let Some((place, first)) = first else { return };
        for (i, register) in registers.iter().enumerate() {
            match register {
                Some(r) if *r > shape.last || *r as usize >= FILE => {
                    complain(format!("r{r} is out of reach"));
                }
                Some(r) if usize::from(*r) + place != usize::from(first) + i => {
                    complain(format!("r{r} does not follow r{first}"));
                }
                _ => {}
            }
        }
        match usize::from(first).checked_sub(place) {
            Some(base) if base % usize::from(shape.align) == 0 => {}
            _ => complain(format!(
                "r{first} does not have the alignment {}",
                shape.align
            )),
        }
    };
    let mut sources: Vec<(u8, Shape)> = Vec::new();
    let mut pairs: Vec<Vec<u8>> = Vec::new();
    let mut values_left = false;
    instr.for_each_src(|group, shape| {
        let registers: Vec<_> = group.iter().map(Src::reg).collect();
        values_left |= group.iter().any(|s| s.value().is_some());
        group_is_right(&registers, shape);
        sources.extend(registers.iter().flatten().map(|r| (*r, shape)));
        pairs.push(registers.into_iter().flatten().collect());
    });
    let mut results: Vec<u8> = Vec::new();
    instr.for_each_dst(|group, shape| {
        let registers: Vec<_> = group.iter().map(Dst::reg).collect();
        values_left |= registers.contains(&None);
        group_is_right(&registers, shape);
        results.extend(registers.into_iter().flatten());
    });
    if values_left {
        complain("it still names values".into());
    }
    if (1..results.len()).any(|i| results[..i].contains(&results[i])) {
        complain("two results in one register".into());
    }
    for (i, (register, shape)) in sources.iter().enumerate() {
        let alone = sources
            .iter()
            .enumerate()
            .all(|(j, s)| i == j || s.0 != *register);
        if (shape.destroyed || shape.tied) && !alone {
            complain(format!("r{register} is lost, but is read twice"));
        }
        if shape.tied && results.first().is_some_and(|d| d != register) {
            complain(format!("r{register} must be the destination, too"));
        }
        let overlaps = !shape.tied && results.contains(register);
        let forbidden = match sharing(instr) {
            Sharing::Any => false,
            Sharing::Distinct => true,
            Sharing::DistinctUnlessEqual => !pairs.contains(&results),
        };
        if overlaps && forbidden {
            complain(format!("r{register} is written before it is read"));
        }
    }
    complaint
}
