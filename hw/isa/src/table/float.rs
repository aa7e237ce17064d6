// SPDX-License-Identifier: MIT
//! fp32 and fp16 add, multiply and fused multiply-add (isa-1, 4.2, 4.3, 4.5, 4.16).

use super::blocks::{A2, A2_FLOAT, A3, A4, B2, B2_FLOAT, B3, B4, C3, D2, D3, D4, PUB};
use super::moves::exporting;
use crate::bits::{Bit, Bits};
use crate::form::{
    Alt, Completion, Constant, File, Form, Mark, Modifier, Opcode, Operand, Role, Wait,
};
use crate::instr::Instr;

const ADD_MUL: Opcode = Opcode::by(&[(16, 16)], &[(0, "fadd"), (1, "fmul")]);
const HADD_HMUL: Opcode = Opcode::by(&[(16, 16)], &[(0, "hadd"), (1, "hmul")]);

/// Operand A of the minifloat forms: the alternative file always, register bit 6 fixed at 0.
/// With the flag (bit 15) clear the same bits name a uniform below 128 (isa-1, 2.3).
const A_IMM: Operand = Operand::new("A", Role::Use, File::Gpr, &[(9, 14)])
    .rel(19)
    .keep(15)
    .alt(Alt::Scattered {
        file: Bit::NONE,
        constant: Constant::Float,
        max_uniform: 127,
    });
// The sign of a constant is folded into negP and negC (isa-1, 2.3).
const A_FMA: Operand = A3.scattered(55, Constant::PositiveFloat);
const B_FMA: Operand = B3.scattered(57, Constant::PositiveFloat);
const C_FMA: Operand = C3.scattered(37, Constant::PositiveFloat).abs(35).neg(36);

const NEG_PRODUCT: Modifier = Modifier::flag("negP", 59);
/// Product sign, and what the proven encodings hold in bits 48..54.
const EXPORT_TAG: Bits = Bits::new(&[(58, 60)]);

pub(super) const F2_4: Form = Form::row(
    "F2.4",
    4,
    "0f010601",
    "09010001",
    Mark::Hw,
    "isa-1 4.2",
    "fp32 add / multiply, r0..r63",
)
.ops(ADD_MUL)
.args(&[D4, A4, B4])
.mods(&[PUB]);

pub(super) const F2M_4: Form = Form::row(
    "F2M.4",
    4,
    "0f000600",
    "09000000",
    Mark::Hw,
    "isa-0 3",
    "F2.4 with a 16-bit source (bit 8 or 24 = 0)",
)
.ops(ADD_MUL)
.args(&[D4, A4.sized(8), B4.sized(24)])
.mods(&[PUB])
.do_not_emit("seen in vendor programs only");

pub(super) const FMA_4: Form = Form::row(
    "FMA.4",
    4,
    "0f010701",
    "09010201",
    Mark::HwA18,
    "isa-0 3",
    "D = A * B + D, r0..r63",
)
.op(&[(0, "fma_acc")])
.args(&[D4.role(Role::UseDef), A4, B4])
.mods(&[PUB])
.do_not_emit("not validated on M4");

pub(super) const F2I_6: Form = Form::row(
    "F2I.6",
    6,
    "0f010601ff03",
    "090104018000",
    Mark::Hw,
    "isa-1 4.2",
    "minifloat op B",
)
.ops(ADD_MUL)
.args(&[D2, A_IMM, B2.neg(43)])
.mods(&[PUB])
.waits(Wait::INDEX45);

pub(super) const F2X_6: Form = Form::row(
    "F2X.6",
    6,
    "0f0106017f00",
    "090104014000",
    Mark::HwA18,
    "isa-3 1.3",
    "p[D] = A op B, completes on slot 1",
)
.ops(Opcode::by(
    &[(16, 16)],
    &[(0, "export_fadd"), (1, "export_fmul")],
))
.args(&[
    D2.file(File::Publication).max(127),
    A2_FLOAT,
    B2_FLOAT.neg(43),
])
.mods(&[PUB])
.waits(Wait::INDEX45.unproven())
.completes(Completion::Fixed(1))
.do_not_emit("not validated on M4");

