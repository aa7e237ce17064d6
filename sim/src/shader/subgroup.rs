// SPDX-License-Identifier: MIT
//! Lowering of the subgroup family.

use agx_isa::Instr;

use super::microop::MicroOp;

pub(super) fn lower(_: &Instr) -> Option<MicroOp> {
    None
}
