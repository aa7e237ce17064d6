// SPDX-License-Identifier: MIT
//! A function's operations as machine instructions that wait for nothing: what most of them stay.

use agx_isa::Instr as Machine;

use super::encode::{Context, encode};
use super::facts::Facts;
use super::release::Releases;
use crate::ir::Function;

/// Every operation of a function.
pub(super) struct Plain {
    operations: Vec<Operation>,
    code: Vec<Machine>,
    /// For each block, the place of its first operation; the number of operations at the end.
    starts: Vec<usize>,
}

/// One operation.
pub(super) struct Operation {
    /// What it touches.
    pub(super) facts: Facts,
    /// Where its machine instructions are.
    start: usize,
    end: usize,
}

impl Plain {
    /// Of a function in register form.
    ///
    /// # Errors
    /// The operation that no proven encoding holds.
    pub(super) fn of(function: &Function, releases: &Releases) -> Result<Plain, String> {
        let blocks = function.blocks.iter();
        let count = blocks.map(|block| block.instrs.len()).sum();
        let mut this = Plain {
            operations: Vec::with_capacity(count),
            code: Vec::with_capacity(count + count / 4),
            starts: Vec::with_capacity(function.blocks.len() + 1),
        };
        let mut ctx = Context::PLAIN;
        for (index, block) in function.blocks.iter().enumerate() {
            this.starts.push(this.operations.len());
            for (instr, kills) in block.instrs.iter().zip(releases.of_block(index)) {
                ctx.kills = *kills;
                let start = this.code.len();
                this.operations.push(Operation {
                    facts: Facts::NONE,
                    start,
                    end: start,
                });
                let operation = this.operations.last_mut().expect("one was pushed");
                encode(instr, &ctx, &mut this.code, &mut operation.facts)
                    .map_err(|error| format!("b{index}: {error}"))?;
                operation.end = this.code.len();
            }
        }
        this.starts.push(this.operations.len());
        Ok(this)
    }

    /// How many machine instructions there are.
    pub(super) fn len(&self) -> usize {
        self.code.len()
    }

    /// The operations of a block.
    pub(super) fn of_block(&self, block: usize) -> &[Operation] {
        &self.operations[self.starts[block]..self.starts[block + 1]]
    }

    /// The machine instructions of an operation.
    #[inline]
    pub(super) fn code(&self, operation: &Operation) -> &[Machine] {
        &self.code[operation.start..operation.end]
    }
}
