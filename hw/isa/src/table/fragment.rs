// SPDX-License-Identifier: MIT
//! Image stores, interpolation, tile memory, coverage, depth and vertex outputs (isa-3, 3 to 5;
//! isa-4, 2.2).

use super::blocks::{DW, gpr};
use crate::bits::Bits;
use crate::form::{
    Alt, Completion, File, Form, Legal, Mark, MemoryOp, Modifier, Opcode, Operand, Role, Space,
    Span, Wait,
};
use crate::illegal::Illegal;
use crate::instr::Instr;

const WAIT: Wait = Wait::MASK12.unproven();

/// Words of an image store by its `kind` (isa-4, 2.2); the cube's are not known.
pub(crate) const IMAGE_KIND: Modifier = Modifier::new("kind", &[(72, 79)])
    .names(&[(0x04, "2d"), (0x08, "3d"), (0x0c, "cube")])
    .dot();
pub(crate) const BLOCK_MODE: Modifier = Modifier::new("mode", &[(64, 75)])
    .names(&[
        (0x5a8, "2d"),
        (0x228, "2d_ms"),
        (0x528, "2d_array"),
        (0x028, "2d_ms_array"),
    ])
    .dot();

const fn publication(name: &'static str, max: u64) -> Operand {
    Operand::new(name, Role::Use, File::Publication, &[(25, 31)]).max(max)
}

pub(super) const IMAGE_STORE: Form = Form::row(
    "IMAGE_STORE",
    16,
    "ff0ffc011fc0ffffff00ffff003ffeff",
    "d70054000040000000000000003a0800",
    Mark::HwA18,
    "isa-4 2.2",
    "image store",
)
.op(&[(0, "image_store")])
.args(&[
    publication("param", 127).span(Span::ImageParams),
    Operand::new("image", Role::Use, File::Image, &[(37, 45)]),
])
.mods(&[
    // Coordinates read; the cube value is INFERRED.
    IMAGE_KIND,
    // 0x88 for the first store of a program, one more for each following one; meaning unknown.
    Modifier::new("seq", &[(96, 103)])
        .legal(Legal::Range(0x88, 0xff))
        .default(0x88),
    Modifier::opaque("comp", &[(110, 112)], &[4, 3]),
])
.waits(WAIT)
.memory(Space::Image, MemoryOp::Store)
.emit_after_validation("the field split, and kind 3d");

pub(super) const BLOCK_STORE: Form = Form::row(
    "BLOCK_STORE",
    12,
    "ff0ffc01ff0fffff0000ffff",
    "570054000000008000000100",
    Mark::Hw,
    "isa-3 3.3",
    "tile block to image",
)
.op(&[(0, "block_store")])
.args(&[
    publication("param", 127).align(4).span(Span::BlockParams),
    Operand::new("image", Role::Use, File::Image, &[(44, 47)]),
])
.mods(&[
    BLOCK_MODE,
    Modifier::new("format", &[(76, 79)])
        .names(&[(7, "norm8"), (5, "int8"), (1, "w16"), (3, "w32")])
        .dot(),
])
.waits(WAIT)
.memory(Space::Image, MemoryOp::Store);

pub(super) const ITER: Form = Form::row(
    "ITER",
    10,
    "ff07fc01ff0180ffc7ff",
    "2f055400030000020000",
    Mark::Hw,
    "isa-3 4.3",
    "interpolate a coefficient; bits 67..69 pick ITER / ITER_AT",
)
.aka(&["varying interpolation"])
.op(&[(0, "iter")])
.args(&[
    DW.named("dst"),
    Operand::new("cf", Role::Use, File::Coefficient, &[(41, 47)]),
    gpr("pos", Role::Use, &[(48, 54)])
        .present_if(&[(68, 68)], 0, 1)
        .rel(69)
        .keep(67),
])
// Setting bit 11 on the first ITER breaks implicit LOD in partially covered quads.
.mods(&[Modifier::flag("f11", 11)])
.waits(WAIT)
.check(|i| {
    let bits = [67, 68, 69].map(|b| u32::from(i.raw_bit(b)));
    if bits.iter().sum::<u32>() == 1 {
        Ok(())
    } else {
        let value = u64::from(bits[0] | bits[1] << 1 | bits[2] << 2);
        Err(Illegal::rule("bits 67..69", value, "exactly one bit set"))
    }
})
.emit_rule(|i| i.raw_bit(11).then_some("bit 11 breaks implicit LOD"));

pub(super) const ITER_FLAT: Form = Form::row(
    "ITER_FLAT",
    6,
    "ff0ffc0080f8",
    "1f0354000000",
    Mark::Hw,
    "isa-3 4.3",
    "flat coefficient, async",
)
.aka(&["flat varying fetch"])
.op(&[(0, "iter_flat")])
.args(&[
    gpr("dst", Role::Def, &[(24, 30)]).span(Span::Regs(3)),
    Operand::new("cf", Role::Use, File::Coefficient, &[(31, 38)]),
])
.waits(WAIT)
.completes(Completion::Tag(Bits::new(&[(40, 42)])));

