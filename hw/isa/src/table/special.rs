// SPDX-License-Identifier: MIT
//! Reciprocal and special functions, normalised pack and unpack, derivatives, cube coordinates
//! (isa-1, 4.4, 4.7, 4.16; isa-3, 2.6).

use super::blocks::{AW, BW, DW, HINT0, HINT1, gpr};
use crate::bits::Bit;
use crate::form::{Form, Legal, Mark, Modifier, Opcode, Operand, Role, Span, Wait};
use crate::illegal::Illegal;
use crate::instr::Instr;

/// isa-1, 4.4: the operand types of the reciprocal, as (source type, fp16 result, h).
fn rcp_types(i: &Instr) -> Result<(), Illegal> {
    let key = RCP_SOURCE.of(i) | RCP_RESULT.of(i) << 2 | RCP_H.of(i) << 3;
    match key {
        0b0010 | 0b1101 | 0b0001 => Ok(()),
        _ => Err(Illegal::rule(
            "operand types",
            key,
            "fp32, fp16, or fp16 to fp32 (isa-1, 4.4)",
        )),
    }
}

const RCP_SOURCE: Modifier = Modifier::new("st", &[(58, 59)])
    .legal(Legal::Names(&[(2, "f32"), (1, "f16")]))
    .default(2)
    .dot();
const RCP_RESULT: Modifier = Modifier::new("d16", &[(57, 57)])
    .names(&[(0, "d32"), (1, "d16")])
    .dot();
const RCP_H: Modifier = Modifier::flag("h", 68);

/// Operand types that only vendor programs use.
fn sfu_emit(i: &Instr) -> Option<&'static str> {
    let usual = matches!((SFU_FORMAT.of(i), SFU_SOURCE.of(i)), (0, 2) | (1 | 2, 1));
    (!usual).then_some("these operand types are not proven")
}

pub(super) const RCP: Form = Form::row(
    "RCP.10",
    10,
    "ff0ffc01fe03ecf12dfe",
    "af005400020000402000",
    Mark::Hw,
    "isa-1 4.4",
    "1 / A",
)
.op(&[(0, "rcp")])
.args(&[
    DW.span(Span::NarrowIfSet(Bit::at(57))),
    AW.keep_zero(49)
        .rel(52)
        .neg(71)
        .abs(70)
        .span(Span::NarrowIfClear(Bit::at(59))),
])
.mods(&[
    RCP_SOURCE,
    RCP_RESULT,
    Modifier::flag("sat", 65),
    RCP_H,
    HINT1,
    // Seen set in A18 Pro programs; unexplained (isa-3, 6.3).
    Modifier::hint("f72", 72, 0),
])
.waits(Wait::MASK12)
.check(rcp_types);

/// isa-1, 4.4: operand types as (fmt, source type, fp16 result), and which functions have them.
fn sfu_types(i: &Instr) -> Result<(), Illegal> {
    let key = SFU_FORMAT.of(i) | SFU_SOURCE.of(i) << 2 | SFU_RESULT.of(i) << 4;
    let legal = match key {
        0b0_10_00 => true,
        0b1_01_10 => !matches!(i.op_name(), "sqrt_factor" | "sin_factor"),
        0b0_01_01 => i.op_name() == "sqrt_factor",
        // bfloat16 source, the low half: vectors enc.sfu.bf16.* of an M4 (isa-0, 6, row 64).
        0b0_00_00 => true,
        // Bit 49 with an fp32 source that is kept: the vendor's precise square root (A18 Pro).
        0b0_10_01 => i.op_name() == "sqrt_factor",
        _ => false,
    };
    if legal {
        Ok(())
    } else {
        Err(Illegal::rule(
            "operand types",
            key,
            "a combination of isa-1, 4.4 for this function",
        ))
    }
}

const SFU_ARGS: &[Operand] = &[
    DW.span(Span::NarrowIfSet(Bit::at(61))),
    AW.rel(53)
        .neg(64)
        .abs(63)
        .span(Span::NarrowIfClear(Bit::at(52))),
];
const SFU_SOURCE: Modifier = Modifier::new("st", &[(51, 52)])
    .legal(Legal::Names(&[(2, "f32"), (1, "f16"), (0, "bf16")]))
    .default(2)
    .dot();
const SFU_RESULT: Modifier = Modifier::new("d16", &[(61, 61)])
    .names(&[(0, "d32"), (1, "d16")])
    .dot();
const SFU_FORMAT: Modifier = Modifier::new("fmt", &[(49, 50)]).legal(Legal::Range(0, 2));
const SFU_MODS: &[Modifier] = &[
    SFU_SOURCE,
    SFU_RESULT,
    SFU_FORMAT,
    Modifier::flag("sat", 58),
    HINT1,
];

/// The functions of byte 0 = 0x2f: fn + 4 * rounding mode.
pub(super) const SFU: Form = Form::row(
    "SFU.10",
    10,
    "ff0cfc01fe00c05bf8ff",
    "2f005400020080400000",
    Mark::Hw,
    "isa-1 4.4",
    "rounding, sqrt factor, log2, sin factor",
)
.ops(Opcode::by(
    &[(8, 9), (65, 66)],
    &[
        (0, "round_even"),
        (4, "floor"),
        (8, "ceil"),
        (12, "trunc"),
        (1, "sqrt_factor"),
        (2, "log2"),
        (3, "sin_factor"),
    ],
))
.args(SFU_ARGS)
.mods(SFU_MODS)
.waits(Wait::MASK12)
.check(sfu_types)
.emit_rule(sfu_emit);

