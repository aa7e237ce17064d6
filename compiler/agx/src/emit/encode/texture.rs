// SPDX-License-Identifier: MIT
//! Publications, texture bundles and the helper for cube maps (isa-3, 1.3 and 2).

use agx_isa::{Arg, File, FormId, RESULT_MASKS, Reg, Template, Value};

use super::build::Build;
use super::moves::LOGIC;
use super::{Encoder, Result};
use crate::ir::{Bundle, CubeCoord, CubeFace, Dst, LogicOp, Publish, Src, Texture};

/// The slot of all exports: the only one that a bundle is proven to wait for.
const EXPORT_SLOT: u8 = 1;

/// `x | x`, the proven way to fill a parameter block (isa-3, 1.3).
pub(super) fn publish(op: &Publish, encoder: &mut Encoder<'_>) -> Result<()> {
    publish_word(&op.src, op.word, encoder)
}

pub(super) fn publish_word(src: &Src, word: u8, encoder: &mut Encoder<'_>) -> Result<()> {
    Build::new(&LOGIC[LogicOp::Or as usize], encoder)
        .arg(0, Value::publication(word.into()))
        .src(1, src)
        .src(2, src)
        .slot(EXPORT_SLOT)
        .done()
}

fn entry(file: File, index: u8) -> Value {
    Value::Reg(Reg::new(file, index.into()))
}

static TEXTURE: Template = Template::new(FormId::Tex).op("texture").set("access", 1);

pub(super) fn bundle(op: &Texture, encoder: &mut Encoder<'_>) -> Result<()> {
    let Bundle {
        mode,
        kind,
        gather,
        offset,
        mask,
        texture,
        sampler,
        params,
        last,
    } = op.bundle;
    let wanted = if gather.is_some() { 15 } else { mask };
    if op.dst.len() != wanted.count_ones() as usize {
        return Err(format!(
            "{} registers for the components {wanted:#b}",
            op.dst.len()
        ));
    }
    // A gather has the component where others have the selector of results.
    let selector = match gather {
        Some(component) => Some(usize::from(component)),
        None => RESULT_MASKS.iter().position(|m| *m == mask),
    };
    let selector = selector.ok_or_else(|| format!("the components {mask:#b}"))?;
    let mut block = Arg::new(Value::publication(params.into()));
    block.kill = last;
    let slot = encoder.ctx.slot;
    Build::new(&TEXTURE, encoder)
        .retaining()
        .set("mode", mode.into())
        .set("kind", kind.into())
        .flag("gather", gather.is_some())
        .set("sel", selector as u64)
        .set("offset_x", i64::from(offset[0]) as u64)
        .set("offset_y", i64::from(offset[1]) as u64)
        .dsts(0, &op.dst)
        .arg(1, block)
        .arg(2, entry(File::Texture, texture))
        .arg(3, entry(File::Sampler, sampler))
        .slot(slot)
        .done()
}

static CUBE_FACE: Template = Template::new(FormId::Cube).op("cube_face");
static CUBE_S: Template = Template::new(FormId::Cube).op("cube_s");
static CUBE_T: Template = Template::new(FormId::Cube).op("cube_t");

pub(super) fn cube_face(op: &CubeFace, encoder: &mut Encoder<'_>) -> Result<()> {
    cube(&CUBE_FACE, &op.dst, [&op.x, &op.y, &op.z], encoder)
}

pub(super) fn cube_coord(op: &CubeCoord, encoder: &mut Encoder<'_>) -> Result<()> {
    let form = if op.second { &CUBE_T } else { &CUBE_S };
    cube(form, &[op.dst], [&op.x, &op.y, &op.z], encoder)
}

fn cube(
    form: &Template,
    dsts: &[Dst],
    direction: [&Src; 3],
    encoder: &mut Encoder<'_>,
) -> Result<()> {
    let mut build = Build::new(form, encoder);
    build.dsts(0, dsts);
    for (index, src) in (1..).zip(direction) {
        build.src(index, src);
    }
    build.done()
}
