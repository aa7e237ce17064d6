// SPDX-License-Identifier: MIT
//! Vertex outputs, interpolation, derivatives, tile memory, coverage and depth (isa-3, 1.3, 3.3, 4 and 5).

use agx_isa::{Arg, File, FormId, Instr as Machine, Reg, SlotMask, Value};

use super::build::Build;
use super::{Context, Result, consecutive_dsts};
use crate::ir::{
    BlockStore, Coverage, DepthStore, Derivative, Dst, InterpPos, Iter, IterFlat, Project,
    PublishDepth, TileAccess, TileFence, TileLoad, TileStore, VertexOut,
};

/// The slot of exports.
const EXPORT_SLOT: u8 = 1;
/// Forms whose waits are not proven name slot 1 in every program that is known (isa-3, 1.2). What they read has been
/// waited for before.
const AS_SEEN: SlotMask = SlotMask::of(1);
/// Closes block stores (isa-3, 4.5).
const FENCE_BLOCK: u16 = 0x300;

fn named(file: File, index: u16) -> Value {
    Value::Reg(Reg::new(file, index))
}

fn publication(word: u8) -> Value {
    Value::publication(word.into())
}

/// The one-source form with the bit that pairs of control word and depth have (isa-3, 1.3).
pub(super) fn publish_depth(op: &PublishDepth, ctx: &Context) -> Result<Machine> {
    Build::new(FormId::Logic1)
        .op("mov")
        .set("f68", 1)
        .arg(0, publication(op.word))
        .src(1, &op.src)
        .slot(EXPORT_SLOT)
        .done(ctx)
}

pub(super) fn vertex_out(op: &VertexOut, ctx: &Context) -> Result<Machine> {
    let build = Build::new(FormId::VaryStore)
        .op("vary_store")
        .arg(0, named(File::Output, op.slot))
        .arg(1, publication(op.word));
    // It has to name the slot of the export, even if somebody else has waited for that (isa-3, 5.2).
    if ctx.waits.is_empty() {
        return build.exact_wait(SlotMask::of(EXPORT_SLOT)).done(ctx);
    }
    build.done(ctx)
}

fn coefficient(cf: u8) -> Value {
    named(File::Coefficient, cf.into())
}

pub(super) fn iter(op: &Iter, ctx: &Context) -> Result<Machine> {
    let build = Build::new(FormId::Iter)
        .op("iter")
        .dst(0, op.dst)
        .arg(1, coefficient(op.cf));
    match &op.pos {
        Some(pos) => build.src(2, pos),
        None => build.arg(2, Value::Absent(0)),
    }
    .done(ctx)
}

pub(super) fn iter_flat(op: &IterFlat, ctx: &Context) -> Result<Machine> {
    if op.dst.len() != 3 {
        return Err(format!("{} registers for three words", op.dst.len()));
    }
    Build::new(FormId::IterFlat)
        .op("iter_flat")
        .dst(0, Dst::Reg(consecutive_dsts(&op.dst)?))
        .arg(1, coefficient(op.cf))
        .slot(ctx.slot)
        .done(ctx)
}

pub(super) fn project(op: &Project, ctx: &Context) -> Result<Machine> {
    Build::new(FormId::FProj8)
        .op("fproject")
        .dst(0, op.dst)
        .src(1, &op.a)
        .src(2, &op.w)
        .arg(3, coefficient(op.cf))
        .done(ctx)
}

pub(super) fn interp_pos(op: &InterpPos, ctx: &Context) -> Result<Machine> {
    Build::new(FormId::InterpPos)
        .op(if op.sample {
            "interp_sample"
        } else {
            "interp_centroid"
        })
        .dst(0, op.dst)
        .src(1, &op.src)
        .done(ctx)
}

pub(super) fn derivative(op: &Derivative, ctx: &Context) -> Result<Machine> {
    Build::new(FormId::Deriv)
        .op(if op.down { "ddy" } else { "ddx" })
        .dst(0, op.dst)
        .src(1, &op.src)
        .done(ctx)
}

pub(super) fn tile_access(op: &TileAccess, ctx: &Context) -> Result<Machine> {
    Build::new(FormId::TileAccess)
        .op("tile_access")
        .set("imm", op.what.into())
        .done(ctx)
}

pub(super) fn tile_fence(op: &TileFence, ctx: &Context) -> Result<Machine> {
    let build = Build::new(FormId::TileFence)
        .op("tile_fence")
        .set("imm", op.what.into());
    if op.what == FENCE_BLOCK {
        return build.exact_wait(AS_SEEN).done(ctx);
    }
    build.done(ctx)
}

fn tile_word(word: u8) -> Value {
    named(File::TileWord, word.into())
}

pub(super) fn tile_load(op: &TileLoad, ctx: &Context) -> Result<Machine> {
    let form = match op.mask {
        Some(_) => FormId::TileLoadMask,
        None => FormId::TileLoad,
    };
    let build = Build::new(form)
        .op("tile_load")
        .dst(0, op.dst)
        .arg(1, tile_word(op.word));
    match &op.mask {
        Some(mask) => build.low(2, mask),
        None => build.arg(2, Value::Int(op.samples.into())),
    }
    .slot(ctx.slot)
    .done(&sparing(ctx, op.dst))
}

/// Releases everything but the register of a late result.
fn sparing(ctx: &Context, dst: Dst) -> Context {
    let dst = dst.reg().map_or(super::RegSet::EMPTY, super::RegSet::of);
    Context {
        kills: ctx.kills.without(dst),
        ..*ctx
    }
}

pub(super) fn tile_store(op: &TileStore, ctx: &Context) -> Result<Machine> {
    let build = Build::new(FormId::TileStore)
        .op("tile_store")
        .arg(0, tile_word(op.word))
        .src(1, &op.src);
    match &op.mask {
        Some(mask) => build.low(2, mask).exact_wait(AS_SEEN),
        None => build.arg(2, Arg::new(Value::Int(1))),
    }
    .done(ctx)
}

pub(super) fn coverage(op: &Coverage, ctx: &Context) -> Result<Machine> {
    Build::new(FormId::Coverage)
        .op("coverage")
        .arg(0, publication(op.word))
        .exact_wait(AS_SEEN)
        .done(ctx)
}

pub(super) fn depth_store(op: &DepthStore, ctx: &Context) -> Result<Machine> {
    Build::new(FormId::DepthStore)
        .op("depth_store")
        .arg(0, publication(op.word))
        .exact_wait(AS_SEEN)
        .done(ctx)
}

pub(super) fn block_store(op: &BlockStore, ctx: &Context) -> Result<Machine> {
    let block = op.block;
    let mode = match (block.multisampled, block.array) {
        (false, false) => "2d",
        (true, false) => "2d_ms",
        (false, true) => "2d_array",
        (true, true) => "2d_ms_array",
    };
    Build::new(FormId::BlockStore)
        .op("block_store")
        .named("mode", mode)
        .set("format", block.format.into())
        .arg(0, publication(block.params))
        .arg(1, named(File::Image, block.image.into()))
        .exact_wait(AS_SEEN)
        .done(ctx)
}
