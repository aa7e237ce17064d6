// SPDX-License-Identifier: MIT
//! Conversions between fp32, fp16 and integers (isa-1, 4.6; isa-4, 7.7).
//!
//! Numerics: fp32 to fp16 rounds to nearest even and keeps subnormals, overflow gives infinity (HW);
//! fp16 to fp32 is exact (HW); integer to float rounds to nearest even (HW). Float to integer
//! saturates to the range of the type, NaN gives 0 (HW); 8-bit and 16-bit results are zero-extended
//! into the whole register (HW). Bit 24 of `F2I.10` selects nothing (isa-0, 6, row 61).
//!
//! A NaN becomes the canonical one of the new format in both directions (isa-4, 11.2).

use agx_isa::{FormId, Instr};

use super::super::microop::{MicroOp, Step};
use super::super::operand::{Dst, Src};
use super::super::wave::Wave;
use super::each::unary;
use super::half::narrow;
use super::special::{nearest_integer, truncate};

#[inline(always)]
fn run_narrow(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    unary(wave, op, narrow)
}

/// [`Src::float`] widens on the way in.
#[inline(always)]
fn run_widened(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    unary(wave, op, |bits| bits)
}

#[inline(always)]
fn run_int_to_float<const SIGNED: bool, const HALF: bool>(
    wave: &mut Wave<'_>,
    op: &MicroOp,
) -> Step {
    unary(wave, op, |bits| {
        let value = if SIGNED {
            bits as i32 as f32
        } else {
            bits as f32
        };
        // An integer that fp32 cannot hold lies above 2^24 and is infinite as fp16: rounding twice
        // does no harm.
        if HALF {
            narrow(value.to_bits())
        } else {
            value.to_bits()
        }
    })
}

/// Result types of `F2I.10`, as its `type` field counts them.
const U32: u32 = 0;
const S8: u32 = 1;
const U16: u32 = 2;
const S32: u32 = 3;

#[inline(always)]
fn run_float_to_int<const TYPE: u32, const TO_ZERO: bool>(
    wave: &mut Wave<'_>,
    op: &MicroOp,
) -> Step {
    unary(wave, op, |bits| {
        let value = f32::from_bits(bits);
        let value = if TO_ZERO { truncate(value) } else { value };
        let number = if value.is_nan() { 0.0 } else { value };
        let (least, most, mask) = match TYPE {
            U32 => (0.0, f64::from(u32::MAX), !0),
            S8 => (-128.0, 127.0, 0xff),
            U16 => (0.0, 65535.0, !0),
            _ => (f64::from(i32::MIN), f64::from(i32::MAX), !0),
        };
        // The limits are integers: it makes no difference that the rounding comes last.
        nearest_integer(f64::from(number).clamp(least, most)) & mask
    })
}

crate::kernel! {
    to_half = run_narrow;
    to_single = run_widened;
    i32_to_f32 = run_int_to_float::<true, false>;
    u32_to_f32 = run_int_to_float::<false, false>;
    i32_to_f16 = run_int_to_float::<true, true>;
    u32_to_f16 = run_int_to_float::<false, true>;
    to_u32_even = run_float_to_int::<U32, false>;
    to_u32_zero = run_float_to_int::<U32, true>;
    to_s8_even = run_float_to_int::<S8, false>;
    to_s8_zero = run_float_to_int::<S8, true>;
    to_u16_even = run_float_to_int::<U16, false>;
    to_u16_zero = run_float_to_int::<U16, true>;
    to_s32_even = run_float_to_int::<S32, false>;
    to_s32_zero = run_float_to_int::<S32, true>;
}

pub(in super::super) fn lower(instr: &Instr) -> Option<MicroOp> {
    let op = match instr.id() {
        FormId::CvtF32F16 => MicroOp::new(to_half()).srcs([Src::of(instr, 1)?]),
        FormId::CvtF16F32 => MicroOp::new(to_single()).srcs([Src::float(instr, 1)?]),
        FormId::I2F => {
            let exec = match (instr.op_name(), instr.modifier("dtype")?) {
                ("i2f", 1) => i32_to_f32(),
                ("i2f", _) => i32_to_f16(),
                (_, 1) => u32_to_f32(),
                (_, _) => u32_to_f16(),
            };
            MicroOp::new(exec).srcs([Src::of(instr, 1)?])
        }
        FormId::F2I => {
            // Source type 2 = fp32, 1 = fp16 (isa-4, 7.7); others have no meaning.
            if !matches!(instr.modifier("stype")?, 1 | 2) {
                return None;
            }
            let exec = match (instr.modifier("type")? as u32, instr.modifier("rnd")?) {
                (U32, 0) => to_u32_even(),
                (U32, _) => to_u32_zero(),
                (S8, 0) => to_s8_even(),
                (S8, _) => to_s8_zero(),
                (U16, 0) => to_u16_even(),
                (U16, _) => to_u16_zero(),
                (S32, 0) => to_s32_even(),
                (S32, _) => to_s32_zero(),
                _ => return None,
            };
            MicroOp::new(exec).srcs([Src::float(instr, 1)?])
        }
        _ => return None,
    };
    Some(op.dst(Dst::of(instr, 0)?))
}
