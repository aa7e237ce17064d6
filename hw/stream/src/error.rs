// SPDX-License-Identifier: MIT
//! Why a value cannot be packed, or bytes cannot be unpacked.

use agx_isa::{DecodeError, Illegal};

/// Result of packing or unpacking.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A value that a structure cannot hold, or bytes that are not such a structure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A field's value is outside its legal range. The same error for both directions: what cannot
    /// be packed is not unpacked either.
    #[error("{structure}: {field} = {value:#x}: legal is {legal}")]
    Field {
        /// The structure, as the reference names it.
        structure: &'static str,
        /// The field.
        field: &'static str,
        /// Its value.
        value: u64,
        /// What would be legal.
        legal: &'static str,
    },
    /// The buffer ends before the structure does.
    #[error("{structure}: needs {need:#x} bytes, {got:#x} are there")]
    Short {
        /// The structure.
        structure: &'static str,
        /// Bytes needed, as far as known.
        need: usize,
        /// Bytes given.
        got: usize,
    },
    /// Bytes that the structure does not have at this place.
    #[error("{structure}: {offset:#x} bytes in: expected {expected}")]
    Unexpected {
        /// The structure.
        structure: &'static str,
        /// Offset of the first wrong byte or instruction from the structure's start.
        offset: usize,
        /// What belongs there.
        expected: &'static str,
    },
    /// Bytes in a program that are no instruction.
    #[error("{structure}: {source}")]
    Instruction {
        /// The structure.
        structure: &'static str,
        /// Where and why. The offset counts from the structure's start.
        source: Box<DecodeError>,
    },
    /// An instruction cannot hold an operand.
    #[error("{structure}: {source}")]
    Operand {
        /// The structure.
        structure: &'static str,
        /// The operand, its value and the legal range.
        source: Box<Illegal>,
    },
}

/// `Err` of [`Error::Field`].
#[cold]
pub(crate) fn illegal<T>(
    structure: &'static str,
    field: &'static str,
    value: u64,
    legal: &'static str,
) -> Result<T> {
    Err(Error::Field {
        structure,
        field,
        value,
        legal,
    })
}

/// `Err` of [`Error::Unexpected`].
#[cold]
pub(crate) fn unexpected<T>(
    structure: &'static str,
    offset: usize,
    expected: &'static str,
) -> Result<T> {
    Err(Error::Unexpected {
        structure,
        offset,
        expected,
    })
}

/// For `map_err` on the setters and the encoder of the instruction table.
pub(crate) fn operand(structure: &'static str) -> impl Fn(Illegal) -> Error {
    move |source| Error::Operand {
        structure,
        source: Box::new(source),
    }
}
