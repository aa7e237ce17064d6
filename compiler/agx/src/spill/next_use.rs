// SPDX-License-Identifier: MIT
//! How far away the next use of a value is, in instructions along the shortest path.
//!
//! Leaving a loop counts as a long way, so that a value that a loop does not use is farther than all that it uses.

use crate::analysis::Liveness;
use crate::ir::{Block, BlockData, End, Function, Src, Value};

/// Instructions to the next use.
pub(crate) type Distance = u32;

/// Farther than any way inside a loop.
pub(crate) const LEAVING_LOOP: Distance = 1 << 20;

/// Nobody uses it any more.
pub(crate) const NEVER: Distance = Distance::MAX;

/// By value, ascending.
type Distances = Vec<(Value, Distance)>;

fn lookup(distances: &Distances, value: Value) -> Option<Distance> {
    distances
        .binary_search_by_key(&value, |d| d.0)
        .ok()
        .map(|i| distances[i].1)
}

/// Next uses at block boundaries, and the uses in each block.
#[derive(Debug)]
pub(crate) struct NextUses {
    entry: Vec<Distances>,
    exit: Vec<Distances>,
    /// By block: values with the places of their uses, ascending. The block's end is a place behind its instructions.
    uses: Vec<Vec<(Value, u32)>>,
    length: Vec<u32>,
}

impl NextUses {
    pub(crate) fn of(function: &Function, liveness: &Liveness) -> NextUses {
        let count = function.blocks.len();
        let mut this = NextUses {
            entry: vec![Distances::new(); count],
            exit: vec![Distances::new(); count],
            uses: function.blocks.iter().map(uses).collect(),
            length: function
                .blocks
                .iter()
                .map(|b| b.instrs.len() as u32 + 1)
                .collect(),
        };
        let mut changed = true;
        while changed {
            changed = false;
            for block in function.block_ids().rev() {
                changed |= this.update(function, liveness, block);
            }
        }
        this
    }

    fn update(&mut self, function: &Function, liveness: &Liveness, block: Block) -> bool {
        let mut exit = Distances::new();
        let depth = function.blocks[block.index()].loop_depth;
        for next in function.successors(block) {
            let data = &function.blocks[next.index()];
            let way = LEAVING_LOOP.saturating_mul(depth.saturating_sub(data.loop_depth));
            let edge = data.preds.iter().position(|p| *p == block);
            let there = &self.entry[next.index()];
            let far = |d: Distance| d.saturating_add(way).min(NEVER / 2);
            // Results of phis are in the list as well, but do not come over the edge.
            let live = there
                .iter()
                .filter(|(v, _)| liveness.live_in(next).contains(*v));
            exit.extend(live.map(|(v, d)| (*v, far(*d))));
            for phi in &data.phis {
                if let Some(value) = edge.and_then(|e| phi.srcs[e].value()) {
                    exit.push((value, far(lookup(there, phi.dst).unwrap_or(NEVER))));
                }
            }
        }
        // The nearest one comes first and stays.
        exit.sort_unstable();
        exit.dedup_by_key(|d| d.0);
        let length = self.length[block.index()];
        let here = &self.uses[block.index()];
        let phis = function.blocks[block.index()].phis.iter().map(|p| p.dst);
        let mut entry: Distances = liveness
            .live_in(block)
            .iter()
            .chain(phis)
            .map(|value| {
                let first = next(here, value, 0);
                let later = || Some(lookup(&exit, value)?.saturating_add(length));
                (value, first.or_else(later).unwrap_or(NEVER))
            })
            .collect();
        entry.sort_unstable();
        let changed = entry != self.entry[block.index()];
        self.entry[block.index()] = entry;
        self.exit[block.index()] = exit;
        changed
    }

    /// From the beginning of a block. Results of its phis are there as well.
    pub(crate) fn at_entry(&self, block: Block, value: Value) -> Distance {
        lookup(&self.entry[block.index()], value).unwrap_or(NEVER)
    }

    /// From before the instruction at a place; [`NEVER`] if the value ends.
    pub(crate) fn from(&self, block: Block, place: u32, value: Value) -> Distance {
        if let Some(next) = next(&self.uses[block.index()], value, place) {
            return next - place;
        }
        match lookup(&self.exit[block.index()], value) {
            Some(distance) => distance.saturating_add(self.length[block.index()] - place),
            None => NEVER,
        }
    }
}

/// The first use of a value from a place on.
fn next(uses: &[(Value, u32)], value: Value, place: u32) -> Option<u32> {
    let found = uses.get(uses.partition_point(|u| *u < (value, place)))?;
    (found.0 == value).then_some(found.1)
}

fn uses(block: &BlockData) -> Vec<(Value, u32)> {
    let mut uses = Vec::with_capacity(2 * block.instrs.len());
    for (i, instr) in (0..).zip(&block.instrs) {
        instr.for_each_src_value(|value| uses.push((value, i)));
    }
    if let End::If { cond, .. } = &block.end {
        let end = block.instrs.len() as u32;
        let values = cond.srcs();
        uses.extend(values.iter().filter_map(Src::value).map(|v| (v, end)));
    }
    uses.sort_unstable();
    uses
}
