// SPDX-License-Identifier: MIT
//! Integer arithmetic, logic, shifts and bit counting (isa-1, 4.10 to 4.14; isa-4, 7.2, 7.3).

use agx_isa::{FormId, Template, Value};

use super::build::Build;
use super::moves::{LOGIC, two};
use super::{Encoder, Result};
use crate::ir::{
    BitOp, Bits, IAdd, IAdd64, IMad, IMulWide, Logic, LogicOp, Rotate, Shift, ShiftImm, ShiftOp,
    Src,
};

pub(super) fn logic(op: &Logic, encoder: &mut Encoder<'_>) -> Result<()> {
    let (mut a, mut b) = (op.a, op.b);
    let commutes = !matches!(op.op, LogicOp::AndNot | LogicOp::OrNot);
    // Only A is waited for (isa-2, 9.3).
    let late = |src: &Src| src.reg().is_some_and(|reg| encoder.ctx.late.contains(reg));
    if commutes && late(&b) && !late(&a) {
        std::mem::swap(&mut a, &mut b);
    }
    two(&LOGIC[op.op as usize], op.dst, &a, &b, encoder)
}

static IADD: Template = Template::new(FormId::IAdd).op("iadd");
static ISUB: Template = Template::new(FormId::IAdd).op("isub");

pub(super) fn add(op: &IAdd, encoder: &mut Encoder<'_>) -> Result<()> {
    Build::new(if op.sub { &ISUB } else { &IADD }, encoder)
        .dst(0, op.dst)
        .src(1, &op.a)
        .src(2, &op.b)
        .done()
}

static IMAD: Template = Template::new(FormId::IMad).op("imad");

pub(super) fn mad(op: &IMad, encoder: &mut Encoder<'_>) -> Result<()> {
    Build::new(&IMAD, encoder)
        .dst(0, op.dst)
        .src(1, &op.a)
        .src(2, &op.b)
        .src(3, &op.c)
        .done()
}

static UMUL_WIDE: Template = Template::new(FormId::IMulW).op("imul_wide");
static IMUL_WIDE: Template = UMUL_WIDE.set("sgnA", 1).set("sgnB", 1);

pub(super) fn mul_wide(op: &IMulWide, encoder: &mut Encoder<'_>) -> Result<()> {
    let form = if op.signed { &IMUL_WIDE } else { &UMUL_WIDE };
    Build::new(form, encoder)
        .dsts(0, &op.dst)
        .src(1, &op.a)
        .src(2, &op.b)
        .done()
}

static IADD_64: Template = Template::new(FormId::IAdd64).op("iadd64");
static ISUB_64: Template = Template::new(FormId::IAdd64).op("isub64");

pub(super) fn add64(op: &IAdd64, encoder: &mut Encoder<'_>) -> Result<()> {
    Build::new(if op.sub { &ISUB_64 } else { &IADD_64 }, encoder)
        .dsts(0, &op.dst)
        .srcs(1, &op.a)
        .srcs(2, &op.b)
        .done()
}

static SHL_IMM: Template = Template::new(FormId::LsI).op("shl");
static SHR_IMM: Template = Template::new(FormId::LsI).op("shr");
static ASR_IMM: Template = Template::new(FormId::AsrI).op("asr");

pub(super) fn shift_imm(op: &ShiftImm, encoder: &mut Encoder<'_>) -> Result<()> {
    let form = match op.op {
        ShiftOp::Shl => &SHL_IMM,
        ShiftOp::Shr => &SHR_IMM,
        ShiftOp::Asr => &ASR_IMM,
    };
    Build::new(form, encoder)
        .dst(0, op.dst)
        .src(1, &op.a)
        .arg(2, Value::Int(op.amount.into()))
        .done()
}

static SHL: Template = Template::new(FormId::LsR).op("shl");
static SHR: Template = Template::new(FormId::LsR).op("shr");
static ASR: Template = Template::new(FormId::AsrR).op("asr");

pub(super) fn shift(op: &Shift, encoder: &mut Encoder<'_>) -> Result<()> {
    let form = match op.op {
        ShiftOp::Shl => &SHL,
        ShiftOp::Shr => &SHR,
        ShiftOp::Asr => &ASR,
    };
    Build::new(form, encoder)
        .dst(0, op.dst)
        .src(1, &op.a)
        .src(2, &op.b)
        .done()
}

static ROTR: Template = Template::new(FormId::RotR).op("rotr");

pub(super) fn rotate(op: &Rotate, encoder: &mut Encoder<'_>) -> Result<()> {
    Build::new(&ROTR, encoder)
        .dst(0, op.dst)
        .src(1, &op.a)
        .src(2, &op.a)
        .arg(3, Value::Int(op.amount.into()))
        .done()
}

static POP_COUNT: Template = Template::new(FormId::PopCount).op("popcount");
static FIND_MSB: Template = Template::new(FormId::BitRevMsb).op("find_msb");
static BIT_REVERSE: Template = Template::new(FormId::BitRevMsb).op("bitrev");

pub(super) fn bits(op: &Bits, encoder: &mut Encoder<'_>) -> Result<()> {
    let form = match op.op {
        BitOp::PopCount => &POP_COUNT,
        BitOp::FindMsb => &FIND_MSB,
        BitOp::Reverse => &BIT_REVERSE,
    };
    Build::new(form, encoder)
        .dst(0, op.dst)
        .src(1, &op.a)
        .done()
}