pub(super) const F2_6: Form = Form::row(
    "F2.6",
    6,
    "0f0106017f00",
    "090104010000",
    Mark::Hw,
    "isa-1 4.2",
    "fp32 add / multiply",
)
.ops(ADD_MUL)
.args(&[D2, A2_FLOAT, B2_FLOAT.neg(43)])
.mods(&[PUB])
.waits(Wait::INDEX45);

pub(super) const F2I_8: Form = Form::row(
    "F2I.8",
    8,
    "0f010601ff03ff1d",
    "0901040181000000",
    Mark::Hw,
    "isa-1 4.2",
    "minifloat op B, saturate, wait mask",
)
.ops(ADD_MUL)
.args(&[D2, A_IMM, B2.neg(43)])
.mods(&[PUB, Modifier::flag("sat", 57)])
.waits(Wait::MASK45_61);

pub(super) const F2X_8: Form = Form::row(
    "F2X.8",
    8,
    "0f010601ff02ff03",
    "0901040141000000",
    Mark::Hw,
    "isa-1 4.2",
    "p[D] = A op B, tagged",
)
.aka(&["EXPORT_MUL", "EXPORT_ADD"])
.ops(Opcode::by(
    &[(16, 16)],
    &[(0, "export_fadd"), (1, "export_fmul")],
))
.args(&[D2.file(File::Publication).max(127), A2, B2.neg(43)])
.mods(&[PUB])
.waits(Wait::MASK45_61)
.completes(Completion::Tag(EXPORT_TAG));

pub(super) const F2_8: Form = Form::row(
    "F2.8",
    8,
    "0f0106017f00fd1d",
    "0901040101000000",
    Mark::Hw,
    "isa-1 4.2",
    "fp32 add / multiply with negA, saturate, wait mask",
)
.ops(ADD_MUL)
.args(&[D2, A2_FLOAT.neg(49), B2_FLOAT.neg(43)])
.mods(&[PUB, Modifier::flag("sat", 57)])
.waits(Wait::MASK45_61);

const ABS_ARGS: &[Operand] = &[D2, A2_FLOAT.neg(49).abs(64), B2_FLOAT.neg(43).abs(65)];

pub(super) const FADDABS_10: Form = Form::row(
    "FADDABS.10",
    10,
    "0f0107017f00fd1dfcff",
    "09010401020000000000",
    Mark::Hw,
    "isa-1 4.2",
    "fp32 add with abs",
)
.op(&[(0, "fadd")])
.args(ABS_ARGS)
.mods(&[PUB, Modifier::flag("sat", 57)])
.waits(Wait::MASK45_61);

pub(super) const FMULABS_12: Form = Form::row(
    "FMULABS.12",
    12,
    "0f0107017f00fd1dfcffffff",
    "090105010200000000000000",
    Mark::Hw,
    "isa-1 4.2",
    "fp32 multiply with abs",
)
.op(&[(0, "fmul")])
.args(ABS_ARGS)
.mods(&[PUB, Modifier::flag("sat", 57)])
.waits(Wait::MASK45_61);

pub(super) const FMA_6: Form = Form::row(
    "FMA.6",
    6,
    "0f0107015f01",
    "090106010000",
    Mark::Hw,
    "isa-1 4.3",
    "A * B + C, r0..r63",
)
.op(&[(0, "fma")])
.args(&[
    D4,
    A4,
    B4.alt(Alt::Scattered {
        file: Bit::at(37),
        constant: Constant::PositiveFloat,
        max_uniform: 63,
    }),
    Operand::new("C", Role::Use, File::Gpr, &[(41, 46)])
        .rel(39)
        .keep(47),
])
.mods(&[PUB]);

/// isa-1, 2.3 lists constants for B and C only.
fn fma_emit(i: &Instr) -> Option<&'static str> {
    A_FMA
        .scattered_constant(i.bits())
        .then_some("no constant A is proven")
}

pub(super) const FMA_8: Form = Form::row(
    "FMA.8",
    8,
    "0f01070107017f00",
    "0901060101000200",
    Mark::Hw,
    "isa-1 4.3",
    "A * B + C",
)
.op(&[(0, "fma")])
.args(&[D3, A_FMA, B_FMA, C_FMA])
.mods(&[PUB, NEG_PRODUCT])
.waits(Wait::INDEX61)
.emit_rule(fma_emit);

