// SPDX-License-Identifier: MIT
//! fp16 addition, multiplication and fused multiply-add (isa-1, 4.5), and the product of an fp32 and
//! an fp16 rounded to fp16.
//!
//! Numerics (isa-4, 11.2; HW): each result is the exact one rounded once, to nearest even; subnormals
//! are kept; every NaN result is 0x7e00. A destination is one half of a register, the other half
//! stays. The high half of operand C of `HFMA.8` cannot be selected (isa-1, 4.5, bit 40).
//!
//! How one rounding comes about, with fp32 as the wider format:
//!
//! * A product of two 11-bit significands has 22 bits and lies above 2^-48: exact in fp32.
//! * A sum of two fp16 rounded to 24 bits and then to 11 is rounded right, as 24 >= 2 * 11 + 2; sums
//!   in fp16's subnormal range are multiples of 2^-24 and exact.
//! * For a sum with a product 24 bits are not enough. The error of the fp32 addition is computed
//!   exactly (Knuth's two-sum; nothing can overflow, and all terms are multiples of 2^-48) and sets
//!   the last bit of the sum, which makes the second rounding see on which side the exact value lies.
//! * A product of 24 and 11 bits is exact in fp64, and narrowed from there.

use agx_isa::{FormId, Instr};

use super::super::microop::{MicroOp, Step};
use super::super::operand::{Dst, Src};
use super::super::wave::Wave;
use super::each::{binary, ternary};
use super::float32::flush;
use super::half::{narrow, narrow_f64, sticky};

/// a * b + c, rounded to odd in fp32: what [`narrow`] then rounds to the nearest fp16.
#[inline(always)]
fn fma_to_odd(a: f32, b: f32, c: f32) -> u32 {
    let product = a * b;
    let sum = product + c;
    // Two-sum: error = (product + c) - sum, exactly. NaN when an infinity takes part; then both
    // comparisons are false.
    let c_part = sum - product;
    let product_part = sum - c_part;
    let error = (product - product_part) + (c - c_part);
    let outward = error * sum;
    // The product's sign is that of error / sum and cannot underflow: both are at least 2^-48.
    sticky(sum, outward < 0.0, outward > 0.0)
}

/// Sources arrive widened to fp32.
#[inline(always)]
fn floats(wave: &mut Wave<'_>, op: &MicroOp, f: impl Fn(f32, f32) -> u32) -> Step {
    binary(wave, op, |a, b| f(f32::from_bits(a), f32::from_bits(b)))
}

#[inline(always)]
fn run_add(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    floats(wave, op, |a, b| narrow((a + b).to_bits()))
}

#[inline(always)]
fn run_mul(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    floats(wave, op, |a, b| narrow((a * b).to_bits()))
}

/// The fp32 operand is read as fp32 arithmetic reads it: subnormals as zero.
#[inline(always)]
fn run_mul_mix(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    floats(wave, op, |a, b| {
        let a = f32::from_bits(flush(a.to_bits()));
        narrow_f64(f64::from(a) * f64::from(b))
    })
}

#[inline(always)]
fn run_fma(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    ternary(wave, op, |a, b, c| {
        narrow(fma_to_odd(
            f32::from_bits(a),
            f32::from_bits(b),
            f32::from_bits(c),
        ))
    })
}

crate::kernel! {
    add = run_add;
    mul = run_mul;
    mul_mix = run_mul_mix;
    fma = run_fma;
}

pub(in super::super) fn lower(instr: &Instr) -> Option<MicroOp> {
    let float = |index| Src::float(instr, index);
    let op = match instr.id() {
        FormId::H2_4 | FormId::H2_6 => {
            let exec = match instr.op_name() {
                "hadd" => add(),
                _ => mul(),
            };
            MicroOp::new(exec).srcs([float(1)?, float(2)?])
        }
        FormId::HFma8 => MicroOp::new(fma()).srcs([float(1)?, float(2)?, float(3)?]),
        FormId::HMulMix => MicroOp::new(mul_mix()).srcs([float(1)?, float(2)?]),
        _ => return None,
    };
    Some(op.dst(Dst::of(instr, 0)?))
}
