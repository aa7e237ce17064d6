// SPDX-License-Identifier: MIT
//! Bitwise logic by truth table (isa-1, 4.10; isa-4, 7.1 and 7.5; isa-0, 3).
//!
//! For every bit position the result is `t[a][b]`; t11, t10, t01 and t00 stand at bits 16, 33, 43
//! and 32 of every ten-byte form. There is one micro-op function for each of the tables, and two
//! equal sources are reduced to a table of one.
//!
//! * The two tables that depend on B alone fault, as 4.10 asks: on an A18 Pro one left an earlier
//!   result, the other ended in a command error. They fault in the forms with a constant and on
//!   halves too, which are the same unit.
//! * A destination in the publication file is written in the active lanes like a register.
//! * LOGIC.4 is an OR whatever else its name promises: only that operation was read (CMP).
//! * LOGIC16.10 (CMP) works on one half of A, the low half of B or a constant, and one half of D; it
//!   is refused when a bit of unknown meaning differs from the samples, and with a uniform, whose
//!   half would be a guess.

use agx_isa::{FormId, Instr};

use super::super::microop::{Exec, MicroOp, Step};
use super::super::operand::{Dst, Src};
use super::super::wave::Wave;
use super::each::{binary, unary};
use super::integer::is_uniform;
use super::moves::copy;
use crate::fault::FaultKind;

/// The table as a number: t11 t10 t01 t00 from bit 3 down.
#[inline(always)]
fn apply<const TABLE: u32>(a: u32, b: u32) -> u32 {
    let term = |bit: u32, value: u32| if TABLE >> bit & 1 == 1 { value } else { 0 };
    term(3, a & b) | term(2, a & !b) | term(1, !a & b) | term(0, !a & !b)
}

#[inline(always)]
fn run_table<const TABLE: u32>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    binary(wave, op, apply::<TABLE>)
}

#[inline(always)]
fn run_not(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    unary(wave, op, |a| !a)
}

#[inline(always)]
fn run_b_alone(wave: &mut Wave<'_>, _: &MicroOp) -> Step {
    let reason = "a logic function of B alone: the hardware does not compute it (isa-1, 4.10)";
    wave.fail(FaultKind::IllegalInstruction(reason.to_owned()), None)
}

crate::kernel! {
    nor = run_table::<0b0001>;
    and_not_a = run_table::<0b0010>;
    and_not_b = run_table::<0b0100>;
    xor = run_table::<0b0110>;
    nand = run_table::<0b0111>;
    and = run_table::<0b1000>;
    xnor = run_table::<0b1001>;
    or_not_a = run_table::<0b1011>;
    or_not_b = run_table::<0b1101>;
    or = run_table::<0b1110>;
    not = run_not;
    b_alone = run_b_alone;
}

/// The function of a table, with the sources that it wants.
fn function(table: u32, a: Src, b: Src) -> (Exec, [Src; 2]) {
    let exec = match table & 15 {
        0b0101 | 0b1010 => b_alone(),
        // A table of one source, either because A alone matters or because B is A.
        _ if a == b => return single(table >> 3 & 1, table & 1, a),
        0b0000 | 0b0011 | 0b1100 | 0b1111 => return single(table >> 3 & 1, table & 1, a),
        0b0001 => nor(),
        0b0010 => and_not_a(),
        0b0100 => and_not_b(),
        0b0110 => xor(),
        0b0111 => nand(),
        0b1000 => and(),
        0b1001 => xnor(),
        0b1011 => or_not_a(),
        0b1101 => or_not_b(),
        _ => or(),
    };
    (exec, [a, b])
}

/// The function of one source that is `one` for its bits 1 and `zero` for its bits 0.
fn single(one: u32, zero: u32, a: Src) -> (Exec, [Src; 2]) {
    match (one, zero) {
        (0, 0) => (copy(), [Src::ZERO; 2]),
        (0, _) => (not(), [a, Src::ZERO]),
        (_, 0) => (copy(), [a, Src::ZERO]),
        _ => (copy(), [Src::constant(!0), Src::ZERO]),
    }
}

pub(in super::super) fn lower(instr: &Instr) -> Option<MicroOp> {
    let src = |index| Src::of(instr, index);
    let bit = |bit, place: u32| u32::from(instr.raw_bit(bit)) << place;
    let table = bit(16, 3) | bit(33, 2) | bit(43, 1) | bit(32, 0);
    let (exec, sources) = match instr.id() {
        FormId::Logic | FormId::LogicI => function(table, src(1)?, src(2)?),
        FormId::Logic1 => single(table >> 3 & 1, table & 1, src(1)?),
        FormId::Logic4 => function(0b1110, src(1)?, src(2)?),
        FormId::Logic16 => {
            let known = |name, value| instr.modifier(name) == Some(value);
            if !(known("f8", 0) && known("f24", 1) && known("f37", 0)) || is_uniform(instr, 2) {
                return None;
            }
            function(table, src(1)?, src(2)?)
        }
        _ => return None,
    };
    Some(MicroOp::new(exec).srcs(sources).dst(Dst::of(instr, 0)?))
}
