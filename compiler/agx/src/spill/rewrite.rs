// SPDX-License-Identifier: MIT
//! Inserts what was decided, and makes the function SSA again.
//!
//! Each fill defines a new value in place of the one it brings back. Blocks are visited in program order, and so
//! behind all their predecessors but back edges; at joins where the names differ, phis join them. A loop's header gets
//! a phi for a value that is filled somewhere in the loop.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{Block, Dst, End, Fill, Function, Instr, Phi, Ref, Spill, Src, Value};

use super::decide::{Action, Plan};
use super::words::{self, Words};
use super::{FRAME_WORDS, Spilled, reachable};

/// The names that values go by.
type Names = BTreeMap<Value, Value>;

struct Rewriter<'p> {
    plan: &'p Plan<'p>,
    words: Words,
    first_word: u32,
    /// By value: the blocks that fill it, ascending.
    fills: BTreeMap<Value, Vec<Block>>,
    exits: Vec<Names>,
    reachable: Vec<bool>,
    count: Spilled,
}

/// Applies the plan.
pub(crate) fn rewrite(function: &mut Function, plan: &Plan<'_>) -> Result<Spilled, String> {
    let (mut spilled, mut memory_phis) = (BTreeSet::new(), BTreeSet::new());
    let mut fills: BTreeMap<Value, Vec<Block>> = BTreeMap::new();
    for block in function.block_ids() {
        for (_, action) in &plan.blocks[block.index()].actions {
            match action {
                Action::Spill(value) => {
                    spilled.insert(*value);
                }
                Action::Fill(value) => {
                    fills.entry(*value).or_default().push(block);
                    if plan.remade[value.0 as usize].is_none() {
                        spilled.insert(*value);
                    }
                }
                Action::Phi {
                    dst,
                    src,
                    in_register,
                    ..
                } => {
                    spilled.insert(*dst);
                    memory_phis.insert(*dst);
                    if let (Some(value), false) = (src.value(), in_register)
                        && plan.remade[value.0 as usize].is_none()
                    {
                        spilled.insert(value);
                    }
                }
            }
        }
    }
    let words = words::assign(function, &spilled, &memory_phis);
    let (first_word, last_word) = (function.scratch_words, function.scratch_words + words.count);
    if last_word > FRAME_WORDS {
        return Err(format!(
            "{} words of arrays and {} of spilled values are more than the {FRAME_WORDS} words \
             of a scratch frame",
            first_word, words.count
        ));
    }
    let mut rewriter = Rewriter {
        plan,
        count: Spilled {
            words: words.count,
            ..Spilled::default()
        },
        words,
        first_word,
        fills,
        exits: vec![Names::new(); function.blocks.len()],
        reachable: reachable(function),
    };
    for data in &mut function.blocks {
        data.phis.retain(|p| !memory_phis.contains(&p.dst));
    }
    let old_phis: Vec<usize> = function.blocks.iter().map(|b| b.phis.len()).collect();
    let mut joined = Vec::new();
    for block in function.block_ids() {
        joined.push(rewriter.block(function, block)?);
    }
    rewriter.phi_sources(function, &old_phis, &joined);
    remove_unread(function, plan);
    Ok(rewriter.count)
}

