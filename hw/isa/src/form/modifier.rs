// SPDX-License-Identifier: MIT
//! Modifiers: the fields of a form that belong to no operand.

use crate::bits::Bits;
use crate::instr::Instr;

/// What a modifier is, which decides how it is checked and printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Part of the operation.
    Semantic,
    /// No effect on results; both values decode in every mode.
    Hint,
    /// The hardware ignores it.
    Ignored,
    /// Follows from the other fields: setters keep it right, text leaves it out, checks insist.
    Derived,
    /// Value known, meaning not: strict decoding takes only the listed values.
    Opaque,
}

/// The values a modifier may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Legal {
    /// Whatever fits.
    Any,
    /// An inclusive range.
    Range(u64, u64),
    /// Two's complement, whatever fits.
    Signed,
    /// Two's complement, a multiple of two.
    SignedEven,
    /// A multiple of this.
    Multiple(u64),
    /// Exactly these values.
    Set(&'static [u64]),
    /// Exactly these values, each with a name.
    Names(&'static [(u64, &'static str)]),
}

/// How a modifier is written in assembly text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `key=value` after the operands, left out when it has its default.
    Key,
    /// `.name` behind the mnemonic, always.
    Dot,
    /// A branch displacement: a label or `.+n`.
    Target,
}

/// A field of a form that belongs to no operand.
#[derive(Clone, Copy, Debug)]
pub struct Modifier {
    /// Name in the reference's field tables.
    pub name: &'static str,
    /// Its bits.
    pub bits: Bits,
    /// Kind.
    pub class: Class,
    /// Legal values.
    pub legal: Legal,
    /// What an encoder writes unless told otherwise.
    pub default: u64,
    /// Text form.
    pub style: Style,
}

impl Modifier {
    /// A semantic field with default 0 and no restriction.
    #[must_use]
    pub const fn new(name: &'static str, bits: &[(u8, u8)]) -> Modifier {
        Modifier {
            name,
            bits: Bits::new(bits),
            class: Class::Semantic,
            legal: Legal::Any,
            default: 0,
            style: Style::Key,
        }
    }

    /// A semantic one-bit field.
    #[must_use]
    pub const fn flag(name: &'static str, bit: u8) -> Modifier {
        Modifier::new(name, &[(bit, bit)])
    }

    /// A one-bit cache hint that an encoder writes as `default`.
    #[must_use]
    pub const fn hint(name: &'static str, bit: u8, default: u64) -> Modifier {
        let mut m = Modifier::flag(name, bit);
        m.class = Class::Hint;
        m.default = default;
        m
    }

    /// A field the hardware ignores.
    #[must_use]
    pub const fn ignored(name: &'static str, bits: &[(u8, u8)]) -> Modifier {
        let mut m = Modifier::new(name, bits);
        m.class = Class::Ignored;
        m
    }

    /// A one-bit field that follows from others.
    #[must_use]
    pub const fn derived(name: &'static str, bit: u8) -> Modifier {
        let mut m = Modifier::flag(name, bit);
        m.class = Class::Derived;
        m
    }

    /// A field whose meaning is unknown, with the values that have been seen; the first is the
    /// default. With none, strict decoding refuses the form.
    #[must_use]
    pub const fn opaque(name: &'static str, bits: &[(u8, u8)], seen: &'static [u64]) -> Modifier {
        let mut m = Modifier::new(name, bits);
        m.class = Class::Opaque;
        m.legal = Legal::Set(seen);
        if !seen.is_empty() {
            m.default = seen[0];
        }
        m
    }

    /// Restricts the values.
    #[must_use]
    pub const fn legal(mut self, legal: Legal) -> Modifier {
        self.legal = legal;
        self
    }

    /// Named values.
    #[must_use]
    pub const fn names(self, names: &'static [(u64, &'static str)]) -> Modifier {
        let first = names[0].0;
        self.legal(Legal::Names(names)).default(first)
    }

    /// Default value.
    #[must_use]
    pub const fn default(mut self, default: u64) -> Modifier {
        self.default = default;
        self
    }

    /// May the field hold this value, which fits it?
    #[inline]
    #[must_use]
    pub const fn allows(&self, value: u64) -> bool {
        match self.legal {
            Legal::Any | Legal::Signed => true,
            Legal::Range(lo, hi) => lo <= value && value <= hi,
            Legal::SignedEven => value & 1 == 0,
            Legal::Multiple(n) => value.is_multiple_of(n),
            Legal::Set(values) => {
                let mut i = 0;
                while i < values.len() {
                    if values[i] == value {
                        return true;
                    }
                    i += 1;
                }
                false
            }
            Legal::Names(names) => {
                let mut i = 0;
                while i < names.len() {
                    if names[i].0 == value {
                        return true;
                    }
                    i += 1;
                }
                false
            }
        }
    }

    /// The field's value in an instruction whose form has it.
    #[inline]
    #[must_use]
    pub fn of(&self, instr: &Instr) -> u64 {
        self.bits.get(instr.bits())
    }

    /// Written behind the mnemonic.
    #[must_use]
    pub const fn dot(mut self) -> Modifier {
        self.style = Style::Dot;
        self
    }

    /// A branch displacement.
    #[must_use]
    pub const fn target(mut self) -> Modifier {
        self.style = Style::Target;
        self
    }
}
