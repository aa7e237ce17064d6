// SPDX-License-Identifier: MIT
//! Integer arithmetic, logic, shifts and bit counting (isa-1, 4.10 to 4.14; isa-4, 7.2, 7.3).

use agx_isa::{FormId, Instr as Machine, Value};

use super::build::Build;
use super::moves::two;
use super::{Context, Result, consecutive, consecutive_dsts};
use crate::ir::{
    BitOp, Bits, Dst, IAdd, IAdd64, IMad, IMulWide, Logic, LogicOp, Ref, Rotate, Shift, ShiftImm,
    ShiftOp, Src,
};

pub(super) fn logic(op: &Logic, ctx: &Context) -> Result<Machine> {
    let (mut a, mut b) = (op.a, op.b);
    let (table, commutes) = match op.op {
        LogicOp::And => ("and", true),
        LogicOp::Or => ("or", true),
        LogicOp::Xor => ("xor", true),
        LogicOp::Nand => ("nand", true),
        LogicOp::Nor => ("nor", true),
        LogicOp::Xnor => ("xnor", true),
        LogicOp::AndNot => ("andn2", false),
        LogicOp::OrNot => ("orn2", false),
    };
    // Only A is waited for (isa-2, 9.3).
    let late = |src: &Src| src.reg().is_some_and(|reg| ctx.late.contains(reg));
    if commutes && late(&b) && !late(&a) {
        std::mem::swap(&mut a, &mut b);
    }
    two(table, op.dst, &a, &b, ctx)
}

pub(super) fn add(op: &IAdd, ctx: &Context) -> Result<Machine> {
    Build::new(FormId::IAdd)
        .op(if op.sub { "isub" } else { "iadd" })
        .dst(0, op.dst)
        .src(1, &op.a)
        .src(2, &op.b)
        .done(ctx)
}

pub(super) fn mad(op: &IMad, ctx: &Context) -> Result<Machine> {
    Build::new(FormId::IMad)
        .op("imad")
        .dst(0, op.dst)
        .src(1, &op.a)
        .src(2, &op.b)
        .src(3, &op.c)
        .done(ctx)
}

pub(super) fn mul_wide(op: &IMulWide, ctx: &Context) -> Result<Machine> {
    let dst = consecutive_dsts(&op.dst)?;
    Build::new(FormId::IMulW)
        .op("imul_wide")
        .flag("sgnA", op.signed)
        .flag("sgnB", op.signed)
        .dst(0, Dst::Reg(dst))
        .src(1, &op.a)
        .src(2, &op.b)
        .done(ctx)
}

pub(super) fn add64(op: &IAdd64, ctx: &Context) -> Result<Machine> {
    let reg = |r| Src::new(Ref::Reg(r));
    let dst = consecutive_dsts(&op.dst)?;
    let (a, b) = (consecutive(&op.a)?, consecutive(&op.b)?);
    Build::new(FormId::IAdd64)
        .op(if op.sub { "isub64" } else { "iadd64" })
        .dst(0, Dst::Reg(dst))
        .src(1, &reg(a))
        .src(2, &reg(b))
        .done(ctx)
}

pub(super) fn shift_imm(op: &ShiftImm, ctx: &Context) -> Result<Machine> {
    let (form, name) = match op.op {
        ShiftOp::Shl => (FormId::LsI, "shl"),
        ShiftOp::Shr => (FormId::LsI, "shr"),
        ShiftOp::Asr => (FormId::AsrI, "asr"),
    };
    Build::new(form)
        .op(name)
        .dst(0, op.dst)
        .src(1, &op.a)
        .arg(2, Value::Int(op.amount.into()))
        .done(ctx)
}

pub(super) fn shift(op: &Shift, ctx: &Context) -> Result<Machine> {
    let (form, name) = match op.op {
        ShiftOp::Shl => (FormId::LsR, "shl"),
        ShiftOp::Shr => (FormId::LsR, "shr"),
        ShiftOp::Asr => (FormId::AsrR, "asr"),
    };
    Build::new(form)
        .op(name)
        .dst(0, op.dst)
        .src(1, &op.a)
        .src(2, &op.b)
        .done(ctx)
}

pub(super) fn rotate(op: &Rotate, ctx: &Context) -> Result<Machine> {
    Build::new(FormId::RotR)
        .op("rotr")
        .dst(0, op.dst)
        .src(1, &op.a)
        .src(2, &op.a)
        .arg(3, Value::Int(op.amount.into()))
        .done(ctx)
}

pub(super) fn bits(op: &Bits, ctx: &Context) -> Result<Machine> {
    let (form, name) = match op.op {
        BitOp::PopCount => (FormId::PopCount, "popcount"),
        BitOp::FindMsb => (FormId::BitRevMsb, "find_msb"),
        BitOp::Reverse => (FormId::BitRevMsb, "bitrev"),
    };
    Build::new(form)
        .op(name)
        .dst(0, op.dst)
        .src(1, &op.a)
        .done(ctx)
}
