// SPDX-License-Identifier: MIT
//! Normalised formats (isa-1, 4.7; isa-4, 7.6).

use agx_isa::{FormId, Template};

use super::build::Build;
use super::{Encoder, Result};
use crate::ir::{Dst, Norm, PackNorm16, Src, UnpackNorm};

const fn pack_form(format: &str) -> Template {
    Template::new(FormId::PackN)
        .op("pack_norm")
        .named("format", format)
}

static UNORM_16: Template = pack_form("unorm16");
static SNORM_16: Template = pack_form("snorm16");
static UNORM_8: Template = pack_form("unorm8");
static SNORM_8: Template = pack_form("snorm8");

// The proven compiler retains both sources (isa-1, 4.7).

pub(super) fn pack16(op: &PackNorm16, encoder: &mut Encoder<'_>) -> Result<()> {
    let form = if op.signed { &SNORM_16 } else { &UNORM_16 };
    Build::new(form, encoder)
        .retaining()
        .dst(0, op.dst)
        .src(1, &op.a)
        .src(2, &op.b)
        .done()
}

pub(super) fn pack8(
    dst: Dst,
    a: &Src,
    b: &Src,
    signed: bool,
    high: bool,
    encoder: &mut Encoder<'_>,
) -> Result<()> {
    Build::new(if signed { &SNORM_8 } else { &UNORM_8 }, encoder)
        .retaining()
        .half_dst(0, dst, high)
        .src(1, a)
        .src(2, b)
        .done()
}

static UNPACK: Template = Template::new(FormId::UnpackN).op("unpack_norm");

pub(super) fn unpack(op: &UnpackNorm, encoder: &mut Encoder<'_>) -> Result<()> {
    let mut build = Build::new(&UNPACK, encoder);
    build.named("mode", op.norm.text()).dsts(0, &op.dst);
    match op.norm {
        Norm::Unorm8 | Norm::Snorm8 => build.half(1, &op.a, op.high),
        Norm::Unorm16 | Norm::Snorm16 if op.high => {
            return Err("16-bit components come in one register".into());
        }
        Norm::Unorm16 | Norm::Snorm16 => build.src(1, &op.a),
    };
    build.done()
}
