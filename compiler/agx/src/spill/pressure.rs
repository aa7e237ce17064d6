// SPDX-License-Identifier: MIT
//! How many registers a function needs.

use crate::analysis::{Liveness, ValueSet};
use crate::ir::{Block, End, Function, Src, Value};
use crate::regalloc::constraints::{for_each_distinct, registers_needed, source_groups};

use super::reachable;

/// Registers that each block needs at its worst point: live values, copies of those that instructions destroy, results
/// that may not share registers with operands. Blocks that no way leads to need none.
pub(crate) fn of_blocks(function: &Function, liveness: &Liveness) -> Vec<u32> {
    let reachable = reachable(function);
    let worst = |block: Block| match reachable[block.index()] {
        true => of_block(function, liveness, block),
        false => 0,
    };
    function.block_ids().map(worst).collect()
}

/// The most that a block needs.
pub(crate) fn of_function(function: &Function) -> u32 {
    of_blocks(function, &Liveness::of(function))
        .into_iter()
        .max()
        .unwrap_or(0)
}

fn of_block(function: &Function, liveness: &Liveness, block: Block) -> u32 {
    let mut worst = 0;
    for_each_place(function, liveness, block, |_, needed| {
        worst = worst.max(needed);
    });
    worst
}

/// How many registers are needed at each instruction of a block, from the last one to the first, and behind (`None`).
pub(crate) fn for_each_place(
    function: &Function,
    liveness: &Liveness,
    block: Block,
    mut f: impl FnMut(Option<usize>, u32),
) {
    let data = &function.blocks[block.index()];
    let mut live: ValueSet = liveness.live_out(block).clone();
    let mut count = live.len() as u32;
    if let End::If { cond, .. } = &data.end {
        for value in cond.srcs().iter().filter_map(Src::value) {
            count += u32::from(live.insert(value));
        }
    }
    f(None, count);
    let mut dying: Vec<Value> = Vec::new();
    for (index, instr) in data.instrs.iter().enumerate().rev() {
        instr.for_each_dst_value(|value| count -= u32::from(live.remove(value)));
        let across = count;
        let groups = source_groups(instr);
        dying.clear();
        for_each_distinct(&groups, |value| {
            if live.insert(value) {
                dying.push(value);
                count += 1;
            }
        });
        let needed = registers_needed(instr, &groups, count, across, |v| !dying.contains(&v));
        // Before it are its operands and what lives through it: of phis, results that are read are among them.
        f(Some(index), needed.max(count));
    }
}
