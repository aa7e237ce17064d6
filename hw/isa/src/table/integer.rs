// SPDX-License-Identifier: MIT
//! Integer add, multiply, shift, bit-field and bit-count forms (isa-1, 4.11 to 4.14; isa-4, 7).

use super::blocks::{AW, BW, CW, DW, HINT0, UW, wide_alt};
use crate::form::{File, Form, Mark, Modifier, Opcode, Operand, Role, Span, Wait};
use crate::illegal::Illegal;
use crate::instr::Instr;

const ADD_SUB: Opcode = Opcode::by(&[(7, 7)], &[(1, "iadd"), (0, "isub")]);

/// Register, uniform or inline constant (isa-1, 2.5).
const A: Operand = AW.keep(49).rel(65).alt(wide_alt(72, (41, 48)));
const B: Operand = BW.keep(58).rel(66).alt(wide_alt(74, (50, 57)));
/// A register whose file bit is part of the form's constants.
const A_REG: Operand = AW.keep(49).rel(65);
const B_REG: Operand = BW.keep(58).rel(66);
const A_CONST: Operand = Operand::new("A", Role::Use, File::Imm, &[(41, 48)]);
const B_CONST: Operand = Operand::new("B", Role::Use, File::Imm, &[(50, 57)]);

/// isa-0, 1.4: with a file bit 0 and the release bit 0 the operand is an inline constant, of which
/// only 0 in B is proven.
fn zero_constants(operands: &[&Operand], i: &Instr) -> Result<(), Illegal> {
    for op in operands {
        if let Some(v) = op.wide_constant(i.bits())
            && v != 0
        {
            return Err(Illegal::rule(
                op.name,
                v,
                "0 (other constants have a form of their own)",
            ));
        }
    }
    Ok(())
}

/// Only the uniform copy `u = A + 0` is proven (isa-0, 7, row 5), and no constant of a multiply-add
/// (row 16).
fn no_constants(i: &Instr) -> Option<&'static str> {
    let word = i.bits();
    let constant = i
        .form()
        .operands
        .iter()
        .any(|op| op.wide_constant(word).is_some());
    constant.then_some("no inline constant is proven here")
}

/// As [`no_constants`], but B may be 0.
fn only_b_constant(i: &Instr) -> Option<&'static str> {
    A.wide_constant(i.bits())
        .map(|_| "no inline constant A is proven")
}

/// The other operand of a form with a constant is a register or uniform.
fn no_constant(op: &Operand, i: &Instr) -> Result<(), Illegal> {
    match op.wide_constant(i.bits()) {
        Some(v) => Err(Illegal::rule(op.name, v, "a register or uniform")),
        None => Ok(()),
    }
}

pub(super) const IADD: Form = Form::row(
    "IADD.10",
    10,
    "7f0ffc01fe0304f8f9fa",
    "1f015400020000a81100",
    Mark::Hw,
    "isa-1 4.11",
    "A + B / A - B",
)
.ops(ADD_SUB)
.args(&[DW, A, B])
.mods(&[HINT0])
.waits(Wait::MASK12)
.check(|i| zero_constants(&[&A, &B], i))
.emit_rule(no_constants);

pub(super) const IADDIA: Form = Form::row(
    "IADDIA.10",
    10,
    "7f0ffc01fe0104f8fbfb",
    "1f015400020000881100",
    Mark::HwA18,
    "isa-4 7.1",
    "inline constant A + / - B",
)
.ops(Opcode::by(
    &[(7, 7)],
    &[(1, "iadd_imm_a"), (0, "isub_imm_a")],
))
.args(&[DW, A_CONST, B])
.mods(&[HINT0])
.waits(Wait::MASK12.unproven())
.check(|i| no_constant(&B, i))
.do_not_emit("not validated on M4");

pub(super) const IADDIB: Form = Form::row(
    "IADDIB.10",
    10,
    "7f0ffc01fe0300f8fdfe",
    "1f015400020000281100",
    Mark::HwA18,
    "isa-0 3",
    "A + / - inline constant B",
)
.ops(Opcode::by(
    &[(7, 7)],
    &[(1, "iadd_imm_b"), (0, "isub_imm_b")],
))
.args(&[DW, A, B_CONST])
.mods(&[HINT0])
.waits(Wait::MASK12.unproven())
.check(|i| no_constant(&A, i))
.do_not_emit("not validated on M4");

