// SPDX-License-Identifier: MIT
//! Literals, system registers, argument and publication moves (isa-1, 4.1; isa-4, 2.3).

use super::blocks::{A4, D3, D4};
use crate::bits::{Bit, Bits};
use crate::form::{
    Alt, Completion, File, Flow, Form, Legal, Mark, Modifier, Operand, Role, Span, Wait,
};
use crate::illegal::Illegal;

/// The 32 literal bits, least significant piece first (isa-1, 4.1 `MOV_IMM32`).
const LITERAL: Operand = Operand::new(
    "v",
    Role::Use,
    File::Imm,
    &[(8, 14), (33, 36), (42, 43), (48, 59), (25, 31)],
);
const SR: Operand = Operand::new("sr", Role::Use, File::SysReg, &[(8, 15)]);
const GET_SR_TAG: Bits = Bits::new(&[(29, 31)]);

pub(super) const MOV_IMM7: Form = Form::row(
    "MOV_IMM7",
    2,
    "0f80",
    "0c00",
    Mark::Hw,
    "isa-1 4.1",
    "r0..r15 = 0..127",
)
.op(&[(0, "mov_imm")])
.args(&[
    Operand::new("D", Role::Def, File::Gpr, &[(4, 7)]),
    Operand::new("imm", Role::Use, File::Imm, &[(8, 14)]),
]);

pub(super) const GET_SR32: Form = Form::row(
    "GET_SR32",
    4,
    "0f803f1f",
    "0c801006",
    Mark::Hw,
    "isa-1 4.1",
    "D = system register, 32 bits",
)
.aka(&["GET_SR"])
.op(&[(0, "get_sr")])
.args(&[D4, SR])
.completes(Completion::SysRegTag(GET_SR_TAG));

pub(super) const MOV_IMM32: Form = Form::row(
    "MOV_IMM32",
    8,
    "0f803f01e1f300f0",
    "0c80020000000000",
    Mark::Hw,
    "isa-1 4.1",
    "D = 32-bit literal",
)
.aka(&["MOVI32", "literal32"])
.op(&[(0, "mov_imm")])
.args(&[D4, LITERAL]);

pub(super) const EXPORT_IMM32: Form = Form::row(
    "EXPORT_IMM32",
    10,
    "0f803f01e1f300f0ff1f",
    "0c802300000000004000",
    Mark::Cmp,
    "isa-4 2.3",
    "p[D] = 32-bit literal, tagged",
)
.op(&[(0, "export_imm")])
.args(&[D4.file(File::Publication), LITERAL])
.completes(Completion::Tag(Bits::new(&[(77, 79)])))
.do_not_emit("not known to have run");

pub(super) const ATOMIC_RESULT: Form = Form::row(
    "ATOMIC_RESULT",
    8,
    "0fff3fffff1fffef",
    "0c8009a700000000",
    Mark::Hw,
    "isa-2 5.3",
    "landing register and slot of the returning atomic just before it",
)
.op(&[(0, "atomic_result")])
.args(&[D3])
.completes(Completion::Landing(Bits::new(&[(45, 47)])));

pub(super) const GET_SR16: Form = Form::row(
    "GET_SR16",
    4,
    "0f80381f",
    "04801006",
    Mark::Hw,
    "isa-1 4.1",
    "D.lo = 16-bit system register; bits 16..18 = access kind (0; 1 = helper-lane read)",
)
.aka(&["GET_SR"])
.op(&[(0, "get_sr16")])
.args(&[D4.low_half(), SR])
.mods(&[
    // isa-0, 3: 0 normal, 1 helper-lane read, 4 seen in A18 Pro programs.
    Modifier::new("access", &[(16, 18)]).legal(Legal::Names(&[
        (0, "plain"),
        (1, "helper"),
        (4, "kind4"),
    ])),
])
.completes(Completion::SysRegTag(GET_SR_TAG))
.check(|i| match i.raw(1) {
    0xea => Err(Illegal::rule(
        "sr",
        0xea,
        "another register: 0xea begins ray-query instructions",
    )),
    _ => Ok(()),
});

pub(super) const ZEXT16: Form = Form::row(
    "ZEXT16",
    4,
    "0f003fff",
    "03000001",
    Mark::Hw,
    "isa-1 4.1",
    "D = D & 0xffff",
)
.aka(&["SR_ZEXT"])
.op(&[(0, "zext16")])
.args(&[D4.role(Role::UseDef).span(Span::Widened)])
.mods(&[Modifier::ignored("ignored", &[(8, 15)])]);

pub(super) const STOP: Form = Form::row(
    "STOP",
    4,
    "ff000000",
    "0e000000",
    Mark::Hw,
    "isa-1 4.1",
    "end of program; in a launcher: start the main program",
)
.op(&[(0, "stop")])
.mods(&[Modifier::ignored("ignored", &[(8, 31)])])
.flow(Flow::Stop);

pub(super) const FILLER: Form = Form::row(
    "FILLER.2",
    2,
    "ffff",
    "0600",
    Mark::Opaque,
    "launch 3.4",
    "filler; trap if executed",
)
.op(&[(0, "filler")])
.do_not_emit("never executed")
.flow(Flow::Trap);

pub(super) const TERM: Form = Form::row(
    "TERM.4",
    4,
    "ffffffff",
    "f703aa00",
    Mark::Opaque,
    "launch 3.1",
    "arena terminal, first half; trap if executed",
)
.op(&[(0, "terminal")])
.do_not_emit("only inside the entry arena's helper tables")
.flow(Flow::Trap);

pub(super) const ARGW: Form = Form::row(
    "ARGW.4",
    4,
    "0f813f1f",
    "0b000904",
    Mark::Hw,
    "isa-1 4.1",
    "u[D] = A (launcher only)",
)
.aka(&["ARG_MOVE", "ARG"])
.op(&[(0, "arg_move")])
.args(&[
    D4.file(File::Uniform),
    Operand::new("A", Role::Use, File::Gpr, &[(9, 14)]),
])
.waits(Wait::INDEX29.proven_for(0b10));

pub(super) const EXPORT_MOVE4: Form = Form::row(
    "EXPORT_MOVE4",
    4,
    "0f01371f",
    "0b002104",
    Mark::HwA18,
    "isa-3 1.3",
    "p[D] = A, completes on slot 1",
)
.op(&[(0, "export_mov")])
.args(&[D4.file(File::Publication), A4])
.waits(Wait::INDEX29.unproven())
.completes(Completion::Fixed(1))
.do_not_emit("not validated on M4");

pub(super) const UMOV: Form = Form::row(
    "UMOV.4",
    4,
    "0f003fff",
    "0b000108",
    Mark::HwPartial,
    "isa-1 4.17",
    "copy a uniform to a low GPR; do not emit",
)
.op(&[(0, "umov")])
.args(&[D4])
.mods(&[Modifier::opaque("src", &[(8, 15)], &[])])
.do_not_emit("copies of computed registers failed on A18 Pro; the source field is not decoded");

pub(super) const ZERO: Form = Form::row(
    "ZERO.4",
    4,
    "0fff3fff",
    "0b000000",
    Mark::Hw,
    "isa-0 3",
    "D = 0; do not emit",
)
.op(&[(0, "zero")])
.args(&[D4])
.do_not_emit("one of many short encodings that clear the destination; use mov_imm");

/// Destination of the exporting logic and projection forms: publication when `bit` is 1.
pub(super) const fn exporting(d: Operand, bit: u8) -> Operand {
    d.alt(Alt::Export(Bit::at(bit)))
}
