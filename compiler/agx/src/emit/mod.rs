// SPDX-License-Identifier: MIT
//! From register form to Apple9 machine code.
//!
//! ```text
//! operations --(encode)--> machine instructions, and what they touch (facts, plain)
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
mod plain;
mod plan;
mod regs;
mod release;
mod slots;
mod waits;

#[cfg(test)]
mod tests;

pub use accept::{accepts, accepts_cond};

use crate::binary::Statistics;
use crate::ir::{Dst, End, Function, Instr, Ref, Shape, Src};
use defined::Defined;
use plain::Plain;
use plan::Plan;
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
    let plain = Plain::of(function, &releases)?;
    let defined = Defined::of(function, &plain, &releases);
    let mut emitter = control::Emitter::new(function, &plan, &releases, &plain, &defined);
    emitter.emit()?;
    let (waits, named) = (emitter.waits, emitter.named);
    let laid = emitter.layout.finish()?;
    let tally = Tally::of(function);
    let loops = function.blocks.iter();
    let stats = Statistics {
        instructions: laid.code.len() as u32,
        bytes: laid.len as u32,
        waits,
        moves: tally.moves,
        gprs: named.extent(),
        spills: tally.spills,
        fills: tally.fills,
        scratch: 4 * tally.scratch_words,
        loops: loops.filter(|b| matches!(b.end, End::Loop { .. })).count() as u32,
        cycles: cycles::estimate(&laid.code),
    };
    Ok(Code {
        bytes: laid.bytes,
        stats,
        scratch_words: tally.scratch_words,
    })
}

/// Register form?
fn check(function: &Function) -> Result<(), String> {
    for (index, block) in function.blocks.iter().enumerate() {
        if !block.phis.is_empty() {
            return Err(format!("b{index} has phis: it is not in register form"));
        }
        // What encodings hold, operands are asked when they are written. Why they were given what they do not hold is seen
        // better here.
        if !cfg!(debug_assertions) {
            continue;
        }
        for instr in &block.instrs {
            let mut bad = false;
            instr.for_each_src(|group, shape| {
                bad |= group.iter().any(|src| is_out_of_reach(src, shape));
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

fn is_out_of_reach(src: &Src, shape: Shape) -> bool {
    match src.from {
        Ref::Value(_) => true,
        Ref::Reg(reg) => reg > shape.last,
        Ref::Uniform(_) | Ref::Imm(_) => false,
    }
}

/// How many there are of some operations.
#[derive(Default)]
struct Tally {
    moves: u32,
    spills: u32,
    fills: u32,
    /// Words of the scratch frame.
    scratch_words: u32,
}

impl Tally {
    fn of(function: &Function) -> Tally {
        let mut this = Tally {
            scratch_words: function.scratch_words,
            ..Tally::default()
        };
        for instr in function.blocks.iter().flat_map(|block| &block.instrs) {
            let words = match instr {
                Instr::Mov(_) => {
                    this.moves += 1;
                    continue;
                }
                Instr::Swap(_) => {
                    this.moves += 3;
                    continue;
                }
                Instr::Spill(op) => {
                    this.spills += 1;
                    u32::from(op.word) + 1
                }
                Instr::Fill(op) => {
                    this.fills += 1;
                    u32::from(op.word) + 1
                }
                Instr::Atomic(op) if op.dst.is_some() => 1,
                _ => continue,
            };
            this.scratch_words = this.scratch_words.max(words);
        }
        this
    }
}
