// SPDX-License-Identifier: MIT
//! Which loops blocks are in.

use crate::ir::{Block, End, Function};

/// For each block, the header of the innermost loop around it.
#[must_use]
pub fn loop_headers(function: &Function) -> Vec<Option<Block>> {
    let mut stack: Vec<(Block, Block)> = Vec::new();
    let around = function.block_ids().map(|block| {
        while stack.last().is_some_and(|(_, exit)| *exit <= block) {
            stack.pop();
        }
        let header = stack.last().map(|(header, _)| *header);
        if let End::Loop { exit } = function.blocks[block.index()].end {
            stack.push((Block(block.0 + 1), exit));
        }
        header
    });
    around.collect()
}
