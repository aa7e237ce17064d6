// SPDX-License-Identifier: MIT
//! fp32 arithmetic, special functions and conversions (isa-1, 4.2, 4.3, 4.4, 4.6, 4.8).

use agx_isa::{FormId, Instr as Machine, MiniFloat, Value};

use super::build::Build;
use super::{Context, Result};
use crate::emit::accept::mini_float;
use crate::ir::{
    AddMul, Dst, F2, FloatToInt, Fma, IntToFloat, MinMax, Ref, Sfu, SfuOp, SfuType, Src,
};

/// Highest register of the forms with six-bit fields.
const LOW_LAST: u8 = 63;

/// Is it a register that a six-bit field holds?
fn is_low(reg: Option<u8>) -> bool {
    reg.is_some_and(|reg| reg <= LOW_LAST)
}

fn constant(src: &Src) -> Option<MiniFloat> {
    src.as_imm().and_then(|bits| mini_float(bits, src))
}

pub(super) fn f2(op: &F2, ctx: &Context) -> Result<Machine> {
    let name = match op.op {
        AddMul::Add => "fadd",
        AddMul::Mul => "fmul",
    };
    // Both operations commute: a constant stands in A.
    for (value, other) in [(&op.a, &op.b), (&op.b, &op.a)] {
        if let Some(mini) = constant(value) {
            return with_constant(name, op, mini, other, ctx);
        }
    }
    let (mut a, mut b) = (op.a, op.b);
    match op.op {
        // The sign of a product is one.
        AddMul::Mul if !(a.abs || b.abs) => {
            b.neg ^= a.neg;
            a.neg = false;
        }
        // Only the longer forms negate A.
        AddMul::Add if a.neg && !b.neg => std::mem::swap(&mut a, &mut b),
        _ => {}
    }
    let plain = !(a.is_modified() || b.is_modified());
    let low = is_low(op.dst.reg()) && is_low(a.reg()) && is_low(b.reg());
    let form = if a.abs || b.abs {
        match op.op {
            AddMul::Add => FormId::FAddAbs10,
            AddMul::Mul => FormId::FMulAbs12,
        }
    } else if op.sat || a.neg || ctx.wait_count() > 1 {
        FormId::F2_8
    } else if plain && low && ctx.wait_count() == 0 {
        FormId::F2_4
    } else {
        FormId::F2_6
    };
    Build::new(form)
        .op(name)
        .flag("sat", op.sat)
        .dst(0, op.dst)
        .src(1, &a)
        .src(2, &b)
        .done(ctx)
}

fn with_constant(
    name: &str,
    op: &F2,
    mini: MiniFloat,
    other: &Src,
    ctx: &Context,
) -> Result<Machine> {
    let long = op.sat || ctx.wait_count() > 1;
    Build::new(if long { FormId::F2I8 } else { FormId::F2I6 })
        .op(name)
        .flag("sat", op.sat)
        .dst(0, op.dst)
        .arg(1, Value::Float(mini))
        .src(2, other)
        .done(ctx)
}

/// A source without its sign modifier, which the caller has put elsewhere.
fn unsigned(src: &Src) -> Src {
    Src { neg: false, ..*src }
}

pub(super) fn fma(op: &Fma, ctx: &Context) -> Result<Machine> {
    let (mut a, mut b) = (op.a, op.b);
    // The product commutes. Constants stand in B only; a uniform in B fits the short form.
    if a.reg().is_none() && b.reg().is_some() {
        std::mem::swap(&mut a, &mut b);
    }
    let (factor, addend) = (constant(&b), constant(&op.c));
    let negative = |mini: Option<MiniFloat>, src: &Src| match mini {
        Some(mini) => mini.is_negative(),
        None => src.neg,
    };
    let neg_product = a.neg ^ negative(factor, &b);
    let neg_addend = negative(addend, &op.c);
    let abs_factor = a.abs || (b.abs && factor.is_none());
    let abs_addend = op.c.abs && addend.is_none();
    let short_b = match b.from {
        Ref::Uniform(word) => word <= 63,
        Ref::Imm(_) => true,
        _ => is_low(b.reg()),
    };
    let short = is_low(op.dst.reg()) && is_low(a.reg()) && short_b && is_low(op.c.reg());
    let signs = neg_product || neg_addend || abs_addend || abs_factor;
    let form = if abs_factor {
        FormId::Fma12
    } else if op.sat || ctx.wait_count() > 1 {
        FormId::Fma10
    } else if short && !signs && ctx.wait_count() == 0 {
        FormId::Fma6
    } else {
        FormId::Fma8
    };
    let mut build = Build::new(form)
        .op("fma")
        .flag("sat", op.sat)
        .flag("negP", neg_product)
        .dst(0, op.dst)
        .src(1, &unsigned(&a));
    build = match factor {
        Some(mini) => build.arg(2, Value::Float(magnitude(mini)?)),
        None => build.src(2, &unsigned(&b)),
    };
    build = match addend {
        Some(mini) => {
            let mut arg = agx_isa::Arg::new(Value::Float(magnitude(mini)?));
            arg.neg = neg_addend;
            build.arg(3, arg)
        }
        None => build.src(3, &op.c),
    };
    build.done(ctx)
}

