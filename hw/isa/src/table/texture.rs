// SPDX-License-Identifier: MIT
//! The texture bundle (isa-3, 2; isa-4, 1.2).

use super::blocks::gpr;
use crate::bits::Bits;
use crate::form::{
    Completion, File, Form, Legal, Mark, MemoryOp, Modifier, Operand, Role, Space, Span, Wait,
};
use crate::illegal::Illegal;
use crate::instr::Instr;

/// What one value of mode bytes 6 and 7 means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureMode {
    /// Bytes 6 and 7, little-endian.
    pub code: u16,
    /// Name in assembly text.
    pub name: &'static str,
    /// Publication words read, as a bit set from the block's base.
    pub words: u16,
    /// Legal values of the `kind` field, as a bit set: 1 = fetch, gather or compare (kind 0),
    /// 2 = filtered sample (kind 1), 4 = LOD query (kind 2).
    pub kinds: u8,
}

const fn mode(code: u16, name: &'static str, words: u16, kinds: u8) -> TextureMode {
    TextureMode {
        code,
        name,
        words,
        kinds,
    }
}

/// W0 and W1.
const XY: u16 = 0b11;
/// W0, W1 and the reference or third coordinate.
const XYZ: u16 = 0b111;
/// Layer, face, LOD or bias.
const W3: u16 = 0b1000;
/// Gradients of two coordinates.
const GRAD: u16 = 0xf0;
/// Gradients of three coordinates.
const GRAD3: u16 = 0x3f0;
const FETCH: u8 = 1;
const SAMPLE: u8 = 2;
const QUERY: u8 = 4;

/// The operand layouts of isa-3, 2.5 (tables, shadow rows and immediate-LOD rows) and isa-4, 6.1.
/// Code = byte 6 | byte 7 << 8. Unlisted values are illegal.
pub const TEXTURE_MODES: &[TextureMode] = &[
    mode(0x0000, "2d", XY, FETCH | SAMPLE | QUERY),
    mode(0x0100, "2d_lod", XY | W3, SAMPLE | QUERY),
    mode(0x0004, "2d_bias", XY | W3, SAMPLE | QUERY),
    mode(0x0104, "2d_grad", XY | GRAD, SAMPLE),
    mode(0x0508, "2d_array_lod", XY | W3, SAMPLE | QUERY),
    mode(0x040c, "2d_array_bias", XY | W3, SAMPLE | QUERY),
    mode(0x050c, "2d_array_grad", XY | W3 | GRAD, SAMPLE),
    mode(0x0408, "2d_array", XY | W3, SAMPLE | QUERY),
    mode(0x019c, "3d_grad", XYZ | GRAD3, SAMPLE),
    mode(0x2188, "3d_lod", XYZ | W3, SAMPLE | QUERY),
    mode(0x0190, "3d_bias", XYZ | W3, SAMPLE | QUERY),
    mode(0x0300, "cube_lod", XY | W3, SAMPLE | QUERY),
    mode(0x0014, "cube_bias", XY | W3, SAMPLE | QUERY),
    // Shadow compare: bit 53 set, kind 0, W2 = reference.
    mode(0x0020, "2d_cmp", XYZ, FETCH),
    mode(0x0120, "2d_cmp_lod", XYZ | W3, FETCH),
    mode(0x0024, "2d_cmp_bias", XYZ | W3, FETCH),
    mode(0x0124, "2d_cmp_grad", XYZ | GRAD, FETCH),
    mode(0x0528, "2d_array_cmp_lod", XYZ | W3, FETCH),
    mode(0x042c, "2d_array_cmp_bias", XYZ | W3, FETCH),
    mode(0x052c, "2d_array_cmp_grad", XYZ | W3 | GRAD, FETCH),
    mode(0x0428, "2d_array_cmp", XYZ | W3, FETCH),
    mode(0x0320, "cube_cmp_lod", XYZ | W3, FETCH),
    mode(0x0034, "cube_cmp_bias", XYZ | W3, FETCH),
    // Integer fetch.
    mode(0x2480, "2d_fetch", XY | W3, FETCH),
    mode(0x24a0, "2d_array_fetch", XY | W3, FETCH),
    mode(0x0198, "3d_fetch", XYZ | W3, FETCH),
    mode(0x1480, "2d_ms_fetch", XYZ, FETCH),
    mode(0x14a0, "2d_ms_array_fetch", XYZ, FETCH),
    // Constant texel offset on implicit samples and gathers.
    mode(0x0201, "2d_offset", XY, FETCH | SAMPLE),
    mode(0x0221, "2d_cmp_offset", XYZ, FETCH),
    // Immediate LOD: programs that ran on A18 Pro (HW-cap).
    mode(0x0009, "2d_lod_imm", XY, SAMPLE),
    mode(0x0007, "2d_bias_imm", XY, SAMPLE),
    mode(0x0109, "2d_array_lod_imm", XY | W3, SAMPLE),
    mode(0x0039, "3d_lod_imm", XYZ, SAMPLE),
    mode(0x0013, "cube_lod_imm", XY | W3, SAMPLE),
    mode(0x0053, "cube_array_lod_imm", XY | W3, SAMPLE),
    mode(0x0117, "2d_fetch_imm", XY, FETCH),
    mode(0x0197, "2d_array_fetch_imm", XY | W3, FETCH),
    mode(0x0079, "3d_fetch_imm", XYZ, FETCH),
    mode(0x0029, "2d_cmp_lod_imm", XYZ, FETCH),
    mode(0x021b, "2d_lod_imm_offset", XY, SAMPLE),
    mode(0x023b, "2d_cmp_lod_imm_offset", XYZ, FETCH),
];

