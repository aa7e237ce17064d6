// SPDX-License-Identifier: MIT
//! The rules of the SSA form, checked after every pass in debug builds.
//!
//! Every value has one definition, which dominates its uses; phis have a source for each predecessor; block ends name
//! blocks that exist, and constructs nest. Publications that a texture operation reads were written on every way to it.

use super::{Block, End, Function, Instr, Src, Value};

/// Checks the rules.
///
/// # Errors
/// What is wrong and where, for a person.
pub fn validate(function: &Function) -> Result<(), String> {
    let mut validator = Validator {
        function,
        defined: vec![None; function.num_values as usize],
    };
    validator.structure()?;
    validator.definitions()?;
    validator.publications()?;
    validator.uses()
}

/// Where a value is defined: its block, and its place in it counted from the phis on.
type Place = (Block, usize);

struct Validator<'f> {
    function: &'f Function,
    defined: Vec<Option<Place>>,
}

impl Validator<'_> {
    fn structure(&self) -> Result<(), String> {
        let count = self.function.blocks.len();
        if count == 0 {
            return Err("a function without blocks".into());
        }
        let mut expected = self.function.clone();
        for block in self.function.block_ids() {
            for next in self.function.successors(block) {
                if next.index() >= count {
                    return Err(format!(
                        "b{} leads to b{}, which is not there",
                        block.0, next.0
                    ));
                }
            }
        }
        expected.compute_preds();
        for block in self.function.block_ids() {
            let data = &self.function.blocks[block.index()];
            if data.preds != expected.blocks[block.index()].preds {
                return Err(format!("b{}: predecessors are not up to date", block.0));
            }
            if let Some(phi) = data.phis.iter().find(|p| p.srcs.len() != data.preds.len()) {
                return Err(format!(
                    "b{}: {} has {} sources",
                    block.0,
                    phi.dst,
                    phi.srcs.len()
                ));
            }
        }
        match self.function.blocks[count - 1].end {
            End::Stop => Ok(()),
            _ => Err("the last block does not stop".into()),
        }
    }

    fn definitions(&mut self) -> Result<(), String> {
        for block in self.function.block_ids() {
            let data = &self.function.blocks[block.index()];
            for phi in &data.phis {
                self.define(phi.dst, (block, 0))?;
            }
            for (i, instr) in data.instrs.iter().enumerate() {
                let mut result = Ok(());
                instr.for_each_dst_value(|value| {
                    if result.is_ok() {
                        result = self.define(value, (block, i + 1));
                    }
                });
                result?;
            }
        }
        Ok(())
    }

    fn define(&mut self, value: Value, place: Place) -> Result<(), String> {
        match self.defined.get_mut(value.0 as usize) {
            None => Err(format!("{value} is out of range")),
            Some(Some(_)) => Err(format!("{value} is defined twice")),
            Some(slot) => {
                *slot = Some(place);
                Ok(())
            }
        }
    }

    /// Every texture operation finds its parameter block.
    fn publications(&self) -> Result<(), String> {
        let behind = |mut written: u128, block: Block, check: bool| {
            for instr in &self.function.blocks[block.index()].instrs {
                match instr {
                    Instr::Publish(op) => written |= 1u128.checked_shl(op.word.into()).unwrap_or(0),
                    Instr::Texture(op) if check && op.bundle.reads() & !written != 0 => {
                        return Err(format!(
                            "b{}: `{instr}` reads what was not published",
                            block.0
                        ));
                    }
                    _ => {}
                }
            }
            Ok(written)
        };
        let mut into = vec![u128::MAX; self.function.blocks.len()];
        into[0] = 0;
        let mut changed = true;
        while changed {
            changed = false;
            for block in self.function.block_ids() {
                let written = behind(into[block.index()], block, false)?;
                for next in self.function.successors(block) {
                    let common = into[next.index()] & written;
                    changed |= common != into[next.index()];
                    into[next.index()] = common;
                }
            }
        }
        for block in self.function.block_ids() {
            behind(into[block.index()], block, true)?;
        }
        Ok(())
    }

    fn uses(&self) -> Result<(), String> {
        let dominators = super::super::analysis::Dominators::of(self.function);
        let check = |src: &Src, at: Place, what: &dyn std::fmt::Display| {
            let Some(value) = src.value() else {
                return Ok(());
            };
            let place = self.defined.get(value.0 as usize).copied().flatten();
            let Some((block, index)) = place else {
                return Err(format!("b{}: {value} in `{what}` is never defined", at.0.0));
            };
            let reached = dominators.is_reachable(at.0);
            let earlier = block == at.0 && index < at.1;
            if reached && !earlier && !(block != at.0 && dominators.dominates(block, at.0)) {
                return Err(format!(
                    "b{}: {value} in `{what}` is used before its definition",
                    at.0.0
                ));
            }
            Ok(())
        };
        for block in self.function.block_ids() {
            let data = &self.function.blocks[block.index()];
            for phi in &data.phis {
                for (src, pred) in phi.srcs.iter().zip(&data.preds) {
                    check(src, (*pred, usize::MAX), &phi.dst)?;
                }
            }
            for (i, instr) in data.instrs.iter().enumerate() {
                let mut result = Ok(());
                instr.for_each_src(|group, _| {
                    for src in group {
                        if result.is_ok() {
                            result = check(src, (block, i + 1), instr);
                        }
                    }
                });
                result?;
            }
            if let End::If { cond, .. } = &data.end {
                for src in cond.srcs() {
                    check(&src, (block, usize::MAX), &data.end)?;
                }
            }
        }
        Ok(())
    }
}
