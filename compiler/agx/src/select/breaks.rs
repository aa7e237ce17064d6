// SPDX-License-Identifier: MIT
//! Breaks on conditions joined by "or".
//!
//! The front end joins `if (x) break; if (y) break;` to one selection on `x || y`. The hardware has no logic on
//! predicates, but a lane can leave a loop at any place in its body for two instructions, so each term of the
//! disjunction gets a break of its own, and no Boolean has to be made.

use mesa_nir::program::{AluOp, BlockId, DefId, If, Instr as NirInstr, Node};

use super::Selector;
use crate::error::Error;
use crate::ir::{Block, Closes, End};

/// More terms than this stay one condition.
const MOST_TERMS: usize = 4;

/// A selection that does nothing but break.
pub(super) struct Split {
    /// Break if one of these values is the Boolean beside it.
    terms: Vec<(DefId, u8, bool)>,
    divergent: bool,
    /// The arm that breaks, and the one that goes on.
    breaking: BlockId,
    staying: BlockId,
}

impl<'p> Selector<'p> {
    /// The terms of a selection's condition, if it only breaks and its condition is a disjunction that nothing else
    /// reads.
    pub(super) fn split_break(&self, selection: &'p If) -> Option<Split> {
        let (then, other) = (only_block(&selection.then_body)?, only_block(&selection.else_body)?);
        let (breaks, stays) = ([NirInstr::Break].as_slice(), [].as_slice());
        let (wanted, breaking, staying) = match (&then.instrs[..], &other.instrs[..]) {
            (a, b) if a == breaks && b == stays => (true, then.id, other.id),
            (a, b) if a == stays && b == breaks => (false, other.id, then.id),
            _ => return None,
        };
        let mut terms = Vec::new();
        self.terms(selection.condition, 0, wanted, &mut terms);
        let comparisons = terms.iter().all(|(def, component, _)| {
            let alu = self.producing_alu(*def, *component);
            alu.is_some_and(|alu| matches!(self.comparison(alu, false), Ok(Some(_))))
        });
        let fits = (2..=MOST_TERMS).contains(&terms.len()) && comparisons && !self.loops.is_empty();
        fits.then_some(Split {
            terms,
            divergent: selection.divergent,
            breaking,
            staying,
        })
    }

    /// The terms of a disjunction (of a conjunction, when `wanted` is false: De Morgan).
    fn terms(&self, def: DefId, component: u8, wanted: bool, out: &mut Vec<(DefId, u8, bool)>) {
        let joins = if wanted { AluOp::ior } else { AluOp::iand };
        match self.producing_alu(def, component) {
            Some(alu) if alu.op == joins && self.use_count(alu.def.id) == 1 => {
                for src in &alu.srcs {
                    self.terms(src.def, src.swizzle.first().copied().unwrap_or(0), wanted, out);
                }
            }
            Some(alu) if alu.op == AluOp::inot => {
                let src = &alu.srcs[0];
                self.terms(src.def, src.swizzle.first().copied().unwrap_or(0), !wanted, out);
            }
            _ => out.push((def, component, wanted)),
        }
    }

    pub(super) fn breaks(&mut self, split: &Split) -> Result<(), Error> {
        for &(def, component, wanted) in &split.terms {
            let mut cond = self.condition(def, component, false)?;
            cond.invert ^= !wanted;
            let head = self.current_id();
            self.finish(End::If {
                cond,
                else_block: Block(head.0 + 2),
                merge: Block(head.0 + 3),
                divergent: split.divergent,
            });
            self.origin(split.breaking);
            self.finish_break(Closes::Then(Block(head.0 + 3)))?;
            self.origin(split.staying);
            self.finish(End::EndElse);
        }
        Ok(())
    }
}

fn only_block(nodes: &[Node]) -> Option<&mesa_nir::program::Block> {
    match nodes {
        [Node::Block(block)] => Some(block),
        _ => None,
    }
}
