// SPDX-License-Identifier: MIT
//! Integer addition and multiplication (isa-1, 4.11 and 4.12; isa-4, 7.1, 7.2, 7.5), all modulo the
//! width of the result.
//!
//! * Inline constants are unsigned (isa-4, 7.1; HW-A18).
//! * 64-bit operands are even register pairs, the low word first, with full carry between the words
//!   (isa-4, 7.2; HW).
//! * The wide product takes each operand as signed or unsigned by its own bit. Only equal bits are
//!   proven (HW); different ones multiply a signed by an unsigned number here, as the names say.
//! * The 16-bit addition (CMP) is the low half of the 32-bit one. Its uniform operand is refused:
//!   which half of which word it would name is not known.
//! * The shifted addition adds B << 3, the only amount seen (isa-4, 7.2; HW-A18).
//! * The forms with a uniform destination belong to launch programs (isa-2, 2.8); anywhere else they
//!   fault, because invocations that run at the same time share the words.

use agx_isa::{File, FormId, Instr, Value};

use super::super::lanes::{LANES, Lanes};
use super::super::launch::outside_launcher;
use super::super::microop::{MicroOp, Step};
use super::super::operand::{Dst, Src};
use super::super::wave::Wave;
use super::each::{binary, ternary};

/// Writes `low` to the destination and `high` to the register after it.
#[inline(always)]
fn write_pair(wave: &mut Wave<'_>, dst: Dst, low: &Lanes, high: &Lanes) {
    wave.write(dst, low);
    // Lowering has made sure that there is one.
    if let Some(next) = dst.next(1) {
        wave.write(next, high);
    }
}

#[inline(always)]
fn run_add(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    binary(wave, op, u32::wrapping_add)
}

#[inline(always)]
fn run_sub(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    binary(wave, op, u32::wrapping_sub)
}

#[inline(always)]
fn run_add_shifted(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    binary(wave, op, |a, b| a.wrapping_add(b << 3))
}

#[inline(always)]
fn run_mad(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    ternary(wave, op, |a, b, c| a.wrapping_mul(b).wrapping_add(c))
}

/// Sources are the low and high words of A, then of B.
#[inline(always)]
fn run_wide<const SUBTRACT: bool>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let mut temps = [Lanes::ZERO; 4];
    let [t0, t1, t2, t3] = &mut temps;
    let a_low = wave.read(&op.src[0], t0);
    let a_high = wave.read(&op.src[1], t1);
    let b_low = wave.read(&op.src[2], t2);
    let b_high = wave.read(&op.src[3], t3);
    let (mut low, mut high) = (Lanes::ZERO, Lanes::ZERO);
    for lane in 0..LANES {
        let (a, b) = (a_low.0[lane], b_low.0[lane]);
        if SUBTRACT {
            let borrow = u32::from(a < b);
            low.0[lane] = a.wrapping_sub(b);
            high.0[lane] = a_high.0[lane]
                .wrapping_sub(b_high.0[lane])
                .wrapping_sub(borrow);
        } else {
            let sum = a.wrapping_add(b);
            let carry = u32::from(sum < a);
            low.0[lane] = sum;
            high.0[lane] = a_high.0[lane]
                .wrapping_add(b_high.0[lane])
                .wrapping_add(carry);
        }
    }
    write_pair(wave, op.dst, &low, &high);
    Step::Next
}

/// A factor with its sign.
#[inline(always)]
fn extend<const SIGNED: bool>(value: u32) -> i64 {
    if SIGNED {
        i64::from(value as i32)
    } else {
        i64::from(value)
    }
}

#[inline(always)]
fn run_product<const A: bool, const B: bool>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let (mut ta, mut tb) = (Lanes::ZERO, Lanes::ZERO);
    let a = wave.read(&op.src[0], &mut ta);
    let b = wave.read(&op.src[1], &mut tb);
    let (mut low, mut high) = (Lanes::ZERO, Lanes::ZERO);
    for lane in 0..LANES {
        let product = extend::<A>(a.0[lane]).wrapping_mul(extend::<B>(b.0[lane]));
        low.0[lane] = product as u32;
        high.0[lane] = (product >> 32) as u32;
    }
    write_pair(wave, op.dst, &low, &high);
    Step::Next
}