const B16: Operand = BW.half(50).keep(58).rel(66).alt(wide_alt(74, (51, 57)));

pub(super) const IADD16A: Form = Form::row(
    "IADD16A.10",
    10,
    "7f0ffc00fe0100f8fbfb",
    "1f015400020000001100",
    Mark::Cmp,
    "isa-4 7.5",
    "D half = inline constant A + / - B half",
)
.ops(Opcode::by(&[(7, 7)], &[(1, "iadd16"), (0, "isub16")]))
.args(&[DW.half(24), A_CONST, B16])
.mods(&[HINT0])
.waits(Wait::MASK12.unproven())
.check(|i| no_constant(&B16, i))
.do_not_emit("not known to have run");

pub(super) const IADD64: Form = Form::row(
    "IADD64.10",
    10,
    "7f0ffc01fe0304f8f9ff",
    "1f015400020000501105",
    Mark::Hw,
    "isa-4 7.2",
    "64-bit pair A + / - pair B",
)
.ops(Opcode::by(&[(7, 7)], &[(1, "iadd64"), (0, "isub64")]))
.args(&[
    DW.span(Span::Regs(2)).align(2),
    A_REG.span(Span::Regs(2)).align(2),
    B_REG.span(Span::Regs(2)).align(2),
])
.mods(&[HINT0])
.waits(Wait::MASK12);

pub(super) const UADD: Form = Form::row(
    "UADD.10",
    10,
    "7f0ffc01fe0304f8f9fa",
    "1f015400000000a81100",
    Mark::Hw,
    "isa-1 4.12",
    "u[U] = A + B / A - B",
)
.aka(&["UNIFORM_STORE"])
.ops(Opcode::by(
    &[(7, 7)],
    &[(1, "uniform_iadd"), (0, "uniform_isub")],
))
.args(&[UW, A, B])
.waits(Wait::MASK12)
.check(|i| zero_constants(&[&A, &B], i))
.emit_rule(only_b_constant);

const MAD_A: Operand = AW.keep(49).rel(73).alt(wide_alt(81, (41, 48)));
const MAD_B: Operand = BW.keep(58).rel(74).alt(wide_alt(83, (50, 57)));
const MAD_C: Operand = CW.keep(67).rel(75).alt(wide_alt(85, (59, 66)));
const MUL_A: Operand = AW.keep(49).rel(73);
const MUL_B: Operand = BW.keep(58).rel(74);
const SIGN_A: Modifier = Modifier::flag("sgnA", 82);
const SIGN_B: Modifier = Modifier::flag("sgnB", 84);

pub(super) const IMAD: Form = Form::row(
    "IMAD.12",
    12,
    "ff0ffc01fe030408f0f1d5ff",
    "9f00540002000000d0210000",
    Mark::Hw,
    "isa-1 4.11",
    "low32(A * B + C)",
)
.op(&[(0, "imad")])
.args(&[DW, MAD_A, MAD_B, MAD_C])
.mods(&[HINT0])
.waits(Wait::MASK12)
.check(|i| zero_constants(&[&MAD_A, &MAD_B, &MAD_C], i))
.emit_rule(no_constants);

pub(super) const IMULW: Form = Form::row(
    "IMULW.12",
    12,
    "ff0ffc01fe0304f8fff9ebff",
    "9f00540002000000e0200a00",
    Mark::Hw,
    "isa-1 4.11",
    "D,D+1 = A * B, 64 bits",
)
.op(&[(0, "imul_wide")])
.args(&[DW.span(Span::Regs(2)).align(2), MUL_A, MUL_B])
.mods(&[SIGN_A, SIGN_B, HINT0])
.waits(Wait::MASK12);

pub(super) const UMAD: Form = Form::row(
    "UMAD.12",
    12,
    "ff0ffc01fe030408f0f1d5ff",
    "9f00540000000000d0210000",
    Mark::Hw,
    "isa-1 4.12",
    "u[U] = low32(A * B + C)",
)
.op(&[(0, "uniform_imad")])
.args(&[UW, MAD_A, MAD_B, MAD_C])
.waits(Wait::MASK12)
.check(|i| zero_constants(&[&MAD_A, &MAD_B, &MAD_C], i))
.emit_rule(no_constants);

