// SPDX-License-Identifier: MIT
//! The values of integer constants after specialisation, as far as array lengths need them.
//!
//! Whatever Mesa computes differently costs no more than the memory that a call may have (shim/guard.h), and an array
//! that turns out empty is refused there too: this is for refusing in time and with a good message.

use super::ids::Ids;
use super::module::Instruction;
use super::translate::SpecConstant;
use crate::Error;
use spirv::Op;
use std::rc::Rc;

/// A constant, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    /// The bits of an integer or Boolean and the width of its type.
    Scalar(u64, u32),
    /// A vector, matrix, array or structure.
    Composite(Rc<[Value]>),
    /// All zeros, of whatever type.
    Null,
    Unknown,
}

/// The types of constants whose values can be known.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Scalar(u32),
    /// Components, each of this width.
    Vector(u32, u32),
    Other,
}

/// Known constants.
pub(crate) struct Constants<'a> {
    specialization: &'a [SpecConstant],
    spec_ids: Ids<u32>,
    kinds: Ids<Kind>,
    values: Ids<Value>,
}

impl<'a> Constants<'a> {
    /// None yet, of a module with identifiers below `bound`.
    pub(crate) fn new(specialization: &'a [SpecConstant], bound: u32) -> Self {
        Self {
            specialization,
            spec_ids: Ids::new(bound),
            kinds: Ids::new(bound),
            values: Ids::new(bound),
        }
    }

    /// The value of a constant, if it is one and can be known.
    pub(crate) fn value(&self, id: u32) -> Option<u64> {
        match self.values.get(id)? {
            Value::Scalar(bits, _) => Some(*bits),
            Value::Null => Some(0),
            _ => None,
        }
    }

    /// Take note of an instruction that declares a type, a decoration or a constant.
    pub(crate) fn note(&mut self, op: Op, i: Instruction<'_>) -> Result<(), Error> {
        let (kind, id) = (i.operand(0), i.operand(1));
        let literal = || literal(i.operands);
        match op {
            Op::Decorate if i.operand(1) == spirv::Decoration::SpecId as u32 => {
                self.decorate(i.operand(0), i.operand(2))?;
            }
            Op::GroupDecorate => {
                if let Some(&spec_id) = self.spec_ids.get(i.operand(0)) {
                    for &target in i.operands.get(1..).unwrap_or(&[]) {
                        self.decorate(target, spec_id)?;
                    }
                }
            }
            Op::TypeInt => self.declare(i.operand(0), Kind::Scalar(i.operand(1))),
            Op::TypeBool => self.declare(i.operand(0), Kind::Scalar(1)),
            Op::TypeVector => {
                let vector = match self.kind(i.operand(1)) {
                    Kind::Scalar(width) => Kind::Vector(i.operand(2), width),
                    _ => Kind::Other,
                };
                self.declare(i.operand(0), vector);
            }
            Op::Constant => self.set_bits(kind, id, literal()),
            Op::SpecConstant => {
                let bits = self.specialized(id).unwrap_or_else(literal);
                self.set_bits(kind, id, bits);
            }
            Op::ConstantTrue => self.set_bits(kind, id, 1),
            Op::ConstantFalse => self.set_bits(kind, id, 0),
            Op::SpecConstantTrue | Op::SpecConstantFalse => {
                let default = u64::from(op == Op::SpecConstantTrue);
                let chosen = self.specialized(id).map(|v| u64::from(v as u32 != 0));
                self.set_bits(kind, id, chosen.unwrap_or(default));
            }
            Op::ConstantNull => self.set(id, Value::Null),
            Op::ConstantComposite | Op::SpecConstantComposite => {
                let parts = i.operands.get(2..).unwrap_or(&[]);
                let parts = parts.iter().map(|&part| self.get(part)).collect();
                self.set(id, Value::Composite(parts));
            }
            Op::SpecConstantOp => {
                self.refuse_spec_id(id, "OpSpecConstantOp")?;
                let value = self.evaluate(i).unwrap_or(Value::Unknown);
                self.set(id, value);
            }
            _ => {}
        }
        Ok(())
    }

