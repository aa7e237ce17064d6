// SPDX-License-Identifier: MIT
//! Copies, literals, system registers, and the copy that waits.

use agx_isa::{FormId, Instr as Machine, SlotMask, Value};

use super::build::Build;
use super::{Context, Result, Sequence};
use crate::ir::{Dst, Imm, Mov, Ref, Src, Swap, SysReg};

/// Highest register of MOV_IMM7.
const SHORT_LITERAL_LAST: u8 = 15;
/// Largest value of MOV_IMM7.
const SHORT_LITERAL_MAX: u32 = 127;
/// Highest register of the literal moves.
const LITERAL_LAST: u8 = 63;

pub(super) fn mov(op: &Mov, ctx: &Context) -> Result<Sequence> {
    match op.src.from {
        // OR of the register with itself keeps every bit, and both operands share its slot.
        Ref::Reg(_) => Ok(Sequence::from_iter([two(
            "or", op.dst, &op.src, &op.src, ctx,
        )?])),
        Ref::Uniform(_) => mov_uniform(op, ctx),
        Ref::Imm(_) | Ref::Value(_) => Err(format!("{} is no register", op.src)),
    }
}

/// A copy of a uniform takes the table of A alone. Its B is a register whose value does not matter; but a strict
/// machine wants it defined, and nothing may be pending in it.
fn mov_uniform(op: &Mov, ctx: &Context) -> Result<Sequence> {
    let mut ctx = *ctx;
    if let Some(idle) = ctx.idle {
        let idle = Src::new(Ref::Reg(idle));
        ctx.kills = super::RegSet::EMPTY;
        return Ok(Sequence::from_iter([two(
            "mova", op.dst, &op.src, &idle, &ctx,
        )?]));
    }
    let own = match op.dst {
        Dst::Reg(reg) => Src::new(Ref::Reg(reg)),
        Dst::Value(_) => return Err(format!("{} has no register", op.dst)),
    };
    let mut sequence = Sequence::new();
    if op.dst.reg().is_some_and(|reg| reg <= LITERAL_LAST) {
        sequence.push(literal(op.dst, 0)?);
        ctx.waits = SlotMask::NONE;
    }
    sequence.push(two("mova", op.dst, &op.src, &own, &ctx)?);
    Ok(sequence)
}

/// LOGIC.10 of two operands.
pub(super) fn two(table: &str, dst: Dst, a: &Src, b: &Src, ctx: &Context) -> Result<Machine> {
    let build = Build::new(FormId::Logic)
        .op(table)
        .dst(0, dst)
        .src(1, a)
        .src(2, b);
    let machine = build.done(ctx)?;
    // isa-1, 4.10: the hint is 1 when B is retained.
    let released = u64::from(!machine.arg(2).kill);
    let mut machine = machine;
    machine
        .set_modifier("pub", released)
        .map_err(|illegal| illegal.to_string())?;
    Ok(machine)
}

pub(super) fn imm(op: &Imm, _: &Context) -> Result<Machine> {
    literal(op.dst, op.value)
}

/// A register becomes a constant.
pub(crate) fn literal(dst: Dst, value: u32) -> Result<Machine> {
    let short = dst.reg().is_some_and(|reg| reg <= SHORT_LITERAL_LAST);
    let form = if short && value <= SHORT_LITERAL_MAX {
        FormId::MovImm7
    } else {
        FormId::MovImm32
    };
    Build::new(form)
        .dst(0, dst)
        .arg(1, Value::Int(value.into()))
        .keep()
}

pub(super) fn system_register(op: &SysReg, ctx: &Context) -> Result<Sequence> {
    let number = Value::Reg(agx_isa::Reg::new(agx_isa::File::SysReg, op.number.into()));
    let mut sequence = Sequence::new();
    if op.narrow {
        sequence.push(
            Build::new(FormId::GetSr16)
                .low_dst(0, op.dst)
                .arg(1, number)
                .done(ctx)?,
        );
        sequence.push(zero_extend(op.dst)?);
    } else {
        sequence.push(
            Build::new(FormId::GetSr32)
                .dst(0, op.dst)
                .arg(1, number)
                .done(ctx)?,
        );
    }
    Ok(sequence)
}

/// Clears the high half of a register.
pub(super) fn zero_extend(dst: Dst) -> Result<Machine> {
    Build::new(FormId::Zext16).dst(0, dst).keep()
}

/// Three exclusive ors.
pub(super) fn swap(op: &Swap, ctx: &Context) -> Result<Sequence> {
    let (Some(x), Some(y), Some(a), Some(b)) = (op.x.reg(), op.y.reg(), op.a.reg(), op.b.reg())
    else {
        return Err("only registers are exchanged".into());
    };
    if x.min(y) != a.min(b) || x.max(y) != a.max(b) {
        return Err("the same two registers on both sides".into());
    }
    let mut sequence = Sequence::new();
    if x == y {
        return Ok(sequence);
    }
    let reg = |r| Src::new(Ref::Reg(r));
    let first = Context {
        kills: super::RegSet::EMPTY,
        ..*ctx
    };
    // Either order does; the first one waits for its operand A.
    let (x, y) = if ctx.late.contains(x) { (x, y) } else { (y, x) };
    for (dst, ctx) in [(x, &first), (y, &Context::PLAIN), (x, &Context::PLAIN)] {
        sequence.push(two("xor", Dst::Reg(dst), &reg(x), &reg(y), ctx)?);
    }
    Ok(sequence)
}

/// The wait idiom (isa-2, 9.3): `reg | reg` into itself, with nothing released.
pub(crate) fn wait_move(reg: u8, waits: SlotMask) -> Result<Machine> {
    let src = Src::new(Ref::Reg(reg));
    let ctx = Context {
        waits,
        ..Context::PLAIN
    };
    two("or", Dst::Reg(reg), &src, &src, &ctx)
}
