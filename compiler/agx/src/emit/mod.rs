// SPDX-License-Identifier: MIT
//! From register form to Apple9 machine code.
//!
//! ```text
//! operations --(encode)--> machine instructions --(facts)--> what they touch
//!                              ^                                |
//!      last uses (release) ----+---- waits, slots (waits) <-----+
//!                              |
//! blocks --(plan, control)--> mask operations, branches --(layout)--> bytes
//! ```
//!
//! * [`accept`]: which operands the encodings hold, for the pass that makes it so;
//! * [`encode`]: one operation, the shortest form that holds operands and waits;
//! * [`release`]: which registers nobody needs any more;
//! * [`slots`], [`waits`]: completion slots and who waits for them;
//! * [`plan`], [`control`]: control flow as mask operations;
//! * [`layout`]: labels and bytes; [`cycles`]: an estimate for statistics.
//!
//! Facts about instructions are asked of `agx-isa`, whose table holds them; the rules are those of isa-2.

pub mod accept;
mod consumers;
mod control;
mod cycles;
mod defined;
mod encode;
mod facts;
mod layout;
mod plan;
mod regs;
mod release;
mod slots;
mod waits;

#[cfg(test)]
mod tests;

pub use accept::{accepts, accepts_cond};

use agx_isa::{FormId, Instr as Machine};

use crate::binary::Statistics;
use crate::ir::{BlockData, Dst, End, Function, Instr, Ref};
use defined::Defined;
use encode::{Context, encode};
use facts::Facts;
use plan::Plan;
use regs::RegSet;
use release::Releases;

/// Machine code of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// The program, STOP included, and filler behind it.
    pub bytes: Vec<u8>,
    /// What was emitted.
    pub stats: Statistics,
    /// Words of each lane's scratch frame that the code needs, spills included. A program with a returning atomic needs
    /// one even if it saves nothing (isa-2, 4; HW).
    pub scratch_words: u32,
}

/// Emits a function in register form: every destination a register, every source a register, uniform or constant that
/// [`accepts`] takes, no phis.
///
/// # Errors
/// What cannot be emitted, and why.
pub fn run(function: &Function) -> Result<Code, String> {
    check(function)?;
    let plan = Plan::of(function)?;
    let releases = Releases::of(function);
    let facts = facts_of(function, &releases)?;
    let ends: Vec<RegSet> = (0..function.blocks.len())
        .map(|block| releases.at_end(block))
        .collect();
    let defined = Defined::of(function, &facts, &ends);
    let mut emitter = control::Emitter::new(function, &plan, &releases, &facts, &defined);
    emitter.emit()?;
    let (waits, named) = (emitter.waits, emitter.named);
    let laid = emitter.layout.finish()?;
    let scratch_words = scratch_words(function);
    let count = |f: fn(&Instr) -> u32| -> u32 {
        let blocks = function.blocks.iter();
        blocks.flat_map(|block| &block.instrs).map(f).sum()
    };
    let loops = function.blocks.iter();
    let stats = Statistics {
        instructions: laid.code.len() as u32,
        bytes: laid.len as u32,
        waits,
        moves: count(|instr| match instr {
            Instr::Mov(_) => 1,
            Instr::Swap(_) => 3,
            _ => 0,
        }),
        gprs: named.extent(),
        spills: count(|instr| matches!(instr, Instr::Spill(_)).into()),
        fills: count(|instr| matches!(instr, Instr::Fill(_)).into()),
        scratch: 4 * scratch_words,
        loops: loops.filter(|b| matches!(b.end, End::Loop { .. })).count() as u32,
        cycles: cycles::estimate(with_depths(&laid.code)),
    };
    Ok(Code {
        bytes: laid.bytes,
        stats,
        scratch_words,
    })
}

/// Register form?
fn check(function: &Function) -> Result<(), String> {
    for (index, block) in function.blocks.iter().enumerate() {
        if !block.phis.is_empty() {
            return Err(format!("b{index} has phis: it is not in register form"));
        }
        for instr in &block.instrs {
            let mut bad = false;
            instr.for_each_src(|group, shape| {
                let out = |src: &crate::ir::Src| match src.from {
                    Ref::Value(_) => true,
                    Ref::Reg(reg) => reg > shape.last,
                    Ref::Uniform(_) | Ref::Imm(_) => false,
                };
                bad |= group.iter().any(out);
            });
            instr.for_each_dst(|group, shape| {
                let out = |dst: &Dst| dst.reg().is_none_or(|reg| reg > shape.last);
                bad |= group.iter().any(out);
            });
            if bad {
                return Err(format!(
                    "b{index}: `{instr}` names values, or registers that it cannot reach"
                ));
            }
        }
    }
    Ok(())
}

/// What each instruction of each block touches.
fn facts_of(function: &Function, releases: &Releases) -> Result<Vec<Vec<Facts>>, String> {
    let block = |(index, block): (usize, &BlockData)| {
        let mut facts = Vec::with_capacity(block.instrs.len());
        for (at, instr) in block.instrs.iter().enumerate() {
            let ctx = Context {
                kills: releases.at(index, at),
                ..Context::PLAIN
            };
            let sequence = encode(instr, &ctx).map_err(|error| format!("b{index}: {error}"))?;
            facts.push(Facts::of(sequence));
        }
        Ok(facts)
    };
    function.blocks.iter().enumerate().map(block).collect()
}

fn scratch_words(function: &Function) -> u32 {
    let words = |instr: &Instr| match instr {
        Instr::Spill(op) => u32::from(op.word) + 1,
        Instr::Fill(op) => u32::from(op.word) + 1,
        Instr::Atomic(op) if op.dst.is_some() => 1,
        _ => 0,
    };
    let instrs = function.blocks.iter().flat_map(|block| &block.instrs);
    instrs
        .map(words)
        .max()
        .unwrap_or(0)
        .max(function.scratch_words)
}

/// Each instruction with the loops around it: backward branches tell.
fn with_depths(code: &[Machine]) -> impl Iterator<Item = (Machine, u32)> {
    let mut offsets = Vec::with_capacity(code.len());
    let mut offset = 0i64;
    for machine in code {
        offsets.push(offset);
        offset += i64::from(machine.form().len);
    }
    let mut changes = vec![0i32; code.len() + 1];
    for (index, machine) in code.iter().enumerate() {
        if machine.id() == FormId::Branch
            && let Some(displacement) = machine.displacement()
            && displacement < 0
        {
            let target = offsets[index] + displacement;
            let header = offsets.partition_point(|offset| *offset < target);
            changes[header] += 1;
            changes[index + 1] -= 1;
        }
    }
    let mut depth = 0;
    code.iter().zip(changes).map(move |(machine, change)| {
        depth += change;
        (*machine, depth as u32)
    })
}
