// SPDX-License-Identifier: MIT
//! Minimum, maximum, predicates and selects (isa-1, 4.8, 4.9; isa-4, 7.1; isa-0, 3).

use super::blocks::{A2, A3, B2, B3, C3, D2, D3, F3, PUB};
use crate::bits::{Bit, Bits};
use crate::form::{Completion, Constant, File, Form, Mark, Modifier, Opcode, Operand, Role, Wait};
use crate::illegal::Illegal;
use crate::instr::Instr;

/// `cond`, with `eq` = 0 (isa-1, 4.9).
const ORDER: &[(u64, &str)] = &[
    (2, "fgt"),
    (3, "flt"),
    (4, "ugt"),
    (5, "ult"),
    (6, "igt"),
    (7, "ilt"),
];
/// `cond`, with `eq` = 1. 6 occurs in one A18 Pro program: signed >=, INFERRED (isa-0, 1.4).
const EQUAL: &[(u64, &str)] = &[(0, "feq"), (2, "fge"), (3, "fle"), (6, "ige"), (7, "ieq")];
/// `cond` and `eq` together, for the forms that hold both.
const CONDITION: &[(u64, &str)] = &[
    (2, "fgt"),
    (3, "flt"),
    (4, "ugt"),
    (5, "ult"),
    (6, "igt"),
    (7, "ilt"),
    (8, "feq"),
    (10, "fge"),
    (11, "fle"),
    (14, "ige"),
    (15, "ieq"),
];
const SELECT_COND: Modifier = Modifier::new("cond", &[(48, 50), (34, 34)])
    .names(CONDITION)
    .dot();
/// 1 normally, 0 when an operand has a float modifier that [`minmax_raw`] or [`select_raw`] names.
const RAW: Modifier = Modifier::derived("raw", 18).default(1);
const RAW_BIT: Bit = Bit::at(18);
/// The same bit in the vendor forms, whose rule is not established.
const RAW_FREE: Modifier = Modifier::flag("raw", 18).default(1);

/// isa-1, 4.8: 0 when B is negated.
fn minmax_raw(word: u128) -> u128 {
    RAW_BIT.put(word, !Bit::at(43).get(word))
}

/// isa-1, 4.9: 0 when T or F has a modifier.
fn select_raw(word: u128) -> u128 {
    let modified = T.abs.get(word) || T.neg.get(word) || F.abs.get(word) || F.neg.get(word);
    RAW_BIT.put(word, !modified)
}

/// The conditions that compare floats.
const fn is_float(condition: u64) -> bool {
    matches!(condition, 2 | 3 | 8 | 10 | 11)
}

/// Sign modifiers belong to float conditions, and comparands have one size (isa-1, 4.9).
fn select_rules(i: &Instr) -> Result<(), Illegal> {
    let word = i.bits();
    let condition = SELECT_COND.of(i);
    let modified = |o: &Operand| o.neg.get(word) || o.abs.get(word);
    if !is_float(condition) && i.form().operands.iter().any(modified) {
        return Err(Illegal::rule(
            "cond",
            condition,
            "a float condition, for neg and abs",
        ));
    }
    same_size(i)
}

/// A and B are both 32-bit or both 16-bit, and 16-bit ones compare as floats.
fn same_size(i: &Instr) -> Result<(), Illegal> {
    let sizes = (SA.size.get(i.bits()), SB.size.get(i.bits()));
    if sizes.0 == sizes.1 {
        Ok(())
    } else {
        Err(Illegal::rule("B32", u64::from(sizes.1), "the same as A32"))
    }
}

/// In the 6-byte predicate a 16-bit comparand is a float (isa-1, 4.9).
fn pred_rules(i: &Instr) -> Result<(), Illegal> {
    let condition = i.modifier_at(0);
    let float = matches!(condition, 0 | 2 | 3);
    if !SA.size.get(i.bits()) && !float {
        return Err(Illegal::rule("A32", 0, "1 with an integer condition"));
    }
    same_size(i)
}

pub(super) const MINMAX: Form = Form::row(
    "MINMAX.6",
    6,
    "0f0103017800",
    "020102010000",
    Mark::Hw,
    "isa-1 4.8",
    "32-bit min / max",
)
.ops(Opcode::by(
    &[(32, 34)],
    &[
        (0, "fmax"),
        (1, "fmin"),
        (4, "umax"),
        (5, "umin"),
        (6, "imax"),
        (7, "imin"),
    ],
))
.args(&[
    D2,
    A2.scattered(39, Constant::None),
    B2.scattered(41, Constant::None).neg(43),
])
.mods(&[RAW, PUB])
.waits(Wait::INDEX45)
.derive(minmax_raw)
.check(|i| {
    // Only float operands can be negated.
    let integer = i.bits() >> 34 & 1 == 1;
    if integer && i.raw_bit(43) {
        Err(Illegal::rule("negB", 1, "0 in integer operations"))
    } else {
        Ok(())
    }
});

