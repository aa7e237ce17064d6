// SPDX-License-Identifier: MIT
//! Dead-code elimination: what has no effect and whose results nobody reads goes.
//!
//! Marks from the instructions with effects, conditions and nothing else, so that phis that only feed each other around
//! a loop go, too.

use crate::analysis::ValueSet;
use crate::ir::{End, Function, Instr};

/// Removes dead instructions and phis; makes unused results of atomics none.
pub(crate) fn eliminate_dead_code(function: &mut Function) {
    let live = mark(function);
    for block in &mut function.blocks {
        block.phis.retain(|phi| live.contains(phi.dst));
        block.instrs.retain_mut(|instr| {
            let mut used = false;
            instr.for_each_dst_value(|v| used |= live.contains(v));
            if let (Instr::Atomic(op), false) = (&mut *instr, used) {
                op.dst = None;
            }
            used || instr.has_effects()
        });
    }
}

/// The values that something with effects, or a condition, needs. Users stand behind what they use, so one walk from the
/// end finds them all; but what comes around a loop to a phi is found too late, and takes another walk.
fn mark(function: &Function) -> ValueSet {
    let mut live = ValueSet::new(function.num_values);
    let mut again = true;
    while again {
        again = false;
        for id in function.block_ids().rev() {
            let block = &function.blocks[id.index()];
            if let End::If { cond, .. } = &block.end {
                for value in cond.srcs().iter().filter_map(|s| s.value()) {
                    live.insert(value);
                }
            }
            for instr in block.instrs.iter().rev() {
                let mut needed = instr.has_effects();
                instr.for_each_dst_value(|v| needed |= live.contains(v));
                if needed {
                    instr.for_each_src_value(|v| {
                        live.insert(v);
                    });
                }
            }
            for phi in &block.phis {
                if !live.contains(phi.dst) {
                    continue;
                }
                for (src, pred) in phi.srcs.iter().zip(&block.preds) {
                    if let Some(value) = src.value() {
                        again |= live.insert(value) && *pred >= id;
                    }
                }
            }
        }
    }
    live
}