/// Runs `body` in launch programs; faults elsewhere.
#[inline(always)]
fn launcher_only(
    wave: &mut Wave<'_>,
    op: &MicroOp,
    body: impl Fn(&mut Wave<'_>, &MicroOp) -> Step,
) -> Step {
    match outside_launcher(wave) {
        Some(fault) => fault,
        None => body(wave, op),
    }
}

crate::kernel! {
    add = run_add;
    sub = run_sub;
    add_shifted = run_add_shifted;
    mad = run_mad;
    wide_add = run_wide::<false>;
    wide_sub = run_wide::<true>;
    product_uu = run_product::<false, false>;
    product_us = run_product::<false, true>;
    product_su = run_product::<true, false>;
    product_ss = run_product::<true, true>;
    uniform_add = |wave: &mut Wave<'_>, op: &MicroOp| launcher_only(wave, op, run_add);
    uniform_sub = |wave: &mut Wave<'_>, op: &MicroOp| launcher_only(wave, op, run_sub);
    uniform_mad = |wave: &mut Wave<'_>, op: &MicroOp| launcher_only(wave, op, run_mad);
    uniform_product_uu = |wave: &mut Wave<'_>, op: &MicroOp| {
        launcher_only(wave, op, run_product::<false, false>)
    };
    uniform_product_us = |wave: &mut Wave<'_>, op: &MicroOp| {
        launcher_only(wave, op, run_product::<false, true>)
    };
    uniform_product_su = |wave: &mut Wave<'_>, op: &MicroOp| {
        launcher_only(wave, op, run_product::<true, false>)
    };
    uniform_product_ss = |wave: &mut Wave<'_>, op: &MicroOp| {
        launcher_only(wave, op, run_product::<true, true>)
    };
}

/// The two words of a register pair.
fn pair(instr: &Instr, index: usize) -> Option<[Src; 2]> {
    let low = Src::of(instr, index)?;
    let next = low.index.checked_add(1).filter(|&next| next < 96)?;
    low.is_plain().then(|| [low, Src::gpr(next)])
}

/// Is operand `index` a uniform?
pub(super) fn is_uniform(instr: &Instr, index: usize) -> bool {
    matches!(instr.arg(index).value, Value::Reg(reg) if reg.file == File::Uniform)
}

pub(in super::super) fn lower(instr: &Instr) -> Option<MicroOp> {
    let src = |index| Src::of(instr, index);
    // Bit 7 tells addition from subtraction in all of these (isa-1, 4.11).
    let adds = instr.raw_bit(7);
    let op = match instr.id() {
        FormId::IAdd | FormId::IAddIA | FormId::IAddIB | FormId::IAdd16A => {
            if instr.id() == FormId::IAdd16A && is_uniform(instr, 2) {
                return None;
            }
            MicroOp::new(if adds { add() } else { sub() }).srcs([src(1)?, src(2)?])
        }
        FormId::IAddSh => MicroOp::new(add_shifted()).srcs([src(1)?, src(2)?]),
        FormId::IAdd64 => {
            let ([a, ah], [b, bh]) = (pair(instr, 1)?, pair(instr, 2)?);
            MicroOp::new(if adds { wide_add() } else { wide_sub() }).srcs([a, ah, b, bh])
        }
        FormId::UAdd => {
            let exec = if adds { uniform_add() } else { uniform_sub() };
            MicroOp::new(exec).srcs([src(1)?, src(2)?])
        }
        FormId::IMad => MicroOp::new(mad()).srcs([src(1)?, src(2)?, src(3)?]),
        FormId::UMad => MicroOp::new(uniform_mad()).srcs([src(1)?, src(2)?, src(3)?]),
        FormId::IMulW | FormId::UMulW => {
            let signed = |name| instr.modifier(name) == Some(1);
            let uniform = instr.id() == FormId::UMulW;
            let exec = match (signed("sgnA"), signed("sgnB"), uniform) {
                (false, false, false) => product_uu(),
                (false, true, false) => product_us(),
                (true, false, false) => product_su(),
                (true, true, false) => product_ss(),
                (false, false, true) => uniform_product_uu(),
                (false, true, true) => uniform_product_us(),
                (true, false, true) => uniform_product_su(),
                (true, true, true) => uniform_product_ss(),
            };
            MicroOp::new(exec).srcs([src(1)?, src(2)?])
        }
        _ => return None,
    };
    let dst = Dst::of(instr, 0)?;
    if matches!(instr.id(), FormId::IAdd64 | FormId::IMulW | FormId::UMulW) {
        dst.next(1)?;
    }
    Some(op.dst(dst))
}