pub(super) const HMINMAX: Form = Form::row(
    "HMINMAX.6",
    6,
    "0f000700f80a",
    "020004000000",
    Mark::Hw,
    "isa-1 4.8",
    "fp16 min / max",
)
.ops(Opcode::by(&[(32, 34)], &[(0, "hmax"), (1, "hmin")]))
.args(&[D2.low_half(), A2.half(8), B2.half(24)])
.mods(&[PUB])
.waits(Wait::INDEX45);

const P: Operand = Operand::new("P", Role::Def, File::Predicate, &[(5, 7)]).max(5);
const INV: Modifier = Modifier::flag("inv", 4);
/// Comparands: the cache hints are written 0 here (isa-1, 4.9).
const PA2: Operand = A2.sized(8).keep_zero(15);
const PA3: Operand = A3.sized(8).keep_zero(15);
const PB2: Operand = B2.sized(24).keep_zero(31);
const PB3: Operand = B3.sized(24).keep_zero(31);
/// Operand B of the constant forms: the alternative file always.
const fn constant_b(b: Operand, bit0: u8) -> Operand {
    b.alt(crate::form::Alt::Scattered {
        file: Bit::NONE,
        constant: Constant::IntOrFloat(Bit::at(bit0)),
        max_uniform: 255,
    })
}
/// The proven compiler writes 6 here always; it is a wait index (isa-4, 7.1).
const PRED6_WAIT: Wait = Wait::INDEX45.unproven().default(6);
const PRED10_WAIT: Wait = Wait::INDEX61.unproven().default(6);
const ORDER_COND: Modifier = Modifier::new("cond", &[(32, 34)]).names(ORDER).dot();
const EQUAL_COND: Modifier = Modifier::new("cond", &[(48, 50)]).names(EQUAL).dot();

pub(super) const PRED_6: Form = Form::row(
    "PRED.6",
    6,
    "0f00e700f81a",
    "0a0022000000",
    Mark::Hw,
    "isa-1 4.9",
    "P[bank] = (A cond B) ^ inv, eq = 0",
)
.aka(&["PRED_CMP6"])
.op(&[(0, "pcmp")])
.args(&[P, PA2, PB2])
.mods(&[ORDER_COND, INV])
.waits(PRED6_WAIT)
.check(pred_rules);

pub(super) const PREDI_6: Form = Form::row(
    "PREDI.6",
    6,
    "0f00e700e81a",
    "0a0022000002",
    Mark::Hw,
    "isa-4 7.1",
    "the same with an inline constant or uniform B",
)
.op(&[(0, "pcmp")])
.args(&[P, PA2, constant_b(PB2, 36)])
.mods(&[ORDER_COND, INV])
.waits(PRED6_WAIT);

pub(super) const PRED_10: Form = Form::row(
    "PRED.10",
    10,
    "0f00e700fffff81affff",
    "0a002300060000000000",
    Mark::Hw,
    "isa-1 4.9",
    "P[bank] = (A cond B) ^ inv, eq = 1",
)
.aka(&["PRED_CMP10"])
.op(&[(0, "pcmp")])
.args(&[P, PA3, PB3])
.mods(&[EQUAL_COND, INV])
.waits(PRED10_WAIT)
.check(pred_rules);

pub(super) const PREDI_10: Form = Form::row(
    "PREDI.10",
    10,
    "0f00e700ffffe81afdff",
    "0a002300060000020000",
    Mark::Cmp,
    "isa-4 7.1",
    "the same with an inline constant or uniform B",
)
.op(&[(0, "pcmp")])
.args(&[P, PA3, constant_b(PB3, 52)])
.mods(&[
    EQUAL_COND,
    INV,
    Modifier::opaque("f65", &[(65, 65)], &[1, 0]),
])
.waits(PRED10_WAIT)
.do_not_emit("not validated on M4");

