// SPDX-License-Identifier: MIT
//! Minimum and maximum, selects and predicates (isa-1, 4.8 and 4.9; isa-4, 7.1; isa-0, 3).
//!
//! Numerics (isa-1, 3; isa-4, 11.2; HW): float comparisons are ordered (false with a NaN), fp32
//! subnormals compare as zero, fp16 ones by value, -0 equals +0. A minimum or maximum passes the
//! chosen operand's bits as they are; equal operands give B, one NaN gives the other operand, two
//! NaNs give B. The two values of a select are copied bit for bit; abs and neg are sign-bit
//! operations on them.
//!
//! Where the reference is silent, the weakest reading is taken:
//!
//! * A 16-bit comparand of an integer condition is zero-extended for unsigned and equality conditions,
//!   sign-extended for signed ones (one compiled program shows such a comparand, isa-4, 7.1).
//! * An inline integer in a float condition is read as fp32 bits.
//! * abs and neg of a select with a 16-bit result act on bit 15.
//! * A 16-bit uniform comparand and a 16-bit publication have no known meaning and are refused.

use agx_isa::{File, FormId, Half, Instr, Reg, Value};

use super::super::lanes::{LANES, Lanes};
use super::super::microop::{MicroOp, Step};
use super::super::operand::{Dst, Place, Src};
use super::super::wave::Wave;
use super::float32::flush;
use super::half;

// Condition codes: `cond` + 8 * `eq` (isa-1, 4.9). Signed >= is INFERRED (isa-0, 1.4).
const FLOAT_GT: u32 = 2;
const FLOAT_LT: u32 = 3;
const UNSIGNED_GT: u32 = 4;
const UNSIGNED_LT: u32 = 5;
const SIGNED_GT: u32 = 6;
const SIGNED_LT: u32 = 7;
const FLOAT_EQ: u32 = 8;
const FLOAT_GE: u32 = 10;
const FLOAT_LE: u32 = 11;
const SIGNED_GE: u32 = 14;
const INTEGER_EQ: u32 = 15;

#[inline(always)]
const fn is_float(condition: u32) -> bool {
    matches!(
        condition,
        FLOAT_GT | FLOAT_LT | FLOAT_EQ | FLOAT_GE | FLOAT_LE
    )
}

#[inline(always)]
const fn is_signed(condition: u32) -> bool {
    matches!(condition, SIGNED_GT | SIGNED_LT | SIGNED_GE)
}

#[inline(always)]
fn holds<const CONDITION: u32>(a: u32, b: u32) -> bool {
    if is_float(CONDITION) {
        let (a, b) = (f32::from_bits(flush(a)), f32::from_bits(flush(b)));
        match CONDITION {
            FLOAT_GT => a > b,
            FLOAT_LT => a < b,
            FLOAT_EQ => a == b,
            FLOAT_GE => a >= b,
            _ => a <= b,
        }
    } else {
        match CONDITION {
            UNSIGNED_GT => a > b,
            UNSIGNED_LT => a < b,
            SIGNED_GT => a as i32 > b as i32,
            SIGNED_LT => (a as i32) < b as i32,
            SIGNED_GE => a as i32 >= b as i32,
            _ => a == b,
        }
    }
}

/// All bits set in the lanes where the condition holds for sources 0 and 1. `imm[1]` and `imm[2]`:
/// how far to shift them up and down again, for sign extension.
#[inline(always)]
fn compare<const CONDITION: u32>(wave: &Wave<'_>, op: &MicroOp) -> Lanes {
    let (mut ta, mut tb) = (Lanes::ZERO, Lanes::ZERO);
    let a = wave.read(&op.src[0], &mut ta);
    let b = wave.read(&op.src[1], &mut tb);
    let extend = |value: u32, by: u32| {
        if is_signed(CONDITION) {
            (value.wrapping_shl(by) as i32).wrapping_shr(by) as u32
        } else {
            value
        }
    };
    let mut out = Lanes::ZERO;
    for lane in 0..LANES {
        let a = extend(a.0[lane], op.imm[1]);
        let b = extend(b.0[lane], op.imm[2]);
        out.0[lane] = u32::from(holds::<CONDITION>(a, b)).wrapping_neg();
    }
    out
}

#[inline(always)]
fn run_select<const CONDITION: u32>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let mut out = compare::<CONDITION>(wave, op);
    let (mut tt, mut tf) = (Lanes::ZERO, Lanes::ZERO);
    let t = wave.read(&op.src[2], &mut tt);
    let f = wave.read(&op.src[3], &mut tf);
    for lane in 0..LANES {
        let mask = out.0[lane];
        out.0[lane] = t.0[lane] & mask | f.0[lane] & !mask;
    }
    wave.write(op.dst, &out);
    Step::Next
}

