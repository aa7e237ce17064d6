// SPDX-License-Identifier: MIT
//! Bitwise logic by truth table (isa-1, 4.10; isa-4, 7.1, 7.5; isa-0, 3).
//!
//! The four table bits `t11 t10 t01 t00` give D for A, B = 11, 10, 01, 00. As opcode value they
//! are collected in that order from bit 3 down. The two tables that depend on B alone must not be
//! emitted: on A18 Pro one returned A & B, the other ended in a command error.

use super::blocks::{A2, A4, B2, B4, D2, D4, PUB};
use super::moves::exporting;
use crate::bits::{Bit, Bits};
use crate::form::{Completion, Constant, Form, Mark, Modifier, Opcode, Operand, Wait};
use crate::instr::Instr;

const TABLE: Opcode = Opcode::by(
    &[(32, 32), (43, 43), (33, 33), (16, 16)],
    &[
        (0b1000, "and"),
        (0b1110, "or"),
        (0b0110, "xor"),
        (0b1100, "mova"),
        (0b0111, "nand"),
        (0b0001, "nor"),
        (0b1001, "xnor"),
        (0b0100, "andn2"),
        (0b0010, "andn1"),
        (0b1101, "orn2"),
        (0b1011, "orn1"),
        (0b0011, "nota"),
        (0b0000, "zeros"),
        (0b1111, "ones"),
        (0b1010, "movb"),
        (0b0101, "notb"),
    ],
);
/// Without B the table must not depend on it (isa-0, 3).
const UNARY_TABLE: Opcode = Opcode::by(
    &[(32, 32), (43, 43), (33, 33), (16, 16)],
    &[
        (0b1100, "mov"),
        (0b0011, "not"),
        (0b0000, "zeros"),
        (0b1111, "ones"),
    ],
);
const TAG: Completion = Completion::TagIf(Bits::new(&[(58, 60)]), Bit::at(38));

pub(super) const LOGIC16: Form = Form::row(
    "LOGIC16.10",
    10,
    "0f0006000000ff1fffff",
    "03000600000000000000",
    Mark::Cmp,
    "isa-4 7.5",
    "16-bit logic; partly decoded",
)
.ops(Opcode::by(
    &[(32, 32), (43, 43), (33, 33), (16, 16)],
    &[
        (0b1000, "and16"),
        (0b1110, "or16"),
        (0b0110, "xor16"),
        (0b1100, "mova16"),
        (0b0111, "nand16"),
        (0b0001, "nor16"),
        (0b1001, "xnor16"),
        (0b0100, "andn2_16"),
        (0b0010, "andn1_16"),
        (0b1101, "orn2_16"),
        (0b1011, "orn1_16"),
        (0b0011, "nota16"),
        (0b0000, "zeros16"),
        (0b1111, "ones16"),
        (0b1010, "movb16"),
        (0b0101, "notb16"),
    ],
))
// Bits 34 and 35 look like the half selects of D and A (CMP).
.args(&[
    D2.half(34),
    A2.half(35),
    B2.low_half().scattered(41, Constant::Int(Bit::at(36))),
])
.mods(&[
    PUB,
    Modifier::opaque("f8", &[(8, 8)], &[0]),
    Modifier::opaque("f24", &[(24, 24)], &[1]),
    Modifier::opaque("f37", &[(37, 39)], &[0]),
])
.waits(Wait::MASK45_61.unproven())
.do_not_emit("partly decoded");

pub(super) const LOGIC_4: Form = Form::row(
    "LOGIC.4",
    4,
    "0f010701",
    "0b010401",
    Mark::Cmp,
    "isa-4 7.5",
    "short OR; do not emit",
)
.op(&[(0, "or")])
.args(&[D4, A4, B4])
.mods(&[PUB])
.do_not_emit("not validated on M4");

pub(super) const LOGIC1: Form = Form::row(
    "LOGIC1.10",
    10,
    "0f0116ffbc06ff03efff",
    "0b010600000000000000",
    Mark::Hw,
    "isa-0 3",
    "one-source logic: byte 3 = 0; copy or NOT of A",
)
.aka(&["EXPORT_MOVE10"])
.ops(UNARY_TABLE)
.args(&[exporting(D2, 38), A2])
// Bit 68 is 1 when the depth and coverage pair is published; its meaning is unknown (isa-3, 1.3).
.mods(&[PUB, Modifier::opaque("f68", &[(68, 68)], &[0, 1])])
.waits(Wait::MASK45_61.unproven())
.completes(TAG);

pub(super) const LOGICI: Form = Form::row(
    "LOGICI.10",
    10,
    "0f010681ec06ff1fffff",
    "0b010681000200000000",
    Mark::HwA18,
    "isa-4 7.1",
    "logic with an inline constant B",
)
.ops(TABLE)
.args(&[
    D2,
    A2,
    crate::form::Operand::new(
        "B",
        crate::form::Role::Use,
        crate::form::File::Imm,
        &[(36, 36), (25, 30), (20, 20)],
    ),
])
.mods(&[PUB])
.waits(Wait::MASK45_61.unproven())
.do_not_emit("not validated on M4");

const A: Operand = A2.scattered(39, Constant::Int(Bit::NONE));
const B: Operand = B2.scattered(41, Constant::Int(Bit::NONE));

/// The two tables that depend on B alone fail on hardware (isa-1, 4.10), and even constants were
/// never seen (isa-0, 7, row 4).
fn logic_emit(i: &Instr) -> Option<&'static str> {
    if matches!(TABLE.bits.get(i.bits()), 0b1010 | 0b0101) {
        Some("tables that depend on B alone fail on hardware")
    } else if [A, B].iter().any(|op| op.scattered_constant(i.bits())) {
        Some("even constants are not proven")
    } else {
        None
    }
}

pub(super) const LOGIC: Form = Form::row(
    "LOGIC.10",
    10,
    "0f0106013c00ff03ffff",
    "0b010601000000000000",
    Mark::Hw,
    "isa-1 4.10",
    "bitwise truth table of A and B; exp = 1 writes p[D]",
)
.aka(&["WAIT_MOVE", "EXPORT_LOGIC"])
.ops(TABLE)
.args(&[exporting(D2, 38), A, B])
.mods(&[PUB])
// A pending B is read stale (isa-2, 9.3).
.waits(Wait::MASK45_61.only("A"))
.completes(TAG)
.emit_rule(logic_emit);
