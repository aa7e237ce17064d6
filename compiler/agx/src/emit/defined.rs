// SPDX-License-Identifier: MIT
//! Registers that hold a value in every active lane: where an operand's value does not matter, one of these is named.

use super::facts::Facts;
use super::plain::Plain;
use super::regs::RegSet;
use super::release::Releases;
use crate::ir::Function;

/// Defined registers where blocks begin.
pub(super) struct Defined(Vec<RegSet>);

impl Defined {
    /// Of a function, with its operations, and what conditions at the ends of blocks release.
    pub(super) fn of(function: &Function, plain: &Plain, releases: &Releases) -> Defined {
        let count = function.blocks.len();
        let mut into = vec![RegSet::ALL; count];
        if let Some(entry) = into.first_mut() {
            *entry = RegSet::EMPTY;
        }
        let mut changed = true;
        while changed {
            changed = false;
            for block in function.block_ids() {
                let mut defined = into[block.index()];
                for operation in plain.of_block(block.index()) {
                    defined = step(defined, &operation.facts);
                }
                defined = defined.without(releases.at_end(block.index()));
                for next in function.successors(block) {
                    let Some(set) = into.get_mut(next.index()) else {
                        continue;
                    };
                    let common = *set & defined;
                    changed |= common != *set;
                    *set = common;
                }
            }
        }
        Defined(into)
    }

    /// Where a block begins.
    pub(super) fn at(&self, block: usize) -> RegSet {
        self.0[block]
    }
}

/// Across one instruction.
pub(super) fn step(defined: RegSet, facts: &Facts) -> RegSet {
    defined.without(facts.lost) | facts.whole
}