/// The row of [`TEXTURE_MODES`] with this code.
#[must_use]
pub fn texture_mode(code: u64) -> Option<&'static TextureMode> {
    TEXTURE_MODES.iter().find(|m| u64::from(m.code) == code)
}

/// Names of the modes, for the table's `mode` field.
const MODE_NAMES: &[(u64, &str)] = &{
    let mut names = [(0, ""); TEXTURE_MODES.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = (TEXTURE_MODES[i].code as u64, TEXTURE_MODES[i].name);
        i += 1;
    }
    names
};

/// Components written, in the order R, G, B, A, by the value of the result selector
/// `{bit 86, bit 37, bit 28, bit 27}` (isa-3, 2.4, HW): bit 0 of the mask is R. 15 is unused.
pub const RESULT_MASKS: [u8; 16] = [1, 2, 4, 8, 9, 3, 7, 15, 5, 6, 10, 12, 13, 11, 14, 0];

const MODE: Modifier = Modifier::new("mode", &[(48, 63)])
    .legal(Legal::Names(MODE_NAMES))
    .dot();
const KIND: Modifier = Modifier::new("kind", &[(84, 85)])
    .names(&[(1, "sample"), (0, "load"), (2, "query")])
    .dot();
const GATHER: Modifier = Modifier::flag("gather", 26);
const SEL: Modifier = Modifier::new("sel", &[(27, 28), (37, 37), (86, 86)])
    .legal(Legal::Range(0, 14))
    .default(7);
const TAG_A: Bits = Bits::new(&[(42, 44)]);
const TAG_B: Bits = Bits::new(&[(45, 47)]);
const OFFSET_X: Modifier = Modifier::new("offset_x", &[(75, 78)]).legal(Legal::Signed);
const OFFSET_Y: Modifier = Modifier::new("offset_y", &[(79, 79), (105, 107)]).legal(Legal::Signed);
const LOD: Modifier = Modifier::new("lod", &[(87, 95)]);

/// The components that a bundle writes; bit 0 = R.
#[must_use]
pub(crate) fn components(word: u128) -> u8 {
    if GATHER.bits.get(word) == 1 {
        15
    } else {
        RESULT_MASKS[SEL.bits.get(word) as usize & 15]
    }
}

