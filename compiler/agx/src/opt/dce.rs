// SPDX-License-Identifier: MIT
//! Dead-code elimination: what has no effect and whose results nobody reads goes.
//!
//! Marks from the instructions with effects, conditions and nothing else, so that phis that only feed each other around
//! a loop go, too.

use crate::analysis::ValueSet;
use crate::ir::{Block, End, Function, Instr, Value};

/// Where a value comes from.
#[derive(Clone, Copy)]
enum Origin {
    Instr(Block, usize),
    Phi(Block, usize),
}

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

fn mark(function: &Function) -> ValueSet {
    let mut origins: Vec<Option<Origin>> = vec![None; function.num_values as usize];
    let mut live = ValueSet::new(function.num_values);
    let mut work = Vec::new();
    let need = |value: Value, live: &mut ValueSet, work: &mut Vec<Value>| {
        if live.insert(value) {
            work.push(value);
        }
    };
    for id in function.block_ids() {
        let block = &function.blocks[id.index()];
        for (i, phi) in block.phis.iter().enumerate() {
            origins[phi.dst.0 as usize] = Some(Origin::Phi(id, i));
        }
        for (i, instr) in block.instrs.iter().enumerate() {
            instr.for_each_dst_value(|v| origins[v.0 as usize] = Some(Origin::Instr(id, i)));
            if instr.has_effects() {
                instr.for_each_src_value(|v| need(v, &mut live, &mut work));
            }
        }
        if let End::If { cond, .. } = &block.end {
            for value in cond.srcs().iter().filter_map(|s| s.value()) {
                need(value, &mut live, &mut work);
            }
        }
    }
    while let Some(value) = work.pop() {
        match origins[value.0 as usize] {
            Some(Origin::Instr(block, i)) => {
                let instr = &function.blocks[block.index()].instrs[i];
                instr.for_each_src_value(|v| need(v, &mut live, &mut work));
            }
            Some(Origin::Phi(block, i)) => {
                let phi = &function.blocks[block.index()].phis[i];
                for v in phi.srcs.iter().filter_map(|s| s.value()) {
                    need(v, &mut live, &mut work);
                }
            }
            None => {}
        }
    }
    live
}
