// SPDX-License-Identifier: MIT
//! fp16 arithmetic, whose results are low halves, and conversions of float width (isa-1, 4.5, 4.6).

use agx_isa::{FormId, Template};

use super::build::Build;
use super::{Encoder, Result};
use crate::ir::{AddMul, Dst, F16ToF32, H2, HFma, HMinMax, HMulMix, Src};

static HADD: Template = Template::new(FormId::H2_6).op("hadd");
static HMUL: Template = Template::new(FormId::H2_6).op("hmul");

pub(super) fn h2(op: &H2, encoder: &mut Encoder<'_>) -> Result<()> {
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
    let form = match op.op {
        AddMul::Add => &HADD,
        AddMul::Mul => &HMUL,
    };
    Build::new(form, encoder)
        .low_dst(0, op.dst)
        .half(1, &a, a.high)
        .half(2, &b, b.high)
        .done()
}

static HFMA: Template = Template::new(FormId::HFma8).op("hfma");

pub(super) fn fma(op: &HFma, encoder: &mut Encoder<'_>) -> Result<()> {
    Build::new(&HFMA, encoder)
        .low_dst(0, op.dst)
        .half(1, &op.a, op.a.high)
        .half(2, &op.b, op.b.high)
        .low(3, &op.c)
        .done()
}

static HMAX: Template = Template::new(FormId::HMinMax).op("hmax");
static HMIN: Template = Template::new(FormId::HMinMax).op("hmin");

pub(super) fn min_max(op: &HMinMax, encoder: &mut Encoder<'_>) -> Result<()> {
    Build::new(if op.max { &HMAX } else { &HMIN }, encoder)
        .low_dst(0, op.dst)
        .low(1, &op.a)
        .low(2, &op.b)
        .done()
}

static HMUL_MIX: Template = Template::new(FormId::HMulMix).op("hmul_mix");

pub(super) fn mul_mix(op: &HMulMix, encoder: &mut Encoder<'_>) -> Result<()> {
    Build::new(&HMUL_MIX, encoder)
        .low_dst(0, op.dst)
        .src(1, &op.a)
        .low(2, &op.b)
        .done()
}

static NARROW: Template = Template::new(FormId::CvtF32F16).op("f32_to_f16");

/// fp32 to fp16 in one half of the destination.
pub(super) fn narrow(dst: Dst, a: &Src, high: bool, encoder: &mut Encoder<'_>) -> Result<()> {
    Build::new(&NARROW, encoder)
        .half_dst(0, dst, high)
        .src(1, a)
        .done()
}

static WIDEN: Template = Template::new(FormId::CvtF16F32).op("f16_to_f32");

pub(super) fn widen(op: &F16ToF32, encoder: &mut Encoder<'_>) -> Result<()> {
    Build::new(&WIDEN, encoder)
        .dst(0, op.dst)
        .half(1, &op.a, op.high)
        .done()
}
