// SPDX-License-Identifier: MIT
//! fp16 arithmetic, whose results are low halves, and conversions of float width (isa-1, 4.5, 4.6).

use agx_isa::{FormId, Instr as Machine};

use super::build::Build;
use super::{Context, Result};
use crate::ir::{AddMul, Dst, F16ToF32, H2, HFma, HMinMax, HMulMix, Src};

pub(super) fn h2(op: &H2, ctx: &Context) -> Result<Machine> {
    let (mut a, mut b) = (op.a, op.b);
    // Only B can be negated.
    match op.op {
        AddMul::Mul => {
            b.neg ^= a.neg;
            a.neg = false;
        }
        AddMul::Add if a.neg => std::mem::swap(&mut a, &mut b),
        AddMul::Add => {}
    }
    Build::new(FormId::H2_6)
        .op(match op.op {
            AddMul::Add => "hadd",
            AddMul::Mul => "hmul",
        })
        .low_dst(0, op.dst)
        .half(1, &a, a.high)
        .half(2, &b, b.high)
        .done(ctx)
}

pub(super) fn fma(op: &HFma, ctx: &Context) -> Result<Machine> {
    Build::new(FormId::HFma8)
        .op("hfma")
        .low_dst(0, op.dst)
        .half(1, &op.a, op.a.high)
        .half(2, &op.b, op.b.high)
        .low(3, &op.c)
        .done(ctx)
}

pub(super) fn min_max(op: &HMinMax, ctx: &Context) -> Result<Machine> {
    Build::new(FormId::HMinMax)
        .op(if op.max { "hmax" } else { "hmin" })
        .low_dst(0, op.dst)
        .low(1, &op.a)
        .low(2, &op.b)
        .done(ctx)
}

pub(super) fn mul_mix(op: &HMulMix, ctx: &Context) -> Result<Machine> {
    Build::new(FormId::HMulMix)
        .op("hmul_mix")
        .low_dst(0, op.dst)
        .src(1, &op.a)
        .low(2, &op.b)
        .done(ctx)
}

/// fp32 to fp16 in one half of the destination.
pub(super) fn narrow(dst: Dst, a: &Src, high: bool, ctx: &Context) -> Result<Machine> {
    Build::new(FormId::CvtF32F16)
        .op("f32_to_f16")
        .half_dst(0, dst, high)
        .src(1, a)
        .done(ctx)
}

pub(super) fn widen(op: &F16ToF32, ctx: &Context) -> Result<Machine> {
    Build::new(FormId::CvtF16F32)
        .op("f16_to_f32")
        .dst(0, op.dst)
        .half(1, &op.a, op.high)
        .done(ctx)
}
