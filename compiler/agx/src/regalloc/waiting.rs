// SPDX-License-Identifier: MIT
//! Registers of lanes that are elsewhere.
//!
//! Some instructions destroy operands. Whether that loss spares lanes that are not active is not in the reference, so
//! it is taken to hit all of them. What other lanes need may lie in registers that are free on the way of the active
//! ones: in one arm of an `if` some lanes wait for the other arm or for the end, and inside of a loop some may have left
//! it. The blocks stand in the order of the machine, so it is known which blocks run while lanes wait:
//!
//! * For the other arm: the first one. What they need lies where the `if` left it, and nothing may be destroyed there.
//! * For the end of an `if`: the other arm; for the end of a loop: its body, even what is before the `break`. Where they
//!   find their values is decided later, where the lanes meet: in no register that was destroyed meanwhile. It takes
//!   the fewest moves if nothing is destroyed where the values lay when the lanes began to wait.

use crate::ir::Block;

use super::RegSet;
use super::place::Held;

/// An `if` or a loop around the place.
#[derive(Debug)]
struct Construct {
    /// The first block that runs while lanes wait for the end.
    first: Block,
    is_loop: bool,
    held: Held,
    /// Some lanes wait for the end.
    awaited: bool,
}

/// What lanes wait with, for the place that an allocation has come to.
#[derive(Debug)]
pub(super) struct Waiting {
    stack: Vec<Construct>,
    /// By block: the registers that are destroyed in it.
    destroyed: Vec<RegSet>,
    /// The first block that ran while lanes waited for the next one.
    since: Option<Block>,
    /// The block behind the one that was left last.
    next: Block,
}

const NOTHING: Held = Held {
    firm: RegSet::EMPTY,
    loose: RegSet::EMPTY,
};

impl Waiting {
    /// At the beginning of a function of so many blocks.
    pub(super) fn new(blocks: usize) -> Waiting {
        Waiting {
            stack: Vec::new(),
            destroyed: vec![RegSet::EMPTY; blocks],
            since: None,
            next: Block(0),
        }
    }

    /// Where nothing should be destroyed now.
    pub(super) fn held(&self) -> Held {
        self.stack.iter().fold(NOTHING, |all, c| Held {
            firm: all.firm.with(c.held.firm),
            loose: all.loose.with(c.held.loose),
        })
    }

    /// An instruction of this block destroys these registers.
    pub(super) fn destroyed(&mut self, block: Block, registers: RegSet) {
        let all = &mut self.destroyed[block.index()];
        *all = all.with(registers);
    }

    /// Where the lanes that meet in this block, the one behind the block left last, cannot find their values.
    pub(super) fn lost_before(&self, block: Block) -> RegSet {
        let Some(since) = self.since.filter(|_| block == self.next) else {
            return RegSet::EMPTY;
        };
        let blocks = &self.destroyed[since.index()..block.index()];
        blocks.iter().fold(RegSet::EMPTY, |all, b| all.with(*b))
    }

    /// A block ends in an `if`; its other arm needs these registers.
    pub(super) fn branch(&mut self, block: Block, other: RegSet) {
        self.stack.push(Construct {
            first: block,
            is_loop: false,
            held: Held {
                firm: other,
                ..NOTHING
            },
            awaited: false,
        });
        self.go_on(block);
    }

    /// The first arm ends with this block. The lanes that did not leave a loop there have values in these registers.
    pub(super) fn turn(&mut self, block: Block, values: Option<RegSet>) {
        if let Some(top) = self.stack.last_mut() {
            top.first = Block(block.0 + 1);
            top.awaited = values.is_some();
            top.held = Held {
                loose: values.unwrap_or(RegSet::EMPTY),
                ..NOTHING
            };
        }
        self.go_on(block);
    }

    /// A loop begins behind this block.
    pub(super) fn enter_loop(&mut self, block: Block) {
        self.stack.push(Construct {
            first: Block(block.0 + 1),
            is_loop: true,
            held: NOTHING,
            awaited: false,
        });
        self.go_on(block);
    }

    /// Lanes leave the innermost loop with values in these registers.
    pub(super) fn leave(&mut self, values: RegSet) {
        if let Some(around) = self.stack.iter_mut().rev().find(|c| c.is_loop) {
            around.awaited = true;
            around.held.loose = around.held.loose.with(values);
        }
    }

    /// An `if` or a loop ends with this block.
    pub(super) fn close(&mut self, block: Block) {
        let closed = self.stack.pop();
        self.since = closed.filter(|c| c.awaited).map(|c| c.first);
        self.next = Block(block.0 + 1);
    }

    /// Another block follows in which nobody meets.
    fn go_on(&mut self, block: Block) {
        self.since = None;
        self.next = Block(block.0 + 1);
    }
}
