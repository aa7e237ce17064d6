// SPDX-License-Identifier: MIT
//! Which values are 16 bits wide: those whose upper bits are undefined anyway, and those whose upper bits nobody reads.

use std::collections::HashMap;

use crate::analysis::ValueSet;
use crate::ir::{End, Format, Function, Instr, LogicOp, SfuType, ShiftOp, Src, Value};

/// What an operand of 32 bits is read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    /// All of it.
    All,
    /// Its low 16 bits.
    Low,
    /// As many of the low bits as are wanted of the result.
    AsResult,
}

/// Constants by the values that hold them.
pub(super) type Constants = HashMap<Value, u32>;

/// Of a function.
pub(super) fn constants(function: &Function) -> Constants {
    let instrs = function.blocks.iter().flat_map(|b| &b.instrs);
    instrs
        .filter_map(|instr| match instr {
            Instr::Imm(op) => Some((op.dst.value()?, op.value)),
            _ => None,
        })
        .collect()
}

/// Values of which nobody reads more than the low half.
pub(super) fn narrow(function: &Function, constants: &Constants) -> ValueSet {
    let wide = wide(function, constants);
    let mut narrow = ValueSet::new(function.num_values);
    for data in &function.blocks {
        let mut define = |value: Value, undefined: bool| {
            if undefined || !wide.contains(value) {
                narrow.insert(value);
            }
        };
        data.phis.iter().for_each(|phi| define(phi.dst, false));
        for instr in &data.instrs {
            let undefined = instr.writes_low_half();
            instr.for_each_dst_value(|value| define(value, undefined));
        }
    }
    narrow
}

/// Values whose upper half somebody reads.
fn wide(function: &Function, constants: &Constants) -> ValueSet {
    let mut wide = ValueSet::new(function.num_values);
    let mut changed = true;
    while changed {
        changed = false;
        for data in function.blocks.iter().rev() {
            if let End::If { cond, .. } = &data.end
                && !cond.half
            {
                for value in cond.srcs().iter().filter_map(Src::value) {
                    changed |= wide.insert(value);
                }
            }
            for instr in data.instrs.iter().rev() {
                let mut result = false;
                instr.for_each_dst_value(|value| result |= wide.contains(value));
                let mut group = 0;
                instr.for_each_src(|members, _| {
                    for src in members {
                        let all = match reads(instr, group, src, constants) {
                            Reads::All => true,
                            Reads::Low => src.high,
                            Reads::AsResult => result || src.high,
                        };
                        if let Some(value) = src.value().filter(|_| all) {
                            changed |= wide.insert(value);
                        }
                    }
                    group += 1;
                });
            }
            for phi in &data.phis {
                if !wide.contains(phi.dst) {
                    continue;
                }
                for value in phi.srcs.iter().filter_map(Src::value) {
                    changed |= wide.insert(value);
                }
            }
        }
    }
    wide
}

/// The high half of the result is 0.
pub(super) fn clears_high_half(instr: &Instr, constants: &Constants) -> bool {
    match instr {
        Instr::Zext16(_) => true,
        Instr::ShiftImm(op) => op.op == ShiftOp::Shr && op.amount >= 16,
        Instr::Logic(op) => {
            op.op == LogicOp::And && [op.a, op.b].iter().any(|src| is_short(src, constants))
        }
        Instr::SysReg(op) => op.narrow,
        _ => false,
    }
}

/// A constant below 0x10000.
fn is_short(src: &Src, constants: &Constants) -> bool {
    constant(src, constants).is_some_and(|bits| bits <= 0xffff)
}

/// What the operand reads, if that is a constant without modifiers and all of its register.
pub(super) fn constant(src: &Src, constants: &Constants) -> Option<u32> {
    if src.is_modified() || src.high {
        return None;
    }
    src.as_imm()
        .or_else(|| constants.get(&src.value()?).copied())
}

/// The value that the operand reads, if it reads all of it and without modifiers.
pub(super) fn plain(src: &Src) -> Option<Value> {
    src.value().filter(|_| !src.is_modified() && !src.high)
}

/// What the instruction reads of an operand in this source group.
fn reads(instr: &Instr, group: usize, src: &Src, constants: &Constants) -> Reads {
    let low = |it: bool| if it { Reads::Low } else { Reads::All };
    // Signs are bits of the upper half.
    let as_result = |it: bool| match it && !src.is_modified() {
        true => Reads::AsResult,
        false => Reads::All,
    };
    match instr {
        Instr::H2(_) | Instr::HFma(_) | Instr::HMinMax(_) | Instr::Zext16(_) => Reads::Low,
        Instr::HMulMix(_) => low(group == 1),
        Instr::F32ToF16High(_) | Instr::PackNorm8High(_) | Instr::LoadHigh(_) => low(group == 0),
        Instr::F16ToF32(op) => low(!op.high),
        Instr::Sfu(op) => low(op.ty != SfuType::F32),
        Instr::Select(op) if group < 2 => low(op.half),
        Instr::Select(_) | Instr::Mov(_) | Instr::IAdd(_) | Instr::IMad(_) => as_result(true),
        Instr::Store(op) => low(group == 0 && matches!(op.format, Format::I8 | Format::I16)),
        Instr::ShiftImm(op) if op.op == ShiftOp::Shl && op.amount >= 16 => Reads::Low,
        Instr::ShiftImm(op) => as_result(op.op == ShiftOp::Shl),
        // The amount is 16 bits (isa-1, 4.13).
        Instr::Shift(_) if group == 1 => Reads::Low,
        Instr::Shift(op) => as_result(op.op == ShiftOp::Shl),
        Instr::Logic(op) => {
            let other = if group == 0 { &op.b } else { &op.a };
            match op.op == LogicOp::And && is_short(other, constants) {
                true => Reads::Low,
                false => as_result(true),
            }
        }
        _ => Reads::All,
    }
}
