// SPDX-License-Identifier: MIT
//! Publications, texture bundles and the helper for cube maps (isa-3, 1.3 and 2).

use agx_isa::{Arg, File, FormId, Instr as Machine, RESULT_MASKS, Reg, Value};

use super::build::Build;
use super::{Context, Result, consecutive_dsts};
use crate::ir::{Bundle, CubeCoord, CubeFace, Dst, Publish, Src, Texture};

/// The slot of all exports: the only one that a bundle is proven to wait for.
const EXPORT_SLOT: u8 = 1;

/// `x | x`, the proven way to fill a parameter block (isa-3, 1.3).
pub(super) fn publish(op: &Publish, ctx: &Context) -> Result<Machine> {
    publish_word(&op.src, op.word, ctx)
}

pub(super) fn publish_word(src: &Src, word: u8, ctx: &Context) -> Result<Machine> {
    Build::new(FormId::Logic)
        .op("or")
        .arg(0, Value::publication(word.into()))
        .src(1, src)
        .src(2, src)
        .slot(EXPORT_SLOT)
        .done(ctx)
}

fn slot(file: File, index: u8) -> Value {
    Value::Reg(Reg::new(file, index.into()))
}

pub(super) fn bundle(op: &Texture, ctx: &Context) -> Result<Machine> {
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
    let build = Build::new(FormId::Tex)
        .op("texture")
        .set("mode", mode.into())
        .set("kind", kind.into())
        .flag("gather", gather.is_some())
        .set("sel", selector as u64)
        .set("offset_x", i64::from(offset[0]) as u64)
        .set("offset_y", i64::from(offset[1]) as u64)
        .set("access", 1)
        .dst(0, Dst::Reg(consecutive_dsts(&op.dst)?))
        .arg(1, block)
        .arg(2, slot(File::Texture, texture))
        .arg(3, slot(File::Sampler, sampler));
    build.slot(ctx.slot).wait(ctx.waits).keep()
}

pub(super) fn cube_face(op: &CubeFace, ctx: &Context) -> Result<Machine> {
    let dst = Dst::Reg(consecutive_dsts(&op.dst)?);
    cube("cube_face", dst, [&op.x, &op.y, &op.z], ctx)
}

pub(super) fn cube_coord(op: &CubeCoord, ctx: &Context) -> Result<Machine> {
    let name = if op.second { "cube_t" } else { "cube_s" };
    cube(name, op.dst, [&op.x, &op.y, &op.z], ctx)
}

fn cube(name: &str, dst: Dst, direction: [&Src; 3], ctx: &Context) -> Result<Machine> {
    let mut build = Build::new(FormId::Cube).op(name).dst(0, dst);
    for (index, src) in (1..).zip(direction) {
        build = build.src(index, src);
    }
    build.done(ctx)
}
