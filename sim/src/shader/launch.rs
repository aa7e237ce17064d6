// SPDX-License-Identifier: MIT
//! Lowering of the launch family.

use agx_isa::Instr;

use super::microop::MicroOp;

pub(super) fn lower(_: &Instr) -> Option<MicroOp> {
    None
}
