// SPDX-License-Identifier: MIT
//! Shifts, rotate and bit-field extract (isa-1, 4.13; isa-4, 7.3 to 7.5).
//!
//! A register amount is the low 16 bits of its register; an amount of 32 or more shifts everything
//! out: 0, or copies of the sign in the arithmetic shift (HW). Nothing is reduced modulo 32.
//!
//! * Extract with width 0 does not mask (isa-4, 7.4; HW-A18): it decodes as the plain right shift, which
//!   is the same micro-op.
//! * The rotate decodes only with both words equal (isa-4, 7.3).
//! * The funnel shift is proven for amounts up to 63 (HW-A18). For larger ones the rule of the other
//!   register shifts is kept: low 16 bits, 64 or more gives 0.
//! * The 16-bit shift (CMP) zero-extends its halves, so 16 or more gives 0 as well.

use agx_isa::{FormId, Instr};

use super::super::microop::{MicroOp, Step};
use super::super::operand::{Dst, Src};
use super::super::wave::Wave;
use super::each::{binary, ternary, unary};

#[inline(always)]
fn run_left_by(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let amount = op.imm[0] & 31;
    unary(wave, op, |a| a << amount)
}

/// Right by the first number, then cut to the bits of the second.
#[inline(always)]
fn run_extract(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let (amount, mask) = (op.imm[0] & 31, op.imm[1]);
    unary(wave, op, |a| a >> amount & mask)
}

#[inline(always)]
fn run_arithmetic_by(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let amount = op.imm[0] & 31;
    unary(wave, op, |a| (a as i32 >> amount) as u32)
}

#[inline(always)]
fn run_rotate_by(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let amount = op.imm[0] & 31;
    unary(wave, op, |a| a.rotate_right(amount))
}

#[inline(always)]
fn left(a: u32, amount: u32) -> u32 {
    if amount < 32 { a << (amount & 31) } else { 0 }
}

#[inline(always)]
fn right(a: u32, amount: u32) -> u32 {
    if amount < 32 { a >> (amount & 31) } else { 0 }
}

#[inline(always)]
fn run_left(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    binary(wave, op, |a, b| left(a, b & 0xffff))
}

#[inline(always)]
fn run_right(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    binary(wave, op, |a, b| right(a, b & 0xffff))
}

#[inline(always)]
fn run_arithmetic(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    binary(wave, op, |a, b| (a as i32 >> (b & 0xffff).min(31)) as u32)
}

/// Sources: the high word, the low word, the amount.
#[inline(always)]
fn run_funnel(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    ternary(wave, op, |high, low, b| {
        let amount = b & 0xffff;
        // At most one of the two shifts of the high word is in range, so they may be combined.
        let from_high =
            left(high, 32u32.wrapping_sub(amount)) | right(high, amount.wrapping_sub(32));
        right(low, amount) | from_high
    })
}

crate::kernel! {
    left_by = run_left_by;
    extract = run_extract;
    arithmetic_by = run_arithmetic_by;
    rotate_by = run_rotate_by;
    left_reg = run_left;
    right_reg = run_right;
    arithmetic_reg = run_arithmetic;
    funnel = run_funnel;
}

pub(in super::super) fn lower(instr: &Instr) -> Option<MicroOp> {
    let src = |index| Src::of(instr, index);
    let number = |index| instr.raw(index) as u32;
    // Bit 7 tells right from left where both exist (isa-1, 4.13).
    let goes_right = instr.raw_bit(7);
    let op = match instr.id() {
        FormId::AsrI => MicroOp::new(arithmetic_by())
            .srcs([src(1)?])
            .imms([number(2)]),
        FormId::AsrR => MicroOp::new(arithmetic_reg()).srcs([src(1)?, src(2)?]),
        FormId::LsI if goes_right => MicroOp::new(extract())
            .srcs([src(1)?])
            .imms([number(2), !0]),
        FormId::LsI => MicroOp::new(left_by()).srcs([src(1)?]).imms([number(2)]),
        FormId::UBfe => {
            let mask = match number(3) {
                0 => !0,
                width => (1 << (width & 31)) - 1,
            };
            MicroOp::new(extract())
                .srcs([src(1)?])
                .imms([number(2), mask])
        }
        FormId::LsR | FormId::LsR16 => {
            let exec = if goes_right { right_reg() } else { left_reg() };
            MicroOp::new(exec).srcs([src(1)?, src(2)?])
        }
        FormId::RotR if src(1) == src(2) => {
            MicroOp::new(rotate_by()).srcs([src(1)?]).imms([number(3)])
        }
        FormId::FShR => MicroOp::new(funnel()).srcs([src(1)?, src(2)?, src(3)?]),
        _ => return None,
    };
    Some(op.dst(Dst::of(instr, 0)?))
}
