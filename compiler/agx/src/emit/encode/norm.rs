// SPDX-License-Identifier: MIT
//! Normalised formats (isa-1, 4.7; isa-4, 7.6).

use agx_isa::{FormId, Instr as Machine};

use super::build::Build;
use super::{Context, Result, consecutive_dsts};
use crate::ir::{Dst, Norm, PackNorm16, Src, UnpackNorm};

pub(super) fn pack16(op: &PackNorm16, ctx: &Context) -> Result<Machine> {
    let build = Build::new(FormId::PackN)
        .op("pack_norm")
        .named("format", if op.signed { "snorm16" } else { "unorm16" })
        .dst(0, op.dst);
    packed(build, &op.a, &op.b, ctx)
}

pub(super) fn pack8(
    dst: Dst,
    a: &Src,
    b: &Src,
    signed: bool,
    high: bool,
    ctx: &Context,
) -> Result<Machine> {
    let build = Build::new(FormId::PackN)
        .op("pack_norm")
        .named("format", if signed { "snorm8" } else { "unorm8" })
        .half_dst(0, dst, high);
    packed(build, a, b, ctx)
}

/// The proven compiler retains both sources (isa-1, 4.7).
fn packed(build: Build, a: &Src, b: &Src, ctx: &Context) -> Result<Machine> {
    build.src(1, a).src(2, b).wait(ctx.waits).keep()
}

pub(super) fn unpack(op: &UnpackNorm, ctx: &Context) -> Result<Machine> {
    let dst = consecutive_dsts(&op.dst)?;
    let build = Build::new(FormId::UnpackN)
        .op("unpack_norm")
        .named("mode", op.norm.text())
        .dst(0, Dst::Reg(dst));
    let build = match op.norm {
        Norm::Unorm8 | Norm::Snorm8 => build.half(1, &op.a, op.high),
        Norm::Unorm16 | Norm::Snorm16 if op.high => {
            return Err("16-bit components come in one register".into());
        }
        Norm::Unorm16 | Norm::Snorm16 => build.src(1, &op.a),
    };
    build.done(ctx)
}
