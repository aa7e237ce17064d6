// SPDX-License-Identifier: MIT
//! The short way to what an instruction touches.
//!
//! Most operands are general registers, and which bits say so, how many registers there are and what releases them
//! depends on the form alone. It is worked out once for each form; every operand for which it does not suffice goes the
//! general way, along its description. A test holds the two together.

use std::sync::LazyLock;

use crate::bits::Bits;
use crate::form::{Alt, File, Operand, Release, Role, Span};
use crate::instr::{Half, Reg};
use crate::operand::half_of;
use crate::table::FORMS;

/// Bits that must have a value.
#[derive(Clone, Copy)]
struct Condition {
    mask: u128,
    value: u128,
}

impl Condition {
    const ALWAYS: Condition = Condition { mask: 0, value: 0 };
    const NEVER: Condition = Condition { mask: 0, value: 1 };

    fn field(bits: Bits, value: u64) -> Condition {
        Condition {
            mask: bits.mask(),
            value: bits.put(0, value),
        }
    }

    fn and(self, other: Condition) -> Condition {
        Condition {
            mask: self.mask | other.mask,
            value: self.value | other.value,
        }
    }

    #[inline]
    fn holds(&self, bits: u128) -> bool {
        bits & self.mask == self.value
    }
}

/// What releases a register.
#[derive(Clone, Copy)]
pub(crate) struct Releasing {
    /// Bits that change ...
    clear: u128,
    /// ... and what they become.
    set: u128,
}

impl Releasing {
    #[inline]
    pub(crate) fn apply(self, bits: u128) -> u128 {
        bits & !self.clear | self.set
    }
}

/// One operand of a form.
pub(crate) struct Touch {
    /// It names nothing but numbers and constants.
    pub(crate) nothing: bool,
    /// It is a general register, which everything below is about.
    register: Condition,
    index: Bits,
    pub(crate) count: u8,
    /// The half is told by some bits; else the register is whole.
    halves: bool,
    killed: Condition,
    /// How it is released; `None` = the form cannot say it.
    pub(crate) releasing: Option<Releasing>,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    pub(crate) held: bool,
    operand: &'static Operand,
}

static TOUCHES: LazyLock<Vec<Vec<Touch>>> = LazyLock::new(|| {
    FORMS
        .iter()
        .map(|form| form.operands.iter().map(Touch::of).collect())
        .collect()
});

/// For each operand of form `id`.
#[inline]
pub(crate) fn touches(id: crate::FormId) -> &'static [Touch] {
    &TOUCHES[id as usize]
}

impl Touch {
    fn of(operand: &'static Operand) -> Touch {
        let register = match (operand.file, operand.alt) {
            (_, Alt::Address { gpr }) => Condition::field(gpr, gpr.max()),
            (File::Gpr, Alt::None) => Condition::ALWAYS,
            (File::Gpr, Alt::Scattered { file, .. }) if !file.is_none() => {
                Condition::field(file.bits(), 0)
            }
            (File::Gpr, Alt::Wide { gpr, .. }) => Condition::field(gpr.bits(), 1),
            (File::Gpr, Alt::Export(bit)) => Condition::field(bit.bits(), 0),
            (File::Gpr, Alt::Literal { gpr, .. }) => Condition::field(gpr, gpr.max()),
            _ => Condition::NEVER,
        };
        let present = match operand.present.bits.is_none() {
            true => Condition::ALWAYS,
            false => Condition::field(operand.present.bits, operand.present.on),
        };
        let count = match (operand.alt, operand.span) {
            (Alt::Address { .. }, _) => Some(2),
            (_, Span::Regs(count)) => Some(count),
            (
                _,
                Span::Half
                | Span::Scalar
                | Span::NarrowIfClear(_)
                | Span::NarrowIfSet(_)
                | Span::PackResult,
            ) => Some(1),
            _ => None,
        };
        let is_register = match count {
            Some(_) if register.value & !register.mask == 0 => register.and(present),
            _ => Condition::NEVER,
        };
        let killed = match operand.release {
            Release::Never => Condition::NEVER,
            Release::Always => Condition::ALWAYS,
            Release::If(bit) | Release::DestroyedIf(bit) => Condition::field(bit.bits(), 1),
            Release::Unless(bit) => Condition::field(bit.bits(), 0),
            Release::IfAll(all) => Condition::field(all, all.max()),
        };
        // No encoder keeps in the cache what it releases.
        let keep = operand.keep.bit().bits().mask();
        let releasing = match operand.release {
            Release::Never | Release::DestroyedIf(_) => None,
            _ => Some(Releasing {
                clear: killed.mask | keep,
                set: killed.value & !keep,
            }),
        };
        let is_number = matches!(operand.file, File::Imm | File::SampleMask);
        Touch {
            nothing: is_number && matches!(operand.alt, Alt::None),
            register: is_register,
            index: operand.index,
            count: count.unwrap_or(0),
            halves: !matches!(operand.span, Span::Regs(_)) || !operand.half.is_none(),
            killed,
            releasing,
            reads: operand.role != Role::Def,
            writes: operand.role != Role::Use,
            held: operand.held,
            operand,
        }
    }

    /// Does it name a general register? True only if it does; false means nothing.
    #[inline]
    pub(crate) fn is_register(&self, bits: u128) -> bool {
        self.register.holds(bits)
    }

    /// The register that it names.
    #[inline]
    pub(crate) fn register(&self, bits: u128) -> Reg {
        Reg {
            file: File::Gpr,
            index: self.index.get(bits) as u16,
            half: match self.halves {
                true => half_of(self.operand, bits),
                false => Half::Whole,
            },
        }
    }

    /// Is that register released?
    #[inline]
    pub(crate) fn is_killed(&self, bits: u128) -> bool {
        self.killed.holds(bits)
    }
}
