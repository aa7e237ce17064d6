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
    /// For each instruction of one block after the other, registers that it reads last.
    kills: Vec<RegSet>,
    /// For each block, the place of its first instruction; the number of instructions at the end.
    starts: Vec<usize>,
    /// For each block, at its end: registers that the branch's condition reads last.
    end_kills: Vec<RegSet>,
    /// For each block, registers that some lane needs behind it.
    needed: Vec<RegSet>,
}

impl Releases {
    /// Of this function.
    pub(super) fn of(function: &Function) -> Releases {
        let count = function.blocks.len();
        let mut starts = Vec::with_capacity(count + 1);
        let mut touched = Vec::new();
        for block in &function.blocks {
            starts.push(touched.len());
            touched.extend(block.instrs.iter().map(Touched::by));
        }
        starts.push(touched.len());
        let of_block = |block: usize| &touched[starts[block]..starts[block + 1]];
        let live = LaneLiveness::of(function, of_block);
        let held = held(function, &live);
        let mut this = Releases {
            kills: vec![RegSet::EMPTY; touched.len()],
            end_kills: Vec::with_capacity(count),
            needed: Vec::with_capacity(count),
            starts: Vec::new(),
        };
        for (index, block) in function.blocks.iter().enumerate() {
            let mut after = live.out[index] | held[index];
            this.needed.push(after);
            let condition = condition_reads(&block.end);
            this.end_kills.push(condition.without(after));
            after |= condition;
            let kills = &mut this.kills[starts[index]..starts[index + 1]];
            for (touched, kill) in of_block(index).iter().zip(kills).rev() {
                *kill = touched.reads.without(after | touched.writes);
                after = touched.before(after) | held[index];
            }
        }
        this.starts = starts;
        this
    }

    /// For each instruction of a block, registers that it reads last.
    pub(super) fn of_block(&self, block: usize) -> &[RegSet] {
        &self.kills[self.starts[block]..self.starts[block + 1]]
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

/// Registers that an instruction touches.
#[derive(Clone, Copy)]
struct Touched {
    reads: RegSet,
    writes: RegSet,
    /// It writes half of them.
    half: bool,
}

impl Touched {
    fn by(instr: &Instr) -> Touched {
        let (mut reads, mut writes) = (RegSet::EMPTY, RegSet::EMPTY);
        instr.for_each_src(|group, _| group.iter().for_each(|src| reads |= register(src)));
        instr.for_each_dst(|group, _| {
            for reg in group.iter().filter_map(crate::ir::Dst::reg) {
                writes |= RegSet::of(reg);
            }
        });
        Touched {
            reads,
            writes,
            half: writes_half(instr),
        }
    }

    /// Live registers in front of the instruction, from those behind it.
    fn before(self, live: RegSet) -> RegSet {
        if self.half {
            // The other half stays, and whoever copies the register reads it.
            return live | self.reads | self.writes;
        }
        live.without(self.writes) | self.reads
    }
}

/// What a block uses before it defines it, and what it defines.
fn transfer(block: &BlockData, touched: &[Touched]) -> (RegSet, RegSet) {
    let mut uses = condition_reads(&block.end);
    let mut defines = RegSet::EMPTY;
    for touched in touched.iter().rev() {
        uses = touched.before(uses);
        if !touched.half {
            defines |= touched.writes;
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
    fn of<'a>(function: &Function, touched: impl Fn(usize) -> &'a [Touched]) -> LaneLiveness {
        let count = function.blocks.len();
        let mut this = LaneLiveness {
            into: vec![RegSet::EMPTY; count],
            out: vec![RegSet::EMPTY; count],
        };
        // What is live in front of a block: what it uses, and what is live behind it but for what it defines.
        let blocks = function.blocks.iter().enumerate();
        let transfers: Vec<(RegSet, RegSet)> = blocks
            .map(|(index, block)| transfer(block, touched(index)))
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
