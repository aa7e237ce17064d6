// SPDX-License-Identifier: MIT
//! Operands of micro-ops: where values come from and go to.

use agx_isa::{File, Half, Instr, Reg, Value};

use super::wave::{GPRS, PUBLICATIONS};

/// The register's number, when there is such a register.
fn number(reg: Reg) -> Option<u8> {
    let count = match reg.file {
        File::Gpr => GPRS,
        File::Publication => PUBLICATIONS,
        _ => 256,
    };
    u8::try_from(reg.index)
        .ok()
        .filter(|&n| usize::from(n) < count)
}

/// Where a source's 32 raw bits come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Place {
    /// A constant: [`Src::xor`].
    Constant,
    /// A general register.
    Gpr,
    /// Its low half, zero-extended.
    Low,
    /// Its high half, zero-extended.
    High,
    /// Its low half, an fp16, widened exactly to fp32 (isa-1, 1.9).
    LowFloat,
    /// Its high half, widened.
    HighFloat,
    /// A uniform word.
    Uniform,
}

/// A source: `(bits(place) & and) ^ xor` in each lane.
///
/// Absolute value and negation are pure sign-bit operations (isa-1, 3; HW), absolute value first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Src {
    /// Where from.
    pub place: Place,
    /// Register or uniform number.
    pub index: u8,
    /// Bits kept.
    pub and: u32,
    /// Bits flipped afterwards.
    pub xor: u32,
}

impl Src {
    /// Zero.
    pub const ZERO: Src = Src::constant(0);

    /// A constant.
    #[must_use]
    pub const fn constant(value: u32) -> Src {
        Src {
            place: Place::Constant,
            index: 0,
            and: 0,
            xor: value,
        }
    }

    /// A whole register.
    #[must_use]
    pub const fn gpr(index: u8) -> Src {
        Src {
            place: Place::Gpr,
            index,
            and: !0,
            xor: 0,
        }
    }

    /// Operand `index` of an instruction as raw bits: integers and inline constants as they are,
    /// minifloats as fp32 bits, halves zero-extended. Negation and absolute value act on the sign
    /// bit of the operand's width.
    ///
    /// `None` when the operand is absent, or in a file that is no ALU source.
    #[must_use]
    pub fn of(instr: &Instr, index: usize) -> Option<Src> {
        if index >= instr.form().operands.len() {
            return None;
        }
        let arg = instr.arg(index);
        let mut src = match arg.value {
            Value::Reg(reg) => Src {
                place: match (reg.file, reg.half) {
                    (File::Gpr, Half::Whole) => Place::Gpr,
                    (File::Gpr, Half::Low) => Place::Low,
                    (File::Gpr, Half::High) => Place::High,
                    (File::Uniform, _) => Place::Uniform,
                    _ => return None,
                },
                index: number(reg)?,
                and: !0,
                xor: 0,
            },
            Value::Int(value) => Src::constant(value as u32),
            Value::Float(value) => Src::constant(value.to_f32().to_bits()),
            Value::Absent(_) => return None,
        };
        let sign = match src.place {
            Place::Low | Place::High => 0x8000,
            _ => 0x8000_0000,
        };
        if arg.abs {
            src = src.masked(!sign);
        }
        if arg.neg {
            src = src.flipped(sign);
        }
        Some(src)
    }

    /// As [`Src::of`], with fp16 halves widened to fp32.
    #[must_use]
    pub fn float(instr: &Instr, index: usize) -> Option<Src> {
        let mut src = Src::of(instr, index)?;
        let widened = match src.place {
            Place::Low => Place::LowFloat,
            Place::High => Place::HighFloat,
            _ => return Some(src),
        };
        src.place = widened;
        // The modifiers move to the wider value's sign bit.
        let arg = instr.arg(index);
        src.and = if arg.abs { 0x7fff_ffff } else { !0 };
        src.xor = if arg.neg { 0x8000_0000 } else { 0 };
        Some(src)
    }

    /// The same, with `mask` applied to its value.
    #[must_use]
    pub const fn masked(mut self, mask: u32) -> Src {
        self.xor &= mask;
        self.and &= mask;
        self
    }

    /// The same, with the bits of `mask` flipped.
    #[must_use]
    pub const fn flipped(mut self, mask: u32) -> Src {
        self.xor ^= mask;
        self
    }

    /// True when it is a whole register without modifiers.
    #[inline(always)]
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.place == Place::Gpr && self.and == !0 && self.xor == 0
    }
}

/// Where a result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dst {
    /// Nowhere.
    None,
    /// A general register, all 32 bits.
    Gpr(u8),
    /// Its low half; the high half stays.
    Low(u8),
    /// Its high half; the low half stays.
    High(u8),
    /// A publication word.
    Publication(u8),
    /// A uniform word, from the lowest active lane (set-up programs run one lane).
    Uniform(u8),
}

impl Dst {
    /// Operand `index` of an instruction as a destination.
    ///
    /// `None` when it is absent, or in a file that micro-ops do not write.
    #[must_use]
    pub fn of(instr: &Instr, index: usize) -> Option<Dst> {
        if index >= instr.form().operands.len() {
            return None;
        }
        let Value::Reg(reg) = instr.arg(index).value else {
            return None;
        };
        let number = number(reg)?;
        Some(match (reg.file, reg.half) {
            (File::Gpr, Half::Whole) => Dst::Gpr(number),
            (File::Gpr, Half::Low) => Dst::Low(number),
            (File::Gpr, Half::High) => Dst::High(number),
            (File::Publication, _) => Dst::Publication(number),
            (File::Uniform, _) => Dst::Uniform(number),
            _ => return None,
        })
    }

    /// The register `by` further on, for tuples.
    ///
    /// `None` when there is no such register.
    #[must_use]
    pub fn next(self, by: u8) -> Option<Dst> {
        let within = |n: u8, count: u16| n.checked_add(by).filter(|&n| u16::from(n) < count);
        Some(match self {
            Dst::None => Dst::None,
            Dst::Gpr(n) => Dst::Gpr(within(n, 96)?),
            Dst::Low(n) => Dst::Low(within(n, 96)?),
            Dst::High(n) => Dst::High(within(n, 96)?),
            Dst::Publication(n) => Dst::Publication(within(n, 128)?),
            Dst::Uniform(n) => Dst::Uniform(within(n, 256)?),
        })
    }
}
