// SPDX-License-Identifier: MIT
//! The texture bundle (isa-3, 2; isa-4, 1.2).

use super::blocks::gpr;
use crate::bits::Bits;
use crate::form::{Completion, File, Form, Legal, Mark, Modifier, Operand, Role, Span, Wait};
use crate::illegal::Illegal;
use crate::instr::Instr;

/// What one value of mode bytes 6 and 7 means: name and publication words read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureMode {
    /// Bytes 6 and 7, little-endian.
    pub code: u16,
    /// Name in assembly text.
    pub name: &'static str,
    /// Number of publication words from the block's base to the last one read.
    pub words: u8,
    /// Legal values of the `kind` field, as a bit set: 1 = fetch, gather or compare (kind 0),
    /// 2 = filtered sample (kind 1), 4 = LOD query (kind 2).
    pub kinds: u8,
}

const fn mode(code: u16, name: &'static str, words: u8, kinds: u8) -> TextureMode {
    TextureMode {
        code,
        name,
        words,
        kinds,
    }
}

const FETCH: u8 = 1;
const SAMPLE: u8 = 2;
const QUERY: u8 = 4;

/// The operand layouts of isa-3, 2.5 (tables, shadow rows and immediate-LOD rows) and isa-4, 6.1.
/// Code = byte 6 | byte 7 << 8. Unlisted values are illegal.
pub const TEXTURE_MODES: &[TextureMode] = &[
    mode(0x0000, "2d", 2, FETCH | SAMPLE | QUERY),
    mode(0x0100, "2d_lod", 4, SAMPLE | QUERY),
    mode(0x0004, "2d_bias", 4, SAMPLE | QUERY),
    mode(0x0104, "2d_grad", 8, SAMPLE),
    mode(0x0508, "2d_array_lod", 4, SAMPLE | QUERY),
    mode(0x040c, "2d_array_bias", 4, SAMPLE | QUERY),
    mode(0x050c, "2d_array_grad", 8, SAMPLE),
    mode(0x0408, "2d_array", 4, SAMPLE | QUERY),
    mode(0x019c, "3d_grad", 10, SAMPLE),
    mode(0x2188, "3d_lod", 4, SAMPLE | QUERY),
    mode(0x0190, "3d_bias", 4, SAMPLE | QUERY),
    mode(0x0300, "cube_lod", 4, SAMPLE | QUERY),
    mode(0x0014, "cube_bias", 4, SAMPLE | QUERY),
    // Shadow compare: bit 53 set, kind 0, W2 = reference.
    mode(0x0020, "2d_cmp", 3, FETCH),
    mode(0x0120, "2d_cmp_lod", 4, FETCH),
    mode(0x0024, "2d_cmp_bias", 4, FETCH),
    mode(0x0124, "2d_cmp_grad", 8, FETCH),
    mode(0x0528, "2d_array_cmp_lod", 4, FETCH),
    mode(0x042c, "2d_array_cmp_bias", 4, FETCH),
    mode(0x052c, "2d_array_cmp_grad", 8, FETCH),
    mode(0x0428, "2d_array_cmp", 4, FETCH),
    mode(0x0320, "cube_cmp_lod", 4, FETCH),
    mode(0x0034, "cube_cmp_bias", 4, FETCH),
    // Integer fetch.
    mode(0x2480, "2d_fetch", 4, FETCH),
    mode(0x24a0, "2d_array_fetch", 4, FETCH),
    mode(0x0198, "3d_fetch", 4, FETCH),
    mode(0x1480, "2d_ms_fetch", 3, FETCH),
    mode(0x14a0, "2d_ms_array_fetch", 3, FETCH),
    // Constant texel offset on implicit samples and gathers.
    mode(0x0201, "2d_offset", 2, FETCH | SAMPLE),
    mode(0x0221, "2d_cmp_offset", 3, FETCH),
    // Immediate LOD: programs that ran on A18 Pro (HW-cap).
    mode(0x0009, "2d_lod_imm", 2, SAMPLE),
    mode(0x0007, "2d_bias_imm", 2, SAMPLE),
    mode(0x0109, "2d_array_lod_imm", 4, SAMPLE),
    mode(0x0039, "3d_lod_imm", 4, SAMPLE),
    mode(0x0013, "cube_lod_imm", 4, SAMPLE),
    mode(0x0053, "cube_array_lod_imm", 4, SAMPLE),
    mode(0x0117, "2d_fetch_imm", 4, FETCH),
    mode(0x0197, "2d_array_fetch_imm", 4, FETCH),
    mode(0x0079, "3d_fetch_imm", 4, FETCH),
    mode(0x0029, "2d_cmp_lod_imm", 3, FETCH),
    mode(0x021b, "2d_lod_imm_offset", 2, SAMPLE),
    mode(0x023b, "2d_cmp_lod_imm_offset", 3, FETCH),
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
const TAG_B: Modifier = Modifier::new("tagB", &[(45, 47)]).legal(Legal::Range(0, 5));

fn bundle(i: &Instr) -> Result<(), Illegal> {
    let gather = GATHER.of(i) == 1;
    let sel = SEL.of(i);
    if gather && sel > 3 {
        return Err(Illegal::rule("sel", sel, "component 0..=3 of a gather"));
    }
    let tag_b = TAG_B.of(i);
    if TAG_A.get(i.bits()) != tag_b {
        return Err(Illegal::rule("tagB", tag_b, "the same as tagA"));
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
    if gather && kind != 0 {
        return Err(Illegal::rule("kind", kind, "0 in a gather"));
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
        .span(Span::TextureParams),
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
    // Both bits set: the parameter block is dead afterwards (isa-3, 2.3).
    Modifier::new("param_release", &[(29, 29), (31, 31)])
        .legal(Legal::Set(&[0, 3]))
        .default(3),
    TAG_B,
    Modifier::flag("retire", 64),
    Modifier::ignored("f65", &[(65, 67)]),
    Modifier::new("offset_x", &[(75, 78)]).legal(Legal::Signed),
    Modifier::new("offset_y", &[(79, 79), (105, 107)]).legal(Legal::Signed),
    Modifier::new("lod", &[(87, 95)]),
    Modifier::opaque("access", &[(96, 97)], &[1, 2]),
])
.waits(Wait::MASK39)
.completes(Completion::Tag(TAG_A))
.check(bundle);
