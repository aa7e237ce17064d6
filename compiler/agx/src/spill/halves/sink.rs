// SPDX-License-Identifier: MIT
//! Extends 16-bit integers where they are read, in place of where they come from.
//!
//! A value and its extension to 32 bits are one as good as the other, but only the narrow one fits in half a register, and
//! out of a high half the extension takes no more than the value itself would. So where registers run short the extension
//! is made again for every reader that is far away.

use std::collections::HashMap;

use crate::analysis::ValueSet;
use crate::ir::{End, Function, Instr, LogicOp, Ref, ShiftImm, ShiftOp, Src, Value};

use super::demand::{Constants, constant, plain};

/// Readers within so many instructions in the same block stay with the extension that there is.
const NEAR: usize = 12;

/// How a value was extended.
#[derive(Clone)]
enum Extension {
    /// The mask.
    Zero(Instr),
    /// The narrow value, which is shifted up and down.
    Sign(Value),
}

/// An extension and where it is.
struct Found {
    how: Extension,
    block: usize,
    index: usize,
}

/// Moves extensions of these values to their readers; false if there are none.
pub(super) fn sink(function: &mut Function, narrow: &ValueSet, constants: &Constants) -> bool {
    let mut found = extensions(function, narrow, constants);
    for phi in function.blocks.iter().flat_map(|data| &data.phis) {
        for value in phi.srcs.iter().filter_map(Src::value) {
            found.remove(&value);
        }
    }
    let mut count = function.num_values;
    for (block, data) in function.blocks.iter_mut().enumerate() {
        let instrs = std::mem::take(&mut data.instrs);
        // Where instructions stood before any was put in.
        let end = instrs.len();
        for (index, mut instr) in instrs.into_iter().enumerate() {
            let mut again: Vec<(Value, Value)> = Vec::new();
            let out = &mut data.instrs;
            instr.for_each_src_mut(|members, _| {
                for src in members {
                    extend(src, (block, index), &found, &mut again, &mut count, out);
                }
            });
            data.instrs.push(instr);
        }
        if let End::If { cond, .. } = &mut data.end {
            let mut again = Vec::new();
            for src in cond.srcs_mut() {
                let out = &mut data.instrs;
                extend(src, (block, end), &found, &mut again, &mut count, out);
            }
        }
    }
    let moved = count != function.num_values;
    function.num_values = count;
    moved
}

/// Extends what an operand reads just for it, if it is far from the extension that there is.
fn extend(
    src: &mut Src,
    (block, index): (usize, usize),
    found: &HashMap<Value, Found>,
    again: &mut Vec<(Value, Value)>,
    count: &mut u32,
    out: &mut Vec<Instr>,
) {
    let Some(old) = src.value() else { return };
    let Some(extension) = found.get(&old) else {
        return;
    };
    if extension.block == block && index <= extension.index + NEAR {
        return;
    }
    if let Some((_, new)) = again.iter().find(|(from, _)| *from == old) {
        src.from = Ref::Value(*new);
        return;
    }
    let mut fresh = || {
        *count += 1;
        Value(*count - 1)
    };
    let new = fresh();
    match &extension.how {
        Extension::Zero(mask) => {
            let mut mask = mask.clone();
            mask.for_each_dst_mut(|group, _| group.fill(new.into()));
            out.push(mask);
        }
        Extension::Sign(narrow) => {
            let up = fresh();
            for (dst, a, op) in [(up, *narrow, ShiftOp::Shl), (new, up, ShiftOp::Asr)] {
                out.push(
                    ShiftImm {
                        dst: dst.into(),
                        a: a.into(),
                        op,
                        amount: 16,
                    }
                    .into(),
                );
            }
        }
    }
    again.push((old, new));
    src.from = Ref::Value(new);
}

/// Extensions of narrow values, by their results.
fn extensions(
    function: &Function,
    narrow: &ValueSet,
    constants: &Constants,
) -> HashMap<Value, Found> {
    let mut found = HashMap::new();
    let mut shifted: HashMap<Value, Value> = HashMap::new();
    for (block, data) in function.blocks.iter().enumerate() {
        for (index, instr) in data.instrs.iter().enumerate() {
            let how = match instr {
                Instr::Logic(op) if op.op == LogicOp::And => {
                    let is_mask = |src: &Src| constant(src, constants) == Some(0xffff);
                    let of = if is_mask(&op.b) { &op.a } else { &op.b };
                    let fits = is_mask(&op.a) != is_mask(&op.b);
                    let of = fits.then_some(of).and_then(plain);
                    of.filter(|v| narrow.contains(*v))
                        .map(|_| Extension::Zero(instr.clone()))
                }
                Instr::ShiftImm(op) if op.op == ShiftOp::Shl && op.amount == 16 => {
                    if let Some((dst, a)) = op.dst.value().zip(plain(&op.a))
                        && narrow.contains(a)
                    {
                        shifted.insert(dst, a);
                    }
                    None
                }
                Instr::ShiftImm(op) if op.op == ShiftOp::Asr && op.amount == 16 => {
                    let of = plain(&op.a).and_then(|a| shifted.get(&a));
                    of.map(|value| Extension::Sign(*value))
                }
                _ => None,
            };
            let mut dst = None;
            instr.for_each_dst_value(|value| dst = Some(value));
            if let (Some(how), Some(dst)) = (how, dst) {
                found.insert(dst, Found { how, block, index });
            }
        }
    }
    found
}
