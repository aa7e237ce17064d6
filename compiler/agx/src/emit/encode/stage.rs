// SPDX-License-Identifier: MIT
//! Vertex outputs, interpolation, derivatives, tile memory, coverage and depth (isa-3, 1.3, 3.3, 4 and 5).

use agx_isa::{File, FormId, Reg, SlotMask, Template, Value};

use super::build::Build;
use super::{Encoder, Result, registers_of};
use crate::ir::{
    BlockStore, Coverage, DepthStore, Derivative, InterpPos, Iter, IterFlat, Project, PublishDepth,
    TileAccess, TileFence, TileLoad, TileStore, VertexOut,
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

static PUBLISH_DEPTH: Template = Template::new(FormId::Logic1).op("mov").set("f68", 1);

/// The one-source form with the bit that pairs of control word and depth have (isa-3, 1.3).
pub(super) fn publish_depth(op: &PublishDepth, encoder: &mut Encoder<'_>) -> Result<()> {
    Build::new(&PUBLISH_DEPTH, encoder)
        .arg(0, publication(op.word))
        .src(1, &op.src)
        .slot(EXPORT_SLOT)
        .done()
}

static VERTEX_OUT: Template = Template::new(FormId::VaryStore).op("vary_store");

pub(super) fn vertex_out(op: &VertexOut, encoder: &mut Encoder<'_>) -> Result<()> {
    let waits = encoder.ctx.waits;
    let mut build = Build::new(&VERTEX_OUT, encoder);
    build
        .arg(0, named(File::Output, op.slot))
        .arg(1, publication(op.word));
    // It has to name the slot of the export, even if somebody else has waited for that (isa-3, 5.2).
    if waits.is_empty() {
        build.exact_wait(SlotMask::of(EXPORT_SLOT));
    }
    build.done()
}

fn coefficient(cf: u8) -> Value {
    named(File::Coefficient, cf.into())
}

static ITER: Template = Template::new(FormId::Iter).op("iter");

pub(super) fn iter(op: &Iter, encoder: &mut Encoder<'_>) -> Result<()> {
    let mut build = Build::new(&ITER, encoder);
    build.dst(0, op.dst).arg(1, coefficient(op.cf));
    match &op.pos {
        Some(pos) => build.src(2, pos),
        None => build.arg(2, Value::Absent(0)),
    }
    .done()
}

static ITER_FLAT: Template = Template::new(FormId::IterFlat).op("iter_flat");

pub(super) fn iter_flat(op: &IterFlat, encoder: &mut Encoder<'_>) -> Result<()> {
    if op.dst.len() != 3 {
        return Err(format!("{} registers for three words", op.dst.len()));
    }
    let slot = encoder.ctx.slot;
    Build::new(&ITER_FLAT, encoder)
        .dsts(0, &op.dst)
        .arg(1, coefficient(op.cf))
        .slot(slot)
        .done()
}

static PROJECT: Template = Template::new(FormId::FProj8).op("fproject");

pub(super) fn project(op: &Project, encoder: &mut Encoder<'_>) -> Result<()> {
    Build::new(&PROJECT, encoder)
        .dst(0, op.dst)
        .src(1, &op.a)
        .src(2, &op.w)
        .arg(3, coefficient(op.cf))
        .done()
}

static INTERP_SAMPLE: Template = Template::new(FormId::InterpPos).op("interp_sample");
static INTERP_CENTROID: Template = Template::new(FormId::InterpPos).op("interp_centroid");

pub(super) fn interp_pos(op: &InterpPos, encoder: &mut Encoder<'_>) -> Result<()> {
    let form = if op.sample {
        &INTERP_SAMPLE
    } else {
        &INTERP_CENTROID
    };
    Build::new(form, encoder)
        .dst(0, op.dst)
        .src(1, &op.src)
        .done()
}

static DDX: Template = Template::new(FormId::Deriv).op("ddx");
static DDY: Template = Template::new(FormId::Deriv).op("ddy");

pub(super) fn derivative(op: &Derivative, encoder: &mut Encoder<'_>) -> Result<()> {
    Build::new(if op.down { &DDY } else { &DDX }, encoder)
        .dst(0, op.dst)
        .src(1, &op.src)
        .done()
}

static TILE_ACCESS: Template = Template::new(FormId::TileAccess).op("tile_access");

pub(super) fn tile_access(op: &TileAccess, encoder: &mut Encoder<'_>) -> Result<()> {
    Build::new(&TILE_ACCESS, encoder)
        .set("imm", op.what.into())
        .done()
}

static TILE_FENCE: Template = Template::new(FormId::TileFence).op("tile_fence");

pub(super) fn tile_fence(op: &TileFence, encoder: &mut Encoder<'_>) -> Result<()> {
    let mut build = Build::new(&TILE_FENCE, encoder);
    build.set("imm", op.what.into());
    if op.what == FENCE_BLOCK {
        build.exact_wait(AS_SEEN);
    }
    build.done()
}

fn tile_word(word: u8) -> Value {
    named(File::TileWord, word.into())
}

static TILE_LOAD: Template = Template::new(FormId::TileLoad).op("tile_load");
static TILE_LOAD_MASK: Template = Template::new(FormId::TileLoadMask).op("tile_load");

pub(super) fn tile_load(op: &TileLoad, encoder: &mut Encoder<'_>) -> Result<()> {
    let form = match op.mask {
        Some(_) => &TILE_LOAD_MASK,
        None => &TILE_LOAD,
    };
    let slot = encoder.ctx.slot;
    let mut build = Build::new(form, encoder);
    // A late result over what is released at once would be two claims on one register.
    build
        .sparing(registers_of(&[op.dst]))
        .dst(0, op.dst)
        .arg(1, tile_word(op.word));
    match &op.mask {
        Some(mask) => build.low(2, mask),
        None => build.arg(2, Value::Int(op.samples.into())),
    }
    .slot(slot)
    .done()
}

static TILE_STORE: Template = Template::new(FormId::TileStore).op("tile_store");

pub(super) fn tile_store(op: &TileStore, encoder: &mut Encoder<'_>) -> Result<()> {
    let mut build = Build::new(&TILE_STORE, encoder);
    build.arg(0, tile_word(op.word)).src(1, &op.src);
    match &op.mask {
        Some(mask) => build.low(2, mask).exact_wait(AS_SEEN),
        None => build.arg(2, Value::Int(1)),
    }
    .done()
}

static COVERAGE: Template = Template::new(FormId::Coverage).op("coverage");

pub(super) fn coverage(op: &Coverage, encoder: &mut Encoder<'_>) -> Result<()> {
    Build::new(&COVERAGE, encoder)
        .arg(0, publication(op.word))
        .exact_wait(AS_SEEN)
        .done()
}

static DEPTH_STORE: Template = Template::new(FormId::DepthStore).op("depth_store");

pub(super) fn depth_store(op: &DepthStore, encoder: &mut Encoder<'_>) -> Result<()> {
    Build::new(&DEPTH_STORE, encoder)
        .arg(0, publication(op.word))
        .exact_wait(AS_SEEN)
        .done()
}

const fn block_form(mode: &str) -> Template {
    Template::new(FormId::BlockStore)
        .op("block_store")
        .named("mode", mode)
}

static BLOCK_2D: Template = block_form("2d");
static BLOCK_2D_MS: Template = block_form("2d_ms");
static BLOCK_2D_ARRAY: Template = block_form("2d_array");
static BLOCK_2D_MS_ARRAY: Template = block_form("2d_ms_array");

pub(super) fn block_store(op: &BlockStore, encoder: &mut Encoder<'_>) -> Result<()> {
    let block = op.block;
    let form = match (block.multisampled, block.array) {
        (false, false) => &BLOCK_2D,
        (true, false) => &BLOCK_2D_MS,
        (false, true) => &BLOCK_2D_ARRAY,
        (true, true) => &BLOCK_2D_MS_ARRAY,
    };
    Build::new(form, encoder)
        .set("format", block.format.into())
        .arg(0, publication(block.params))
        .arg(1, named(File::Image, block.image.into()))
        .exact_wait(AS_SEEN)
        .done()
}