pub(super) const INTERP_POS: Form = Form::row(
    "INTERP_POS",
    8,
    "ff0ffc01ff03fefd",
    "af04540003000a01",
    Mark::Hw,
    "isa-3 4.3",
    "interpolation position; bit 57 = at sample index (HW-cap)",
)
.aka(&["centroid position"])
.ops(Opcode::by(
    &[(57, 57)],
    &[(0, "interp_centroid"), (1, "interp_sample")],
))
// The source register is even in proven use.
.args(&[DW.named("dst"), gpr("src", Role::Use, &[(42, 48)])])
.waits(Wait::MASK12);

const TILE_WORD: Operand = Operand::new("word", Role::Use, File::TileWord, &[(41, 45)]);
const TILE_TAG: Completion = Completion::Tag(Bits::new(&[(63, 65)]));

/// A load reads exactly one sample (isa-3, 4.6).
fn one_sample(i: &Instr) -> Result<(), Illegal> {
    let mask = i.raw(2);
    if mask.count_ones() == 1 {
        Ok(())
    } else {
        Err(Illegal::rule("mask", mask, "one of 1, 2, 4, 8"))
    }
}

pub(super) const TILE_LOAD: Form = Form::row(
    "TILE_LOAD",
    12,
    "ff0ffc01ffc1007ffcffffff",
    "670e54000000004e00000000",
    Mark::Hw,
    "isa-3 4.6",
    "tile word load, literal sample mask, async",
)
.op(&[(0, "tile_load")])
.args(&[
    DW.named("dst"),
    TILE_WORD,
    Operand::new("mask", Role::Use, File::SampleMask, &[(48, 55)]).max(15),
])
.waits(WAIT)
.completes(TILE_TAG)
.memory(Space::Tile, MemoryOp::Load)
.check(one_sample);

pub(super) const TILE_LOAD_MASK: Form = Form::row(
    "TILE_LOAD",
    12,
    "ff0ffc01ffc1007fdcffffff",
    "670654000000004e00000020",
    Mark::Hw,
    "isa-3 4.6",
    "the same, mask register",
)
.op(&[(0, "tile_load")])
.args(&[
    DW.named("dst"),
    TILE_WORD,
    gpr("mask", Role::Use, &[(49, 55)]).half(48).rel(69),
])
.waits(WAIT)
.completes(TILE_TAG)
.memory(Space::Tile, MemoryOp::Load);

pub(super) const TILE_LOAD_COORDS: Form = Form::row(
    "TILE_LOAD",
    12,
    "ff0ffc0100c1007ffcffffff",
    "670654000000004e00000010",
    Mark::Hw,
    "isa-3 4.6",
    "the same, explicit coordinates",
)
.op(&[(0, "tile_load_at")])
.args(&[
    DW.named("dst"),
    TILE_WORD,
    Operand::new("mask", Role::Use, File::SampleMask, &[(48, 55)]).max(15),
    gpr("coords", Role::Use, &[(32, 39)]).max(95),
])
.waits(WAIT)
.completes(TILE_TAG)
.memory(Space::Tile, MemoryOp::Load)
.check(one_sample);

pub(super) const TILE_STORE: Form = Form::row(
    "TILE_STORE",
    12,
    "ff0ffc01ffc100fff7fffff7",
    "e70654000000004e00000000",
    Mark::Hw,
    "isa-3 4.6",
    "tile word store",
)
.op(&[(0, "tile_store")])
.args(&[
    TILE_WORD.role(Role::Def),
    gpr("src", Role::Use, &[(25, 31)]),
    gpr("mask", Role::Use, &[(49, 55)])
        .half(48)
        .rel(67)
        .alt(Alt::Literal {
            gpr: Bits::new(&[(91, 91)]),
            literal: Bits::new(&[(48, 55)]),
            max: 15,
        }),
])
.waits(WAIT)
.check(|i| {
    if i.raw_bit(67) && !i.raw_bit(91) {
        Err(Illegal::rule("mask release", 1, "0 with a literal mask"))
    } else {
        Ok(())
    }
})
.memory(Space::Tile, MemoryOp::Store);

pub(super) const COVERAGE: Form = Form::row(
    "COVERAGE",
    6,
    "ff0ffc01ffff",
    "570454000001",
    Mark::Hw,
    "isa-3 4.7",
    "coverage store",
)
.op(&[(0, "coverage")])
.args(&[publication("param", 63)])
.waits(WAIT)
.drains_with_own_wait();

pub(super) const DEPTH_STORE: Form = Form::row(
    "DEPTH_STORE",
    6,
    "ff0ffc01ffff",
    "d70454000003",
    Mark::Hw,
    "isa-3 4.8",
    "depth store",
)
.op(&[(0, "depth_store")])
.args(&[publication("param", 63).align(2).span(Span::Regs(2))])
.waits(WAIT)
.drains_with_own_wait();

pub(super) const VARY_STORE: Form = Form::row(
    "VARY_STORE",
    8,
    "ff0ffc011fc0ffff",
    "5706540000400000",
    Mark::Hw,
    "isa-3 5.2",
    "vertex output store",
)
.op(&[(0, "vary_store")])
.args(&[
    Operand::new("slot", Role::Def, File::Output, &[(37, 45)]),
    publication("src", 127),
])
.waits(Wait::MASK12);