/// `imm[0]`: all bits set to complement the result, `imm[3]`: the bank. Banks 6 and 7, which code for
/// constants where predicates are consumed (isa-1, 1.5), cannot be written.
#[inline(always)]
fn run_predicate<const CONDITION: u32>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let result = compare::<CONDITION>(wave, op).nonzero() ^ op.imm[0];
    let active = wave.active();
    if let Some(bank) = wave.predicates.get_mut(op.imm[3] as usize) {
        *bank = *bank & !active | result & active;
    }
    Step::Next
}

/// `f`: is A chosen?
#[inline(always)]
fn choose(wave: &mut Wave<'_>, op: &MicroOp, f: impl Fn(u32, u32) -> bool) -> Step {
    let (mut ta, mut tb) = (Lanes::ZERO, Lanes::ZERO);
    let a = wave.read(&op.src[0], &mut ta);
    let b = wave.read(&op.src[1], &mut tb);
    let mut out = Lanes::ZERO;
    for lane in 0..LANES {
        let (a, b) = (a.0[lane], b.0[lane]);
        out.0[lane] = if f(a, b) { a } else { b };
    }
    wave.write(op.dst, &out);
    Step::Next
}

#[inline(always)]
fn run_minmax_single<const MAX: bool>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    choose(wave, op, |a, b| {
        let (a, b) = (f32::from_bits(flush(a)), f32::from_bits(flush(b)));
        let beyond = if MAX { a > b } else { a < b };
        beyond | (b.is_nan() & !a.is_nan())
    })
}

#[inline(always)]
fn run_minmax_half<const MAX: bool>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    // Integers in the order of the fp16 values; both zeros are 0.
    let key = |bits: u32| {
        let magnitude = (bits & 0x7fff) as i32;
        let negative = -((bits >> 15) as i32);
        (magnitude ^ negative).wrapping_sub(negative)
    };
    let is_nan = |bits: u32| bits & 0x7fff > half::INFINITY;
    choose(wave, op, |a, b| {
        let beyond = if MAX {
            key(a) > key(b)
        } else {
            key(a) < key(b)
        };
        !is_nan(a) & (is_nan(b) | beyond)
    })
}

#[inline(always)]
fn run_minmax_unsigned<const MAX: bool>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    choose(wave, op, |a, b| if MAX { a > b } else { a < b })
}

#[inline(always)]
fn run_minmax_signed<const MAX: bool>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    choose(wave, op, |a, b| {
        let (a, b) = (a as i32, b as i32);
        if MAX { a > b } else { a < b }
    })
}

crate::kernel! {
    fmax = run_minmax_single::<true>;
    fmin = run_minmax_single::<false>;
    hmax = run_minmax_half::<true>;
    hmin = run_minmax_half::<false>;
    umax = run_minmax_unsigned::<true>;
    umin = run_minmax_unsigned::<false>;
    imax = run_minmax_signed::<true>;
    imin = run_minmax_signed::<false>;
    select_fgt = run_select::<FLOAT_GT>;
    select_flt = run_select::<FLOAT_LT>;
    select_ugt = run_select::<UNSIGNED_GT>;
    select_ult = run_select::<UNSIGNED_LT>;
    select_igt = run_select::<SIGNED_GT>;
    select_ilt = run_select::<SIGNED_LT>;
    select_feq = run_select::<FLOAT_EQ>;
    select_fge = run_select::<FLOAT_GE>;
    select_fle = run_select::<FLOAT_LE>;
    select_ige = run_select::<SIGNED_GE>;
    select_ieq = run_select::<INTEGER_EQ>;
    predicate_fgt = run_predicate::<FLOAT_GT>;
    predicate_flt = run_predicate::<FLOAT_LT>;
    predicate_ugt = run_predicate::<UNSIGNED_GT>;
    predicate_ult = run_predicate::<UNSIGNED_LT>;
    predicate_igt = run_predicate::<SIGNED_GT>;
    predicate_ilt = run_predicate::<SIGNED_LT>;
    predicate_feq = run_predicate::<FLOAT_EQ>;
    predicate_fge = run_predicate::<FLOAT_GE>;
    predicate_fle = run_predicate::<FLOAT_LE>;
    predicate_ige = run_predicate::<SIGNED_GE>;
    predicate_ieq = run_predicate::<INTEGER_EQ>;
}

/// A comparand, and the shift that sign-extends it.
fn comparand(instr: &Instr, index: usize, condition: u32) -> Option<(Src, u32)> {
    let reg = match instr.arg(index).value {
        Value::Reg(reg) => Some(reg),
        _ => None,
    };
    if matches!(
        reg,
        Some(Reg {
            file: File::Uniform,
            half: Half::Low | Half::High,
            ..
        })
    ) {
        return None;
    }
    let src = if is_float(condition) {
        Src::float(instr, index)?
    } else {
        Src::of(instr, index)?
    };
    let narrow = matches!(src.place, Place::Low | Place::High);
    Some((src, if narrow { 16 } else { 0 }))
}

