// SPDX-License-Identifier: MIT
//! Halves of registers, where instructions can name them: once a whole function is selected.
//!
//! * What moves a high half down for readers that could read it where it is, is for nothing. It stays if anybody needs it
//!   low.
//! * Two fp16 values are put together by writing the second one to the high half of the first, which is a conversion
//!   (isa-1, 4.6; HW), in place of a mask and a multiply-add.

use std::collections::HashMap;

use crate::emit::accepts;
use crate::ir::{
    End, F16ToF32, F32ToF16High, Function, IMad, Instr, LogicOp, Ref, SfuType, ShiftOp, Src, Value,
};

/// Does both; leaves instructions whose results nobody reads.
pub(super) fn name_halves(function: &mut Function) {
    fold_high_halves(function);
    put_together(function);
}

/// Values that are the high half of another.
fn high_halves(function: &Function) -> HashMap<Value, Value> {
    let instrs = function.blocks.iter().flat_map(|b| &b.instrs);
    instrs
        .filter_map(|instr| match instr {
            Instr::ShiftImm(op) if op.op == ShiftOp::Shr && op.amount == 16 => {
                let plain = !op.a.is_modified() && !op.a.high;
                Some((op.dst.value()?, op.a.value().filter(|_| plain)?))
            }
            _ => None,
        })
        .collect()
}

fn fold_high_halves(function: &mut Function) {
    let mut highs = high_halves(function);
    if highs.is_empty() {
        return;
    }
    for data in &function.blocks {
        for src in data.phis.iter().flat_map(|phi| &phi.srcs) {
            forget(&mut highs, src);
        }
        if let End::If { cond, .. } = &data.end {
            cond.srcs().iter().for_each(|src| forget(&mut highs, src));
        }
        for instr in &data.instrs {
            let mut group = 0;
            instr.for_each_src(|members, _| {
                let takes = |src: &Src| match instr {
                    Instr::F16ToF32(op) => !op.high,
                    _ => accepts(instr, group, &Src { high: true, ..*src }),
                };
                let others = members.iter().filter(|src| !takes(src));
                others.for_each(|src| forget(&mut highs, src));
                group += 1;
            });
        }
    }
    for instr in function.blocks.iter_mut().flat_map(|b| &mut b.instrs) {
        let mut high = false;
        instr.for_each_src_mut(|members, _| {
            for src in members {
                if let Some(whole) = src.value().and_then(|v| highs.get(&v)) {
                    (src.from, src.high) = (Ref::Value(*whole), true);
                    high = true;
                }
            }
        });
        if let (Instr::F16ToF32(op), true) = (&mut *instr, high) {
            (op.a.high, op.high) = (false, true);
        }
    }
}

fn forget(highs: &mut HashMap<Value, Value>, src: &Src) {
    if let Some(value) = src.value() {
        highs.remove(&value);
    }
}

/// Where a 16-bit float comes from.
#[derive(Clone, Copy)]
enum Origin {
    /// Conversion of this fp32 value.
    Wide(Src),
    /// fp16 arithmetic, whose NaNs have no payload that anybody could rely on.
    Arithmetic,
}

fn put_together(function: &mut Function) {
    let mut origins: HashMap<Value, Origin> = HashMap::new();
    let mut masked: HashMap<Value, Value> = HashMap::new();
    for instr in function.blocks.iter().flat_map(|b| &b.instrs) {
        let origin = match instr {
            Instr::F32ToF16(op) => Some((op.dst, Origin::Wide(op.a))),
            Instr::H2(op) => Some((op.dst, Origin::Arithmetic)),
            Instr::HFma(op) => Some((op.dst, Origin::Arithmetic)),
            Instr::HMulMix(op) => Some((op.dst, Origin::Arithmetic)),
            Instr::Sfu(op) if op.ty == SfuType::F16 => Some((op.dst, Origin::Arithmetic)),
            Instr::Logic(op) if op.op == LogicOp::And && op.b.as_imm() == Some(0xffff) => {
                if let Some((dst, low)) = op.dst.value().zip(op.a.value()) {
                    masked.insert(dst, low);
                }
                None
            }
            _ => None,
        };
        if let Some((dst, origin)) = origin
            && let Some(dst) = dst.value()
        {
            origins.insert(dst, origin);
        }
    }
    // Most functions have nothing to put together.
    if masked.is_empty() || origins.is_empty() {
        return;
    }
    let mut count = function.num_values;
    for data in &mut function.blocks {
        let instrs = std::mem::take(&mut data.instrs);
        for instr in instrs {
            let Some((op, low, origin)) = halves_of(&instr, &masked, &origins) else {
                data.instrs.push(instr);
                continue;
            };
            let a = match origin {
                Origin::Wide(a) => a,
                Origin::Arithmetic => {
                    let wide = Value(count);
                    count += 1;
                    data.instrs.push(
                        F16ToF32 {
                            dst: wide.into(),
                            a: op.a,
                            high: false,
                        }
                        .into(),
                    );
                    wide.into()
                }
            };
            data.instrs.push(
                F32ToF16High {
                    dst: op.dst,
                    old: low.into(),
                    a,
                }
                .into(),
            );
        }
    }
    function.num_values = count;
}

/// `high * 65536 + (low & 0xffff)`, the high one a float.
fn halves_of<'i>(
    instr: &'i Instr,
    masked: &HashMap<Value, Value>,
    origins: &HashMap<Value, Origin>,
) -> Option<(&'i IMad, Value, Origin)> {
    let Instr::IMad(op) = instr else { return None };
    let plain = [op.a, op.c].iter().all(|s| !s.is_modified() && !s.high);
    if op.b.as_imm() != Some(1 << 16) || !plain {
        return None;
    }
    let low = *masked.get(&op.c.value()?)?;
    let origin = *origins.get(&op.a.value()?)?;
    Some((op, low, origin))
}
