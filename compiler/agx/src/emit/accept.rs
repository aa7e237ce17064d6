// SPDX-License-Identifier: MIT
//! Which operands the encodings hold: one rule for legalisation, which moves everything else into registers, and for
//! emission, which refuses it.
//!
//! The questions are about one operand beside the others as they stand, so that a pass that asks and repairs one operand
//! after the other ends with the fewest moves.

use agx_isa::MiniFloat;

use crate::ir::{Cmp, Cond, Instr, MinMaxOp, Ref, Src};

/// May source group `group` of the instruction hold `src`, the other operands being what they are?
///
/// Registers and values may stand everywhere. What can be refused are constants, uniforms and modifiers.
#[must_use]
pub fn accepts(instr: &Instr, group: usize, src: &Src) -> bool {
    if is_register(src) && !src.high && !src.is_modified() {
        return true;
    }
    if src.high && !(holds_high(instr, group) && is_register(src)) {
        return false;
    }
    let place = match modifiers(instr, group) {
        Modifiers::None => !src.is_modified(),
        Modifiers::Neg => !src.abs,
        Modifiers::All => true,
    };
    match src.from {
        Ref::Value(_) | Ref::Reg(_) => place && !doubly_negated(instr, group, src),
        Ref::Uniform(_) => place && holds_uniform(instr, group),
        Ref::Imm(_) => holds_constant(instr, group, src),
    }
}

/// May operand `index` (0 = a, 1 = b) of the condition hold `src`, the other being what it is?
#[must_use]
pub fn accepts_cond(cond: &Cond, index: usize, src: &Src) -> bool {
    let other = cond.srcs()[1 - index];
    if src.high {
        return false;
    }
    let short = matches!(
        cond.cmp,
        Cmp::FGt | Cmp::FLt | Cmp::UGt | Cmp::ULt | Cmp::IGt | Cmp::ILt
    );
    // Only B has an alternative file, and only the six-byte form of it is proven (isa-4, 7.1; isa-0, 3).
    let alone = short && !cond.half && is_register(&other);
    match src.from {
        Ref::Value(_) | Ref::Reg(_) => !src.is_modified(),
        Ref::Uniform(_) => alone && !src.is_modified(),
        Ref::Imm(bits) if cond.cmp.is_float() => alone && mini_float(bits, src).is_some(),
        Ref::Imm(bits) => alone && !src.is_modified() && bits <= 255,
    }
}

/// The minifloat (isa-1, 2.3) equal to a constant with its modifiers.
#[must_use]
pub fn mini_float(bits: u32, src: &Src) -> Option<MiniFloat> {
    MiniFloat::from_f32(f32::from_bits(folded(bits, src)))
}

/// A constant with its modifiers applied: first `abs`, then `neg`.
#[must_use]
pub fn folded(bits: u32, src: &Src) -> u32 {
    const SIGN: u32 = 1 << 31;
    let bits = if src.abs { bits & !SIGN } else { bits };
    if src.neg { bits ^ SIGN } else { bits }
}

/// May the operand be a high half? The factors of fp16 multiply-adds and the operands of sums and products may; of the
/// addend, of minimum and maximum, comparisons and special functions that is INFERRED or not known (isa-1, 4.5, 4.8, 4.9,
/// 4.4 and 8, question 11). Widening to fp32, which can, has an attribute of its own.
const fn holds_high(instr: &Instr, group: usize) -> bool {
    match instr {
        Instr::H2(_) => true,
        Instr::HFma(_) => group < 2,
        _ => false,
    }
}

/// Sign modifiers that a register operand may carry.
enum Modifiers {
    None,
    Neg,
    All,
}

fn modifiers(instr: &Instr, group: usize) -> Modifiers {
    match instr {
        Instr::F2(_) | Instr::Fma(_) | Instr::Sfu(_) => Modifiers::All,
        Instr::Select(op) if op.cmp.is_float() => Modifiers::All,
        Instr::MinMax(op) if group == 1 && matches!(op.op, MinMaxOp::FMax | MinMaxOp::FMin) => {
            Modifiers::Neg
        }
        Instr::H2(_) => Modifiers::Neg,
        _ => Modifiers::None,
    }
}

/// fp16 sums can negate one operand only; the signs of factors cancel.
fn doubly_negated(instr: &Instr, group: usize, src: &Src) -> bool {
    match instr {
        Instr::H2(op) => {
            let other = if group == 0 { op.b } else { op.a };
            matches!(op.op, crate::ir::AddMul::Add) && src.neg && other.neg
        }
        _ => false,
    }
}

fn is_register(src: &Src) -> bool {
    matches!(src.from, Ref::Value(_) | Ref::Reg(_))
}

/// The members of all source groups but `group`.
fn others(instr: &Instr, group: usize, mut f: impl FnMut(&Src)) {
    let mut index = 0;
    instr.for_each_src(|members, _| {
        if index != group {
            members.iter().for_each(&mut f);
        }
        index += 1;
    });
}

/// One uniform for each instruction, and none beside a constant: all that is proven (isa-1, 2.4 and 8, question 15).
fn holds_uniform(instr: &Instr, group: usize) -> bool {
    let form = matches!(
        instr,
        Instr::F2(_)
            | Instr::Fma(_)
            | Instr::MinMax(_)
            | Instr::Logic(_)
            | Instr::Mov(_)
            | Instr::IAdd(_)
            | Instr::IMad(_)
    );
    let mut alone = true;
    others(instr, group, |src| alone &= is_register(src));
    form && alone
}

fn holds_constant(instr: &Instr, group: usize, src: &Src) -> bool {
    let Ref::Imm(bits) = src.from else {
        return false;
    };
    if mini_float(bits, src).is_none() {
        return false;
    }
    match instr {
        // The forms with a constant have no abs for the other operand.
        Instr::F2(op) => {
            let other = if group == 0 { op.b } else { op.a };
            is_register(&other) && !other.abs
        }
        // A constant factor goes to B (the product commutes), so there can be one; the addend is apart.
        Instr::Fma(op) => {
            let factor = |other: &Src| other.as_imm().is_some();
            let mut uniforms = false;
            others(instr, group, |s| {
                uniforms |= matches!(s.from, Ref::Uniform(_))
            });
            !uniforms
                && match group {
                    0 => !factor(&op.b),
                    1 => !factor(&op.a),
                    _ => true,
                }
        }
        _ => false,
    }
}

/// Refuses an instruction whose operands [`accepts`] would not.
pub(super) fn check(instr: &Instr) -> Result<(), String> {
    let mut index = 0;
    let mut bad = None;
    instr.for_each_src(|members, _| {
        if bad.is_none() && !members.iter().all(|src| accepts(instr, index, src)) {
            bad = Some(index);
        }
        index += 1;
    });
    match bad {
        None => Ok(()),
        Some(group) => Err(format!(
            "`{instr}`: source {group} cannot be held by any proven encoding"
        )),
    }
}

/// Refuses a condition whose operands [`accepts_cond`] would not.
pub(super) fn check_cond(cond: &Cond) -> Result<(), String> {
    if cond.half && !cond.cmp.is_float() {
        return Err(format!("`{cond}`: an integer comparison of halves"));
    }
    for (index, src) in cond.srcs().iter().enumerate() {
        if !accepts_cond(cond, index, src) {
            return Err(format!(
                "`{cond}`: operand {index} cannot be held by any proven encoding"
            ));
        }
    }
    Ok(())
}