pub(super) const UMULW: Form = Form::row(
    "UMULW.12",
    12,
    "ff0ffc01fe0304f8fff9ebff",
    "9f00540000000000e0200a00",
    Mark::Hw,
    "isa-1 4.12",
    "u[U],u[U+1] = A * B",
)
.op(&[(0, "uniform_imul_wide")])
.args(&[UW.span(Span::Regs(2)).align(2), MUL_A, MUL_B])
.mods(&[SIGN_A, SIGN_B])
.waits(Wait::MASK12);

const AMOUNT: Operand = Operand::new("imm", Role::Use, File::Imm, &[(50, 54)]);

pub(super) const ASRI: Form = Form::row(
    "ASRI.10",
    10,
    "ff0ffc01fe0380bfffff",
    "a7015400020000386200",
    Mark::Hw,
    "isa-1 4.13",
    "A >> imm, arithmetic",
)
.op(&[(0, "asr")])
.args(&[DW, AW.rel(62), AMOUNT])
.mods(&[HINT0])
.waits(Wait::MASK12);

pub(super) const ASRR: Form = Form::row(
    "ASRR.10",
    10,
    "ff0ffc01fe03043cffff",
    "a701540002000018e200",
    Mark::Hw,
    "isa-1 4.13",
    "A >> B, arithmetic",
)
.op(&[(0, "asr")])
.args(&[DW, AW.rel(62), BW.rel(63)])
.mods(&[HINT0])
.waits(Wait::MASK12);

const SHIFT: Opcode = Opcode::by(&[(7, 7)], &[(0, "shl"), (1, "shr")]);

pub(super) const LSI: Form = Form::row(
    "LSI.12",
    12,
    "7f0ffc01fe0380fffffeffff",
    "2700540002000000f0100100",
    Mark::Hw,
    "isa-1 4.13",
    "A << imm, A >> imm logical",
)
.ops(SHIFT)
// Bit 49 is the keep hint of the extract form (isa-4, 7.4); the proven compiler leaves it 0.
.args(&[DW, AW.keep_zero(49).rel(72), AMOUNT])
.mods(&[HINT0])
.waits(Wait::MASK12);

pub(super) const UBFE: Form = Form::row(
    "UBFE.12",
    12,
    "ff0ffc01fe0380fffffe0ffe",
    "a700540002000000f0100100",
    Mark::HwA18,
    "isa-4 7.4",
    "(A >> imm) & mask(width)",
)
.op(&[(0, "ubfe")])
.args(&[
    DW,
    AW.keep(49).rel(72),
    AMOUNT,
    Operand::new("width", Role::Use, File::Imm, &[(84, 88)]),
])
.mods(&[HINT0])
.waits(Wait::MASK12.unproven())
.do_not_emit("the width field is read off one value");

pub(super) const LSR: Form = Form::row(
    "LSR.12",
    12,
    "7f0ffc01fe0304fcfffcffff",
    "2700540002000000f0100500",
    Mark::Hw,
    "isa-1 4.13",
    "A << B, A >> B logical",
)
.ops(SHIFT)
.args(&[DW, AW.rel(72), BW.rel(73)])
.mods(&[HINT0])
.waits(Wait::MASK12);

pub(super) const LSR16: Form = Form::row(
    "LSR16.12",
    12,
    "7f0ffc00fe0100fcfffcffff",
    "270054000200000080100500",
    Mark::Cmp,
    "isa-4 7.5",
    "the same on 16-bit halves",
)
.ops(Opcode::by(&[(7, 7)], &[(0, "shl16"), (1, "shr16")]))
.args(&[DW.half(24), AW.half(41).rel(72), BW.half(50).rel(73)])
.mods(&[HINT0])
.waits(Wait::MASK12.unproven())
.do_not_emit("not known to have run");

pub(super) const ROTR: Form = Form::row(
    "ROTR.12",
    12,
    "ff0ffc01fe03800ff0faffff",
    "2701540002000000f0100900",
    Mark::Hw,
    "isa-4 7.3",
    "rotate right by imm",
)
.op(&[(0, "rotr")])
.args(&[DW, AW.rel(72), CW.rel(74), AMOUNT.named("amt")])
.mods(&[HINT0])
.waits(Wait::MASK12)
.check(|i| {
    // Only the case of equal words was seen; which of the two is the high one is INFERRED.
    let (a, c) = (i.arg(1), i.arg(2));
    if a.value == c.value {
        Ok(())
    } else {
        Err(Illegal::rule("C", i.raw(2), "the same register as A"))
    }
});