const T: Operand = C3.named("T").abs(35).neg(36);
const F: Operand = F3.abs(67).neg(68);
/// Comparands of the forms without alternative files.
const SA: Operand = A3.sized(8);
const SB: Operand = B3.sized(24).neg(59);
/// Operands of the forms with inline constants or uniforms. The constant of a comparand is an
/// integer with size bit 0 (HW-A18); with 1 a minifloat, read off SELECT.8 (isa-0, 3; INFERRED).
/// Bit 0 of a constant A is not known (isa-1, 8, question 7).
const XA: Operand = SA.scattered(55, Constant::IntOrFloat(Bit::NONE));
const XB: Operand = SB.scattered(57, Constant::IntOrFloat(Bit::at(52)));
const XT: Operand = T.scattered(37, Constant::Int(Bit::at(40)));
const XF: Operand = F.scattered(69, Constant::Int(Bit::at(72)));
/// 1 = 32-bit result, 0 = low half (isa-0, 3).
const WIDE: Bit = Bit::at(17);
const WIDE_MOD: Modifier = Modifier::new("wide", &[(17, 17)])
    .names(&[(1, "d32"), (0, "d16")])
    .dot();
/// Bit 21 must be 0 in `SELECT.*`; vendor programs for A18 Pro set it in the constant forms.
const SELECT_PUB: Modifier = Modifier::hint("pub", 21, 0);

pub(super) const SELECT_10: Form = Form::row(
    "SELECT.10",
    10,
    "0f0023002301f8022701",
    "02000300020000000000",
    Mark::Hw,
    "isa-1 4.9",
    "D = (A cond B) ? T : F",
)
.op(&[(0, "select")])
.args(&[D3, SA, SB, T, F])
.mods(&[SELECT_COND, RAW])
.waits(Wait::INDEX61)
.derive(select_raw)
.check(select_rules);

pub(super) const SELECT_14: Form = Form::row(
    "SELECT.14",
    14,
    "0f0023002301f8022701ff1ffcff",
    "0200030003000000000000000000",
    Mark::Hw,
    "isa-1 4.9",
    "the same with abs on A, B",
)
.op(&[(0, "select")])
.args(&[D3, SA.abs(96), SB.abs(97), T, F])
.mods(&[SELECT_COND, RAW])
.waits(Wait::MASK61_93)
.derive(select_raw)
.check(select_rules);

pub(super) const SELECTI_10: Form = Form::row(
    "SELECTI.10",
    10,
    "0f000100030068000700",
    "02000100020000000000",
    Mark::HwA18,
    "isa-4 7.1",
    "the same with inline or uniform operands, or a 16-bit result",
)
.op(&[(0, "select")])
.args(&[
    D3.span(crate::form::Span::NarrowIfClear(WIDE)),
    XA,
    XB,
    XT,
    XF,
])
.mods(&[SELECT_COND, WIDE_MOD, RAW_FREE, SELECT_PUB])
.waits(Wait::INDEX61.unproven())
.do_not_emit("not validated on M4");

pub(super) const SELECTX_14: Form = Form::row(
    "SELECTX.14",
    14,
    "0f000100030068000700ff03fcff",
    "0200010003004000000000000000",
    Mark::Cmp,
    "isa-4 2.3",
    "p[D] = select, tag in 90..92",
)
.op(&[(0, "export_select")])
.args(&[
    D3.file(File::Publication).max(127),
    XA.abs(96),
    XB.abs(97),
    XT,
    XF,
])
.mods(&[
    SELECT_COND,
    WIDE_MOD,
    RAW_FREE,
    Modifier::hint("pub", 21, 1),
])
.waits(Wait::MASK61_93.unproven())
.completes(Completion::Tag(Bits::new(&[(90, 92)])))
.do_not_emit("not known to have run");

pub(super) const SELECTI_14: Form = Form::row(
    "SELECTI.14",
    14,
    "0f000100030068000700ff1ffcff",
    "0200010003000000000000000000",
    Mark::HwA18,
    "isa-4 7.1",
    "the same, 14 bytes",
)
.op(&[(0, "select")])
.args(&[
    D3.span(crate::form::Span::NarrowIfClear(WIDE)),
    XA.abs(96),
    XB.abs(97),
    XT,
    XF,
])
.mods(&[SELECT_COND, WIDE_MOD, RAW_FREE, SELECT_PUB])
.waits(Wait::MASK61_93.unproven())
.do_not_emit("not validated on M4");

pub(super) const SELECT_8: Form = Form::row(
    "SELECT.8",
    8,
    "0f0001000300e800",
    "0200010000000000",
    Mark::HwA18,
    "isa-0 3",
    "D = (A cond B) ? D : C",
)
.op(&[(0, "select_acc")])
.args(&[
    D3.role(Role::UseDef),
    SA,
    SB.scattered(57, Constant::IntOrFloat(Bit::at(52))),
    C3.abs(35).neg(36).scattered(37, Constant::Int(Bit::at(40))),
])
.mods(&[SELECT_COND, WIDE_MOD, RAW_FREE, SELECT_PUB])
.waits(Wait::INDEX61.unproven())
.do_not_emit("not validated on M4");