/// In multiply-adds the sign of a constant is folded into those of product and addend (isa-1, 2.3).
fn magnitude(mini: MiniFloat) -> Result<MiniFloat> {
    MiniFloat::from_code(mini.code(), false).ok_or_else(|| "no such constant".to_owned())
}

pub(super) fn min_max(op: &MinMax, ctx: &Context) -> Result<Machine> {
    Build::new(FormId::MinMax)
        .op(op.op.text())
        .dst(0, op.dst)
        .src(1, &op.a)
        .src(2, &op.b)
        .done(ctx)
}

pub(super) fn special(op: &Sfu, ctx: &Context) -> Result<Machine> {
    if op.op == SfuOp::Rcp {
        return reciprocal(op, ctx);
    }
    let rounds = matches!(
        op.op,
        SfuOp::RoundEven | SfuOp::Floor | SfuOp::Ceil | SfuOp::Trunc
    );
    if rounds && op.sat {
        return Err("saturate has no effect on the rounding functions".into());
    }
    let form = match op.op {
        SfuOp::Rsqrt => FormId::SfuRsqrt,
        SfuOp::Exp2 => FormId::SfuExp2,
        _ => FormId::Sfu,
    };
    let (format, source, half) = match op.ty {
        SfuType::F32 => (0, "f32", false),
        SfuType::F16 => (2, "f16", true),
        SfuType::F16ToF32 => (1, "f16", false),
    };
    let build = Build::new(form)
        .op(op.op.text())
        .named("st", source)
        .set("d16", half.into())
        .set("fmt", format)
        .set("hint", (!half).into())
        .flag("sat", op.sat);
    typed(build, op.dst, &op.a, op.ty, ctx)
}

fn reciprocal(op: &Sfu, ctx: &Context) -> Result<Machine> {
    let half = op.ty == SfuType::F16;
    let source = if op.ty == SfuType::F32 { "f32" } else { "f16" };
    let build = Build::new(FormId::Rcp)
        .op("rcp")
        .named("st", source)
        .set("d16", half.into())
        .set("h", half.into())
        .set("hint", (!half).into())
        .flag("sat", op.sat);
    typed(build, op.dst, &op.a, op.ty, ctx)
}

/// Operands whose width the types, which are set already, decide.
fn typed(build: Build, dst: Dst, a: &Src, ty: SfuType, ctx: &Context) -> Result<Machine> {
    let build = match ty {
        SfuType::F16 => build.low_dst(0, dst),
        SfuType::F32 | SfuType::F16ToF32 => build.dst(0, dst),
    };
    let build = match ty {
        SfuType::F32 => build.src(1, a),
        SfuType::F16 | SfuType::F16ToF32 => build.low(1, a),
    };
    build.done(ctx)
}

pub(super) fn from_int(op: &IntToFloat, ctx: &Context) -> Result<Machine> {
    Build::new(FormId::I2F)
        .op(if op.signed { "i2f" } else { "u2f" })
        .dst(0, op.dst)
        .src(1, &op.a)
        .done(ctx)
}

pub(super) fn to_int(op: &FloatToInt, ctx: &Context) -> Result<Machine> {
    Build::new(FormId::F2I)
        .op("f2i")
        .named("type", if op.signed { "s32" } else { "u32" })
        .named("stype", "f32")
        .named("rnd", "rtz")
        .dst(0, op.dst)
        .src(1, &op.a)
        .done(ctx)
}