    /// A constant has one SpecId or none. Other than in a decoration group, the validator sees to what has one.
    fn decorate(&mut self, id: u32, spec_id: u32) -> Result<(), Error> {
        match self.spec_ids.get(id) {
            Some(&other) if other != spec_id => Err(Error::Malformed(format!(
                "%{id} has the SpecIds {other} and {spec_id}"
            ))),
            _ => {
                self.spec_ids.insert(id, spec_id);
                Ok(())
            }
        }
    }

    fn refuse_spec_id(&self, id: u32, what: &str) -> Result<(), Error> {
        if self.spec_ids.get(id).is_some() {
            return Err(Error::Malformed(format!("{what} %{id} has a SpecId")));
        }
        Ok(())
    }

    fn declare(&mut self, id: u32, kind: Kind) {
        self.kinds.insert(id, kind);
    }

    fn kind(&self, id: u32) -> Kind {
        self.kinds.get(id).copied().unwrap_or(Kind::Other)
    }

    fn get(&self, id: u32) -> Value {
        self.values.get(id).cloned().unwrap_or(Value::Unknown)
    }

    fn specialized(&self, id: u32) -> Option<u64> {
        let spec_id = self.spec_ids.get(id)?;
        let given = self.specialization.iter().find(|s| s.id == *spec_id);
        given.map(|s| s.bits)
    }

    fn set(&mut self, id: u32, value: Value) {
        self.values.insert(id, value);
    }

    /// Record a value if its type is an integer or Boolean; other scalars are never array lengths.
    fn set_bits(&mut self, kind: u32, id: u32, bits: u64) {
        if let Kind::Scalar(width) = self.kind(kind) {
            self.set(id, Value::Scalar(truncate(bits, width), width));
        }
    }

    /// The value of an `OpSpecConstantOp`, if it can be known.
    fn evaluate(&self, i: Instruction<'_>) -> Option<Value> {
        let op = Op::from_u32(i.operand(2))?;
        let operands = i.operands.get(3..)?;
        match op {
            Op::CompositeExtract => {
                let (&composite, indices) = operands.split_first()?;
                let found = extract(&self.get(composite), indices)?;
                return Some(self.typed(i.operand(0), found));
            }
            Op::CompositeInsert => {
                let [object, composite, indices @ ..] = operands else {
                    return None;
                };
                return insert(&self.get(*composite), indices, self.get(*object));
            }
            Op::VectorShuffle => {
                let [a, b, components @ ..] = operands else {
                    return None;
                };
                let Value::Composite(a) = self.get(*a) else {
                    return None;
                };
                let b = self.get(*b);
                let pick = |&c: &u32| match (a.get(c as usize), &b) {
                    (Some(value), _) => value.clone(),
                    (None, b) => {
                        extract(b, &[c.wrapping_sub(a.len() as u32)]).unwrap_or(Value::Unknown)
                    }
                };
                return Some(Value::Composite(components.iter().map(pick).collect()));
            }
            _ => {}
        }
        let operands: Vec<_> = operands.iter().map(|&id| self.get(id)).collect();
        let (count, width) = match self.kind(i.operand(0)) {
            Kind::Scalar(width) => (None, width),
            Kind::Vector(count, width) => (Some(count), width),
            Kind::Other => return None,
        };
        let component = |c: u32| {
            let parts = operands.iter().map(|value| match value {
                Value::Composite(_) => extract(value, &[c]),
                other => Some(other.clone()),
            });
            let parts = parts.map(|part| match part? {
                Value::Scalar(bits, width) => Some((bits, width)),
                Value::Null => Some((0, width)),
                _ => None,
            });
            let parts: Vec<_> = parts.collect::<Option<_>>()?;
            Some(Value::Scalar(truncate(compute(op, &parts)?, width), width))
        };
        match count {
            None => component(0),
            Some(n @ 2..=4) => {
                let all = (0..n).map(|c| component(c).unwrap_or(Value::Unknown));
                Some(Value::Composite(all.collect()))
            }
            Some(_) => None,
        }
    }

    /// A null of a scalar type as the scalar that it is.
    fn typed(&self, kind: u32, value: Value) -> Value {
        match (value, self.kind(kind)) {
            (Value::Null, Kind::Scalar(width)) => Value::Scalar(0, width),
            (value, _) => value,
        }
    }
}