/// One of the two values of a select.
fn data(instr: &Instr, index: usize, wide: bool) -> Option<Src> {
    let src = Src::of(instr, index)?;
    if wide {
        return Some(src);
    }
    let arg = instr.arg(index);
    let mut src = match arg.value {
        Value::Int(value) => Src::constant(value as u32),
        _ => Src {
            and: !0,
            xor: 0,
            ..src
        },
    };
    if arg.abs {
        src = src.masked(!half::SIGN);
    }
    if arg.neg {
        src = src.flipped(half::SIGN);
    }
    Some(src)
}

fn lower_select(instr: &Instr) -> Option<MicroOp> {
    let condition = instr.modifier("cond")? as u32;
    let exec = match condition {
        FLOAT_GT => select_fgt(),
        FLOAT_LT => select_flt(),
        UNSIGNED_GT => select_ugt(),
        UNSIGNED_LT => select_ult(),
        SIGNED_GT => select_igt(),
        SIGNED_LT => select_ilt(),
        FLOAT_EQ => select_feq(),
        FLOAT_GE => select_fge(),
        FLOAT_LE => select_fle(),
        SIGNED_GE => select_ige(),
        INTEGER_EQ => select_ieq(),
        _ => return None,
    };
    let (a, extend_a) = comparand(instr, 1, condition)?;
    let (b, extend_b) = comparand(instr, 2, condition)?;
    let wide = instr.modifier("wide") != Some(0);
    let dst = match (Dst::of(instr, 0)?, wide) {
        (dst, true) => dst,
        (Dst::Gpr(index) | Dst::Low(index), false) => Dst::Low(index),
        _ => return None,
    };
    let (t, f) = if instr.id() == FormId::Select8 {
        let (Dst::Gpr(old) | Dst::Low(old)) = dst else {
            return None;
        };
        (Src::gpr(old), data(instr, 3, wide)?)
    } else {
        (data(instr, 3, wide)?, data(instr, 4, wide)?)
    };
    let op = MicroOp::new(exec)
        .srcs([a, b, t, f])
        .imms([0, extend_a, extend_b]);
    Some(op.dst(dst))
}

fn lower_predicate(instr: &Instr) -> Option<MicroOp> {
    // The 6-byte forms hold the conditions with eq = 0, the 10-byte forms those with eq = 1.
    let equal = matches!(instr.id(), FormId::Pred10 | FormId::PredI10);
    let condition = instr.modifier("cond")? as u32 | u32::from(equal) << 3;
    let exec = match condition {
        FLOAT_GT => predicate_fgt(),
        FLOAT_LT => predicate_flt(),
        UNSIGNED_GT => predicate_ugt(),
        UNSIGNED_LT => predicate_ult(),
        SIGNED_GT => predicate_igt(),
        SIGNED_LT => predicate_ilt(),
        FLOAT_EQ => predicate_feq(),
        FLOAT_GE => predicate_fge(),
        FLOAT_LE => predicate_fle(),
        SIGNED_GE => predicate_ige(),
        INTEGER_EQ => predicate_ieq(),
        _ => return None,
    };
    let (a, extend_a) = comparand(instr, 1, condition)?;
    let (b, extend_b) = comparand(instr, 2, condition)?;
    let invert = if instr.modifier("inv")? == 1 { !0 } else { 0 };
    let op =
        MicroOp::new(exec)
            .srcs([a, b])
            .imms([invert, extend_a, extend_b, instr.raw(0) as u32]);
    Some(op)
}

pub(in super::super) fn lower(instr: &Instr) -> Option<MicroOp> {
    let exec = match (instr.id(), instr.op_name()) {
        (FormId::MinMax, "fmax") => fmax(),
        (FormId::MinMax, "fmin") => fmin(),
        (FormId::MinMax, "umax") => umax(),
        (FormId::MinMax, "umin") => umin(),
        (FormId::MinMax, "imax") => imax(),
        (FormId::MinMax, "imin") => imin(),
        (FormId::HMinMax, "hmax") => hmax(),
        (FormId::HMinMax, "hmin") => hmin(),
        (
            FormId::Select8
            | FormId::Select10
            | FormId::Select14
            | FormId::SelectI10
            | FormId::SelectI14
            | FormId::SelectX14,
            _,
        ) => return lower_select(instr),
        (FormId::Pred6 | FormId::PredI6 | FormId::Pred10 | FormId::PredI10, _) => {
            return lower_predicate(instr);
        }
        _ => return None,
    };
    let op = MicroOp::new(exec).srcs([Src::of(instr, 1)?, Src::of(instr, 2)?]);
    Some(op.dst(Dst::of(instr, 0)?))
}
