// SPDX-License-Identifier: MIT
//! Every operation that the vectors name: the instruction it is, and what its operand keys mean.
//!
//! Instructions are given as assembly text with neutral operands (register 0, immediate 0, no
//! wait). A vector's operands are then set on that text's instruction, which is the from-scratch
//! encoding. Keys that most operations share stand in [`COMMON`].

use super::bind::Bind::{self, *};
use super::load::Encode;
use super::meaning as m;

/// One shape of an operation: the instruction sequence and its own operand keys.
pub(super) struct Shape {
    /// Assembly text, one instruction each.
    pub(super) code: &'static [&'static str],
    /// When vectors of the right length have this shape.
    pub(super) when: fn(&Encode) -> bool,
    /// Operand keys that differ from [`COMMON`].
    pub(super) keys: &'static [(&'static str, Bind)],
    /// Modifiers that are part of the operation although they are not part of the mnemonic.
    pub(super) pins: &'static [&'static str],
}

impl Shape {
    const fn new(code: &'static [&'static str]) -> Shape {
        Shape {
            code,
            when: |_| true,
            keys: &[],
            pins: &[],
        }
    }

    const fn keys(mut self, keys: &'static [(&'static str, Bind)]) -> Shape {
        self.keys = keys;
        self
    }

    const fn when(mut self, when: fn(&Encode) -> bool) -> Shape {
        self.when = when;
        self
    }

    const fn pins(mut self, pins: &'static [&'static str]) -> Shape {
        self.pins = pins;
        self
    }

    /// The meaning of a key.
    pub(super) fn bind(&self, key: &str) -> Option<&'static Bind> {
        self.keys
            .iter()
            .chain(COMMON)
            .find(|(name, _)| *name == key)
            .map(|(_, bind)| bind)
    }
}

