// SPDX-License-Identifier: MIT
//! Device, threadgroup and scratch memory (isa-2, 2 to 5).

use agx_isa::{File, FormId, Reg, Template, Value};

use super::build::Build;
use super::moves::modifier;
use super::{Encoder, Result, registers_of};
use crate::ir::{
    Atomic, AtomicOp, Base, Fill, Format, Load, LoadHigh, ScratchLoad, ScratchStore, SharedLoad,
    SharedStore, Spill, Src, Store,
};

/// Sets operand `index` to an address.
fn base(build: &mut Build<'_, '_>, index: usize, base: &Base) {
    match base {
        Base::Pair(pair) => build.arg(index, uniform_pair(*pair)),
        Base::Regs(regs) => build.srcs(index, regs),
    };
}

fn uniform_pair(pair: u8) -> Value {
    Value::Reg(Reg::new(File::UniformPair, pair.into()))
}

/// The code of a shift (isa-2, 2.1).
fn scale(shift: u8) -> Result<u64> {
    match shift {
        0..=3 => Ok(u64::from(shift) + 1),
        4 => Ok(0),
        _ => Err(format!("an index is shifted by 0..=4, not {shift}")),
    }
}

fn matching(format: Format, count: usize) -> Result<()> {
    if format.registers() == count {
        Ok(())
    } else {
        Err(format!("format {format} with {count} registers"))
    }
}

/// Templates by format.
type ByFormat = [Template; Format::ALL.len()];

const fn by_format(template: Template) -> ByFormat {
    let mut all = [template; Format::ALL.len()];
    let mut i = 0;
    while i < all.len() {
        all[i] = template.named("format", Format::ALL[i].text());
        i += 1;
    }
    all
}

static LOAD: ByFormat = by_format(Template::new(FormId::DevLoad).op("device_load"));
const LOAD_SCALE: usize = modifier(FormId::DevLoad, "scale");
const LOAD_OFFSET: usize = modifier(FormId::DevLoad, "offset");

/// Where a device load reads.
struct Source<'a> {
    base: &'a Base,
    index: Option<&'a Src>,
    shift: u8,
    offset: i16,
}

/// A device load but for its destination.
fn load_from(build: &mut Build<'_, '_>, from: &Source<'_>) -> Result<()> {
    if from.offset != 0 {
        build.set_at(LOAD_OFFSET, i64::from(from.offset) as u64);
    }
    base(build, 1, from.base);
    match from.index {
        // The scale says nothing then; the proven emitter leaves it at its default.
        None => build.arg(2, Value::Absent(0)),
        Some(index) => build.set_at(LOAD_SCALE, scale(from.shift)?).src(2, index),
    };
    Ok(())
}

pub(super) fn load(op: &Load, encoder: &mut Encoder<'_>) -> Result<()> {
    matching(op.format, op.dst.len())?;
    let slot = encoder.ctx.slot;
    let mut build = Build::new(&LOAD[op.format as usize], encoder);
    // A late result over an address that is released at once would be two claims on one register.
    build.sparing(registers_of(&op.dst));
    let from = Source {
        base: &op.base,
        index: op.index.as_ref(),
        shift: op.shift,
        offset: op.offset,
    };
    load_from(&mut build, &from)?;
    match op.format {
        Format::I8 | Format::I16 => build.low_dst(0, op.dst[0]),
        _ => build.dsts(0, &op.dst),
    };
    build.slot(slot).done()
}

pub(super) fn load_high(op: &LoadHigh, encoder: &mut Encoder<'_>) -> Result<()> {
    let slot = encoder.ctx.slot;
    let mut build = Build::new(&LOAD[Format::I16 as usize], encoder);
    build.sparing(registers_of(&[op.dst]));
    let from = Source {
        base: &op.base,
        index: op.index.as_ref(),
        shift: op.shift,
        offset: op.offset,
    };
    load_from(&mut build, &from)?;
    build.half_dst(0, op.dst, true).slot(slot).done()
}

static STORE: ByFormat = by_format(Template::new(FormId::DevStore).op("device_store"));
const STORE_SCALE: usize = modifier(FormId::DevStore, "scale");
const STORE_OFFSET: usize = modifier(FormId::DevStore, "offset");

