// SPDX-License-Identifier: MIT
//! Bit fields: of descriptor records, counted from bit 0 of byte 0 (images, 0), and of the words of
//! command records.

use crate::error::{Error, Result, illegal};

/// A record of `N` 64-bit words under construction.
pub(crate) struct Writer<const N: usize>([u64; N]);

impl<const N: usize> Writer<N> {
    pub(crate) const fn new() -> Writer<N> {
        Writer([0; N])
    }

    /// Sets bits `first..=last`. Callers have checked the value; what does not fit is not written.
    pub(crate) fn set(&mut self, first: usize, last: usize, value: u64) {
        debug_assert!(value & !mask(first, last) == 0);
        let value = u128::from(value & mask(first, last)) << (first % 64);
        for (word, part) in [
            (first / 64, value as u64),
            (first / 64 + 1, (value >> 64) as u64),
        ] {
            if let Some(word) = self.0.get_mut(word) {
                *word |= part;
            }
        }
    }

    /// Sets one bit.
    pub(crate) fn flag(&mut self, bit: usize, value: bool) {
        self.set(bit, bit, u64::from(value));
    }

    pub(crate) const fn words(self) -> [u64; N] {
        self.0
    }
}

/// A record that is read field by field; [`Reader::finish`] refuses bits that no field took.
pub(crate) struct Reader<const N: usize> {
    structure: &'static str,
    words: [u64; N],
}

impl<const N: usize> Reader<N> {
    pub(crate) const fn new(structure: &'static str, words: [u64; N]) -> Reader<N> {
        Reader { structure, words }
    }

    /// Takes bits `first..=last`, which read as 0 from then on.
    pub(crate) fn take(&mut self, first: usize, last: usize) -> u64 {
        let mask = u128::from(mask(first, last)) << (first % 64);
        let mut value = 0;
        for (i, mask) in [(0, mask as u64), (1, (mask >> 64) as u64)] {
            if let Some(word) = self.words.get_mut(first / 64 + i) {
                value |= u128::from(*word & mask) << (64 * i);
                *word &= !mask;
            }
        }
        (value >> (first % 64)) as u64
    }

    /// Takes one bit.
    pub(crate) fn flag(&mut self, bit: usize) -> bool {
        self.take(bit, bit) != 0
    }

    /// Refuses the first bit that is set and was not taken.
    pub(crate) fn finish(self) -> Result<()> {
        match self.words.iter().position(|word| *word != 0) {
            None => Ok(()),
            Some(i) => Err(Error::Field {
                structure: self.structure,
                field: "reserved bit",
                value: 64 * i as u64 + u64::from(self.words[i].trailing_zeros()),
                legal: "that it is 0 in a record of this kind",
            }),
        }
    }
}

/// A 32-bit word of a command record that is read field by field; [`Word::finish`] refuses bits that
/// no field took.
pub(crate) struct Word {
    structure: &'static str,
    rest: u32,
}

impl Word {
    pub(crate) const fn new(structure: &'static str, word: u32) -> Word {
        Word {
            structure,
            rest: word,
        }
    }

    /// Takes bits `first..=last`, which read as 0 from then on.
    pub(crate) const fn take(&mut self, first: u32, last: u32) -> u32 {
        let mask = (mask(first as usize, last as usize) as u32) << first;
        let value = (self.rest & mask) >> first;
        self.rest &= !mask;
        value
    }

    /// Takes one bit.
    pub(crate) const fn flag(&mut self, bit: u32) -> bool {
        self.take(bit, bit) != 0
    }

    /// Takes bits that are always 1.
    pub(crate) fn ones(&mut self, bits: u32, legal: &'static str) -> Result<()> {
        if self.rest & bits == bits {
            self.rest &= !bits;
            return Ok(());
        }
        illegal(self.structure, "constant", (self.rest & bits).into(), legal)
    }

    /// Refuses the first bit that is set and was not taken.
    pub(crate) fn finish(self) -> Result<()> {
        match self.rest {
            0 => Ok(()),
            rest => illegal(
                self.structure,
                "reserved bit",
                rest.trailing_zeros().into(),
                "that it is 0",
            ),
        }
    }
}

/// A bit of a command record's word.
pub(crate) const fn flag(bit: u32, value: bool) -> u32 {
    (value as u32) << bit
}

/// Ones for a field of at most 64 bits, at bit 0.
const fn mask(first: usize, last: usize) -> u64 {
    u64::MAX >> (63 - (last - first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        let mut word = Word::new("test", 0xf000_0123);
        assert_eq!(word.take(0, 7), 0x23);
        assert!(word.flag(8));
        assert!(!word.flag(8));
        assert_eq!(word.take(31, 31), 1);
        assert!(word.ones(3 << 29, "ones").is_ok());
        let refused = word.ones(3 << 27, "ones");
        let bits = 1 << 28;
        assert!(matches!(refused, Err(Error::Field { value, .. }) if value == bits));
        assert!(matches!(word.finish(), Err(Error::Field { value: 28, .. })));
        let mut word = Word::new("test", u32::MAX);
        assert_eq!(word.take(0, 31), u32::MAX);
        assert!(word.finish().is_ok());
    }

    #[test]
    fn fields_across_words() {
        let mut writer = Writer::<4>::new();
        writer.set(60, 67, 0xa5);
        writer.flag(255, true);
        writer.set(128, 191, u64::MAX);
        let words = writer.words();
        assert_eq!(words, [5 << 60, 0xa, u64::MAX, 1 << 63]);
        let mut reader = Reader::new("test", words);
        assert_eq!(reader.take(60, 67), 0xa5);
        assert_eq!(reader.take(60, 67), 0);
        assert_eq!(reader.take(128, 191), u64::MAX);
        assert!(matches!(
            reader.finish(),
            Err(Error::Field { value: 255, .. })
        ));
        let mut reader = Reader::new("test", words);
        reader.take(0, 63);
        reader.take(64, 127);
        reader.take(128, 191);
        assert!(reader.flag(255));
        assert!(reader.finish().is_ok());
    }
}
