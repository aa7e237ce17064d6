// SPDX-License-Identifier: MIT
//! Subgroup operations, barriers and fences (isa-2, 7, 8; isa-4, 4, 9.1).

use agx_isa::{FormId, Instr as Machine, SlotMask, Value, reduce_type};

use super::build::Build;
use super::{Context, Result, Sequence};
use crate::ir::{Ballot, Barrier, BarrierOp, Reduce, ReduceOp, Shuffle, ShuffleImm};

pub(super) fn ballot(op: &Ballot, ctx: &Context) -> Result<Machine> {
    Build::new(FormId::SgBallot)
        .op("ballot")
        .dst(0, op.dst)
        .src(1, &op.src)
        .done(ctx)
}

pub(super) fn shuffle(op: &Shuffle, ctx: &Context) -> Result<Machine> {
    Build::new(FormId::SgShuffle)
        .op("shuffle")
        .named("mode", "subgroup")
        .named("dir", "lane")
        .dst(0, op.dst)
        .src(1, &op.src)
        .low(2, &op.lane)
        .done(ctx)
}

pub(super) fn shuffle_imm(op: &ShuffleImm, ctx: &Context) -> Result<Machine> {
    if op.lane > 31 {
        return Err(format!("lanes are 0..=31, not {}", op.lane));
    }
    Build::new(FormId::SgShuffle)
        .op("shuffle")
        .named("mode", "subgroup")
        .named("dir", if op.xor { "xor" } else { "lane" })
        .dst(0, op.dst)
        .src(1, &op.src)
        .arg(2, Value::Int(op.lane.into()))
        .done(ctx)
}

pub(super) fn reduce(op: &Reduce, ctx: &Context) -> Result<Machine> {
    let name = op.op.text();
    let dead = op.src.reg().is_some_and(|reg| ctx.kills.contains(reg));
    // The type byte goes with the release bit. Of the two the better proven one: the retained scan of sums ran on M4,
    // of the others the released ones ran and the retained ones are INFERRED (isa-2, 8.1).
    let order = if op.op == ReduceOp::IAdd && op.scan {
        [false, true]
    } else {
        [true, false]
    };
    let usable = order.into_iter().filter(|released| dead || !released);
    let found = usable
        .filter_map(|released| Some((released, reduce_type(name, op.scan, released)?)))
        .next();
    let Some((released, code)) = found else {
        let what = if op.scan { "scan" } else { "reduction" };
        return Err(format!(
            "no {what} by `{name}` that keeps its source is known"
        ));
    };
    let mut src = agx_isa::Arg::new(match op.src.reg() {
        Some(reg) => Value::gpr(reg.into()),
        None => return Err(format!("{} is no register", op.src)),
    });
    src.kill = released;
    Build::new(FormId::SgReduce)
        .op("subgroup_reduce")
        .named("operation", name)
        .set("type", code.into())
        .dst(0, op.dst)
        .arg(1, src)
        .wait(ctx.waits)
        .keep()
}

pub(super) fn barrier(op: &Barrier) -> Result<Sequence> {
    let fence = |name, class, flags| {
        Build::new(FormId::Barrier)
            .op(name)
            .named("class", class)
            .set("flags", flags)
    };
    let mut sequence = Sequence::new();
    match op.op {
        BarrierOp::DeviceFence => sequence.push(fence("fence", "device", 0x0a).keep()?),
        BarrierOp::Workgroup => sequence.push(fence("barrier", "threadgroup", 0x09).keep()?),
        BarrierOp::TextureFence => {
            // The first of the two names slot 1 in the known pair (isa-4, 9.1).
            let acquire = fence("fence", "texture_acquire", 0x06).exact_wait(SlotMask::of(1));
            sequence.push(acquire.keep()?);
            sequence.push(fence("fence", "texture_release", 0x06).keep()?);
        }
    }
    Ok(sequence)
}
