// SPDX-License-Identifier: MIT
//! Scattered bit fields of an instruction word.
//!
//! An instruction of N bytes is one little-endian integer (isa-0 section 0), at most 16 bytes
//! long, so a [`u128`] holds any of them. A field is often split: the destination of most
//! scattered forms sits in bits 4..7, 22..23 and 44. [`Bits`] lists the pieces from the least
//! significant upward and gathers or scatters a value through them.

/// One contiguous run of at most 32 instruction bits, inside one 64-bit half of the word. Descriptions of forms hold many
/// of them: they are kept small, so that few lines of the cache hold what is known of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    /// 0 = bits 0..63 of the instruction, 1 = bits 64..127.
    word: u8,
    /// Lowest bit inside that half.
    shift: u8,
    /// Bit of the field value that the lowest bit carries.
    to: u8,
    /// `len` ones.
    mask: u32,
}

impl Piece {
    #[inline(always)]
    const fn get(&self, halves: &[u64; 2]) -> u64 {
        ((halves[(self.word & 1) as usize] >> (self.shift & 63)) & self.mask as u64)
            << (self.to & 63)
    }

    #[inline(always)]
    const fn put(&self, halves: &mut [u64; 2], value: u64) {
        let half = &mut halves[(self.word & 1) as usize];
        let shift = self.shift & 63;
        let mask = self.mask as u64;
        *half = (*half & !(mask << shift)) | (((value >> (self.to & 63)) & mask) << shift);
    }
}

/// The instruction bits of one field, least significant piece first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    pieces: [Piece; Bits::MAX_PIECES],
    count: u8,
    width: u8,
}

impl Bits {
    const MAX_PIECES: usize = 6;

    /// A field without bits: reads as 0, writes nothing.
    pub const NONE: Bits = Bits::new(&[]);

    /// A field made of inclusive bit ranges, least significant range first.
    ///
    /// # Panics
    /// At compile time, when a range is reversed or the field has too many pieces or is wider
    /// than 64 bits.
    #[must_use]
    pub const fn new(ranges: &[(u8, u8)]) -> Bits {
        let mut bits = Bits {
            pieces: [Piece {
                word: 0,
                shift: 0,
                to: 0,
                mask: 0,
            }; Bits::MAX_PIECES],
            count: 0,
            width: 0,
        };
        let mut i = 0;
        while i < ranges.len() {
            let (lo, hi) = ranges[i];
            assert!(lo <= hi && hi < 128, "reversed or too high bit range");
            // A run that crosses bit 64 becomes two pieces.
            if lo < 64 && hi >= 64 {
                bits = bits.push(lo, 63).push(64, hi);
            } else {
                bits = bits.push(lo, hi);
            }
            i += 1;
        }
        bits
    }

    /// A one-bit field.
    #[must_use]
    pub const fn bit(bit: u8) -> Bits {
        Bits::new(&[(bit, bit)])
    }

    const fn push(mut self, lo: u8, hi: u8) -> Bits {
        let len = hi - lo + 1;
        if len > 32 {
            return self.push(lo, lo + 31).push(lo + 32, hi);
        }
        let piece = Piece {
            word: lo / 64,
            shift: lo % 64,
            to: self.width,
            mask: if len == 32 { u32::MAX } else { (1 << len) - 1 },
        };
        self.pieces[self.count as usize] = piece;
        self.count += 1;
        self.width += len;
        assert!(self.width <= 64, "field wider than 64 bits");
        self
    }

    /// A field of single bits, least significant first; `None` when they make too many pieces.
    pub(crate) fn scattered(places: &[u8]) -> Option<Bits> {
        let mut ranges: Vec<(u8, u8)> = Vec::new();
        for &place in places {
            match ranges.last_mut() {
                // A piece does not cross bit 64.
                Some((_, last)) if *last + 1 == place && place != 64 => *last = place,
                _ => ranges.push((place, place)),
            }
        }
        (ranges.len() <= Bits::MAX_PIECES).then(|| Bits::new(&ranges))
    }

    /// Both fields as one, `low` in the low bits.
    ///
    /// # Panics
    /// When together they have too many pieces or bits.
    #[must_use]
    pub fn join(low: Bits, high: Bits) -> Bits {
        let ranges: Vec<(u8, u8)> = low
            .ranges()
            .chain(high.ranges())
            .map(|(lo, hi)| (lo as u8, hi as u8))
            .collect();
        Bits::new(&ranges)
    }

    /// Number of bits in the field's value.
    #[must_use]
    pub const fn width(&self) -> u32 {
        self.width as u32
    }

