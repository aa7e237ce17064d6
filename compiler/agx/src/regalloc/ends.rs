// SPDX-License-Identifier: MIT
//! Where values end in a block.

use crate::ir::{BlockData, End, Src, Value};

/// The last reads of values, for the block that an allocation has come to.
#[derive(Debug)]
pub(super) struct Ends {
    /// By value: the last place that reads it. Places are counted on from block to block, so that those of other blocks
    /// lie before all of this one; 0 is none.
    last: Vec<u32>,
    /// The place that the allocation has come to.
    here: u32,
    /// The first place behind the block.
    behind: u32,
}

impl Ends {
    /// Before the first block of a function with so many values.
    pub(super) fn new(values: u32) -> Ends {
        Ends {
            last: vec![0; values as usize],
            here: 0,
            behind: 1,
        }
    }

    /// To the place before the first instruction of a block.
    pub(super) fn enter(&mut self, data: &BlockData) {
        self.here = self.behind;
        let mut place = self.here;
        for instr in &data.instrs {
            place += 1;
            instr.for_each_src_value(|value| self.last[value.0 as usize] = place);
        }
        self.behind = place + 1;
        if let End::If { cond, .. } = &data.end {
            for value in cond.srcs().iter().filter_map(Src::value) {
                self.last[value.0 as usize] = self.behind;
            }
        }
    }

    /// To the next instruction.
    pub(super) fn step(&mut self) {
        self.here += 1;
    }

    /// Nothing behind the instruction reads the value in this block.
    pub(super) fn is_last_read(&self, value: Value) -> bool {
        self.last[value.0 as usize] == self.here
    }

    /// Something behind the instruction reads the value in this block.
    pub(super) fn is_read_later(&self, value: Value) -> bool {
        self.last[value.0 as usize] > self.here
    }
}
