// SPDX-License-Identifier: MIT
//! Device, threadgroup and scratch memory (isa-2, 2 to 5).

use agx_isa::{Arg, File, FormId, Instr as Machine, Reg, Value};

use super::build::Build;
use super::{Context, Result, Sequence, consecutive, consecutive_dsts};
use crate::ir::{
    Atomic, AtomicOp, Base, Dst, Fill, Format, Load, LoadHigh, ScratchLoad, ScratchStore,
    SharedLoad, SharedStore, Spill, Src, Store,
};

fn base(base: &Base) -> Result<Value> {
    Ok(match base {
        Base::Pair(pair) => Value::Reg(Reg::new(File::UniformPair, (*pair).into())),
        Base::Regs(regs) => Value::gpr(consecutive(regs)?.into()),
    })
}

/// Names of the shift codes in the table.
fn shift_name(shift: u8) -> Result<&'static str> {
    const NAMES: [&str; 5] = ["lsl0", "lsl1", "lsl2", "lsl3", "lsl4"];
    match NAMES.get(usize::from(shift)) {
        Some(name) => Ok(name),
        None => Err(format!("an index is shifted by 0..=4, not {shift}")),
    }
}

fn matching(format: Format, count: usize) -> Result<()> {
    if format.registers() == count {
        Ok(())
    } else {
        Err(format!("format {format} with {count} registers"))
    }
}

pub(super) fn load(op: &Load, ctx: &Context) -> Result<Machine> {
    matching(op.format, op.dst.len())?;
    let dst = Dst::Reg(consecutive_dsts(&op.dst)?);
    let build = load_from(&op.base, op.index.as_ref(), op.shift, op.offset, op.format)?;
    let build = match op.format {
        Format::I8 | Format::I16 => build.low_dst(0, dst),
        _ => build.dst(0, dst),
    };
    // A late result over an address that is released at once would be two claims on one register.
    let written = (0..op.dst.len() as u8).filter_map(|i| match dst {
        Dst::Reg(first) => Some(first + i),
        Dst::Value(_) => None,
    });
    let mut ctx = *ctx;
    for reg in written {
        ctx.kills = ctx.kills.without(super::RegSet::of(reg));
    }
    build.slot(ctx.slot).done(&ctx)
}

pub(super) fn load_high(op: &LoadHigh, ctx: &Context) -> Result<Machine> {
    let build = load_from(
        &op.base,
        op.index.as_ref(),
        op.shift,
        op.offset,
        Format::I16,
    )?;
    let build = build.half_dst(0, op.dst, true);
    build.slot(ctx.slot).done(&sparing(ctx, op.dst))
}

/// A device load but for its destination.
fn load_from(
    address: &Base,
    index: Option<&Src>,
    shift: u8,
    offset: i16,
    format: Format,
) -> Result<Build> {
    let build = Build::new(FormId::DevLoad)
        .op("device_load")
        .named("format", format.text())
        .set("offset", i64::from(offset) as u64)
        .arg(1, base(address)?);
    Ok(match index {
        // The scale says nothing then; the proven emitter leaves it at its default.
        None => build.arg(2, Value::Absent(0)),
        Some(index) => build.named("scale", shift_name(shift)?).src(2, index),
    })
}

pub(super) fn store(op: &Store, ctx: &Context) -> Result<Machine> {
    matching(op.format, op.data.len())?;
    let data = consecutive(&op.data)?.into();
    let data = match op.format {
        Format::I8 | Format::I16 => Value::gpr_half(data, false),
        _ => Value::gpr(data),
    };
    Build::new(FormId::DevStore)
        .op("device_store")
        .named("format", op.format.text())
        .named("scale", shift_name(op.shift)?)
        .set("offset", i64::from(op.offset) as u64)
        .arg(0, data)
        .arg(1, base(&op.base)?)
        .src(2, &op.index)
        .done(ctx)
}

pub(super) fn atomic(op: &Atomic, ctx: &Context) -> Result<Sequence> {
    let registers = 1 + usize::from(op.op == AtomicOp::CompareExchange);
    if op.data.len() != registers {
        return Err(format!("`{}` takes {registers} data registers", op.op));
    }
    let data = consecutive(&op.data)?;
    let result = if op.dst.is_some() { "ret" } else { "void" };
    let mut sequence = Sequence::new();
    sequence.push(
        Build::new(FormId::DevAtomic)
            .op("device_atomic")
            .named("op", op.op.text())
            .named("result", result)
            .arg(0, Value::gpr(data.into()))
            .arg(1, base(&op.base)?)
            .src(2, &op.index)
            .done(ctx)?,
    );
    if let Some(dst) = op.dst {
        let landing = Build::new(FormId::AtomicResult).dst(0, dst).slot(ctx.slot);
        sequence.push(landing.keep()?);
    }
    Ok(sequence)
}

fn root(pair: u8) -> Value {
    Value::Reg(Reg::new(File::UniformPair, pair.into()))
}

pub(super) fn shared_load(op: &SharedLoad, ctx: &Context) -> Result<Machine> {
    Build::new(FormId::TgLoad)
        .op("threadgroup_load")
        .dst(0, op.dst)
        .arg(1, root(op.root))
        .low(2, &op.index)
        .done(&sparing(ctx, op.dst))
}

pub(super) fn shared_store(op: &SharedStore, ctx: &Context) -> Result<Machine> {
    Build::new(FormId::TgStore)
        .op("threadgroup_store")
        .src(0, &op.data)
        .arg(1, root(op.root))
        .low(2, &op.index)
        .done(ctx)
}

/// Releases everything but the register of a late result.
fn sparing(ctx: &Context, dst: Dst) -> Context {
    let dst = dst.reg().map_or(super::RegSet::EMPTY, super::RegSet::of);
    Context {
        kills: ctx.kills.without(dst),
        ..*ctx
    }
}

fn offset(words: u16) -> Arg {
    Arg::new(Value::Int(words.into()))
}

pub(super) fn scratch_load(op: &ScratchLoad, ctx: &Context) -> Result<Machine> {
    Build::new(FormId::PrivLoad)
        .op("private_load")
        .dst(0, op.dst)
        .src(1, &op.index)
        .arg(2, offset(op.offset))
        .done(ctx)
}

pub(super) fn scratch_store(op: &ScratchStore, ctx: &Context) -> Result<Machine> {
    Build::new(FormId::PrivStore)
        .op("private_store")
        .src(0, &op.data)
        .src(1, &op.index)
        .arg(2, offset(op.offset))
        .done(ctx)
}

fn word(word: u16) -> Value {
    Value::Reg(Reg::new(File::Scratch, word))
}

pub(super) fn spill(op: &Spill, ctx: &Context) -> Result<Machine> {
    let src: &Src = &op.src;
    Build::new(FormId::ScrSave)
        .op("scratch_save")
        .arg(0, word(op.word))
        .src(1, src)
        .slot(ctx.slot)
        .done(ctx)
}

pub(super) fn fill(op: &Fill, ctx: &Context) -> Result<Machine> {
    Build::new(FormId::ScrFill)
        .op("scratch_fill")
        .dst(0, op.dst)
        .arg(1, word(op.word))
        .slot(ctx.slot)
        .done(ctx)
}
