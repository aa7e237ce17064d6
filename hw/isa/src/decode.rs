// SPDX-License-Identifier: MIT
//! Bytes to instructions. Total: any bytes give an instruction or an error, never a panic.
//!
//! The order is that of isa-0, 1.3: length rule, then the first row of that length whose mask
//! fits, then the checks. Rows are found through a small index keyed by the low nibble of byte 0,
//! which every row fixes, and the length.

use std::sync::LazyLock;

use crate::illegal::Illegal;
use crate::instr::Instr;
use crate::length::{Length, instruction_length, known_undecoded};
use crate::table::{FORMS, FormId};

/// How to treat bits that the reference cannot explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// They must hold the value that is known to work.
    Strict,
    /// They are kept as they are.
    Lenient,
}

/// Why bytes are not an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodeErrorKind {
    /// The input ends inside an instruction that has at least this many bytes.
    Truncated {
        /// Bytes needed, as far as known.
        need: u8,
    },
    /// No known instruction begins like this; decoding cannot go on.
    UnknownLength,
    /// The length is known, the encoding is not. Decoding can go on behind it.
    Reserved,
    /// A byte string of known length that the reference names but does not decode.
    Undecoded(&'static str),
    /// The form is known, a field of it is not legal.
    Illegal(&'static str, Illegal),
}

/// Bytes that are not an instruction.
#[derive(Clone, PartialEq, Eq)]
pub struct DecodeError {
    /// Offset of the first byte, from the start of the decoded range.
    pub offset: usize,
    /// Why.
    pub kind: DecodeErrorKind,
    bytes: [u8; 16],
    len: u8,
}

impl DecodeError {
    fn new(bytes: &[u8], len: usize, kind: DecodeErrorKind) -> DecodeError {
        let mut copy = [0; 16];
        let len = len.min(bytes.len()).min(16);
        copy[..len].copy_from_slice(&bytes[..len]);
        DecodeError {
            offset: 0,
            kind,
            bytes: copy,
            len: len as u8,
        }
    }

    /// The bytes, as far as the length is known (at most 16).
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Length of the encoding, when decoding can go on behind it.
    #[must_use]
    pub fn known_length(&self) -> Option<usize> {
        match self.kind {
            DecodeErrorKind::Truncated { .. } | DecodeErrorKind::UnknownLength => None,
            _ => Some(usize::from(self.len)),
        }
    }
}

impl std::fmt::Display for DecodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "offset {:#x}: ", self.offset)?;
        for b in self.bytes() {
            write!(f, "{b:02x} ")?;
        }
        match &self.kind {
            DecodeErrorKind::Truncated { need } => {
                write!(f, "ends early: the instruction has at least {need} bytes")
            }
            DecodeErrorKind::UnknownLength => f.write_str("begins no known instruction"),
            DecodeErrorKind::Reserved => f.write_str("is a reserved encoding"),
            DecodeErrorKind::Undecoded(what) => write!(f, "has no decoded form ({what})"),
            DecodeErrorKind::Illegal(form, illegal) => write!(f, "{form}: {illegal}"),
        }
    }
}

impl std::fmt::Debug for DecodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for DecodeError {}

/// A row's selecting bits, their values, and the row.
type Row = (u128, u128, FormId);

/// Candidate rows in test order. The wide families (low three bits of byte 0 all set) are found by
/// byte 0 and the low nibble of byte 1, all others by the low nibble of byte 0 and the length.
struct Index {
    rows: Vec<Row>,
    /// By byte 0 bits 7:3 and byte 1 bits 3:0.
    wide: [(u16, u16); 512],
    /// By byte 0 bits 3:0 and length / 2.
    scattered: [(u16, u16); 256],
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index {
        rows: Vec::new(),
        wide: [(0, 0); 512],
        scattered: [(0, 0); 256],
    };
    // Rows that may match an instruction whose low bits are `key` under `mask`.
    let mut candidates = |key: u128, mask: u128, len: Option<usize>| {
        let start = index.rows.len() as u16;
        for (&id, form) in FormId::ALL.iter().zip(&FORMS) {
            let fits = len.is_none_or(|len| len == usize::from(form.len));
            if fits && (key ^ form.value) & form.mask & mask == 0 {
                index.rows.push((form.mask, form.value, id));
            }
        }
        (start, index.rows.len() as u16)
    };
    for (i, range) in index.wide.iter_mut().enumerate() {
        let key = ((i as u128 >> 4) << 3) | 7 | ((i as u128 & 15) << 8);
        *range = candidates(key, 0x0fff, None);
    }
    for (i, range) in index.scattered.iter_mut().enumerate() {
        let nibble = i as u128 >> 4;
        if nibble & 7 != 7 {
            *range = candidates(nibble, 0xf, Some(2 * (i & 15)));
        }
    }
    index
});

