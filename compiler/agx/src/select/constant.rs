// SPDX-License-Identifier: MIT
//! Questions about constant operands.

use mesa_nir::program::{Alu, DefId, Instr as NirInstr};

use super::Selector;

impl Selector<'_> {
    /// Component `component` of a definition, if it is a constant.
    pub(super) fn known(&self, def: DefId, component: u8) -> Option<u64> {
        match self.producer(def)? {
            NirInstr::Const(_, values) => values.get(usize::from(component)).copied(),
            _ => None,
        }
    }

    /// Operand `index` of arithmetic, lane 0, if it is a constant.
    pub(super) fn known_src(&self, alu: &Alu, index: usize) -> Option<u64> {
        let src = alu.srcs.get(index)?;
        self.known(src.def, *src.swizzle.first()?)
    }

    /// Which components of a definition somebody reads.
    pub(super) fn components_read(&self, def: DefId) -> u8 {
        self.components
            .get(def.0 as usize)
            .map_or(u8::MAX, |components| *components as u8)
    }

    /// How often a definition is read.
    pub(super) fn use_count(&self, def: DefId) -> u32 {
        self.uses.get(def.0 as usize).copied().unwrap_or(u32::MAX)
    }
}
