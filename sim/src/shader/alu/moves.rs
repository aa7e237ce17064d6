// SPDX-License-Identifier: MIT
//! Lowering of the moves family.

use agx_isa::Instr;

use super::super::microop::MicroOp;

pub(in super::super) fn lower(_: &Instr) -> Option<MicroOp> {
    None
}