impl Index {
    #[inline]
    fn candidates(&self, bits: u128, len: usize) -> &[Row] {
        let low = bits as usize;
        let (start, end) = if low & 7 == 7 {
            self.wide[((low >> 3 & 31) << 4) | (low >> 8 & 15)]
        } else {
            self.scattered[((low & 15) << 4) | (len / 2)]
        };
        &self.rows[usize::from(start)..usize::from(end)]
    }
}

/// The first `len` bytes as an instruction word; `None` when there are fewer.
#[inline]
fn load(bytes: &[u8], len: usize) -> Option<u128> {
    if let Some(block) = bytes.first_chunk::<16>() {
        let unused = 128 - 8 * len as u32;
        return Some(u128::from_le_bytes(*block) << unused >> unused);
    }
    let mut buffer = [0; 16];
    buffer[..len].copy_from_slice(bytes.get(..len)?);
    Some(u128::from_le_bytes(buffer))
}

/// Decodes the instruction that starts `bytes`. Bytes behind it are ignored.
///
/// # Errors
/// When the bytes are no complete, known and legal instruction.
#[inline]
pub fn decode(bytes: &[u8], mode: Mode) -> Result<Instr, DecodeError> {
    let len = match instruction_length(bytes) {
        Length::Bytes(len) => usize::from(len),
        Length::Short(need) => return Err(truncated(bytes, need)),
        Length::Unknown => return Err(unknown(bytes)),
    };
    let Some(bits) = load(bytes, len) else {
        return Err(truncated(bytes, len as u8));
    };
    let rows = INDEX.candidates(bits, len);
    let Some((_, _, id)) = rows.iter().find(|(mask, value, _)| bits & mask == *value) else {
        return Err(no_row(bytes, len));
    };
    let instr = Instr::from_bits(*id, bits);
    let strict = mode == Mode::Strict;
    if crate::quick::is_legal(&instr, strict) {
        return Ok(instr);
    }
    match instr.check(strict) {
        Ok(()) => Ok(instr),
        Err(illegal) => Err(DecodeError::new(
            bytes,
            len,
            DecodeErrorKind::Illegal(id.form().name, illegal),
        )),
    }
}

#[cold]
fn truncated(bytes: &[u8], need: u8) -> DecodeError {
    DecodeError::new(bytes, bytes.len(), DecodeErrorKind::Truncated { need })
}

#[cold]
fn unknown(bytes: &[u8]) -> DecodeError {
    match known_undecoded(bytes) {
        Some((len, what)) => {
            DecodeError::new(bytes, usize::from(len), DecodeErrorKind::Undecoded(what))
        }
        None => DecodeError::new(bytes, 4, DecodeErrorKind::UnknownLength),
    }
}

#[cold]
fn no_row(bytes: &[u8], len: usize) -> DecodeError {
    let kind = match known_undecoded(bytes) {
        Some((_, what)) => DecodeErrorKind::Undecoded(what),
        None => DecodeErrorKind::Reserved,
    };
    DecodeError::new(bytes, len, kind)
}

/// Walks a byte range instruction by instruction.
///
/// After an error whose length is known it goes on behind it; after any other it ends.
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    bytes: &'a [u8],
    offset: usize,
    mode: Mode,
    stopped: bool,
}

impl<'a> Decoder<'a> {
    /// Starts at the first byte.
    #[must_use]
    pub const fn new(bytes: &'a [u8], mode: Mode) -> Decoder<'a> {
        Decoder {
            bytes,
            offset: 0,
            mode,
            stopped: false,
        }
    }

    /// Offset of the next instruction.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }
}

impl Iterator for Decoder<'_> {
    type Item = Result<(usize, Instr), DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.stopped || self.offset >= self.bytes.len() {
            return None;
        }
        let offset = self.offset;
        Some(match decode(&self.bytes[offset..], self.mode) {
            Ok(instr) => {
                self.offset += usize::from(instr.form().len);
                Ok((offset, instr))
            }
            Err(mut error) => {
                error.offset = offset;
                match error.known_length() {
                    Some(len) => self.offset += len,
                    None => self.stopped = true,
                }
                Err(error)
            }
        })
    }
}