pub(super) fn store(op: &Store, encoder: &mut Encoder<'_>) -> Result<()> {
    matching(op.format, op.data.len())?;
    let mut build = Build::new(&STORE[op.format as usize], encoder);
    build.set_at(STORE_SCALE, scale(op.shift)?);
    if op.offset != 0 {
        build.set_at(STORE_OFFSET, i64::from(op.offset) as u64);
    }
    match op.format {
        Format::I8 | Format::I16 => build.low(0, &op.data[0]),
        _ => build.srcs(0, &op.data),
    };
    base(&mut build, 1, &op.base);
    build.src(2, &op.index).done()
}

static ATOMIC: Template = Template::new(FormId::DevAtomic)
    .op("device_atomic")
    .named("result", "void");
static ATOMIC_RETURNS: Template = Template::new(FormId::DevAtomic)
    .op("device_atomic")
    .named("result", "ret");
static ATOMIC_RESULT: Template = Template::new(FormId::AtomicResult);

pub(super) fn atomic(op: &Atomic, encoder: &mut Encoder<'_>) -> Result<()> {
    let registers = 1 + usize::from(op.op == AtomicOp::CompareExchange);
    if op.data.len() != registers {
        return Err(format!("`{}` takes {registers} data registers", op.op));
    }
    let form = match op.dst {
        Some(_) => &ATOMIC_RETURNS,
        None => &ATOMIC,
    };
    let mut build = Build::new(form, encoder);
    build.named("op", op.op.text()).srcs(0, &op.data);
    base(&mut build, 1, &op.base);
    build.src(2, &op.index).done()?;
    let Some(dst) = op.dst else {
        return Ok(());
    };
    let slot = encoder.ctx.slot;
    Build::new(&ATOMIC_RESULT, encoder)
        .dst(0, dst)
        .slot(slot)
        .keep()
}

static SHARED_LOAD: Template = Template::new(FormId::TgLoad).op("threadgroup_load");

pub(super) fn shared_load(op: &SharedLoad, encoder: &mut Encoder<'_>) -> Result<()> {
    Build::new(&SHARED_LOAD, encoder)
        .sparing(registers_of(&[op.dst]))
        .dst(0, op.dst)
        .arg(1, uniform_pair(op.root))
        .low(2, &op.index)
        .done()
}

static SHARED_STORE: Template = Template::new(FormId::TgStore).op("threadgroup_store");

pub(super) fn shared_store(op: &SharedStore, encoder: &mut Encoder<'_>) -> Result<()> {
    Build::new(&SHARED_STORE, encoder)
        .src(0, &op.data)
        .arg(1, uniform_pair(op.root))
        .low(2, &op.index)
        .done()
}

static SCRATCH_LOAD: Template = Template::new(FormId::PrivLoad).op("private_load");

pub(super) fn scratch_load(op: &ScratchLoad, encoder: &mut Encoder<'_>) -> Result<()> {
    Build::new(&SCRATCH_LOAD, encoder)
        .dst(0, op.dst)
        .src(1, &op.index)
        .arg(2, Value::Int(op.offset.into()))
        .done()
}

static SCRATCH_STORE: Template = Template::new(FormId::PrivStore).op("private_store");

pub(super) fn scratch_store(op: &ScratchStore, encoder: &mut Encoder<'_>) -> Result<()> {
    Build::new(&SCRATCH_STORE, encoder)
        .src(0, &op.data)
        .src(1, &op.index)
        .arg(2, Value::Int(op.offset.into()))
        .done()
}

fn word(word: u16) -> Value {
    Value::Reg(Reg::new(File::Scratch, word))
}

static SPILL: Template = Template::new(FormId::ScrSave).op("scratch_save");

pub(super) fn spill(op: &Spill, encoder: &mut Encoder<'_>) -> Result<()> {
    let slot = encoder.ctx.slot;
    Build::new(&SPILL, encoder)
        .arg(0, word(op.word))
        .src(1, &op.src)
        .slot(slot)
        .done()
}

static FILL: Template = Template::new(FormId::ScrFill).op("scratch_fill");

pub(super) fn fill(op: &Fill, encoder: &mut Encoder<'_>) -> Result<()> {
    let slot = encoder.ctx.slot;
    Build::new(&FILL, encoder)
        .dst(0, op.dst)
        .arg(1, word(op.word))
        .slot(slot)
        .done()
}