    /// True for a field without bits.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        self.count == 0
    }

    /// Largest value the field can hold.
    #[must_use]
    pub const fn max(&self) -> u64 {
        if self.width == 64 {
            u64::MAX
        } else {
            (1 << self.width) - 1
        }
    }

    /// The instruction bits that belong to the field.
    #[must_use]
    pub const fn mask(&self) -> u128 {
        let mut mask = 0;
        let mut i = 0;
        while i < self.count as usize {
            let p = self.pieces[i];
            mask |= (p.mask as u128) << (p.shift as u32 + 64 * p.word as u32);
            i += 1;
        }
        mask
    }

    /// Gathers the field's value from an instruction word.
    #[inline]
    #[must_use]
    pub fn get(&self, word: u128) -> u64 {
        let halves = [word as u64, (word >> 64) as u64];
        // The first piece always exists, if only with an empty mask, and is often the only one.
        let mut value = self.pieces[0].get(&halves);
        for i in 1..usize::from(self.count).min(Bits::MAX_PIECES) {
            value |= self.pieces[i].get(&halves);
        }
        value
    }

    /// The low bits of `value` where the field has them, and nothing else.
    #[inline(always)]
    #[must_use]
    pub(crate) const fn spread(&self, value: u64) -> u128 {
        let (mut low, mut high) = (0, 0);
        let mut i = 0;
        while i < self.count as usize && i < Bits::MAX_PIECES {
            let piece = &self.pieces[i];
            let bits = ((value >> (piece.to & 63)) & piece.mask as u64) << (piece.shift & 63);
            // All ones in the upper word, so that there is nothing to branch on.
            let upper = 0u64.wrapping_sub(piece.word as u64);
            low |= bits & !upper;
            high |= bits & upper;
            i += 1;
        }
        low as u128 | (high as u128) << 64
    }

    /// Returns `word` with the field set to the low bits of `value`.
    #[inline]
    #[must_use]
    pub const fn put(&self, word: u128, value: u64) -> u128 {
        let mut halves = [word as u64, (word >> 64) as u64];
        self.pieces[0].put(&mut halves, value);
        let mut i = 1;
        while i < self.count as usize && i < Bits::MAX_PIECES {
            self.pieces[i].put(&mut halves, value);
            i += 1;
        }
        halves[0] as u128 | (halves[1] as u128) << 64
    }

    /// The field's inclusive bit ranges, least significant first, as the reference writes them.
    pub fn ranges(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.pieces[..usize::from(self.count)].iter().map(|p| {
            let lo = u32::from(p.shift) + 64 * u32::from(p.word);
            (lo, lo + p.mask.count_ones() - 1)
        })
    }
}

/// One instruction bit that may be missing from a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bit(u8);

impl Bit {
    /// The form has no such bit.
    pub const NONE: Bit = Bit(255);

    /// Instruction bit `index`.
    #[must_use]
    pub const fn at(index: u8) -> Bit {
        assert!(index < 128, "instructions have at most 128 bits");
        Bit(index)
    }

    /// True when the form has no such bit.
    #[inline]
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.0 == 255
    }

    /// The bit as a field.
    #[must_use]
    pub const fn bits(self) -> Bits {
        if self.is_none() {
            Bits::NONE
        } else {
            Bits::bit(self.0)
        }
    }

    /// The bit's value; false when the form has no such bit.
    #[inline]
    #[must_use]
    pub const fn get(self, word: u128) -> bool {
        let half = if self.0 & 64 == 0 {
            word as u64
        } else {
            (word >> 64) as u64
        };
        !self.is_none() && (half >> (self.0 & 63)) & 1 == 1
    }

    /// `word` with the bit set to `value`; unchanged when the form has no such bit.
    #[inline]
    #[must_use]
    pub const fn put(self, word: u128, value: bool) -> u128 {
        if self.is_none() {
            return word;
        }
        let (mut low, mut high) = (word as u64, (word >> 64) as u64);
        let half = if self.0 & 64 == 0 {
            &mut low
        } else {
            &mut high
        };
        let shift = self.0 & 63;
        *half = (*half & !(1 << shift)) | ((value as u64) << shift);
        low as u128 | (high as u128) << 64
    }
}

/// Reads an instruction word out of a byte string in memory order, for the table's masks.
///
/// # Panics
/// At compile time, when the text is not an even number of hexadecimal digits of at most 16 bytes.
#[must_use]
pub const fn hex(text: &str) -> u128 {
    const fn digit(c: u8) -> u128 {
        match c {
            b'0'..=b'9' => (c - b'0') as u128,
            b'a'..=b'f' => (c - b'a' + 10) as u128,
            _ => panic!("not a lower-case hexadecimal digit"),
        }
    }
    let text = text.as_bytes();
    assert!(
        text.len().is_multiple_of(2) && text.len() <= 32,
        "whole bytes, at most 16"
    );
    let mut word = 0;
    let mut i = 0;
    while i < text.len() {
        word |= (digit(text[i]) << 4 | digit(text[i + 1])) << (4 * i);
        i += 2;
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_least_significant_first() {
        let d = Bits::new(&[(4, 7), (22, 23), (44, 44)]);
        assert_eq!(d.width(), 7);
        let x = d.put(0, 0b101_1010);
        assert_eq!(x, 0b1010 << 4 | 0b01 << 22 | 1 << 44);
        assert_eq!(d.get(x), 0b101_1010);
        assert_eq!(d.get(!x), !0b101_1010 & d.max());
    }

    #[test]
    fn a_run_may_cross_bit_64() {
        let c = Bits::new(&[(60, 66)]);
        let x = c.put(u128::MAX, 0);
        assert_eq!(x, !(0x7fu128 << 60));
        assert_eq!(c.get(0x55u128 << 60), 0x55);
        assert_eq!(c.mask(), 0x7f << 60);
    }

    #[test]
    fn hex_is_in_memory_order() {
        assert_eq!(hex("0c80"), 0x800c);
    }
}