fn extract(composite: &Value, indices: &[u32]) -> Option<Value> {
    let Some((&first, rest)) = indices.split_first() else {
        return Some(composite.clone());
    };
    match composite {
        Value::Composite(parts) => extract(parts.get(first as usize)?, rest),
        Value::Null => Some(Value::Null),
        _ => None,
    }
}

fn insert(composite: &Value, indices: &[u32], object: Value) -> Option<Value> {
    let Some((&first, rest)) = indices.split_first() else {
        return Some(object);
    };
    let Value::Composite(parts) = composite else {
        return None;
    };
    let mut parts = parts.to_vec();
    let part = parts.get_mut(first as usize)?;
    *part = insert(part, rest, object)?;
    Some(Value::Composite(parts.into()))
}

/// An operation on scalars, each given by its bits and width, as Mesa computes it: shift amounts wrap at the width and
/// a division by zero gives zero. The result has more bits than its type.
fn compute(op: Op, operands: &[(u64, u32)]) -> Option<u64> {
    let operand = |n: usize| operands.get(n).copied();
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
    let shift = b as u32 & width.saturating_sub(1);
    Some(match op {
        Op::IAdd => a.wrapping_add(b),
        Op::ISub => a.wrapping_sub(b),
        Op::IMul => a.wrapping_mul(b),
        Op::UDiv => a.checked_div(b).unwrap_or(0),
        Op::UMod => a.checked_rem(b).unwrap_or(0),
        Op::SDiv | Op::SRem | Op::SMod if sb == 0 => 0,
        Op::SDiv => sa.wrapping_div(sb) as u64,
        Op::SRem => sa.wrapping_rem(sb) as u64,
        Op::SMod => {
            let rem = sa.wrapping_rem(sb);
            (if rem != 0 && (rem < 0) != (sb < 0) {
                rem + sb
            } else {
                rem
            }) as u64
        }
        Op::ShiftLeftLogical => a << shift,
        Op::ShiftRightLogical => a >> shift,
        Op::ShiftRightArithmetic => (sa >> shift) as u64,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_wrap_at_the_width() {
        let shift = |op, a, by, width| compute(op, &[(a, width), (by, 32)]).expect("known");
        assert_eq!(shift(Op::ShiftLeftLogical, 1, 62, 32), 1 << 30);
        assert_eq!(shift(Op::ShiftLeftLogical, 1, 54, 32), 1 << 22);
        assert_eq!(shift(Op::ShiftRightLogical, 256, 36, 32), 16);
        assert_eq!(shift(Op::ShiftRightArithmetic, 0x80, 9, 8), !0x3f);
        assert_eq!(shift(Op::ShiftLeftLogical, 1, 68, 64), 16);
    }

    #[test]
    fn division_by_zero_and_overflow_are_what_mesa_says() {
        let min = (1 << 63, 64);
        assert_eq!(compute(Op::SDiv, &[min, (u64::MAX, 64)]), Some(1 << 63));
        assert_eq!(compute(Op::SRem, &[min, (u64::MAX, 64)]), Some(0));
        for op in [Op::UDiv, Op::UMod, Op::SDiv, Op::SRem, Op::SMod] {
            assert_eq!(compute(op, &[(7, 32), (0, 32)]), Some(0));
        }
    }

    #[test]
    fn members_are_taken_out_and_put_in_at_any_depth() {
        let scalar = |n| Value::Scalar(n, 32);
        let inner = Value::Composite([scalar(1), scalar(2)].into());
        let outer = Value::Composite([inner, Value::Null].into());
        assert_eq!(extract(&outer, &[0, 1]), Some(scalar(2)));
        assert_eq!(extract(&outer, &[1, 9]), Some(Value::Null));
        assert_eq!(extract(&outer, &[2]), None);
        let changed = insert(&outer, &[0, 0], scalar(5)).expect("fits");
        assert_eq!(extract(&changed, &[0, 0]), Some(scalar(5)));
        assert_eq!(insert(&outer, &[0, 2], scalar(5)), None);
    }
}