/// How the shapes of an operation relate to a vector.
#[derive(Clone, Copy)]
pub(super) enum Cases {
    /// Length and `when` leave exactly one.
    One(&'static [Shape]),
    /// One of them must fit (names of values, not of operand fields).
    Any(&'static [Shape]),
    /// The statement is about all of them.
    Every(&'static [Shape]),
    /// The same, and the bytes are only the first ones of longer instructions.
    EveryPrefix(&'static [Shape]),
    /// Register bit 6 of one operand in every one of them, by the `rule` key.
    HighRegister(&'static [Shape]),
    /// A length witness: the operations of the sequence, see [`Seen`].
    Witness(&'static [Seen], &'static [(&'static str, Bind)]),
    /// A whole program.
    Program,
}

/// What a length witness decodes to.
#[derive(Clone, Copy)]
pub(super) enum Seen {
    /// One of these operations.
    Op(&'static [&'static str]),
    /// Bytes of known length without a decoded form; the text is the reference's reason.
    Undecoded(&'static str),
}

/// Keys whose meaning is the same wherever the form has the operand. Each fails on a form that
/// lacks it.
const COMMON: &[(&str, Bind)] = &[
    ("dst", Reg(&["D", "dst"])),
    ("src0", Reg(&["A", "src"])),
    ("src1", Reg(&["B"])),
    ("src2", Reg(&["C"])),
    ("src0_last_use", Kill("A")),
    ("src1_last_use", Kill("B")),
    ("last_use", Kills),
    ("gpr_sources_last_use", GprKills),
    ("neg", Neg("A")),
    ("abs", Abs("A")),
    ("neg1", Neg("B")),
    ("abs1", Abs("B")),
    ("sat", Flag("sat")),
    ("wait_slot", Wait),
    ("signal_slot", Signal),
    ("hint_bit21", RawBit(21)),
    ("hint_bit32", RawBit(32)),
];

/// An operation with one shape for each length.
macro_rules! simple {
    ($($code:literal),+) => { One(&[$(Shape::new(&[$code])),+]) };
    ($($code:literal),+; $keys:expr) => { One(&[$(Shape::new(&[$code]).keys($keys)),+]) };
}

use Cases::*;
use Seen::{Op, Undecoded};

const IMM_B: &[(&str, Bind)] = &[
    ("imm", Imm("A")),
    ("src0", Reg(&["B"])),
    ("src0_last_use", Kill("B")),
];
const ATOMIC: &[(&str, Bind)] = &[
    ("data", Index("data")),
    ("index", Custom(&m::ATOMIC_INDEX)),
    ("buffer", Num("base")),
    ("selector", Mod("op")),
    ("returns_old", Custom(&m::RETURNS)),
];
const F2I: &[(&str, Bind)] = &[("round", Names("rnd", &[("toward_zero", 1)]))];
const SFU: &[(&str, Bind)] = &[
    ("src_type", Custom(&m::SFU_TYPES)),
    ("dst_type", Custom(&m::SFU_TYPES)),
    ("mode_byte8", Byte(8)),
];
const MEMORY: &[(&str, Bind)] = &[
    ("dst", Index("dst")),
    ("data", Index("data")),
    ("buffer", Num("base")),
    ("index", Custom(&m::MEMORY_INDEX)),
    ("index_mode", Custom(&m::INDEX_MODE)),
    ("index_last_use", Kill("index")),
    ("index_shift", Custom(&m::INDEX_SHIFT)),
    ("byte_offset", Mod("offset")),
    ("width", Custom(&m::FORMAT)),
    ("components", Custom(&m::FORMAT)),
    ("shape", Custom(&m::FORMAT)),
    ("more_loads_follow", Flag("more")),
];
const PREDICATE: &[(&str, Bind)] = &[
    ("cmp_a", Reg(&["A"])),
    ("cmp_b", Reg(&["B"])),
    ("imm", Imm("B")),
    ("bank", Num("P")),
    ("invert", Flag("inv")),
    ("operand_bit7", Keeps),
    ("meaning", Custom(&m::AT_LEAST)),
];
const SELECT: &[(&str, Bind)] = &[
    ("cmp_a", Reg(&["A"])),
    ("cmp_b", Reg(&["B"])),
    ("if_true", Reg(&["T"])),
    ("if_false", Reg(&["F"])),
];
const SELECT_UNIFORM: &[(&str, Bind)] = &[
    ("relation", Custom(&m::MIRRORED_RELATION)),
    ("compare_source", Custom(&m::COMPARE_UNIFORM)),
    ("true_word", Imm("T")),
    ("false_word", Imm("F")),
];
const SELECT_CONSTANTS: &[(&str, Bind)] = &[
    ("cmp_a", Reg(&["A"])),
    ("cmp_b", Reg(&["B"])),
    ("if_true", Imm("T")),
    ("if_false", Imm("F")),
    ("relation", Custom(&m::SWAPPED_RELATION)),
    ("condition_code", Custom(&m::CONDITION)),
    ("equality_bit", Custom(&m::CONDITION)),
];
const AB: &[(&str, Bind)] = &[("a", Reg(&["A"])), ("b", Reg(&["B"]))];
const BA: &[(&str, Bind)] = &[("a", Reg(&["B"])), ("b", Reg(&["A"]))];
const UNPACK: &[(&str, Bind)] = &[
    ("src0", Index("A")),
    ("source_half", Custom(&m::UNPACK_HALF)),
    ("high_half", Custom(&m::UNPACK_HALF)),
    ("format_mode", Custom(&m::UNPACK_MODE)),
];
const PACK: &[(&str, Bind)] = &[
    ("half_result", Custom(&m::PACK_RESULT)),
    ("sources", Custom(&m::PACK_SOURCES)),
    ("format_selector_byte9", Byte(9)),
];
const REDUCE: &[(&str, Bind)] = &[
    ("scope", Custom(&m::SCOPE)),
    ("operation", Custom(&m::REDUCTION)),
    ("scan", Custom(&m::SCAN)),
];
const SHUFFLE: &[(&str, Bind)] = &[("lane_or_mask", Imm("lane"))];
const TEXTURE: &[(&str, Bind)] = &[
    ("texture_index", Num("tex")),
    ("sampler_index", Num("samp")),
    ("coords", Custom(&m::TEXTURE_COORDS)),
    ("dst", Reg(&["dst"])),
    ("signal_slot", Custom(&m::TEXTURE_SLOT)),
    ("offset", Custom(&m::TEXTURE_OFFSET)),
    (
        "component",
        Names("sel", &[("x", 0), ("y", 1), ("z", 2), ("w", 3)]),
    ),
    ("operation", Custom(&m::OP_NAME)),
    ("dims", Text("2d")),
    ("lod", Text("explicit")),
];
const TEXTURE_PINS: &[&str] = &["gather", "sel", "offset_x", "offset_y", "retire", "lod"];
const CUBE: &[(&str, Bind)] = &[
    ("dst_field", Num("D")),
    ("results", Custom(&m::RESULT_COUNT)),
    ("mode", Custom(&m::CUBE_MODE)),
];
const TILE: &[(&str, Bind)] = &[
    ("sample_mask", Custom(&m::SAMPLE_MASK)),
    ("sample_mask_last_use", Kill("mask")),
    ("sample", Custom(&m::SAMPLE)),
    ("coords", Reg(&["coords"])),
    ("render_target", Num("word")),
];
const SYSTEM_REGISTER: &[(&str, Bind)] = &[
    ("dst", Index("D")),
    ("sr_index", Num("sr")),
    ("sr", Custom(&m::SR_NAME)),
    ("value_width", Custom(&m::SR_WIDTH)),
];
const UNIFORM_SOURCE: &[(&str, Bind)] = &[
    ("uniform_word", Custom(&m::UNIFORM_SOURCE)),
    ("uniform_source", Custom(&m::UNIFORM_SOURCE)),
    ("other_source", Custom(&m::OTHER_SOURCE)),
];
const BRANCH: &[(&str, Bind)] = &[
    ("byte_offset", Mod("disp")),
    ("relative_to", Text("start of the branch")),
];
const PUSH: &[(&str, Bind)] = &[
    ("predicate", Num("source")),
    ("invert", Neg("source")),
    ("waits", Custom(&m::WAITS_FOR_SIX)),
];
const BREAK: &[(&str, Bind)] = &[
    ("levels_to_loop", Custom(&m::LEVELS)),
    ("note", Custom(&m::LEVELS_NOTE)),
    ("first", Mod("scopes2")),
    ("second", Num("depth")),
];
/// Only the class and the length are asserted, and the form is not decoded: nothing to compare.
const UNDECODED_LOGIC: &[(&str, Bind)] = &[
    ("dst", Custom(&m::NOT_ASSERTED)),
    ("src0", Custom(&m::NOT_ASSERTED)),
    ("wait_slot", Custom(&m::NOT_ASSERTED)),
    ("imm_encoded_byte3", Custom(&m::BYTE_3)),
];

/// Select conditions of the vectors with registers only.
macro_rules! select {
    ($code:literal) => {
        simple!($code; SELECT)
    };
}

/// A select between constants after a compare with a uniform, for one relation.
const UNIFORM_SELECT: Cases =
    One(&[Shape::new(&["select.10.feq.d32 r0, u0, r0, #0, #0"]).keys(SELECT_UNIFORM)]);

/// A texture operation, as written.
macro_rules! texture {
    ($code:literal) => {
        One(&[Shape::new(&[$code]).keys(TEXTURE).pins(TEXTURE_PINS)])
    };
}

/// Every operation of the vectors.
pub(super) static OPS: &[(&str, Cases)] = &[
    // Moves and system registers.
    (
        "mov_imm",
        One(&[
            Shape::new(&["mov_imm.2 r0, #0"]).keys(&[("imm", Imm("imm"))]),
            Shape::new(&["mov_imm.8 r0, #0"]).keys(&[("imm", Imm("v"))]),
        ]),
    ),
    (
        "get_sr",
        One(&[
            Shape::new(&["get_sr16 r0.l, %local_id_x"])
                .keys(SYSTEM_REGISTER)
                .when(m::narrow_sr),
            Shape::new(&["get_sr r0, %global_id_x"])
                .keys(SYSTEM_REGISTER)
                .when(m::wide_sr),
        ]),
    ),
    (
        "get_sr+zext16",
        One(&[
            Shape::new(&["get_sr16 r0.l, %local_id_x", "zext16 r0"]).keys(&[
                ("dst", All(&[Index("D"), In(1, &Reg(&["D"]))])),
                ("sr_index", Num("sr")),
            ]),
        ]),
    ),
    (
        "store_uniform",
        simple!("uniform_iadd u0, r0, #0"; &[("uniform_word", Num("U"))]),
    ),
    // fp32.
    ("fadd", simple!("fadd.6 r0, r0, r0", "fadd.10 r0, r0, r0")),
    ("fadd_10byte", simple!("fadd.10 r0, r0, r0")),
    ("fsub", simple!("fadd.6 r0, r0, -r0")),
    ("fmul", simple!("fmul.6 r0, r0, r0")),
    ("fadd_imm", simple!("fadd.6 r0, #1.0, r0"; IMM_B)),
    ("fadd_compact", simple!("fadd.4 r0, r0, r0")),
    ("fma", simple!("fma.8 r0, r0, r0, r0")),
    (
        "fsat",
        simple!("fadd.8 r0, r0, #0.0, sat"; &[("addend", Custom(&m::ADDEND))]),
    ),
    (
        "fmul_project",
        simple!("fproject r0, r0, r0, cf0"; &[("coeff", Num("cf"))]),
    ),
    (
        "fmul_export",
        simple!("export_fmul.8 p0, r0, r0"; &[("publication", Num("D"))]),
    ),
    ("fabs_via_logic", simple!("andn2 r0, r0, u0")),
    ("fneg_via_logic", simple!("xor r0, r0, u0")),
    // fp16.
    ("hadd", simple!("hadd.6 r0.l, r0.l, r0.l")),
    ("hmul", simple!("hmul.6 r0.l, r0.l, r0.l")),
    ("hadd_compact", simple!("hadd.4 r0.l, r0.l, r0.l")),
    // Minimum and maximum.
    ("fmin", simple!("fmin r0, r0, r0")),
    ("fmax", simple!("fmax r0, r0, r0")),
    ("umin", simple!("umin r0, r0, r0")),
    ("umax", simple!("umax r0, r0, r0")),
    ("imin", simple!("imin r0, r0, r0")),
    // Conversions.
    ("f16_to_f32", simple!("f16_to_f32 r0, r0.l")),
    ("f32_to_f16", simple!("f32_to_f16 r0.l, r0")),
    ("f32_to_i32", simple!("f2i.s32.f32.rtz r0, r0"; F2I)),
    ("f32_to_u32", simple!("f2i.u32.f32.rtz r0, r0"; F2I)),
    ("f32_to_i32_rne", simple!("f2i.s32.f32.rne r0, r0")),
    ("f32_to_i32_rtz", simple!("f2i.s32.f32.rtz r0, r0")),
    ("f32_to_i8_rne", simple!("f2i.s8.f32.rne r0, r0")),
    ("f32_to_i8_rtz", simple!("f2i.s8.f32.rtz r0, r0")),
    ("f32_to_u16_rtz", simple!("f2i.u16.f32.rtz r0, r0")),
    ("f32_to_u32_rtz", simple!("f2i.u32.f32.rtz r0, r0")),
    ("f16_to_i32_rtz", simple!("f2i.s32.f16.rtz r0, r0.l")),
    ("i32_to_f32", simple!("i2f.f32 r0, r0")),
    ("u32_to_f32", simple!("u2f.f32 r0, r0")),
    ("i32_to_f16", simple!("i2f.f16 r0.l, r0")),
    // Special functions.
    ("rcp", simple!("rcp.f32.d32 r0, r0"; SFU)),
    ("rsqrt", simple!("rsqrt.f32.d32 r0, r0"; SFU)),
    ("af_class3", simple!("rsqrt_fn3.f32.d32 r0, r0")),
    ("exp2", simple!("exp2.f32.d32 r0, r0"; SFU)),
    ("log2", simple!("log2.f32.d32 r0, r0"; SFU)),
    ("sin_factor", simple!("sin_factor.f32.d32 r0, r0")),
    ("sqrt_factor", simple!("sqrt_factor.f32.d32 r0, r0")),
    ("rint", simple!("round_even.f32.d32 r0, r0"; SFU)),
    ("floor", simple!("floor.f32.d32 r0, r0"; SFU)),
    ("trunc", simple!("trunc.f32.d32 r0, r0"; SFU)),
    // Normalised pack and unpack.
    (
        "pack_snorm4x8",
        simple!("pack_norm.snorm8 r0.l, r0, r0"; PACK),
    ),
    (
        "pack_unorm4x8",
        simple!("pack_norm.unorm8 r0.l, r0, r0"; PACK),
    ),
    (
        "pack_unorm2x16",
        simple!("pack_norm.unorm16 r0, r0, r0"; PACK),
    ),
    (
        "unpack_snorm4x8",
        simple!("unpack_norm.snorm8 r0:r1, r0.l"; UNPACK),
    ),
    (
        "unpack_unorm4x8",
        simple!("unpack_norm.unorm8 r0:r1, r0.l"; UNPACK),
    ),
    (
        "unpack_norm",
        simple!("unpack_norm.unorm16 r0:r1, r0"; UNPACK),
    ),
    // Derivatives, interpolation, cube coordinates.
    ("ddx", simple!("ddx r0, r0")),
    ("ddy", simple!("ddy r0, r0")),
    (
        "iter",
        simple!("iter r0, cf0, none"; &[("coefficient", Num("cf"))]),
    ),
    (
        "iter_location_setup",
        One(&[
            Shape::new(&["interp_centroid r0, r0"])
                .when(|v| v.text("location") == Some("centroid"))
                .keys(&[("location", Text("centroid"))]),
            Shape::new(&["interp_sample r0, r0"])
                .when(|v| v.text("location") == Some("sample"))
                .keys(&[("location", Text("sample"))]),
        ]),
    ),
    ("cube_coord_s", simple!("cube_s r0, r0, r0, r0"; CUBE)),
    (
        "cube_magnitude_face",
        simple!("cube_face r0:r1, r0, r0, r0"; CUBE),
    ),
    // Integers.
    (
        "iadd",
        simple!("iadd r0, r0, r0"; &[("src0", Custom(&m::IADD_SOURCE))]),
    ),
    ("isub", simple!("isub r0, r0, r0")),
    ("imad", simple!("imad r0, r0, r0, r0")),
    ("iadd_imm", simple!("iadd_imm_a r0, #0, r0"; IMM_B)),
    ("isub64", simple!("isub64 r0:r1, r0:r1, r0:r1")),
    ("find_msb", simple!("find_msb r0, r0")),
    ("popcount", simple!("popcount r0, r0")),
    (
        "extract_bits_unsigned",
        One(&[
            // Down to the top bit nothing is masked: a plain shift.
            Shape::new(&["shr r0, r0, #0"])
                .when(m::extracts_to_the_top)
                .keys(&[
                    ("offset", Imm("imm")),
                    ("width", Custom(&m::REST_WIDTH)),
                    ("used_as", Custom(&m::SHIFT_NOTE)),
                ]),
            Shape::new(&["ubfe r0, r0, #0, #8"])
                .when(|v| !m::extracts_to_the_top(v))
                .keys(&[("offset", Imm("imm")), ("width", Imm("width"))]),
        ]),
    ),
    (
        "ishr_imm",
        simple!("asr r0, r0, #0"; &[("shift", Imm("imm")), ("signed", Is(true))]),
    ),
    (
        "ishl_imm",
        simple!("iadd_shl3 r0, #0, r0"; &[("shift", Equals(3)), ("src0", Reg(&["B"]))]),
    ),
    (
        "rotate_left_imm",
        simple!("rotr r0, r0, r0, #0"; &[
            ("src0", All(&[Reg(&["A"]), Reg(&["C"])])),
            ("amount", Custom(&m::LEFT_AMOUNT)),
        ]),
    ),
    ("logic_xor", simple!("xor r0, r0, r0")),
    (
        "logic_and",
        Any(&[
            Shape::new(&["and r0, r0, r0"]).keys(AB),
            Shape::new(&["and r0, r0, r0"]).keys(BA),
        ]),
    ),
    (
        "logic_nand",
        Any(&[
            Shape::new(&["nand r0, r0, r0"]).keys(AB),
            Shape::new(&["nand r0, r0, r0"]).keys(BA),
        ]),
    ),
    (
        "logic_a_andnot_b",
        Any(&[
            Shape::new(&["andn2 r0, r0, r0"]).keys(AB),
            Shape::new(&["andn1 r0, r0, r0"]).keys(BA),
        ]),
    ),
    (
        "logic_nota_and_b",
        Any(&[
            Shape::new(&["andn1 r0, r0, r0"]).keys(AB),
            Shape::new(&["andn2 r0, r0, r0"]).keys(BA),
        ]),
    ),
    (
        "logic_nota_or_b",
        Any(&[
            Shape::new(&["orn1 r0, r0, r0"]).keys(AB),
            Shape::new(&["orn2 r0, r0, r0"]).keys(BA),
        ]),
    ),
    ("logic_not", simple!("not r0, r0"; AB)),
    (
        "iand/ior/ixor",
        Every(&[
            Shape::new(&["and r0, r0, r0"]),
            Shape::new(&["or.10 r0, r0, r0"]),
            Shape::new(&["xor r0, r0, r0"]),
        ]),
    ),
    ("logic_zero_short", simple!("zero r0")),
    (
        "iand_imm",
        simple!("and r0, r0, #255"; &[("imm", Imm("B"))]),
    ),
    (
        "ixor_imm",
        simple!("xor r0, r0, #7"; &[("imm_encoded_byte3", Custom(&m::BYTE_3))]),
    ),
    (
        "ior_imm",
        Witness(&[Undecoded("logic with a 16-bit uniform")], UNDECODED_LOGIC),
    ),
    // Predicates and selects.
    (
        "predicate_feq",
        simple!("pcmp.10.feq P0, r0, r0"; PREDICATE),
    ),
    (
        "predicate_ieq",
        simple!("pcmp.10.ieq P0, r0, r0"; PREDICATE),
    ),
    (
        "predicate_ieq_loop",
        simple!("pcmp.10.ieq P0, r0, r0, wait=0"; PREDICATE),
    ),
    (
        "predicate_fle_sequence",
        simple!("pcmp.10.fle P0, r0, r0"; PREDICATE),
    ),
    ("predicate_ilt", simple!("pcmp.6.ilt P0, r0, r0"; PREDICATE)),
    ("predicate_igt", simple!("pcmp.6.igt P0, r0, r0"; PREDICATE)),
    (
        "predicate_flt",
        One(&[
            Shape::new(&["pcmp.6.flt P0, r0, #1.0"])
                .keys(PREDICATE)
                .when(m::has_imm),
            Shape::new(&["pcmp.6.flt P0, r0, r0"])
                .keys(PREDICATE)
                .when(m::lacks_imm),
        ]),
    ),
    (
        "predicate_ugt",
        One(&[
            Shape::new(&["pcmp.6.ugt P0, r0, #0"])
                .keys(PREDICATE)
                .when(m::has_imm),
            Shape::new(&["pcmp.6.ugt P0, r0, r0"])
                .keys(PREDICATE)
                .when(m::lacks_imm),
        ]),
    ),
    (
        "predicate_ult",
        One(&[
            Shape::new(&["pcmp.6.ult P0, r0, #0"])
                .keys(PREDICATE)
                .when(m::has_imm),
            Shape::new(&["pcmp.6.ult P0, r0, r0"])
                .keys(PREDICATE)
                .when(m::lacks_imm),
        ]),
    ),
    ("select_fgt", select!("select.10.fgt r0, r0, r0, r0, r0")),
    ("select_flt", select!("select.10.flt r0, r0, r0, r0, r0")),
    ("select_igt", select!("select.10.igt r0, r0, r0, r0, r0")),
    ("select_ugt", select!("select.10.ugt r0, r0, r0, r0, r0")),
    ("select_ult", select!("select.10.ult r0, r0, r0, r0, r0")),
    ("select_feq_uniform", UNIFORM_SELECT),
    ("select_fge_uniform", UNIFORM_SELECT),
    ("select_flt_uniform", UNIFORM_SELECT),
    ("select_fne_uniform", UNIFORM_SELECT),
    ("select_ieq_uniform", UNIFORM_SELECT),
    ("select_ilt_uniform", UNIFORM_SELECT),
    ("select_ine_uniform", UNIFORM_SELECT),
    ("select_uge_uniform", UNIFORM_SELECT),
    (
        "select_small_constants",
        One(&[Shape::new(&["select.10.feq.d16 r0.l, r0, r0, #0, #0"]).keys(SELECT_CONSTANTS)]),
    ),
    // Memory.
    (
        "device_load",
        simple!("device_load.i32 r0, u0:u1, r0"; MEMORY),
    ),
    (
        "device_store",
        simple!("device_store.i32 r0, u0:u1, r0"; MEMORY),
    ),
    (
        "threadgroup_load",
        simple!("threadgroup_load r0, u0:u1, r0.l"; &[
            ("shape", Text("u32")),
            // Says what the register holds, which the instruction does not show.
            ("index", Text("thread index in group")),
        ]),
    ),
    (
        "spill_load",
        simple!("scratch_fill r0, scr0"; &[("slot_word", Num("word"))]),
    ),
    (
        "device_atomic_add",
        simple!("device_atomic.add.void r0, u0:u1, r0"; ATOMIC),
    ),
    (
        "device_atomic_and",
        simple!("device_atomic.and.void r0, u0:u1, r0"; ATOMIC),
    ),
    (
        "device_atomic_cmpxchg",
        simple!("device_atomic.cmpxchg.void r0:r1, u0:u1, r0"; ATOMIC),
    ),
    (
        "device_atomic_imax",
        simple!("device_atomic.imax.void r0, u0:u1, r0"; ATOMIC),
    ),
    (
        "device_atomic_imin",
        simple!("device_atomic.imin.void r0, u0:u1, r0"; ATOMIC),
    ),
    (
        "device_atomic_or",
        simple!("device_atomic.or.void r0, u0:u1, r0"; ATOMIC),
    ),
    (
        "device_atomic_sub",
        simple!("device_atomic.sub.void r0, u0:u1, r0"; ATOMIC),
    ),
    (
        "device_atomic_umax",
        simple!("device_atomic.umax.void r0, u0:u1, r0"; ATOMIC),
    ),
    (
        "device_atomic_umin",
        simple!("device_atomic.umin.void r0, u0:u1, r0"; ATOMIC),
    ),
    (
        "device_atomic_xor",
        simple!("device_atomic.xor.void r0, u0:u1, r0"; ATOMIC),
    ),
    (
        "atomic_result",
        simple!("atomic_result r0, slot=1"; &[("slot", Signal)]),
    ),
    // Control flow and fences.
    ("jump_if_any_active", simple!("br_any .+0"; BRANCH)),
    ("jump_if_none_active", simple!("br_none .+0"; BRANCH)),
    ("loop_break", simple!("break P1"; BREAK)),
    ("break_mask_unwind", simple!("break P1"; BREAK)),
    ("exec_mask_push", simple!("push.if P0"; PUSH)),
    ("exec_mask_pop", simple!("pop.if")),
    ("loop_mask_push", simple!("push.loop true"; PUSH)),
    ("loop_mask_pop", simple!("pop.loop")),
    (
        "loop_mask_update",
        simple!("loop_update -P0"; &[
            ("loop_depth", Custom(&m::LOOP_DEPTH)),
            ("imm", Byte(3)),
        ]),
    ),
    (
        "memory_fence",
        simple!("fence.device"; &[
            ("memory", Names("class", &[("device", 0x42), ("threadgroup", 0x30)])),
            ("execution_barrier", Is(false)),
        ]),
    ),
    (
        "threadgroup_barrier",
        simple!("barrier.threadgroup"; &[
            ("memory", Names("class", &[("device", 0x42), ("threadgroup", 0x30)])),
            ("execution_barrier", Is(true)),
        ]),
    ),
    // Subgroups.
    (
        "quad_min_i32",
        One(&[Shape::new(&["quad_reduce.imin r0, ^r0, type=7"])
            .keys(REDUCE)
            .pins(&["type"])]),
    ),
    (
        "quad_sum_i32",
        One(&[Shape::new(&["quad_reduce.iadd r0, ^r0, type=3"])
            .keys(REDUCE)
            .pins(&["type"])]),
    ),
    (
        "simd_and",
        One(&[Shape::new(&["subgroup_reduce.and r0, ^r0, type=3"])
            .keys(REDUCE)
            .pins(&["type"])]),
    ),
    (
        "simd_or",
        One(&[Shape::new(&["subgroup_reduce.or r0, ^r0, type=3"])
            .keys(REDUCE)
            .pins(&["type"])]),
    ),
    (
        "simd_umax",
        One(&[Shape::new(&["subgroup_reduce.umax r0, ^r0, type=3"])
            .keys(REDUCE)
            .pins(&["type"])]),
    ),
    (
        "simd_sum_i32",
        One(&[Shape::new(&["subgroup_reduce.iadd r0, ^r0, type=3"])
            .keys(REDUCE)
            .pins(&["type"])]),
    ),
    (
        "simd_sum_f32",
        One(&[Shape::new(&["subgroup_reduce.fadd r0, ^r0, type=0x12"])
            .keys(REDUCE)
            .pins(&["type"])]),
    ),
    (
        "simd_exclusive_sum_i32",
        One(&[Shape::new(&["subgroup_reduce.iadd r0, ^r0, type=0xb"])
            .keys(REDUCE)
            .pins(&["type"])]),
    ),
    (
        "simd_broadcast",
        simple!("shuffle.subgroup.lane r0, r0, #0"; SHUFFLE),
    ),
    (
        "simd_shuffle_xor",
        simple!("shuffle.subgroup.xor r0, r0, #0"; SHUFFLE),
    ),
    // Textures. The compiled code of the vectors waits for slot 1, where parameters complete.
    (
        "texture_sample",
        simple!("texture.2d.sample r0:r3, ^p0:p1, tex0, samp0, slot=1"; TEXTURE),
    ),
    (
        "texture_sample_2d",
        texture!("texture.2d.sample r0:r3, ^p0:p1, tex0, samp0, wait=1, slot=1"),
    ),
    (
        "texture_sample_2d_lod",
        texture!("texture.2d_lod.sample r0:r3, ^p0:p3, tex0, samp0, wait=1, slot=1"),
    ),
    (
        "texture_sample/lod/grad",
        Every(&[
            Shape::new(&["texture.2d.sample r0:r3, ^p0:p1, tex0, samp0, slot=1"]).keys(TEXTURE),
            Shape::new(&["texture.2d_lod.sample r0:r3, ^p0:p3, tex0, samp0, slot=1"]).keys(TEXTURE),
            Shape::new(&["texture.2d_grad.sample r0:r3, ^p0:p7, tex0, samp0, slot=1"])
                .keys(TEXTURE),
        ]),
    ),
    (
        "sample_implicit",
        texture!("texture.2d.sample r0:r3, ^p0:p1, tex0, samp0, retire, slot=1"),
    ),
    (
        "sample_implicit_offset_1_1",
        texture!(
            "texture.2d_offset.sample r0:r3, ^p0:p1, tex0, samp0, retire, offset_x=1, offset_y=1, slot=1"
        ),
    ),
    (
        "sample_lod_offset_1_1",
        texture!(
            "texture.2d_lod_imm_offset.sample r0:r3, ^p0:p1, tex0, samp0, offset_x=1, offset_y=1, slot=1"
        ),
    ),
    (
        "sample_cube_array",
        texture!("texture.cube_array_lod_imm.sample r0:r3, ^p0:p3, tex0, samp0, slot=1"),
    ),
    (
        "sample_compare_implicit",
        texture!("texture.2d_cmp.load r0, ^p0:p2, tex0, samp0, sel=0, retire, slot=1"),
    ),
    (
        "sample_compare_implicit_offset",
        texture!(
            "texture.2d_cmp_offset.load r0, ^p0:p2, tex0, samp0, sel=0, retire, offset_x=1, slot=1"
        ),
    ),
    (
        "gather_x",
        texture!("texture.2d.load r0:r3, ^p0:p1, tex0, samp0, gather, sel=0, slot=1"),
    ),
    (
        "gather_z",
        texture!("texture.2d.load r0:r3, ^p0:p1, tex0, samp0, gather, sel=2, slot=1"),
    ),
    (
        "gather_offset_3_m2",
        texture!(
            "texture.2d_offset.load r0:r3, ^p0:p1, tex0, samp0, gather, sel=0, offset_x=3, offset_y=-2, slot=1"
        ),
    ),
    (
        "gather_compare",
        texture!("texture.2d_cmp.load r0:r3, ^p0:p2, tex0, samp0, gather, sel=0, slot=1"),
    ),
    (
        "gather_compare_offset",
        texture!(
            "texture.2d_cmp_offset.load r0:r3, ^p0:p2, tex0, samp0, gather, sel=0, offset_x=1, slot=1"
        ),
    ),
    (
        "read_multisample",
        texture!("texture.2d_ms_fetch.load r0:r3, ^p0:p2, tex0, samp0, slot=1"),
    ),
    (
        "lod_query_clamped",
        texture!("texture.2d.query r0, ^p0:p1, tex0, samp0, sel=0, slot=1"),
    ),
    (
        "lod_query_unclamped",
        texture!("texture.2d.query r0, ^p0:p1, tex0, samp0, sel=1, slot=1"),
    ),
    // Tile memory, images, vertex outputs.
    (
        "tile_load",
        One(&[
            Shape::new(&["tile_load r0, tw0, #1, slot=1"])
                .keys(TILE)
                .when(|v| v.number("sample_mask").is_some()),
            Shape::new(&["tile_load r0, tw0, r0.l, slot=1"])
                .keys(TILE)
                .when(|v| v.number("sample_mask").is_none()),
        ]),
    ),
    (
        "tile_load_coords",
        simple!("tile_load_at r0, tw0, #1, r0, slot=1"; TILE),
    ),
    ("tile_store", simple!("tile_store tw0, r0, r0.l"; TILE)),
    ("color_store", simple!("tile_store tw0, r0, #1"; TILE)),
    (
        "pixel_order_acquire",
        One(&[Shape::new(&["tile_access imm=0x80c"]).pins(&["imm"])]),
    ),
    // The reference writes the fence that follows as an instruction of its own.
    (
        "block_image_store_ms",
        One(&[Shape::new(&[
            "block_store.2d_ms.w16 p0:p3, img0",
            "tile_fence imm=0x300, wait=1",
        ])
        .keys(&[
            ("sources", Custom(&m::STORE_PARAMETERS)),
            ("image_index", Num("image")),
        ])]),
    ),
    (
        "vary_store",
        simple!("vary_store out0, p0"; &[
            ("publication", Num("src")),
            ("output_slot", Num("slot")),
        ]),
    ),
    // Fields that several instructions share.
    (
        "fadd/fsub/fmul/min/max",
        Every(&[
            Shape::new(&["fadd.6 r0, r0, r0"]).keys(UNIFORM_SOURCE),
            Shape::new(&["fadd.6 r0, r0, -r0"]).keys(UNIFORM_SOURCE),
            Shape::new(&["fmul.6 r0, r0, r0"]).keys(UNIFORM_SOURCE),
            Shape::new(&["fmin r0, r0, r0"]).keys(UNIFORM_SOURCE),
            Shape::new(&["fmax r0, r0, r0"]).keys(UNIFORM_SOURCE),
            Shape::new(&["umin r0, r0, r0"]).keys(UNIFORM_SOURCE),
            Shape::new(&["umax r0, r0, r0"]).keys(UNIFORM_SOURCE),
            Shape::new(&["imin r0, r0, r0"]).keys(UNIFORM_SOURCE),
            Shape::new(&["imax r0, r0, r0"]).keys(UNIFORM_SOURCE),
        ]),
    ),
    (
        "ior_uniform",
        simple!("or.10 r0, u0, r0"; &[("uniform_word", Num("A"))]),
    ),
    (
        "iadd/imad/u2f/f2u/frcp/ishr/device_store",
        EveryPrefix(&[
            Shape::new(&["iadd r0, r0, r0"]),
            Shape::new(&["imad r0, r0, r0, r0"]),
            Shape::new(&["u2f.f32 r0, r0"]),
            Shape::new(&["f2i.u32.f32.rtz r0, r0"]),
            Shape::new(&["rcp.f32.d32 r0, r0"]),
            Shape::new(&["asr r0, r0, #0"]),
            Shape::new(&["device_store.i32 r0, u0:u1, r0"]),
        ]),
    ),
    (
        "hadd/hsub/hmul",
        HighRegister(&[
            Shape::new(&["hadd.6 r0.l, r0.l, r0.l"]),
            Shape::new(&["hadd.6 r0.l, r0.l, -r0.l"]),
            Shape::new(&["hmul.6 r0.l, r0.l, r0.l"]),
        ]),
    ),
    (
        "hfma",
        HighRegister(&[Shape::new(&["hfma r0.l, r0.l, r0.l, r0.l"])]),
    ),
    (
        "sfu/convert/bit_unary/shift",
        HighRegister(&[
            Shape::new(&["exp2.f32.d32 r0, r0"]),
            Shape::new(&["log2.f32.d32 r0, r0"]),
            Shape::new(&["rsqrt.f32.d32 r0, r0"]),
            Shape::new(&["floor.f32.d32 r0, r0"]),
            Shape::new(&["rcp.f32.d32 r0, r0"]),
            Shape::new(&["f2i.s32.f32.rtz r0, r0"]),
            Shape::new(&["i2f.f32 r0, r0"]),
            Shape::new(&["popcount r0, r0"]),
            Shape::new(&["bitrev r0, r0"]),
            Shape::new(&["find_msb r0, r0"]),
            Shape::new(&["asr r0, r0, #0"]),
            Shape::new(&["asr r0, r0, r0"]),
            Shape::new(&["ddx r0, r0"]),
        ]),
    ),
    // Length witnesses.
    ("atomic_device", Witness(&[Op(&["device_atomic"])], &[])),
    // The reference has no frame marker; the bytes are those of a zero extension.
    ("frame_marker", Witness(&[Op(&["zext16"])], &[])),
    ("frame_prologue", Witness(&[Op(&["call_frame"])], &[])),
    ("link_save", Witness(&[Op(&["call_link"])], &[])),
    ("ret_leaf", Witness(&[Op(&["ret"])], &[])),
    ("ret_nonleaf", Witness(&[Op(&["ret"])], &[])),
    ("call", Witness(&[Op(&["push"]), Op(&["call"])], &[])),
    ("if_push_cond", Witness(&[Op(&["push"])], &[])),
    (
        "control_fence",
        Witness(&[Undecoded("control fence of call sequences")], &[]),
    ),
    (
        "bf16_mul",
        Witness(
            &[Undecoded("bfloat16 arithmetic")],
            &[("opsel_byte2", Custom(&m::BYTE_2))],
        ),
    ),
    ("falu2", Witness(&[Op(&["fadd", "fmul"])], &[])),
    ("falu3", Witness(&[Op(&["fma"])], &[])),
    ("falu_compact4", Witness(&[Op(&["fadd", "fmul"])], &[])),
    ("falu_ext10", Witness(&[Op(&["fma", "fadd"])], &[])),
    ("falu_ext12", Witness(&[Op(&["fma", "fmul"])], &[])),
    (
        "half_alu_ext8",
        Witness(&[Undecoded("long fp16 form")], &[]),
    ),
    (
        "half_alu_ext10",
        Witness(&[Undecoded("long fp16 form")], &[]),
    ),
    ("ilogic", Witness(&[Op(&["xor"])], &[])),
    ("reg_move_c9", Witness(&[Undecoded("register move")], &[])),
    ("icmp_pred_ordered6", Witness(&[Op(&["pcmp"])], &[])),
    ("icmp_pred_ext10", Witness(&[Op(&["pcmp"])], &[])),
    ("isel10", Witness(&[Op(&["select"])], &[])),
    // The reference reads the "seed" as a multiplication by a uniform (isa-1, 8).
    (
        "rsqrt_seed",
        Witness(
            &[Op(&["fmul"])],
            &[
                ("dst", Reg(&["D"])),
                ("src0", Reg(&["A"])),
                ("selector_byte3", Byte(3)),
            ],
        ),
    ),
    (
        "sqrt_seed",
        Witness(
            &[Op(&["fmul"])],
            &[
                ("dst", Reg(&["D"])),
                ("src0", Reg(&["A"])),
                ("selector_byte3", Byte(3)),
            ],
        ),
    ),
    ("simd_vote_mask", Witness(&[Op(&["ballot"])], &[])),
    (
        "simd_ballot",
        Witness(
            &[Op(&["ballot_cmp"])],
            &[("predicate", Custom(&m::BALLOT_PREDICATE))],
        ),
    ),
    (
        "spill_frame_marker",
        Witness(&[Undecoded("marker in vendor spill code")], &[]),
    ),
    ("tile_read", Witness(&[Op(&["tile_load"])], &[])),
    (
        "imageblock_load",
        Witness(&[Undecoded("tile access from compute")], &[]),
    ),
    (
        "imageblock_store",
        Witness(&[Undecoded("tile access from compute")], &[]),
    ),
    ("pixel_order_wait", Witness(&[Op(&["fence"])], &[])),
    // Whole programs.
    ("kernel_split", Program),
    ("kernel_decode", Program),
];

/// How to check an operation.
pub(super) fn find(op: &str) -> Option<&'static Cases> {
    OPS.iter()
        .find(|(name, _)| *name == op)
        .map(|(_, cases)| cases)
}
