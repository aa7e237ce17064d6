// SPDX-License-Identifier: MIT
//! Population count, bit reversal and most significant bit (isa-1, 4.14; HW).
//!
//! The most significant bit of 0 is 0xffffffff.

use agx_isa::{FormId, Instr};

use super::super::microop::{MicroOp, Step};
use super::super::operand::{Dst, Src};
use super::super::wave::Wave;
use super::each::unary;

#[inline(always)]
fn run_count(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    unary(wave, op, u32::count_ones)
}

#[inline(always)]
fn run_reverse(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    unary(wave, op, u32::reverse_bits)
}

#[inline(always)]
fn run_highest(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    unary(wave, op, |a| 31u32.wrapping_sub(a.leading_zeros()))
}

crate::kernel! {
    count = run_count;
    reverse = run_reverse;
    highest = run_highest;
}

pub(in super::super) fn lower(instr: &Instr) -> Option<MicroOp> {
    let exec = match (instr.id(), instr.op_name()) {
        (FormId::PopCount, _) => count(),
        (FormId::BitRevMsb, "bitrev") => reverse(),
        (FormId::BitRevMsb, "find_msb") => highest(),
        _ => return None,
    };
    let op = MicroOp::new(exec).srcs([Src::of(instr, 1)?]);
    Some(op.dst(Dst::of(instr, 0)?))
}