const fn sfu_af(value: &'static str, ops: Opcode, what: &'static str) -> Form {
    Form::row(
        "SFU.10",
        10,
        "ff0ffc01fe00c05bf8ff",
        value,
        Mark::Hw,
        "isa-1 4.4",
        what,
    )
    .ops(ops)
    .args(SFU_ARGS)
    .mods(SFU_MODS)
    .waits(Wait::MASK12)
    .check(sfu_types)
    .emit_rule(sfu_emit)
}

pub(super) const SFU_RSQRT: Form = sfu_af(
    "af015400020080400000",
    Opcode::by(&[(65, 66)], &[(0, "rsqrt")]),
    "rsqrt",
);
pub(super) const SFU_EXP2: Form = sfu_af(
    "af025400020080400000",
    Opcode::by(&[(65, 66)], &[(0, "exp2")]),
    "exp2",
);
pub(super) const SFU_RSQRT3: Form = sfu_af(
    "af035400020080400000",
    Opcode::by(&[(65, 66)], &[(0, "rsqrt_fn3")]),
    "as rsqrt (isa-4 11.1); do not emit",
)
.do_not_emit("use rsqrt");

const NORM_FORMATS: &[(u64, &str)] =
    &[(4, "unorm16"), (6, "unorm8"), (2, "snorm16"), (3, "snorm8")];
const PACK_FORMAT: Modifier = Modifier::new("format", &[(77, 79)])
    .names(NORM_FORMATS)
    .dot();

pub(super) const PACKN: Form = Form::row(
    "PACKN.10",
    10,
    "ff0ffc00fe030478fe1f",
    "97045400020000504402",
    Mark::Hw,
    "isa-1 4.7",
    "pack two normalised components",
)
.op(&[(0, "pack_norm")])
.args(&[
    DW.half(24).span(Span::PackResult),
    AW.keep_zero(49).rel(63),
    BW.keep_zero(58).rel(64),
])
.mods(&[PACK_FORMAT, HINT0])
.waits(Wait::MASK12.unproven())
.check(|i| {
    let eight = matches!(PACK_FORMAT.of(i), 3 | 6);
    if eight || !i.raw_bit(24) {
        Ok(())
    } else {
        Err(Illegal::rule("hD", 1, "0 in the 16-bit formats"))
    }
});

const UNPACK_MODE: Modifier = Modifier::new("mode", &[(60, 62)]).names(NORM_FORMATS).dot();
/// 1 in the 16-bit modes.
const UNPACK_WIDE: Modifier = Modifier::derived("w16", 51).default(1);

fn unpack_wide(word: u128) -> u128 {
    UNPACK_WIDE
        .bits
        .put(word, u64::from(matches!(UNPACK_MODE.bits.get(word), 2 | 4)))
}

pub(super) const UNPACKN: Form = Form::row(
    "UNPACKN.8",
    8,
    "ff0ffc01ff01e48f",
    "170454000000048a",
    Mark::Hw,
    "isa-1 4.7",
    "unpack two normalised components",
)
.op(&[(0, "unpack_norm")])
.args(&[
    DW.span(Span::Regs(2)).align(2),
    AW.half(41)
        .span(Span::NarrowIfClear(Bit::at(51)))
        .keep(49)
        .rel(52),
])
.mods(&[UNPACK_MODE, UNPACK_WIDE])
.waits(Wait::MASK12)
.check(|i| {
    if UNPACK_WIDE.of(i) == 1 && i.raw_bit(41) {
        Err(Illegal::rule("hA", 1, "0 in the 16-bit modes"))
    } else {
        Ok(())
    }
})
.derive(unpack_wide);

pub(super) const DERIV: Form = Form::row(
    "DERIV.10",
    10,
    "ff0dfc01fe03fcfbffff",
    "37055400020090400000",
    Mark::Hw,
    "isa-1 4.16",
    "quad derivative",
)
.aka(&["QUAD_DERIV", "DERIVATIVE"])
.ops(Opcode::by(&[(9, 9)], &[(0, "ddx"), (1, "ddy")]))
.args(&[DW, AW.rel_unless(49)])
.mods(&[Modifier::flag("sat", 58), HINT1])
.waits(Wait::MASK12);

pub(super) const CUBE: Form = Form::row(
    "CUBE.12",
    12,
    "ff0ffc80fe010204f8f1fff3",
    "170154000200000050219200",
    Mark::Hw,
    "isa-3 2.6",
    "cube-map helper",
)
.aka(&["CUBE"])
.ops(Opcode::by(
    &[(90, 91)],
    &[(0, "cube_face"), (1, "cube_s"), (2, "cube_t")],
))
.args(&[
    gpr("D", Role::Def, &[(24, 30)]).span(Span::CubeResult),
    gpr("A", Role::Use, &[(41, 47)]).keep(48).rel(73),
    gpr("B", Role::Use, &[(50, 56)]).keep(57).rel(74),
    gpr("C", Role::Use, &[(59, 65)]).keep(66).rel(75),
])
.mods(&[HINT1])
.waits(Wait::MASK12.unproven());
