// SPDX-License-Identifier: MIT
//! fp32 arithmetic, special functions and conversions (isa-1, 4.2, 4.3, 4.4, 4.6, 4.8).

use agx_isa::{FormId, MiniFloat, Template, Value};

use super::build::Build;
use super::{Encoder, Result};
use crate::emit::accept::mini_float;
use crate::ir::{
    AddMul, F2, FloatToInt, Fma, IntToFloat, MinMax, MinMaxOp, Ref, Sfu, SfuOp, SfuType, Src,
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

/// The encodings of a sum or a product, from short to long.
struct AddMulForms {
    /// Registers below r64, nothing to wait for.
    short: Template,
    usual: Template,
    /// Negates A, saturates, waits for several slots.
    long: Template,
    abs: Template,
    /// With a constant A.
    mini: Template,
    mini_long: Template,
}

impl AddMulForms {
    const fn of(name: &str, abs: FormId) -> AddMulForms {
        AddMulForms {
            short: Template::new(FormId::F2_4).op(name),
            usual: Template::new(FormId::F2_6).op(name),
            long: Template::new(FormId::F2_8).op(name),
            abs: Template::new(abs).op(name),
            mini: Template::new(FormId::F2I6).op(name),
            mini_long: Template::new(FormId::F2I8).op(name),
        }
    }
}

static ADD: AddMulForms = AddMulForms::of("fadd", FormId::FAddAbs10);
static MUL: AddMulForms = AddMulForms::of("fmul", FormId::FMulAbs12);

pub(super) fn f2(op: &F2, encoder: &mut Encoder<'_>) -> Result<()> {
    let forms = match op.op {
        AddMul::Add => &ADD,
        AddMul::Mul => &MUL,
    };
    let waits = encoder.ctx.wait_count();
    // Both operations commute: a constant stands in A.
    for (value, other) in [(&op.a, &op.b), (&op.b, &op.a)] {
        if let Some(mini) = constant(value) {
            let long = op.sat || waits > 1;
            let form = if long { &forms.mini_long } else { &forms.mini };
            return Build::new(form, encoder)
                .flag("sat", op.sat)
                .dst(0, op.dst)
                .arg(1, Value::Float(mini))
                .src(2, other)
                .done();
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
        &forms.abs
    } else if op.sat || a.neg || waits > 1 {
        &forms.long
    } else if plain && low && waits == 0 {
        &forms.short
    } else {
        &forms.usual
    };
    Build::new(form, encoder)
        .flag("sat", op.sat)
        .dst(0, op.dst)
        .src(1, &a)
        .src(2, &b)
        .done()
}

/// A source without its sign modifier, which the caller has put elsewhere.
fn unsigned(src: &Src) -> Src {
    Src { neg: false, ..*src }
}

static FMA_6: Template = Template::new(FormId::Fma6).op("fma");
static FMA_8: Template = Template::new(FormId::Fma8).op("fma");
static FMA_10: Template = Template::new(FormId::Fma10).op("fma");
static FMA_12: Template = Template::new(FormId::Fma12).op("fma");

pub(super) fn fma(op: &Fma, encoder: &mut Encoder<'_>) -> Result<()> {
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
    let waits = encoder.ctx.wait_count();
    let form = if abs_factor {
        &FMA_12
    } else if op.sat || waits > 1 {
        &FMA_10
    } else if short && !signs && waits == 0 {
        &FMA_6
    } else {
        &FMA_8
    };
    let mut build = Build::new(form, encoder);
    build
        .flag("sat", op.sat)
        .flag("negP", neg_product)
        .dst(0, op.dst)
        .src(1, &unsigned(&a));
    match factor {
        Some(mini) => build.arg(2, Value::Float(magnitude(mini)?)),
        None => build.src(2, &unsigned(&b)),
    };
    match addend {
        Some(mini) => {
            let mut arg = agx_isa::Arg::new(Value::Float(magnitude(mini)?));
            arg.neg = neg_addend;
            build.arg(3, arg)
        }
        None => build.src(3, &op.c),
    };
    build.done()
}

/// In multiply-adds the sign of a constant is folded into those of product and addend (isa-1, 2.3).
fn magnitude(mini: MiniFloat) -> Result<MiniFloat> {
    MiniFloat::from_code(mini.code(), false).ok_or_else(|| "no such constant".to_owned())
}

static MIN_MAX: [Template; MinMaxOp::ALL.len()] = {
    let mut all = [Template::new(FormId::MinMax); MinMaxOp::ALL.len()];
    let mut i = 0;
    while i < all.len() {
        all[i] = all[i].op(MinMaxOp::ALL[i].text());
        i += 1;
    }
    all
};

pub(super) fn min_max(op: &MinMax, encoder: &mut Encoder<'_>) -> Result<()> {
    Build::new(&MIN_MAX[op.op as usize], encoder)
        .dst(0, op.dst)
        .src(1, &op.a)
        .src(2, &op.b)
        .done()
}

/// Special functions of one type, by function.
type SpecialForms = [Template; SfuOp::ALL.len()];

const fn special_forms(source: &str, half_result: bool, format: u64) -> SpecialForms {
    let mut all = [Template::new(FormId::Rcp); SfuOp::ALL.len()];
    let mut i = 0;
    while i < all.len() {
        let op = SfuOp::ALL[i];
        let form = match op {
            SfuOp::Rcp => FormId::Rcp,
            SfuOp::Rsqrt => FormId::SfuRsqrt,
            SfuOp::Exp2 => FormId::SfuExp2,
            _ => FormId::Sfu,
        };
        let template = Template::new(form)
            .op(op.text())
            .named("st", source)
            .set("d16", half_result as u64)
            .set("hint", !half_result as u64);
        all[i] = match op {
            SfuOp::Rcp => template.set("h", half_result as u64),
            _ => template.set("fmt", format),
        };
        i += 1;
    }
    all
}

static SPECIAL_F32: SpecialForms = special_forms("f32", false, 0);
static SPECIAL_F16: SpecialForms = special_forms("f16", true, 2);
static SPECIAL_F16_TO_F32: SpecialForms = special_forms("f16", false, 1);

pub(super) fn special(op: &Sfu, encoder: &mut Encoder<'_>) -> Result<()> {
    let rounds = matches!(
        op.op,
        SfuOp::RoundEven | SfuOp::Floor | SfuOp::Ceil | SfuOp::Trunc
    );
    if rounds && op.sat {
        return Err("saturate has no effect on the rounding functions".into());
    }
    let forms = match op.ty {
        SfuType::F32 => &SPECIAL_F32,
        SfuType::F16 => &SPECIAL_F16,
        SfuType::F16ToF32 => &SPECIAL_F16_TO_F32,
    };
    let mut build = Build::new(&forms[op.op as usize], encoder);
    build.flag("sat", op.sat);
    match op.ty {
        SfuType::F16 => build.low_dst(0, op.dst),
        SfuType::F32 | SfuType::F16ToF32 => build.dst(0, op.dst),
    };
    match op.ty {
        SfuType::F32 => build.src(1, &op.a),
        SfuType::F16 | SfuType::F16ToF32 => build.low(1, &op.a),
    };
    build.done()
}

static I2F: Template = Template::new(FormId::I2F).op("i2f");
static U2F: Template = Template::new(FormId::I2F).op("u2f");

pub(super) fn from_int(op: &IntToFloat, encoder: &mut Encoder<'_>) -> Result<()> {
    Build::new(if op.signed { &I2F } else { &U2F }, encoder)
        .dst(0, op.dst)
        .src(1, &op.a)
        .done()
}

const fn to_int_form(result: &str) -> Template {
    Template::new(FormId::F2I)
        .op("f2i")
        .named("type", result)
        .named("stype", "f32")
        .named("rnd", "rtz")
}

static F2I: Template = to_int_form("s32");
static F2U: Template = to_int_form("u32");

pub(super) fn to_int(op: &FloatToInt, encoder: &mut Encoder<'_>) -> Result<()> {
    Build::new(if op.signed { &F2I } else { &F2U }, encoder)
        .dst(0, op.dst)
        .src(1, &op.a)
        .done()
}
