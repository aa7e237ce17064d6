// SPDX-License-Identifier: MIT
//! Functions and structured control flow.
//!
//! Blocks stand in program order, which is the order of the machine code: the blocks of an `if` arm or of a loop are
//! contiguous. A block's [`End`] says which mask operation or branch follows it, and with it its successors:
//!
//! ```text
//! A: ...  If(cond) ----.        PUSH if
//! T: ...  EndThen      | then   ELSE
//! E: ...  EndElse      | else   POP if
//! M: ...            <--'
//!
//! P: ...  Loop                  PUSH loop
//! H: ...  <--.                  (header)
//!    If c .. Break  ---.        BREAK
//! L: ...  EndLoop      |        BR_ANY H; POP loop
//! X: ...            <--'
//! ```
//!
//! There are no critical edges: a block with two successors ends in `If`, and both successors have it as their only
//! predecessor. Phis read their sources at the end of the predecessor, before the mask operation, so copies there run
//! under the mask of the lanes that take the edge.

use super::{Cond, Instr, Src, Value};

/// Names a block; its place in [`Function::blocks`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Block(pub u32);

impl Block {
    /// As an index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A choice by predecessor.
#[derive(Debug, Clone, PartialEq)]
pub struct Phi {
    /// The result. Phis are gone after register allocation.
    pub dst: Value,
    /// One source for each predecessor, in the order of [`BlockData::preds`]. A value or a constant.
    pub srcs: Vec<Src>,
}

/// What follows a block.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// The next block.
    Next,
    /// Lanes for which the condition holds go to the next block, the others to `else_block`.
    If {
        /// The condition.
        cond: Cond,
        /// First block of the other arm, which always exists.
        else_block: Block,
        /// The block in which both arms meet.
        merge: Block,
        /// Lanes of one subgroup may disagree.
        divergent: bool,
    },
    /// The last block of a "then" arm: on to `merge`; the machine goes on with the other arm.
    EndThen {
        /// Where the arms meet.
        merge: Block,
    },
    /// The last block of an "else" arm: the next block is where the arms meet.
    EndElse,
    /// Enters a loop whose header is the next block.
    Loop {
        /// The block behind the loop.
        exit: Block,
    },
    /// The last block of a loop's body: back to the header, until no lane is left.
    EndLoop {
        /// The header.
        header: Block,
    },
    /// Leaves the innermost loop. It ends an arm of an `if`, in place of `EndThen` or `EndElse`, and the machine goes
    /// on as it does behind those; or it ends the loop's body in place of `EndLoop`.
    Break {
        /// The block behind the loop.
        exit: Block,
        /// Which construct ends here.
        closes: Closes,
    },
    /// The program ends.
    Stop,
}

/// Which construct a [`End::Break`] ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closes {
    /// A "then" arm; where its `if` merges (the arm itself does not get there).
    Then(Block),
    /// An "else" arm.
    Else,
    /// The loop's body.
    Loop,
}

/// A block.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockData {
    /// Predecessors, in program order.
    pub preds: Vec<Block>,
    /// Phis.
    pub phis: Vec<Phi>,
    /// Straight code.
    pub instrs: Vec<Instr>,
    /// What follows.
    pub end: End,
    /// Loops around it: 0 outside of any.
    pub loop_depth: u32,
}

/// A shader.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// Blocks in program order; the first is the entry.
    pub blocks: Vec<BlockData>,
    /// One more than the highest value.
    pub num_values: u32,
    /// Words of each lane's scratch frame that `ScratchLoad` and `ScratchStore` address; spills go behind them.
    pub scratch_words: u32,
}

impl Function {
    /// A new value.
    pub fn value(&mut self) -> Value {
        self.num_values += 1;
        Value(self.num_values - 1)
    }

    /// Successors of a block.
    #[must_use]
    pub fn successors(&self, block: Block) -> Successors {
        let next = Block(block.0 + 1);
        match self.blocks[block.index()].end {
            End::Next | End::EndElse | End::Loop { .. } => Successors([Some(next), None]),
            End::If { else_block, .. } => Successors([Some(next), Some(else_block)]),
            End::EndThen { merge } => Successors([Some(merge), None]),
            End::EndLoop { header } => Successors([Some(header), None]),
            End::Break { exit, .. } => Successors([Some(exit), None]),
            End::Stop => Successors([None, None]),
        }
    }

    /// Block names in program order.
    pub fn block_ids(&self) -> impl DoubleEndedIterator<Item = Block> + use<> {
        (0..self.blocks.len() as u32).map(Block)
    }

    /// Fills in `preds` from the ends. Phis must be in that order: program order of the predecessors.
    pub fn compute_preds(&mut self) {
        for block in &mut self.blocks {
            block.preds.clear();
        }
        for block in self.block_ids() {
            for next in self.successors(block) {
                self.blocks[next.index()].preds.push(block);
            }
        }
    }
}

/// At most two blocks.
#[derive(Debug, Clone, Copy)]
pub struct Successors([Option<Block>; 2]);

impl Iterator for Successors {
    type Item = Block;

    fn next(&mut self) -> Option<Block> {
        self.0[0].take().or_else(|| self.0[1].take())
    }
}
