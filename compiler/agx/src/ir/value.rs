// SPDX-License-Identifier: MIT
//! Values and operands.

use std::fmt;

/// An SSA value: 32 bits of each lane. Narrower values lie in the low bits, the bits above them are undefined; wider
/// ones are several values. Every use of a tuple names its values one by one, so that a tuple is nothing but an operand
/// whose registers must follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub u32);

/// Where a result goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dst {
    /// Before register allocation.
    Value(Value),
    /// After it: `r0`..`r95`.
    Reg(u8),
}

/// What an operand reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ref {
    /// An SSA value; before register allocation.
    Value(Value),
    /// A general register; after it.
    Reg(u8),
    /// Argument word `u0`..`u255`, the same for all lanes.
    Uniform(u8),
    /// 32 constant bits. Which constants an operand can hold itself says [`super::Op::accepts`]; the others become
    /// values before register allocation.
    Imm(u32),
}

/// An operand: what it reads, which half of that, and its floating-point modifiers, first `abs`, then `neg`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Src {
    /// What it reads.
    pub from: Ref,
    /// The sign is flipped.
    pub neg: bool,
    /// The sign is cleared.
    pub abs: bool,
    /// Only the high half is read, in place of the low one; [`super::super::emit::accepts`] says which operands can.
    pub high: bool,
}

impl Src {
    /// Without modifiers.
    #[must_use]
    pub const fn new(from: Ref) -> Src {
        Src {
            from,
            neg: false,
            abs: false,
            high: false,
        }
    }

    /// The high half of a value.
    #[must_use]
    pub const fn high(value: Value) -> Src {
        Src {
            high: true,
            ..Src::new(Ref::Value(value))
        }
    }

    /// A constant.
    #[must_use]
    pub const fn imm(bits: u32) -> Src {
        Src::new(Ref::Imm(bits))
    }

    /// The bits of a float.
    #[must_use]
    pub const fn float(value: f32) -> Src {
        Src::imm(value.to_bits())
    }

    /// The value, if it is one.
    #[must_use]
    pub const fn value(&self) -> Option<Value> {
        match self.from {
            Ref::Value(v) => Some(v),
            _ => None,
        }
    }

    /// The register, if it is one.
    #[must_use]
    pub const fn reg(&self) -> Option<u8> {
        match self.from {
            Ref::Reg(r) => Some(r),
            _ => None,
        }
    }

    /// The constant, if it is one; modifiers are not applied.
    #[must_use]
    pub const fn as_imm(&self) -> Option<u32> {
        match self.from {
            Ref::Imm(bits) => Some(bits),
            _ => None,
        }
    }

    /// The same with the sign flipped.
    #[must_use]
    pub const fn negated(mut self) -> Src {
        self.neg = !self.neg;
        self
    }

    /// The absolute value of the same.
    #[must_use]
    pub const fn absolute(mut self) -> Src {
        self.abs = true;
        self.neg = false;
        self
    }

    /// True when a modifier is set.
    #[must_use]
    pub const fn is_modified(&self) -> bool {
        self.neg || self.abs
    }
}

impl From<Value> for Src {
    fn from(value: Value) -> Src {
        Src::new(Ref::Value(value))
    }
}

impl From<Value> for Dst {
    fn from(value: Value) -> Dst {
        Dst::Value(value)
    }
}

impl Dst {
    /// The value, if it is one.
    #[must_use]
    pub const fn value(&self) -> Option<Value> {
        match self {
            Dst::Value(v) => Some(*v),
            Dst::Reg(_) => None,
        }
    }

    /// The register, if it is one.
    #[must_use]
    pub const fn reg(&self) -> Option<u8> {
        match self {
            Dst::Reg(r) => Some(*r),
            Dst::Value(_) => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

impl fmt::Display for Dst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dst::Value(v) => v.fmt(f),
            Dst::Reg(r) => write!(f, "r{r}"),
        }
    }
}

impl fmt::Display for Src {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.neg {
            f.write_str("-")?;
        }
        if self.abs {
            f.write_str("|")?;
        }
        match self.from {
            Ref::Value(v) => v.fmt(f)?,
            Ref::Reg(r) => write!(f, "r{r}")?,
            Ref::Uniform(u) => write!(f, "u{u}")?,
            Ref::Imm(bits) => write!(f, "#{bits:#x}")?,
        }
        if self.high {
            f.write_str(".h")?;
        }
        if self.abs {
            f.write_str("|")?;
        }
        Ok(())
    }
}
