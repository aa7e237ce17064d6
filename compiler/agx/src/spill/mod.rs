// SPDX-License-Identifier: MIT
//! Spilling: keeps the number of values in registers within a limit, before registers are allocated.
//!
//! [`mod@pressure`] counts how many registers each point needs. If that is too much, [`halves`] lets 16-bit values share
//! registers; where that is not enough, [`decide`] chooses with the distances
//! of [`next_use`] which values leave registers and come back where, [`words`] finds room for them in scratch memory,
//! and [`rewrite`] inserts the stores and fills. Values that cost nothing to make again are never stored.
//!
//! A store destroys its register, so that storing a value that lives on takes one more register for a copy, and moving a
//! phi's source between scratch words takes one too. As these points are few, the decision does not keep registers for
//! them; the result is measured, and if it needs too much, decided again for a limit that is a little lower.

mod decide;
mod halves;
mod next_use;
mod pressure;
mod rewrite;
#[cfg(test)]
mod tests;
mod words;

use std::collections::BTreeMap;

use crate::analysis::{Dominators, Liveness, ValueSet};
use crate::ir::{BlockData, End, Function, Ref, Src, Value};

/// Words of a lane's scratch frame (isa-2, 4; HW).
const FRAME_WORDS: u32 = 8192;

/// By how much the limit is lowered at most.
const SLACK: u32 = 12;

/// More than the registers that an instruction needs for copies and results beyond the values that are live.
const EXTRA: u32 = 24;
/// By how much pairs of 16-bit values aim below the limit: what comes out of a pair takes another register for a while.
const PAIRS_SLACK: u32 = 2;

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spilled {
    /// Stores to scratch memory.
    pub spills: u32,
    /// Fills from it.
    pub fills: u32,
    /// Words of it that spilled values take, behind [`Function::scratch_words`].
    pub words: u32,
}

/// Brings the number of registers that the function needs at any point to at most `limit`.
///
/// # Errors
/// The limit is too low for some instruction, or spilled values do not fit the scratch frame.
pub fn run(function: &mut Function, limit: u32) -> Result<Spilled, String> {
    if pressure::of_function(function) <= limit {
        return Ok(Spilled::default());
    }
    let mut simple = function.clone();
    strip_unreachable(&mut simple);
    remove_unread_phis(&mut simple);
    remove_single_source_phis(&mut simple)?;
    halves::share(&mut simple, limit.saturating_sub(PAIRS_SLACK));
    if pressure::of_function(&simple) <= limit {
        *function = simple;
        return Ok(Spilled::default());
    }
    let facts = decide::Facts::of(&simple);
    let (mut target, mut worst) = (limit, 0);
    while target + SLACK >= limit {
        let mut attempt = simple.clone();
        let plan = decide::decide(&facts, target)?;
        let spilled = rewrite::rewrite(&mut attempt, &plan)?;
        worst = pressure::of_function(&attempt);
        if worst <= limit {
            *function = attempt;
            return Ok(spilled);
        }
        target = target.saturating_sub((worst - limit).div_ceil(2));
    }
    Err(format!(
        "{worst} registers are needed in spite of spilling, {limit} are there"
    ))
}

/// Registers that the function needs at its worst point.
#[must_use]
pub fn pressure(function: &Function) -> u32 {
    pressure::of_function(function)
}

/// The same, with the function's liveness known, and that at no point more than `live` values are. Up to `enough` it may
/// be more than it is: functions for which so few values are no question are not looked at closely.
pub(crate) fn pressure_with(
    function: &Function,
    liveness: &Liveness,
    live: u32,
    enough: u32,
) -> u32 {
    if live + EXTRA <= enough {
        return live + EXTRA;
    }
    let blocks = pressure::of_blocks(function, liveness);
    blocks.into_iter().max().unwrap_or(0)
}

/// By block: is there a way to it?
fn reachable(function: &Function) -> Vec<bool> {
    let dominators = Dominators::of(function);
    function
        .block_ids()
        .map(|b| dominators.is_reachable(b))
        .collect()
}

/// Empties blocks that no way leads to; they cannot stand in the way then.
fn strip_unreachable(function: &mut Function) {
    let reachable = reachable(function);
    for (data, here) in function.blocks.iter_mut().zip(&reachable) {
        let nothing = |src: &mut Src| src.from = Ref::Imm(0);
        for phi in &mut data.phis {
            let dead = phi
                .srcs
                .iter_mut()
                .zip(&data.preds)
                .filter(|(_, p)| !reachable[p.index()]);
            dead.for_each(|(src, _)| nothing(src));
        }
        if !here {
            data.phis.clear();
            data.instrs.clear();
            if let End::If { cond, .. } = &mut data.end {
                cond.srcs_mut().into_iter().for_each(nothing);
            }
        }
    }
}

/// Removes phis that nothing reads but other such phis.
fn remove_unread_phis(function: &mut Function) {
    let mut read = ValueSet::new(function.num_values);
    let mut sources: BTreeMap<Value, Vec<Value>> = BTreeMap::new();
    let mut open = Vec::new();
    for data in &function.blocks {
        for phi in &data.phis {
            sources.insert(phi.dst, phi.srcs.iter().filter_map(Src::value).collect());
        }
        data.instrs
            .iter()
            .for_each(|i| i.for_each_src_value(|value| open.push(value)));
        if let End::If { cond, .. } = &data.end {
            open.extend(cond.srcs().iter().filter_map(Src::value));
        }
    }
    while let Some(value) = open.pop() {
        if read.insert(value) {
            open.extend(sources.get(&value).into_iter().flatten());
        }
    }
    for data in &mut function.blocks {
        data.phis.retain(|p| read.contains(p.dst));
    }
}

/// A phi with one source is nothing but another name. With them gone, all phis are in blocks whose predecessors lead
/// nowhere else, so that what they need can be done at the end of these.
fn remove_single_source_phis(function: &mut Function) -> Result<(), String> {
    let mut names: Vec<Option<Ref>> = vec![None; function.num_values as usize];
    let resolve = |names: &[Option<Ref>], from: Ref| match from {
        Ref::Value(v) => names[v.0 as usize].unwrap_or(from),
        _ => from,
    };
    for data in function.blocks.iter_mut().filter(|b| b.preds.len() == 1) {
        for phi in std::mem::take(&mut data.phis) {
            match resolve(&names, phi.srcs[0].from) {
                from @ Ref::Value(_) => names[phi.dst.0 as usize] = Some(from),
                from => data.instrs.insert(0, rewrite::constant(phi.dst, from)?),
            }
        }
    }
    let rename = |src: &mut Src| src.from = resolve(&names, src.from);
    for BlockData {
        phis, instrs, end, ..
    } in &mut function.blocks
    {
        phis.iter_mut().flat_map(|p| &mut p.srcs).for_each(rename);
        for instr in instrs {
            instr.for_each_src_mut(|group, _| group.iter_mut().for_each(rename));
        }
        if let End::If { cond, .. } = end {
            cond.srcs_mut().into_iter().for_each(rename);
        }
    }
    Ok(())
}