pub(super) const FSHR: Form = Form::row(
    "FSHR.12",
    12,
    "ff0ffc01fe030408f0f8ffff",
    "2701540002000000f0100d00",
    Mark::HwA18,
    "isa-4 7.3",
    "low32((A:C) >> B), register amount; only copied from vendor code",
)
.op(&[(0, "fshr")])
.args(&[DW, AW.keep(49).rel(72), CW.rel(74), BW.keep(58).rel(73)])
.mods(&[HINT0])
.waits(Wait::MASK12.unproven())
.do_not_emit("amounts above 63 are open");

pub(super) const IADDSH: Form = Form::row(
    "IADDSH.10",
    10,
    "ff0ffc01fe0104f8fbff",
    "9f015400020000c81014",
    Mark::HwA18,
    "isa-4 7.2",
    "inline constant A + (B << 3); do not emit",
)
.op(&[(0, "iadd_shl3")])
.args(&[DW, A_CONST, BW.keep(58).rel(66)])
.mods(&[HINT0])
.waits(Wait::MASK12.unproven())
.do_not_emit("the shift amount field is unknown");

const BIT_COUNT_ARGS: &[Operand] = &[DW, AW.keep(49).rel(52)];

pub(super) const POPCOUNT: Form = Form::row(
    "BITUN.8",
    8,
    "ff0ffc01fe03ecff",
    "2705540002004c04",
    Mark::Hw,
    "isa-1 4.14",
    "population count",
)
.op(&[(0, "popcount")])
.args(BIT_COUNT_ARGS)
.mods(&[HINT0])
.waits(Wait::MASK12);

pub(super) const BITREV_MSB: Form = Form::row(
    "BITUN.8",
    8,
    "ff0efc01fe03ecff",
    "a704540002004c04",
    Mark::Hw,
    "isa-1 4.14",
    "bit reverse (bit 8 = 0), find MSB (bit 8 = 1)",
)
.ops(Opcode::by(&[(8, 8)], &[(0, "bitrev"), (1, "find_msb")]))
.args(BIT_COUNT_ARGS)
.mods(&[HINT0])
.waits(Wait::MASK12);

/// Which integer type a conversion produces: sgn + 4 * sfmt (isa-4, 7.7).
const RESULT_TYPE: Modifier = Modifier::new("type", &[(62, 62), (64, 64)])
    .names(&[(3, "s32"), (0, "u32"), (1, "s8"), (2, "u16")])
    .dot();

pub(super) const I2F: Form = Form::row(
    "I2F.8",
    8,
    "ff0ffc01fe03dabf",
    "a707540002008820",
    Mark::Hw,
    "isa-1 4.6",
    "int to float; bit 50 = 0: fp16 result in D.lo (HW-A18)",
)
.ops(Opcode::by(&[(62, 62)], &[(1, "i2f"), (0, "u2f")]))
.args(&[
    DW.span(Span::NarrowIfClear(crate::bits::Bit::at(50))),
    AW.rel(53),
])
.mods(&[
    Modifier::new("dtype", &[(50, 50)])
        .names(&[(1, "f32"), (0, "f16")])
        .dot(),
    Modifier::hint("hint", 32, 1),
])
.waits(Wait::MASK12);

pub(super) const F2I: Form = Form::row(
    "F2I.10",
    10,
    "ff0ffc00fe03c4bffcff",
    "27075400020084080000",
    Mark::Hw,
    "isa-1 4.6",
    "float to int; type and rounding in bits 51..52, 62, 64, 65",
)
.op(&[(0, "f2i")])
.args(&[
    DW,
    AW.keep(49)
        .rel(53)
        .span(Span::NarrowIfClear(crate::bits::Bit::at(52))),
])
.mods(&[
    RESULT_TYPE,
    Modifier::new("stype", &[(51, 52)])
        .names(&[(2, "f32"), (1, "f16")])
        .dot(),
    Modifier::new("rnd", &[(65, 65)])
        .names(&[(1, "rtz"), (0, "rne")])
        .dot(),
    Modifier::hint("hint", 32, 1),
    // No half select: both values wrote the whole r95 (executed on A18 Pro, vector
    // g17.enc.f2i.dst95alias; isa-1 has it fixed at 0).
    Modifier::ignored("f24", &[(24, 24)]),
])
.waits(Wait::MASK12);
