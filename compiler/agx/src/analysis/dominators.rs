// SPDX-License-Identifier: MIT
//! The dominator tree, by the iterative algorithm of Cooper, Harvey and Kennedy.
//!
//! Program order is a reverse postorder of the structured control flow, so one pass settles everything but loop headers,
//! and these have their dominator before them: a second pass only confirms.

use crate::ir::{Block, Function};

/// Immediate dominators.
#[derive(Debug, Clone)]
pub struct Dominators {
    idom: Vec<Option<Block>>,
}

impl Dominators {
    /// Of this function, whose predecessors must be up to date.
    #[must_use]
    pub fn of(function: &Function) -> Dominators {
        let mut idom = vec![None; function.blocks.len()];
        idom[0] = Some(Block(0));
        let mut changed = true;
        while changed {
            changed = false;
            for block in function.block_ids().skip(1) {
                let known = |p: &&Block| idom[p.index()].is_some();
                let preds = function.blocks[block.index()].preds.iter().filter(known);
                let new = preds.copied().reduce(|a, b| common(&idom, a, b));
                if new.is_some() && idom[block.index()] != new {
                    idom[block.index()] = new;
                    changed = true;
                }
            }
        }
        Dominators { idom }
    }

    /// The immediate dominator; `None` for the entry and unreachable blocks.
    #[must_use]
    pub fn immediate(&self, block: Block) -> Option<Block> {
        self.idom[block.index()].filter(|d| *d != block)
    }

    /// Can the block be reached?
    #[must_use]
    pub fn is_reachable(&self, block: Block) -> bool {
        self.idom[block.index()].is_some()
    }

    /// Does every path to `b` go through `a`? True for `a == b`.
    #[must_use]
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        let mut at = Some(b);
        while let Some(block) = at {
            if block == a {
                return true;
            }
            if block < a {
                return false;
            }
            at = self.immediate(block);
        }
        false
    }

    /// The nearest block that dominates both.
    #[must_use]
    pub fn common(&self, a: Block, b: Block) -> Block {
        common(&self.idom, a, b)
    }
}

fn common(idom: &[Option<Block>], mut a: Block, mut b: Block) -> Block {
    while a != b {
        while a > b {
            a = idom[a.index()].unwrap_or(Block(0));
        }
        while b > a {
            b = idom[b.index()].unwrap_or(Block(0));
        }
    }
    a
}