pub(super) const FMA_10: Form = Form::row(
    "FMA.10",
    10,
    "0f01070107017f00ff1d",
    "09010601020002000000",
    Mark::Hw,
    "isa-1 4.3",
    "plus saturate",
)
.op(&[(0, "fma")])
.args(&[D3, A_FMA, B_FMA, C_FMA])
.mods(&[PUB, NEG_PRODUCT, Modifier::flag("sat", 73)])
.waits(Wait::MASK61_77)
.emit_rule(fma_emit);

pub(super) const FMA_12: Form = Form::row(
    "FMA.12",
    12,
    "0f01070107017f00ff1dfcff",
    "090106010300020000000000",
    Mark::Hw,
    "isa-1 4.3",
    "plus abs on A, B",
)
.op(&[(0, "fma")])
.args(&[D3, A_FMA.abs(80), B_FMA.abs(81), C_FMA])
.mods(&[PUB, NEG_PRODUCT, Modifier::flag("sat", 73)])
.waits(Wait::MASK61_77)
.emit_rule(fma_emit);

pub(super) const FPROJ_8: Form = Form::row(
    "FPROJ.8",
    8,
    "0f010701ff00bfff",
    "0901070100000000",
    Mark::Hw,
    "isa-1 4.16",
    "coefficient-aware multiply by 1/W; bit 54 = 1 writes p[D]",
)
.aka(&["PROJECT"])
.op(&[(0, "fproject")])
.args(&[
    exporting(D4, 54),
    A4,
    B4,
    Operand::new("cf", Role::Use, File::Coefficient, &[(40, 47)]),
])
.mods(&[PUB])
.completes(Completion::FixedIf(1, Bit::at(54)));

pub(super) const H2_6: Form = Form::row(
    "H2.6",
    6,
    "07002600ff02",
    "000004000000",
    Mark::Hw,
    "isa-1 4.5",
    "fp16 add / multiply",
)
.ops(HADD_HMUL)
.args(&[D2.half(3), A2.half(8), B2.half(24).neg(43)])
.waits(Wait::INDEX45);

pub(super) const HFMA_8: Form = Form::row(
    "HFMA.8",
    8,
    "070027003f01ff0a",
    "0000060001000000",
    Mark::Hw,
    "isa-1 4.5",
    "fp16 fused multiply-add",
)
.op(&[(0, "hfma")])
.args(&[D3.half(3), A3.half(8), B3.half(24), C3.low_half()])
.waits(Wait::INDEX61);

pub(super) const H2_4: Form = Form::row(
    "H2.4",
    4,
    "07002600",
    "00000000",
    Mark::HwA18,
    "isa-1 4.5",
    "fp16 add / multiply, r0..r63",
)
.ops(HADD_HMUL)
.args(&[D4.half(3), A4.half(8), B4.half(24)])
.do_not_emit("not validated on M4");

pub(super) const CVT_F32_F16: Form = Form::row(
    "CVT_F32_F16.6",
    6,
    "0f0137fffb0e",
    "010114810002",
    Mark::Hw,
    "isa-1 4.6",
    "D.half = fp16(A)",
)
.op(&[(0, "f32_to_f16")])
.args(&[D2.half(34), A2])
.waits(Wait::INDEX45);

pub(super) const HMULMIX: Form = Form::row(
    "HMULMIX.6",
    6,
    "0f012701ff0a",
    "010105000000",
    Mark::Hw,
    "isa-1 4.5",
    "D.lo = fp16(A(fp32) * B.lo)",
)
.op(&[(0, "hmul_mix")])
.args(&[D2.low_half(), A2, B2.low_half()])
.waits(Wait::INDEX45);

pub(super) const CVT_F16_F32: Form = Form::row(
    "CVT_F16_F32.6",
    6,
    "0f0137fff70e",
    "090014810002",
    Mark::Hw,
    "isa-1 4.6",
    "D = fp32(A.half)",
)
.op(&[(0, "f16_to_f32")])
.args(&[D2, A2.half(35)])
.waits(Wait::INDEX45);
