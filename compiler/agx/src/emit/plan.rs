// SPDX-License-Identifier: MIT
//! The shape of control flow before emission: breaks that need no scope of their own, and what stretches of code hold.

use std::ops::Range;

use crate::ir::{Barrier, BarrierOp, Block, Closes, End, Function, Instr};

/// An arm of an `if`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Then,
    Else,
}

/// What was found out about a function.
pub(super) struct Plan {
    /// For each block that ends in an `if` straight in a loop's body, both of whose arms are single blocks: the arm that
    /// leaves the loop, the other one going on.
    pub(super) direct: Vec<Option<Side>>,
    /// For each block that enters a loop: it has such an `if`.
    pub(super) updates: Vec<bool>,
    /// Sums up to each block.
    sums: Vec<Weight>,
}

/// What code holds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Weight {
    /// Operations.
    pub(super) operations: usize,
    /// Memory accesses.
    pub(super) accesses: usize,
    /// Loops.
    pub(super) loops: usize,
    /// Barriers at which the workgroup meets.
    pub(super) barriers: usize,
}

impl Plan {
    /// Of a function.
    ///
    /// # Errors
    /// Constructs that do not nest, and block names that are none.
    pub(super) fn of(function: &Function) -> Result<Plan, String> {
        let mut plan = Plan {
            direct: vec![None; function.blocks.len()],
            updates: vec![false; function.blocks.len()],
            sums: vec![Weight::default()],
        };
        // The block that opened each construct, and whether it is a loop.
        let mut stack: Vec<(usize, bool)> = Vec::new();
        for (index, block) in function.blocks.iter().enumerate() {
            let here = Block(index as u32);
            let closes = |stack: &mut Vec<(usize, bool)>, is_loop: bool| match stack.pop() {
                Some((opener, kind)) if kind == is_loop => Ok(opener),
                _ => Err(format!("b{index}: `{}` closes nothing", block.end)),
            };
            let misplaced = || Err(format!("b{index}: `{}` names the wrong block", block.end));
            match &block.end {
                End::If {
                    else_block, merge, ..
                } => {
                    if !(here < *else_block && *else_block < *merge) {
                        return misplaced();
                    }
                    if let Some((opener, true)) = stack.last() {
                        plan.direct[index] = direct(function, index, *else_block, *merge);
                        plan.updates[*opener] |= plan.direct[index].is_some();
                    }
                    stack.push((index, false));
                }
                End::Loop { exit } => {
                    if *exit <= here {
                        return misplaced();
                    }
                    stack.push((index, true));
                }
                End::EndThen { .. }
                | End::Break {
                    closes: Closes::Then(_),
                    ..
                } => {
                    let opener = closes(&mut stack, false)?;
                    match function.blocks[opener].end {
                        End::If { else_block, .. } if else_block.index() == index + 1 => {}
                        _ => return misplaced(),
                    }
                    stack.push((opener, false));
                }
                End::EndElse
                | End::Break {
                    closes: Closes::Else,
                    ..
                } => {
                    let opener = closes(&mut stack, false)?;
                    match function.blocks[opener].end {
                        End::If { merge, .. } if merge.index() == index + 1 => {}
                        _ => return misplaced(),
                    }
                }
                End::EndLoop { .. }
                | End::Break {
                    closes: Closes::Loop,
                    ..
                } => {
                    let opener = closes(&mut stack, true)?;
                    match function.blocks[opener].end {
                        End::Loop { exit } if exit.index() == index + 1 => {}
                        _ => return misplaced(),
                    }
                }
                End::Next => {}
                End::Stop if stack.is_empty() && index + 1 == function.blocks.len() => {}
                End::Stop => return Err(format!("b{index}: stops inside of a construct")),
            }
            plan.add(block.instrs.iter(), &block.end);
        }
        match function.blocks.last().map(|block| &block.end) {
            Some(End::Stop) => Ok(plan),
            _ => Err("the last block does not stop".into()),
        }
    }

    fn add<'a>(&mut self, instrs: impl Iterator<Item = &'a Instr>, end: &End) {
        let mut sum = self.sums.last().copied().unwrap_or_default();
        for instr in instrs {
            sum.operations += 1;
            sum.accesses += usize::from(accesses_memory(instr));
            sum.barriers += usize::from(matches!(
                instr,
                Instr::Barrier(Barrier {
                    op: BarrierOp::Workgroup
                })
            ));
        }
        sum.operations += usize::from(matches!(end, End::If { .. }));
        sum.loops += usize::from(matches!(end, End::Loop { .. }));
        self.sums.push(sum);
    }

    /// What these blocks hold.
    pub(super) fn weight(&self, blocks: Range<usize>) -> Weight {
        let at = |index: usize| self.sums.get(index).copied().unwrap_or_default();
        let (from, to) = (at(blocks.start), at(blocks.end.max(blocks.start)));
        Weight {
            operations: to.operations - from.operations,
            accesses: to.accesses - from.accesses,
            loops: to.loops - from.loops,
            barriers: to.barriers - from.barriers,
        }
    }
}

/// Both arms are single blocks and one of them leaves the loop: which?
fn direct(function: &Function, index: usize, else_block: Block, merge: Block) -> Option<Side> {
    if else_block.index() != index + 2 || merge.index() != index + 3 {
        return None;
    }
    let leaves = |block: usize| {
        let end = function.blocks.get(block).map(|block| &block.end);
        matches!(end, Some(End::Break { .. }))
    };
    match (leaves(index + 1), leaves(index + 2)) {
        (true, false) => Some(Side::Then),
        (false, true) => Some(Side::Else),
        _ => None,
    }
}

fn accesses_memory(instr: &Instr) -> bool {
    matches!(
        instr,
        Instr::Load(_)
            | Instr::LoadHigh(_)
            | Instr::Store(_)
            | Instr::Atomic(_)
            | Instr::SharedLoad(_)
            | Instr::SharedStore(_)
            | Instr::ScratchLoad(_)
            | Instr::ScratchStore(_)
            | Instr::Spill(_)
            | Instr::Fill(_)
            | Instr::Texture(_)
            | Instr::TileLoad(_)
            | Instr::TileStore(_)
    )
}
