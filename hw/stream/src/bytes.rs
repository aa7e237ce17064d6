// SPDX-License-Identifier: MIT
//! Little-endian words at byte offsets, without panics.

use crate::error::{Error, Result};

/// The first `need` bytes; the error names the structure that needs them.
#[inline]
pub(crate) fn head<'a>(structure: &'static str, bytes: &'a [u8], need: usize) -> Result<&'a [u8]> {
    // The error is made only when there is one: records are packed for every launch.
    match bytes.get(..need) {
        Some(head) => Ok(head),
        None => Err(Error::Short {
            structure,
            need,
            got: bytes.len(),
        }),
    }
}

/// The first `need` bytes, to write.
#[inline]
pub(crate) fn head_mut<'a>(
    structure: &'static str,
    bytes: &'a mut [u8],
    need: usize,
) -> Result<&'a mut [u8]> {
    let got = bytes.len();
    match bytes.get_mut(..need) {
        Some(head) => Ok(head),
        None => Err(Error::Short {
            structure,
            need,
            got,
        }),
    }
}

/// The 32-bit word at `offset`; bytes behind the end read as 0.
pub(crate) fn word(bytes: &[u8], offset: usize) -> u32 {
    chunk(bytes, offset).map_or(0, u32::from_le_bytes)
}

/// The 64-bit word at `offset`; bytes behind the end read as 0.
pub(crate) fn qword(bytes: &[u8], offset: usize) -> u64 {
    chunk(bytes, offset).map_or(0, u64::from_le_bytes)
}

/// Three consecutive 32-bit words.
pub(crate) fn words3(bytes: &[u8], offset: usize) -> [u32; 3] {
    [0, 4, 8].map(|i| word(bytes, offset + i))
}

fn chunk<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk::<N>().copied()
}

/// Writes bytes at `offset`; what would lie behind the end is not written. Callers have checked the
/// length with [`head_mut`].
pub(crate) fn put(bytes: &mut [u8], offset: usize, value: &[u8]) {
    debug_assert!(offset + value.len() <= bytes.len());
    if let Some(place) = bytes.get_mut(offset..offset + value.len()) {
        place.copy_from_slice(value);
    }
}

/// Writes consecutive 32-bit words; all or, when they would not fit, none.
#[inline]
pub(crate) fn put_words(bytes: &mut [u8], offset: usize, words: &[u32]) {
    debug_assert!(offset + 4 * words.len() <= bytes.len());
    // One check for all: records are written for every launch.
    if let Some(places) = bytes.get_mut(offset..offset + 4 * words.len()) {
        for (place, word) in places.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
    }
}

/// Writes a 64-bit word.
pub(crate) fn put_qword(bytes: &mut [u8], offset: usize, value: u64) {
    put(bytes, offset, &value.to_le_bytes());
}

/// Refuses a byte that is not zero.
pub(crate) fn zeros(structure: &'static str, bytes: &[u8], from: usize, to: usize) -> Result<()> {
    let range = bytes.get(from..to).unwrap_or_default();
    match range.iter().position(|b| *b != 0) {
        Some(i) => crate::error::unexpected(structure, from + i, "zero"),
        None => Ok(()),
    }
}
