// SPDX-License-Identifier: MIT
//! The values of integer constants after specialisation, as far as array lengths need them.

use super::module::Instruction;
use super::translate::SpecConstant;
use spirv::Op;
use std::collections::HashMap;

/// Known constants: the value's bits and the width of its type.
pub(crate) struct Constants<'a> {
    specialization: &'a [SpecConstant],
    spec_ids: HashMap<u32, u32>,
    widths: HashMap<u32, u32>,
    values: HashMap<u32, (u64, u32)>,
}

impl<'a> Constants<'a> {
    pub(crate) fn new(specialization: &'a [SpecConstant]) -> Self {
        Self {
            specialization,
            spec_ids: HashMap::new(),
            widths: HashMap::new(),
            values: HashMap::new(),
        }
    }

    /// The value of a constant, if it is one and can be known.
    pub(crate) fn value(&self, id: u32) -> Option<u64> {
        self.values.get(&id).map(|v| v.0)
    }

    /// Take note of an instruction that declares a type, a decoration or a constant.
    pub(crate) fn note(&mut self, i: Instruction<'_>) {
        let Some(op) = Op::from_u32(i.opcode) else {
            return;
        };
        let (kind, id) = (i.operand(0), i.operand(1));
        match op {
            Op::Decorate if i.operand(1) == spirv::Decoration::SpecId as u32 => {
                self.spec_ids.insert(i.operand(0), i.operand(2));
            }
            Op::TypeInt => {
                self.widths.insert(i.operand(0), i.operand(1));
            }
            Op::TypeBool => {
                self.widths.insert(i.operand(0), 1);
            }
            Op::Constant => self.set(kind, id, literal(i.operands)),
            Op::SpecConstant => self.set(
                kind,
                id,
                self.specialized(id).unwrap_or(literal(i.operands)),
            ),
            Op::ConstantTrue => self.set(kind, id, 1),
            Op::ConstantFalse | Op::ConstantNull => self.set(kind, id, 0),
            Op::SpecConstantTrue | Op::SpecConstantFalse => {
                let default = u64::from(op == Op::SpecConstantTrue);
                self.set(
                    kind,
                    id,
                    self.specialized(id)
                        .map_or(default, |v| u64::from(v as u32 != 0)),
                );
            }
            Op::SpecConstantOp => {
                if let Some(value) = self.evaluate(i) {
                    self.set(kind, id, value);
                }
            }
            _ => {}
        }
    }

    fn specialized(&self, id: u32) -> Option<u64> {
        let spec_id = self.spec_ids.get(&id)?;
        self.specialization
            .iter()
            .find(|s| s.id == *spec_id)
            .map(|s| s.bits)
    }

    /// Record a value if its type is an integer or Boolean; other types are never array lengths.
    fn set(&mut self, kind: u32, id: u32, bits: u64) {
        if let Some(&width) = self.widths.get(&kind) {
            self.values.insert(id, (truncate(bits, width), width));
        }
    }

    fn evaluate(&self, i: Instruction<'_>) -> Option<u64> {
        let op = Op::from_u32(i.operand(2))?;
        let operand = |n: usize| self.values.get(&i.operand(3 + n)).copied();
        let (a, width) = operand(0)?;
        match op {
            Op::UConvert => return Some(a),
            Op::SConvert => return Some(sign_extend(a, width) as u64),
            Op::Not => return Some(!a),
            Op::LogicalNot => return Some(a ^ 1),
            Op::SNegate => return Some(a.wrapping_neg()),
            Op::Select => return Some(if a != 0 { operand(1)?.0 } else { operand(2)?.0 }),
            _ => {}
        }
        let b = operand(1)?.0;
        let (sa, sb) = (sign_extend(a, width), sign_extend(b, operand(1)?.1));
        Some(match op {
            Op::IAdd => a.wrapping_add(b),
            Op::ISub => a.wrapping_sub(b),
            Op::IMul => a.wrapping_mul(b),
            Op::UDiv => a.checked_div(b)?,
            Op::UMod => a.checked_rem(b)?,
            Op::SDiv => sa.checked_div(sb)? as u64,
            Op::SRem => sa.checked_rem(sb)? as u64,
            Op::SMod => {
                let rem = sa.checked_rem(sb)?;
                (if rem != 0 && (rem < 0) != (sb < 0) {
                    rem + sb
                } else {
                    rem
                }) as u64
            }
            Op::ShiftLeftLogical => a.checked_shl(b.try_into().ok()?)?,
            Op::ShiftRightLogical => a.checked_shr(b.try_into().ok()?)?,
            Op::ShiftRightArithmetic => sa.checked_shr(b.try_into().ok()?)? as u64,
            Op::BitwiseAnd | Op::LogicalAnd => a & b,
            Op::BitwiseOr | Op::LogicalOr => a | b,
            Op::BitwiseXor => a ^ b,
            Op::IEqual | Op::LogicalEqual => u64::from(a == b),
            Op::INotEqual | Op::LogicalNotEqual => u64::from(a != b),
            Op::ULessThan => u64::from(a < b),
            Op::ULessThanEqual => u64::from(a <= b),
            Op::UGreaterThan => u64::from(a > b),
            Op::UGreaterThanEqual => u64::from(a >= b),
            Op::SLessThan => u64::from(sa < sb),
            Op::SLessThanEqual => u64::from(sa <= sb),
            Op::SGreaterThan => u64::from(sa > sb),
            Op::SGreaterThanEqual => u64::from(sa >= sb),
            _ => return None,
        })
    }
}

fn literal(operands: &[u32]) -> u64 {
    let word = |i: usize| u64::from(operands.get(i).copied().unwrap_or(0));
    word(2) | word(3) << 32
}

fn truncate(bits: u64, width: u32) -> u64 {
    if width >= 64 {
        bits
    } else {
        bits & ((1 << width) - 1)
    }
}

fn sign_extend(bits: u64, width: u32) -> i64 {
    let shift = 64 - width.clamp(1, 64);
    ((bits << shift) as i64) >> shift
}
