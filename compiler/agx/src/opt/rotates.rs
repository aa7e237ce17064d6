// SPDX-License-Identifier: MIT
//! Exclusive "or" of rotations of one value.
//!
//! The rotate instruction is proven only in place, so each rotation of a value that lives on costs a copy. Hash functions
//! xor several rotations of one value; with `d` for differences of the amounts,
//!
//! ```text
//! rot(x, a) ^ rot(x, b) ^ rot(x, c) = rot(x ^ rot(x ^ rot(x, d(c, b)), d(b, a)), a)
//! ```
//!
//! has as many operations, but only the innermost rotation is of `x` itself.

use std::collections::HashMap;

use crate::ir::{BlockData, Dst, Function, Instr, Logic, LogicOp, Rotate, Src, Value};

/// Rewrites every such tree within a block.
pub(crate) fn factor_rotates(function: &mut Function) {
    let rotates = |block: &BlockData| {
        let is_rotate = |instr: &Instr| matches!(instr, Instr::Rotate(_));
        block.instrs.iter().any(is_rotate)
    };
    // Most functions have none.
    if !function.blocks.iter().any(rotates) {
        return;
    }
    let uses = use_counts(function);
    let mut num_values = function.num_values;
    for block in function.blocks.iter_mut().filter(|b| rotates(b)) {
        let instrs = std::mem::take(&mut block.instrs);
        let mut made: HashMap<Value, usize> = HashMap::new();
        let mut out = Vec::with_capacity(instrs.len());
        for (at, instr) in instrs.iter().enumerate() {
            let mut pass = Tree {
                instrs: &instrs,
                made: &made,
                uses: &uses,
                rotates: Vec::new(),
                others: Vec::new(),
            };
            match xor_of(instr) {
                // A part of a larger tree is left to its root.
                Some((dst, a, b)) if pass.gathers(a, b) => {
                    pass.rewrite(dst, &mut num_values, &mut out);
                }
                _ => out.push(instr.clone()),
            }
            instr.for_each_dst_value(|v| {
                made.insert(v, at);
            });
        }
        block.instrs = out;
    }
    function.num_values = num_values;
}

fn use_counts(function: &Function) -> Vec<u32> {
    let mut uses = vec![0; function.num_values as usize];
    for block in &function.blocks {
        let phis = block.phis.iter().flat_map(|p| &p.srcs);
        phis.filter_map(|s| s.value())
            .for_each(|v| uses[v.0 as usize] += 1);
        for instr in &block.instrs {
            instr.for_each_src_value(|v| uses[v.0 as usize] += 1);
        }
        if let crate::ir::End::If { cond, .. } = &block.end {
            let values = cond.srcs().into_iter().filter_map(|s| s.value());
            values.for_each(|v| uses[v.0 as usize] += 1);
        }
    }
    uses
}

fn xor_of(instr: &Instr) -> Option<(Value, Src, Src)> {
    match instr {
        Instr::Logic(Logic {
            dst: Dst::Value(dst),
            a,
            b,
            op: LogicOp::Xor,
        }) => Some((*dst, *a, *b)),
        _ => None,
    }
}

/// The leaves of a tree of exclusive "or".
struct Tree<'a> {
    instrs: &'a [Instr],
    /// Where in the block each value is made.
    made: &'a HashMap<Value, usize>,
    uses: &'a [u32],
    /// Rotated value and amount to the right.
    rotates: Vec<(Src, u8)>,
    others: Vec<Src>,
}

impl Tree<'_> {
    /// Gathers the leaves; true if at least two are rotations of one value, by different amounts.
    fn gathers(&mut self, a: Src, b: Src) -> bool {
        self.leaf(a, 0);
        self.leaf(b, 0);
        let first = self.rotates.first().copied();
        let Some((x, _)) = first else {
            return false;
        };
        // Rotations of another value are leaves like any other.
        let same = self.rotates.iter().all(|(y, _)| *y == x);
        let mut amounts: Vec<u8> = self.rotates.iter().map(|(_, amount)| *amount).collect();
        amounts.sort_unstable();
        amounts.dedup();
        same && amounts.len() >= 2 && amounts.len() == self.rotates.len()
    }

    fn leaf(&mut self, src: Src, depth: u32) {
        let single = src.value().filter(|v| self.uses[v.0 as usize] == 1);
        match single.and_then(|v| Some(&self.instrs[*self.made.get(&v)?])) {
            Some(Instr::Rotate(Rotate { a, amount, .. })) => self.rotates.push((*a, *amount)),
            Some(instr) if depth < 4 => match xor_of(instr) {
                Some((_, a, b)) => {
                    self.leaf(a, depth + 1);
                    self.leaf(b, depth + 1);
                }
                None => self.others.push(src),
            },
            _ => self.others.push(src),
        }
    }

    fn rewrite(mut self, dst: Value, num_values: &mut u32, out: &mut Vec<Instr>) {
        let fresh = |num_values: &mut u32| {
            *num_values += 1;
            Value(*num_values - 1)
        };
        self.rotates
            .sort_by_key(|(_, amount)| std::cmp::Reverse(*amount));
        let x = self.rotates[0].0;
        let mut sum = x;
        for (i, &(_, amount)) in self.rotates.iter().enumerate() {
            let next = self.rotates.get(i + 1).map_or(0, |(_, a)| *a);
            let rotated = fresh(num_values);
            let difference = amount - next;
            out.push(
                Rotate {
                    dst: rotated.into(),
                    a: sum,
                    amount: difference,
                }
                .into(),
            );
            sum = rotated.into();
            if i + 1 < self.rotates.len() {
                let with_x = fresh(num_values);
                out.push(xor(with_x, sum, x));
                sum = with_x.into();
            }
        }
        let last = self.others.len();
        for (i, other) in self.others.into_iter().enumerate() {
            let value = if i + 1 == last {
                dst
            } else {
                fresh(num_values)
            };
            out.push(xor(value, sum, other));
            sum = value.into();
        }
        if last == 0
            && let Some(Instr::Rotate(rotate)) = out.last_mut()
        {
            rotate.dst = dst.into();
        }
    }
}

fn xor(dst: Value, a: Src, b: Src) -> Instr {
    Logic {
        dst: dst.into(),
        a,
        b,
        op: LogicOp::Xor,
    }
    .into()
}
