// SPDX-License-Identifier: MIT
//! fp32 addition, multiplication and fused multiply-add (isa-1, 4.2 and 4.3).
//!
//! Numerics (isa-4, 11.2; HW): round to nearest even; subnormal inputs read as signed zero and
//! subnormal results become signed zero, after rounding; every NaN result is 0x7fc00000; saturation
//! clamps to [0, 1] and turns NaN and -0 into +0.

use agx_isa::{FormId, Instr};

use super::super::microop::{MicroOp, Step};
use super::super::operand::{Dst, Src};
use super::super::wave::Wave;
use super::each::{binary, ternary};

/// The one NaN that arithmetic produces.
pub(crate) const NAN: u32 = 0x7fc0_0000;
const SIGN: u32 = 0x8000_0000;
const EXPONENT: u32 = 0x7f80_0000;

/// A subnormal becomes zero of the same sign.
#[inline(always)]
pub(crate) fn flush(bits: u32) -> u32 {
    if bits & EXPONENT == 0 {
        bits & SIGN
    } else {
        bits
    }
}

/// An arithmetic result as the register gets it.
#[inline(always)]
pub(crate) fn finish<const SATURATE: bool>(value: f32) -> u32 {
    let bits = value.to_bits();
    if SATURATE {
        // NaN fails the comparison, and so do -0 and subnormals, which become +0.
        let low = if value >= f32::MIN_POSITIVE { bits } else { 0 };
        if value > 1.0 { 1.0f32.to_bits() } else { low }
    } else if value.is_nan() {
        NAN
    } else {
        flush(bits)
    }
}

#[inline(always)]
fn run_add<const SATURATE: bool>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    binary(wave, op, |a, b| finish::<SATURATE>(value(a) + value(b)))
}

#[inline(always)]
fn run_mul<const SATURATE: bool>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    binary(wave, op, |a, b| finish::<SATURATE>(value(a) * value(b)))
}

/// The value that arithmetic sees.
#[inline(always)]
fn value(bits: u32) -> f32 {
    f32::from_bits(flush(bits))
}

#[inline(always)]
fn run_fma<const SATURATE: bool>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    ternary(wave, op, |a, b, c| {
        finish::<SATURATE>(value(a).mul_add(value(b), value(c)))
    })
}

crate::kernel! {
    add = run_add::<false>;
    add_saturate = run_add::<true>;
    mul = run_mul::<false>;
    mul_saturate = run_mul::<true>;
    fma = run_fma::<false>;
    fma_saturate = run_fma::<true>;
}

pub(in super::super) fn lower(instr: &Instr) -> Option<MicroOp> {
    let saturate = instr.modifier("sat") == Some(1);
    let float = |index| Src::float(instr, index);
    let dst = Dst::of(instr, 0)?;
    let op = match instr.id() {
        FormId::F2_4
        | FormId::F2M4
        | FormId::F2_6
        | FormId::F2I6
        | FormId::F2X6
        | FormId::F2_8
        | FormId::F2I8
        | FormId::F2X8
        | FormId::FAddAbs10
        | FormId::FMulAbs12 => {
            let exec = match (instr.op_name(), saturate) {
                ("fadd" | "export_fadd", false) => add(),
                ("fadd" | "export_fadd", true) => add_saturate(),
                (_, false) => mul(),
                (_, true) => mul_saturate(),
            };
            MicroOp::new(exec).srcs([float(1)?, float(2)?])
        }
        FormId::Fma6 | FormId::Fma8 | FormId::Fma10 | FormId::Fma12 => {
            // -(A * B) is (-A) * B in every case, NaN being canonical.
            let product_sign = instr.modifier("negP").unwrap_or(0) as u32 * SIGN;
            let exec = if saturate { fma_saturate() } else { fma() };
            MicroOp::new(exec).srcs([float(1)?.flipped(product_sign), float(2)?, float(3)?])
        }
        FormId::FmaAcc4 => {
            let Dst::Gpr(accumulator) = dst else {
                return None;
            };
            MicroOp::new(fma()).srcs([float(1)?, float(2)?, Src::gpr(accumulator)])
        }
        // A simulator without the rasteriser's constant marks may multiply (isa-1, 4.16).
        _ => return None,
    };
    Some(op.dst(dst))
}