/// The publication words that a bundle reads, as a bit set from the block's base.
pub(crate) fn words(word: u128) -> u16 {
    texture_mode(MODE.bits.get(word)).map_or(1, |m| m.words)
}

fn bundle(i: &Instr) -> Result<(), Illegal> {
    let gather = GATHER.of(i) == 1;
    let sel = SEL.of(i);
    if gather && sel > 3 {
        return Err(Illegal::rule("sel", sel, "component 0..=3 of a gather"));
    }
    let code = MODE.of(i);
    let Some(mode) = texture_mode(code) else {
        return Err(Illegal::rule("mode", code, "a mode of isa-3, 2.5"));
    };
    let kind = KIND.of(i);
    if mode.kinds & (1 << kind) == 0 {
        return Err(Illegal::rule(
            "kind",
            kind,
            "a kind of this mode (isa-3, 2.5)",
        ));
    }
    // Only these modes have a gather (isa-3, 2.7), and without compare kind 0 is nothing else.
    let gathers = matches!(mode.name, "2d" | "2d_cmp" | "2d_offset" | "2d_cmp_offset");
    if gather && (kind != 0 || !gathers) {
        return Err(Illegal::rule("gather", 1, "0 in this mode and kind"));
    }
    if !gather && kind == 0 && matches!(mode.name, "2d" | "2d_offset") {
        return Err(Illegal::rule("kind", 0, "1 or 2, or a gather"));
    }
    // A query gives the clamped LOD in R and the other in G.
    if kind == 2 && !matches!(sel, 0 | 1 | 5) {
        return Err(Illegal::rule("sel", sel, "R, G or RG in a query"));
    }
    if !mode.name.ends_with("_offset") && (OFFSET_X.of(i) | OFFSET_Y.of(i)) != 0 {
        return Err(Illegal::rule(
            "offset",
            OFFSET_X.of(i),
            "0 in a mode without offset",
        ));
    }
    if !mode.name.contains("_imm") && LOD.of(i) != 0 {
        return Err(Illegal::rule(
            "lod",
            LOD.of(i),
            "0 in a mode without immediate LOD",
        ));
    }
    // The block's base (isa-3, 2.1).
    let align = if mode.words == XY { 2 } else { 4 };
    if !i.raw(1).is_multiple_of(align) {
        return Err(Illegal::rule(
            "param",
            i.raw(1),
            "a multiple of 4, of 2 with two words",
        ));
    }
    Ok(())
}

pub(super) const TEX: Form = Form::row(
    "TEX",
    14,
    "0780bf405000000000060f00fcf1",
    "05800c0010000000000000000000",
    Mark::Hw,
    "isa-3 2.3",
    "texture sample / fetch / gather / query",
)
.op(&[(0, "texture")])
.args(&[
    gpr("dst", Role::Def, &[(3, 7), (22, 22)]).span(Span::TextureResult),
    Operand::new("param", Role::Use, File::Publication, &[(8, 10), (24, 25)])
        .span(Span::TextureParams)
        // Both bits set: the parameter block is dead afterwards (isa-3, 2.3).
        .rel_all(&[(29, 29), (31, 31)])
        .held(),
    // Bits 14 and 70 of the index are INFERRED, 68 and 69 CMP (isa-4, 1.2).
    Operand::new(
        "tex",
        Role::Use,
        File::Texture,
        &[(71, 71), (11, 14), (68, 70)],
    ),
    Operand::new("samp", Role::Use, File::Sampler, &[(72, 72), (32, 35)]),
])
.mods(&[
    MODE,
    KIND,
    GATHER,
    SEL,
    Modifier::flag("retire", 64),
    Modifier::ignored("f65", &[(65, 67)]),
    OFFSET_X,
    OFFSET_Y,
    LOD,
    Modifier::opaque("access", &[(96, 97)], &[1, 2]),
])
.waits(Wait::MASK39.proven_for(0b1))
.completes(Completion::TwinTag(TAG_A, TAG_B))
.check(bundle)
.memory(Space::Image, MemoryOp::Load);
