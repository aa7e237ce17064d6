// SPDX-License-Identifier: MIT
//! Literals, exports of words, and moves (isa-1, 4.1; isa-4, 2.3; isa-3, 1.3; isa-0, 3).
//!
//! The move to an argument word is for launch programs (isa-1, 4.1) and faults in others, because
//! invocations that run at the same time share the words. It changes its word only; the hardware may
//! also overwrite the rest of the block of four (launch, 5.2), which correct programs never notice.
//!
//! UMOV.4 is refused: which uniform its source byte names is not decoded (isa-1, 4.17).

use agx_isa::{FormId, Instr};

use super::super::launch::outside_launcher;
use super::super::microop::{MicroOp, Step};
use super::super::operand::{Dst, Src};
use super::super::wave::Wave;
use super::each::unary;
use crate::fault::FaultKind;

#[inline(always)]
fn run_copy(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    unary(wave, op, |a| a)
}

#[inline(always)]
fn run_argument(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    match outside_launcher(wave) {
        Some(fault) => fault,
        None => run_copy(wave, op),
    }
}

#[inline(always)]
fn run_unknown_uniform(wave: &mut Wave<'_>, _: &MicroOp) -> Step {
    let reason = "UMOV.4: which uniform its source byte names is not known (isa-1, 4.17)";
    wave.fail(FaultKind::IllegalInstruction(reason.to_owned()), None)
}

crate::kernel! {
    copy = run_copy;
    argument = run_argument;
    unknown_uniform = run_unknown_uniform;
}

pub(in super::super) fn lower(instr: &Instr) -> Option<MicroOp> {
    let src = |index| Src::of(instr, index);
    let op = match instr.id() {
        FormId::MovImm7 | FormId::MovImm32 | FormId::ExportImm32 | FormId::ExportMove4 => {
            MicroOp::new(copy()).srcs([src(1)?])
        }
        FormId::Zext16 => MicroOp::new(copy()).srcs([src(0)?.masked(0xffff)]),
        FormId::Zero => MicroOp::new(copy()),
        FormId::Argw => MicroOp::new(argument()).srcs([src(1)?]),
        FormId::Umov => return Some(MicroOp::new(unknown_uniform())),
        _ => return None,
    };
    Some(op.dst(Dst::of(instr, 0)?))
}
