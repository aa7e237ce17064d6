// SPDX-License-Identifier: MIT
//! Last uses.
//!
//! A released register is lost, maybe for lanes too that are not active at the time: whether a release spares them is
//! not in the reference. So a register is released only when no lane needs it any more. The liveness of one lane, along
//! the control flow, is not enough for that: in one arm of an `if` other lanes wait for the other arm, and inside of a
//! loop those that left it wait behind it. A write in one arm is no end of what the other lanes have in the register.
//! Arms that no lane takes run as well, under an empty mask, so uniform branches are no different.

use super::regs::RegSet;
use crate::ir::{BlockData, Closes, End, Function, Instr, Src};

/// What may be released, for each instruction.
pub(super) struct Releases {
    /// For each block, for each instruction.
    kills: Vec<Vec<RegSet>>,
    /// For each block, at its end: registers that the branch's condition reads last.
    end_kills: Vec<RegSet>,
    /// For each block, registers that some lane needs behind it.
    needed: Vec<RegSet>,
}

impl Releases {
    /// Of this function.
    pub(super) fn of(function: &Function) -> Releases {
        let touched: Vec<Vec<Touched>> = function
            .blocks
            .iter()
            .map(|block| block.instrs.iter().map(touches).collect())
            .collect();
        let live = LaneLiveness::of(function, &touched);
        let held = held(function, &live);
        let count = function.blocks.len();
        let mut this = Releases {
            kills: Vec::with_capacity(count),
            end_kills: Vec::with_capacity(count),
            needed: Vec::with_capacity(count),
        };
        for (index, block) in function.blocks.iter().enumerate() {
            let mut after = live.out[index] | held[index];
            this.needed.push(after);
            let condition = condition_reads(&block.end);
            this.end_kills.push(condition.without(after));
            after |= condition;
            let mut kills = vec![RegSet::EMPTY; block.instrs.len()];
            let touched = block.instrs.iter().zip(&touched[index]);
            for ((instr, touched), kill) in touched.zip(&mut kills).rev() {
                let (reads, writes) = *touched;
                *kill = reads.without(after | writes);
                after = before(instr, *touched, after) | held[index];
            }
            this.kills.push(kills);
        }
        this
    }

    /// Registers that instruction `index` of a block reads last.
    pub(super) fn at(&self, block: usize, index: usize) -> RegSet {
        self.kills[block][index]
    }

    /// Registers that the condition at the end of a block reads last.
    pub(super) fn at_end(&self, block: usize) -> RegSet {
        self.end_kills[block]
    }

    /// Registers that some lane needs behind a block.
    pub(super) fn needed_behind(&self, block: usize) -> RegSet {
        self.needed[block]
    }
}

fn register(src: &Src) -> RegSet {
    src.reg().map_or(RegSet::EMPTY, RegSet::of)
}

/// Registers that an instruction reads, and those that it writes.
type Touched = (RegSet, RegSet);

/// What an instruction touches.
pub(super) fn touches(instr: &Instr) -> Touched {
    let (mut reads, mut writes) = (RegSet::EMPTY, RegSet::EMPTY);
    instr.for_each_src(|group, _| group.iter().for_each(|src| reads |= register(src)));
    instr.for_each_dst(|group, _| {
        for reg in group.iter().filter_map(crate::ir::Dst::reg) {
            writes |= RegSet::of(reg);
        }
    });
    (reads, writes)
}

/// Live registers in front of an instruction, from those that it touches and those live behind it.
fn before(instr: &Instr, (reads, writes): Touched, live: RegSet) -> RegSet {
    if writes_half(instr) {
        // The other half stays, and whoever copies the register reads it.
        return live | reads | writes;
    }
    live.without(writes) | reads
}

/// What a block uses before it defines it, and what it defines.
fn transfer(block: &BlockData, touched: &[Touched]) -> (RegSet, RegSet) {
    let mut uses = condition_reads(&block.end);
    let mut defines = RegSet::EMPTY;
    for (instr, touched) in block.instrs.iter().zip(touched).rev() {
        uses = before(instr, *touched, uses);
        if !writes_half(instr) {
            defines |= touched.1;
        }
    }
    (uses, defines)
}

/// Does it write half of its destination?
fn writes_half(instr: &Instr) -> bool {
    let high = matches!(
        instr,
        Instr::F32ToF16High(_) | Instr::LoadHigh(_) | Instr::PackNorm8High(_)
    );
    high || instr.writes_low_half()
}

/// Registers that a block's condition reads.
fn condition_reads(end: &End) -> RegSet {
    match end {
        End::If { cond, .. } => register(&cond.a) | register(&cond.b),
        _ => RegSet::EMPTY,
    }
}

/// What a lane that is at a block needs.
struct LaneLiveness {
    into: Vec<RegSet>,
    out: Vec<RegSet>,
}

impl LaneLiveness {
    fn of(function: &Function, touched: &[Vec<Touched>]) -> LaneLiveness {
        let count = function.blocks.len();
        let mut this = LaneLiveness {
            into: vec![RegSet::EMPTY; count],
            out: vec![RegSet::EMPTY; count],
        };
        // What is live in front of a block: what it uses, and what is live behind it but for what it defines.
        let blocks = function.blocks.iter().zip(touched);
        let transfers: Vec<(RegSet, RegSet)> = blocks
            .map(|(block, touched)| transfer(block, touched))
            .collect();
        let mut changed = true;
        while changed {
            changed = false;
            for block in function.block_ids().rev() {
                let mut live = RegSet::EMPTY;
                for next in function.successors(block) {
                    live |= this.into[next.index()];
                }
                this.out[block.index()] = live;
                let (uses, defines) = transfers[block.index()];
                live = live.without(defines) | uses;
                changed |= this.into[block.index()] != live;
                this.into[block.index()] = live;
            }
        }
        this
    }
}

/// A construct around a block: what the lanes that it keeps waiting need.
struct Waiting {
    needs: RegSet,
    /// What they need once the `if` has turned to its other arm.
    then: RegSet,
}

/// For each block, what lanes need that are not there.
fn held(function: &Function, live: &LaneLiveness) -> Vec<RegSet> {
    let mut stack: Vec<Waiting> = Vec::new();
    let into = |block: crate::ir::Block| {
        live.into
            .get(block.index())
            .copied()
            .unwrap_or(RegSet::EMPTY)
    };
    function
        .blocks
        .iter()
        .map(|block| {
            let held = stack.iter().fold(RegSet::EMPTY, |all, w| all | w.needs);
            match &block.end {
                End::If {
                    else_block, merge, ..
                } => stack.push(Waiting {
                    needs: into(*else_block),
                    then: into(*merge),
                }),
                End::Loop { exit } => stack.push(Waiting {
                    needs: into(*exit),
                    then: into(*exit),
                }),
                End::EndThen { .. } => {
                    if let Some(top) = stack.last_mut() {
                        top.needs = top.then;
                    }
                }
                End::Break {
                    closes: Closes::Then(_),
                    ..
                } => {
                    // They wait for the end of the loop.
                    if let Some(top) = stack.last_mut() {
                        top.needs = RegSet::EMPTY;
                    }
                }
                End::EndElse | End::EndLoop { .. } | End::Break { .. } => {
                    stack.pop();
                }
                End::Next | End::Stop => {}
            }
            held
        })
        .collect()
}
