// SPDX-License-Identifier: MIT
//! The types that operations have.

use std::fmt;

/// A scalar type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // The names say it.
pub enum Scalar {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
}

use Scalar::{Bool, F16, F32, I8, I16, I32, I64, U8, U16, U32, U64};

pub(crate) const SIGNED: [Scalar; 4] = [I8, I16, I32, I64];
pub(crate) const UNSIGNED: [Scalar; 4] = [U8, U16, U32, U64];
pub(crate) const INTEGERS: [Scalar; 8] = [I8, I16, I32, I64, U8, U16, U32, U64];
pub(crate) const FLOATS: [Scalar; 2] = [F16, F32];

impl Scalar {
    /// Bits of a value.
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            I8 | U8 => 8,
            I16 | U16 | F16 => 16,
            Bool | I32 | U32 | F32 => 32,
            I64 | U64 => 64,
        }
    }

    /// Bytes of a value in a buffer, where a Boolean is a word, 0 or 1.
    #[must_use]
    pub fn bytes(self) -> usize {
        self.bits() as usize / 8
    }

    /// All bits of the type.
    #[must_use]
    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// Whether it is a float.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, F16 | F32)
    }

    /// Whether it is a signed integer.
    #[must_use]
    pub fn is_signed(self) -> bool {
        matches!(self, I8 | I16 | I32 | I64)
    }

    /// The value of an integer.
    pub(crate) fn integer(self, bits: u64) -> i128 {
        let unused = 64 - self.bits();
        if self.is_signed() {
            i128::from((bits << unused) as i64 >> unused)
        } else {
            i128::from(bits & self.mask())
        }
    }

    /// The low bits of an integer.
    pub(crate) fn wrap(self, value: i128) -> u64 {
        value as u64 & self.mask()
    }

    /// Least and greatest integer.
    pub(crate) fn limits(self) -> (i128, i128) {
        if self.is_signed() {
            let half = 1i128 << (self.bits() - 1);
            (-half, half - 1)
        } else {
            (0, i128::from(self.mask()))
        }
    }

    /// A value for people to read.
    #[must_use]
    pub fn show(self, bits: u64) -> String {
        let digits = self.bytes() * 2;
        match self {
            Bool => format!("{}", bits != 0),
            F16 | F32 => format!(
                "0x{bits:0digits$x} ({:e})",
                super::reference::format::of(self).decode(bits)
            ),
            _ => format!("0x{bits:0digits$x} ({})", self.integer(bits)),
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Bool => "bool",
            I8 => "i8",
            I16 => "i16",
            I32 => "i32",
            I64 => "i64",
            U8 => "u8",
            U16 => "u16",
            U32 => "u32",
            U64 => "u64",
            F16 => "f16",
            F32 => "f32",
        };
        f.write_str(name)
    }
}

/// A scalar, or a vector of 2 to 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ty {
    /// Type of a component.
    pub scalar: Scalar,
    /// Components.
    pub width: u32,
}

impl Ty {
    pub(crate) const fn new(scalar: Scalar, width: u32) -> Ty {
        Ty { scalar, width }
    }

    /// Components in a buffer: three are padded to four.
    pub(crate) fn stored_width(self) -> usize {
        if self.width == 3 {
            4
        } else {
            self.width as usize
        }
    }
}

impl From<Scalar> for Ty {
    fn from(scalar: Scalar) -> Ty {
        Ty::new(scalar, 1)
    }
}
