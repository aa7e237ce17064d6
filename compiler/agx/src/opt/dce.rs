// SPDX-License-Identifier: MIT
//! Dead-code elimination: what has no effect and whose results nobody reads goes.
//!
//! Marks from the instructions with effects, conditions and nothing else, so that phis that only feed each other around
//! a loop go, too.

use crate::analysis::ValueSet;
use crate::ir::{Dst, End, Function, Instr};

/// Removes dead instructions and phis; makes unused results of atomics none.
pub(crate) fn eliminate_dead_code(function: &mut Function) {
    let Marks { live, needed } = mark(function);
    let mut needed = needed.into_iter();
    for block in &mut function.blocks {
        block.phis.retain(|phi| live.contains(phi.dst));
        block.instrs.retain_mut(|instr| {
            if let Instr::Atomic(op) = instr
                && let Some(Dst::Value(dst)) = op.dst
                && !live.contains(dst)
            {
                op.dst = None;
            }
            needed.next() == Some(true)
        });
    }
}

struct Marks {
    /// The values that something with effects, or a condition, needs.
    live: ValueSet,
    /// By instruction, in program order: it makes one of them or has effects.
    needed: Vec<bool>,
}

/// Users stand behind what they use, so one walk from the end finds all that is needed; but what comes around a loop to a
/// phi is found too late, and takes another walk.
fn mark(function: &Function) -> Marks {
    let mut live = ValueSet::new(function.num_values);
    let count = function.blocks.iter().map(|b| b.instrs.len()).sum();
    let mut marks = vec![false; count];
    let mut again = true;
    while again {
        again = false;
        let mut marks = marks.iter_mut().rev();
        for id in function.block_ids().rev() {
            let block = &function.blocks[id.index()];
            if let End::If { cond, .. } = &block.end {
                for value in cond.srcs().iter().filter_map(|s| s.value()) {
                    live.insert(value);
                }
            }
            for (instr, mark) in block.instrs.iter().rev().zip(&mut marks) {
                let mut needed = instr.has_effects();
                instr.for_each_dst_value(|v| needed |= live.contains(v));
                if needed {
                    instr.for_each_src_value(|v| {
                        live.insert(v);
                    });
                }
                *mark = needed;
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
    Marks {
        live,
        needed: marks,
    }
}
