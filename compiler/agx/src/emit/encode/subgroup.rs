// SPDX-License-Identifier: MIT
//! Subgroup operations, barriers and fences (isa-2, 7, 8; isa-4, 4, 9.1).

use agx_isa::{FormId, SlotMask, Template, Value, reduce_type};

use super::build::Build;
use super::{Encoder, Result};
use crate::ir::{Ballot, Barrier, BarrierOp, Reduce, ReduceOp, Shuffle, ShuffleImm};

static BALLOT: Template = Template::new(FormId::SgBallot).op("ballot");

pub(super) fn ballot(op: &Ballot, encoder: &mut Encoder<'_>) -> Result<()> {
    Build::new(&BALLOT, encoder)
        .dst(0, op.dst)
        .src(1, &op.src)
        .done()
}

const fn shuffle_form(direction: &str) -> Template {
    Template::new(FormId::SgShuffle)
        .op("shuffle")
        .named("mode", "subgroup")
        .named("dir", direction)
}

static SHUFFLE: Template = shuffle_form("lane");
static SHUFFLE_XOR: Template = shuffle_form("xor");

pub(super) fn shuffle(op: &Shuffle, encoder: &mut Encoder<'_>) -> Result<()> {
    Build::new(&SHUFFLE, encoder)
        .dst(0, op.dst)
        .src(1, &op.src)
        .low(2, &op.lane)
        .done()
}

pub(super) fn shuffle_imm(op: &ShuffleImm, encoder: &mut Encoder<'_>) -> Result<()> {
    if op.lane > 31 {
        return Err(format!("lanes are 0..=31, not {}", op.lane));
    }
    Build::new(if op.xor { &SHUFFLE_XOR } else { &SHUFFLE }, encoder)
        .dst(0, op.dst)
        .src(1, &op.src)
        .arg(2, Value::Int(op.lane.into()))
        .done()
}

static REDUCE: Template = Template::new(FormId::SgReduce).op("subgroup_reduce");

pub(super) fn reduce(op: &Reduce, encoder: &mut Encoder<'_>) -> Result<()> {
    let name = op.op.text();
    let kills = encoder.ctx.kills;
    let dead = op.src.reg().is_some_and(|reg| kills.contains(reg));
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
    let mut build = Build::new(&REDUCE, encoder);
    if !released {
        build.retaining();
    }
    build
        .named("operation", name)
        .set("type", code.into())
        .dst(0, op.dst)
        .src(1, &op.src)
        .done()
}

const fn fence(operation: &str, class: &str, flags: u64) -> Template {
    Template::new(FormId::Barrier)
        .op(operation)
        .named("class", class)
        .set("flags", flags)
}

static DEVICE_FENCE: Template = fence("fence", "device", 0x0a);
static WORKGROUP: Template = fence("barrier", "threadgroup", 0x09);
static TEXTURE_ACQUIRE: Template = fence("fence", "texture_acquire", 0x06);
static TEXTURE_RELEASE: Template = fence("fence", "texture_release", 0x06);

pub(super) fn barrier(op: &Barrier, encoder: &mut Encoder<'_>) -> Result<()> {
    match op.op {
        BarrierOp::DeviceFence => Build::new(&DEVICE_FENCE, encoder).keep(),
        BarrierOp::Workgroup => Build::new(&WORKGROUP, encoder).keep(),
        BarrierOp::TextureFence => {
            // The first of the two names slot 1 in the known pair (isa-4, 9.1).
            Build::new(&TEXTURE_ACQUIRE, encoder)
                .exact_wait(SlotMask::of(1))
                .keep()?;
            Build::new(&TEXTURE_RELEASE, encoder).keep()
        }
    }
}