impl Rewriter<'_> {
    /// Rewrites a block; gives the values that its new phis join.
    fn block(&mut self, function: &mut Function, block: Block) -> Result<Vec<Value>, String> {
        let (mut names, joined) = self.entry(function, block);
        let data = &mut function.blocks[block.index()];
        let instrs = std::mem::take(&mut data.instrs);
        let mut end = data.end.clone();
        let mut out = Vec::with_capacity(instrs.len() + 16);
        for phi in &data.phis {
            self.early(phi.dst, &mut out)?;
        }
        let plan = self.plan;
        let mut actions = plan.blocks[block.index()].actions.iter().peekable();
        let count = instrs.len() as u32;
        for (i, mut instr) in instrs.into_iter().enumerate() {
            while let Some((_, action)) = actions.next_if(|a| a.0 <= i as u32) {
                self.act(function, action, &mut names, &mut out)?;
            }
            instr.for_each_src_mut(|group, _| group.iter_mut().for_each(|s| rename(s, &names)));
            let mut results = Vec::new();
            instr.for_each_dst_value(|value| results.push(value));
            out.push(instr);
            for value in results {
                self.early(value, &mut out)?;
            }
        }
        for (_, action) in actions.take_while(|a| a.0 <= count) {
            self.act(function, action, &mut names, &mut out)?;
        }
        if let End::If { cond, .. } = &mut end {
            cond.srcs_mut().into_iter().for_each(|s| rename(s, &names));
        }
        let data = &mut function.blocks[block.index()];
        data.instrs = out;
        data.end = end;
        self.exits[block.index()] = names;
        Ok(joined)
    }

    /// Names at the beginning of a block. Adds phis where they differ; their sources come later.
    fn entry(&self, function: &mut Function, block: Block) -> (Names, Vec<Value>) {
        let data = &function.blocks[block.index()];
        let preds = data.preds.clone();
        let own: BTreeSet<Value> = data.phis.iter().map(|p| p.dst).collect();
        let last = preds.iter().copied().filter(|p| *p >= block).max();
        let (mut names, mut joined) = (Names::new(), Vec::new());
        for value in self.plan.blocks[block.index()]
            .entry
            .iter()
            .filter(|v| !own.contains(v))
        {
            let Some(fills) = self.fills.get(value) else {
                continue;
            };
            let mut seen = preds
                .iter()
                .filter(|p| **p < block && self.reachable[p.index()])
                .map(|p| self.name(*p, *value));
            let first = seen.next().unwrap_or(*value);
            let again = last.is_some_and(|last| {
                let next = fills.partition_point(|f| *f < block);
                fills.get(next).is_some_and(|f| *f <= last)
            });
            let name = if again || seen.any(|n| n != first) {
                joined.push(*value);
                let dst = function.value();
                let srcs = vec![Src::from(*value); preds.len()];
                function.blocks[block.index()].phis.push(Phi { dst, srcs });
                dst
            } else {
                first
            };
            if name != *value {
                names.insert(*value, name);
            }
        }
        (names, joined)
    }

    /// What a value is called behind a block.
    fn name(&self, block: Block, value: Value) -> Value {
        self.exits[block.index()]
            .get(&value)
            .copied()
            .unwrap_or(value)
    }

    fn phi_sources(&self, function: &mut Function, old_phis: &[usize], joined: &[Vec<Value>]) {
        for block in function.block_ids() {
            let data = &mut function.blocks[block.index()];
            let (old, new) = data.phis.split_at_mut(old_phis[block.index()]);
            for (edge, pred) in data.preds.iter().enumerate() {
                for phi in old.iter_mut() {
                    rename(&mut phi.srcs[edge], &self.exits[pred.index()]);
                }
                for (phi, value) in new.iter_mut().zip(&joined[block.index()]) {
                    phi.srcs[edge] = match self.reachable[pred.index()] {
                        true => self.name(*pred, *value).into(),
                        false => Src::imm(0),
                    };
                }
            }
        }
    }

    fn early(&mut self, value: Value, out: &mut Vec<Instr>) -> Result<(), String> {
        if self.plan.early.contains(&value) {
            self.spill(value, value.into(), out)?;
        }
        Ok(())
    }

    /// Stores a register to the word of `value`.
    fn spill(&mut self, value: Value, src: Src, out: &mut Vec<Instr>) -> Result<(), String> {
        let word = (self.first_word + self.words.of(value)?) as u16;
        out.push(Spill { src, word }.into());
        self.count.spills += 1;
        Ok(())
    }

    /// Brings a value to a new register.
    fn fill(
        &mut self,
        function: &mut Function,
        value: Value,
        out: &mut Vec<Instr>,
    ) -> Result<Value, String> {
        let new = function.value();
        match self.plan.remade[value.0 as usize] {
            Some(instr) => {
                let mut instr = instr.clone();
                instr.for_each_dst_mut(|group, _| group.fill(Dst::Value(new)));
                out.push(instr);
            }
            None => {
                let word = (self.first_word + self.words.of(value)?) as u16;
                out.push(
                    Fill {
                        dst: new.into(),
                        word,
                    }
                    .into(),
                );
                self.count.fills += 1;
            }
        }
        Ok(new)
    }

    fn act(
        &mut self,
        function: &mut Function,
        action: &Action,
        names: &mut Names,
        out: &mut Vec<Instr>,
    ) -> Result<(), String> {
        let named = |value: Value| names.get(&value).copied().unwrap_or(value);
        match *action {
            Action::Spill(value) if self.plan.early.contains(&value) => Ok(()),
            Action::Spill(value) => self.spill(value, named(value).into(), out),
            Action::Fill(value) => {
                let new = self.fill(function, value, out)?;
                names.insert(value, new);
                Ok(())
            }
            Action::Phi {
                dst,
                src,
                in_register,
                stored,
            } => {
                let from = match (src.from, src.value()) {
                    (_, Some(value)) => {
                        let there = stored || self.plan.early.contains(&value);
                        if there && self.words.same(dst, value) {
                            return Ok(());
                        }
                        if in_register {
                            named(value)
                        } else {
                            self.fill(function, value, out)?
                        }
                    }
                    (from, None) => {
                        let new = function.value();
                        out.push(constant(new, from)?);
                        new
                    }
                };
                self.spill(dst, from.into(), out)
            }
        }
    }
}

fn rename(src: &mut Src, names: &Names) {
    if let Some(name) = src.value().and_then(|v| names.get(&v)) {
        src.from = Ref::Value(*name);
    }
}

/// An instruction that makes a phi's constant source.
pub(crate) fn constant(dst: Value, from: Ref) -> Result<Instr, String> {
    match from {
        Ref::Imm(value) => Ok(crate::ir::Imm {
            dst: dst.into(),
            value,
        }
        .into()),
        Ref::Uniform(_) => Ok(crate::ir::Mov {
            dst: dst.into(),
            src: Src::new(from),
        }
        .into()),
        Ref::Value(_) | Ref::Reg(_) => Err(format!("{from:?} is no constant")),
    }
}

/// Removes what is made again wherever it is used.
fn remove_unread(function: &mut Function, plan: &Plan<'_>) {
    let mut read = BTreeSet::new();
    for data in &function.blocks {
        for src in data
            .phis
            .iter()
            .flat_map(|p| &p.srcs)
            .filter_map(Src::value)
        {
            read.insert(src);
        }
        for instr in &data.instrs {
            instr.for_each_src_value(|value| {
                read.insert(value);
            });
        }
        if let End::If { cond, .. } = &data.end {
            read.extend(cond.srcs().iter().filter_map(Src::value));
        }
    }
    let remade = |value: Value| {
        plan.remade
            .get(value.0 as usize)
            .is_some_and(Option::is_some)
    };
    for data in &mut function.blocks {
        data.instrs.retain(|instr| {
            let mut keep = !instr.is_rematerializable();
            instr.for_each_dst_value(|value| keep |= !remade(value) || read.contains(&value));
            keep
        });
    }
}
