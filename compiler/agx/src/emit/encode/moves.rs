// SPDX-License-Identifier: MIT
//! Copies, literals, system registers, and the copy that waits.

use agx_isa::{File, FormId, Reg, Template, Value};

use super::build::Build;
use super::{Encoder, Result};
use crate::ir::{Dst, Imm, LogicOp, Mov, Ref, Src, Swap, SysReg};

/// Highest register of MOV_IMM7.
const SHORT_LITERAL_LAST: u8 = 15;
/// Largest value of MOV_IMM7.
const SHORT_LITERAL_MAX: u32 = 127;
/// Highest register of the literal moves.
const LITERAL_LAST: u8 = 63;

const fn table(name: &str) -> Template {
    Template::new(FormId::Logic).op(name)
}

/// The truth tables of two operands, by operation.
pub(super) static LOGIC: [Template; LogicOp::ALL.len()] = {
    let mut all = [table("and"); LogicOp::ALL.len()];
    let mut i = 0;
    while i < all.len() {
        all[i] = table(match LogicOp::ALL[i] {
            LogicOp::And => "and",
            LogicOp::Or => "or",
            LogicOp::Xor => "xor",
            LogicOp::Nand => "nand",
            LogicOp::Nor => "nor",
            LogicOp::Xnor => "xnor",
            LogicOp::AndNot => "andn2",
            LogicOp::OrNot => "orn2",
        });
        i += 1;
    }
    all
};
/// The table of A alone.
static COPY_A: Template = table("mova");

pub(super) fn mov(op: &Mov, encoder: &mut Encoder<'_>) -> Result<()> {
    match op.src.from {
        Ref::Reg(_) => copy(op.dst, &op.src, encoder),
        Ref::Uniform(_) => mov_uniform(op, encoder),
        Ref::Imm(_) | Ref::Value(_) => Err(format!("{} is no register", op.src)),
    }
}

/// OR of a register with itself keeps every bit, and both operands share its slot.
fn copy(dst: Dst, src: &Src, encoder: &mut Encoder<'_>) -> Result<()> {
    two(&LOGIC[LogicOp::Or as usize], dst, src, src, encoder)
}

/// A copy of a uniform takes the table of A alone. Its B is a register whose value does not matter; but a strict
/// machine wants it defined, and nothing may be pending in it.
fn mov_uniform(op: &Mov, encoder: &mut Encoder<'_>) -> Result<()> {
    let Dst::Reg(own) = op.dst else {
        return Err(format!("{} has no register", op.dst));
    };
    let idle = encoder.ctx.idle;
    let defines = idle.is_none() && own <= LITERAL_LAST;
    if defines {
        literal(op.dst, 0, encoder)?;
    }
    let mut build = Build::new(&COPY_A, encoder);
    if idle.is_some() {
        build.retaining();
    }
    let b = Src::new(Ref::Reg(idle.unwrap_or(own)));
    two_operands(&mut build, op.dst, &op.src, &b);
    // What is waited for is waited for in front of the literal.
    if defines { build.keep() } else { build.done() }
}

/// LOGIC.10 of two operands.
pub(super) fn two(
    table: &Template,
    dst: Dst,
    a: &Src,
    b: &Src,
    encoder: &mut Encoder<'_>,
) -> Result<()> {
    let mut build = Build::new(table, encoder);
    two_operands(&mut build, dst, a, b);
    build.done()
}

fn two_operands(build: &mut Build<'_, '_>, dst: Dst, a: &Src, b: &Src) {
    const RETAINS_B: usize = modifier(FormId::Logic, "pub");
    build.dst(0, dst).src(1, a).src(2, b);
    // isa-1, 4.10: the hint is 1 when B is retained, which is its default.
    if build.is_released(2) {
        build.set_at(RETAINS_B, 0);
    }
}

/// The place of a form's modifier.
pub(super) const fn modifier(form: FormId, name: &str) -> usize {
    match form.form().modifier(name) {
        Some(index) => index,
        None => panic!("the form has no such field"),
    }
}

pub(super) fn imm(op: &Imm, encoder: &mut Encoder<'_>) -> Result<()> {
    literal(op.dst, op.value, encoder)
}

static MOV_IMM_7: Template = Template::new(FormId::MovImm7);
static MOV_IMM_32: Template = Template::new(FormId::MovImm32);

/// A register becomes a constant.
pub(crate) fn literal(dst: Dst, value: u32, encoder: &mut Encoder<'_>) -> Result<()> {
    let short = dst.reg().is_some_and(|reg| reg <= SHORT_LITERAL_LAST);
    let form = if short && value <= SHORT_LITERAL_MAX {
        &MOV_IMM_7
    } else {
        &MOV_IMM_32
    };
    Build::new(form, encoder)
        .dst(0, dst)
        .arg(1, Value::Int(value.into()))
        .keep()
}

static GET_SR_32: Template = Template::new(FormId::GetSr32);
static GET_SR_16: Template = Template::new(FormId::GetSr16);
static ZEXT_16: Template = Template::new(FormId::Zext16);

pub(super) fn system_register(op: &SysReg, encoder: &mut Encoder<'_>) -> Result<()> {
    let number = Value::Reg(Reg::new(File::SysReg, op.number.into()));
    if !op.narrow {
        return Build::new(&GET_SR_32, encoder)
            .dst(0, op.dst)
            .arg(1, number)
            .done();
    }
    Build::new(&GET_SR_16, encoder)
        .low_dst(0, op.dst)
        .arg(1, number)
        .done()?;
    zero_extend(op.dst, encoder)
}

/// Clears the high half of a register.
pub(super) fn zero_extend(dst: Dst, encoder: &mut Encoder<'_>) -> Result<()> {
    Build::new(&ZEXT_16, encoder).dst(0, dst).keep()
}

/// Three exclusive ors.
pub(super) fn swap(op: &Swap, encoder: &mut Encoder<'_>) -> Result<()> {
    let (Some(x), Some(y), Some(a), Some(b)) = (op.x.reg(), op.y.reg(), op.a.reg(), op.b.reg())
    else {
        return Err("only registers are exchanged".into());
    };
    if x.min(y) != a.min(b) || x.max(y) != a.max(b) {
        return Err("the same two registers on both sides".into());
    }
    if x == y {
        return Ok(());
    }
    // Either order does; the first one waits for its operand A.
    let (x, y) = if encoder.ctx.late.contains(x) {
        (x, y)
    } else {
        (y, x)
    };
    for (dst, waits) in [(x, true), (y, false), (x, false)] {
        let src = |reg| Src::new(Ref::Reg(reg));
        let mut build = Build::new(&LOGIC[LogicOp::Xor as usize], encoder);
        build.retaining();
        two_operands(&mut build, Dst::Reg(dst), &src(x), &src(y));
        if waits {
            build.done()?;
        } else {
            build.keep()?;
        }
    }
    Ok(())
}

/// The wait idiom (isa-2, 9.3): `reg | reg` into itself, with nothing released.
pub(crate) fn wait_move(reg: u8, encoder: &mut Encoder<'_>) -> Result<()> {
    copy(Dst::Reg(reg), &Src::new(Ref::Reg(reg)), encoder)
}
