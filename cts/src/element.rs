// SPDX-License-Identifier: MIT
//! Types of buffer elements: how their values are written, read and printed.

use std::fmt;
use std::str::FromStr;

use half::f16;

/// What the bytes of a buffer are read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Element {
    /// Unsigned integers of this many bytes: 1, 2, 4 or 8.
    Unsigned(u8),
    /// Signed integers, likewise.
    Signed(u8),
    /// IEEE floats of 2, 4 or 8 bytes.
    Float(u8),
}

impl Element {
    /// Bytes of one.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Element::Unsigned(size) | Element::Signed(size) | Element::Float(size) => size.into(),
        }
    }

    /// Bits of one.
    #[must_use]
    pub fn bits(self) -> u32 {
        8 * self.size() as u32
    }

    /// All bits of one.
    #[must_use]
    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// The bits of a value as text: decimal, `0x` for bits, and what `f64` reads for floats.
    ///
    /// # Errors
    /// When the text is no number or does not fit.
    pub fn parse(self, text: &str) -> Result<u64, String> {
        let (digits, negative) = match text.strip_prefix('-') {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        let hex = digits.strip_prefix("0x").or(digits.strip_prefix("0X"));
        let magnitude = match hex {
            Some(hex) => u64::from_str_radix(&hex.replace('_', ""), 16),
            None if matches!(self, Element::Float(_)) => {
                let value: f64 = text.parse().map_err(|e| format!("`{text}`: {e}"))?;
                return Ok(self.from_f64(value));
            }
            None => digits.replace('_', "").parse(),
        };
        let magnitude = magnitude.map_err(|e| format!("`{text}`: {e}"))?;
        let least = match self {
            // Hexadecimal is bits, whatever the type.
            _ if hex.is_some() && !negative => return self.fit(text, magnitude),
            Element::Signed(_) => (self.mask() >> 1) + 1,
            _ => 0,
        };
        match (negative, self) {
            (true, Element::Signed(_)) if magnitude <= least => {
                Ok(magnitude.wrapping_neg() & self.mask())
            }
            (true, _) => Err(format!("`{text}` does not fit {self}")),
            (false, Element::Signed(_)) if magnitude >= least => {
                Err(format!("`{text}` does not fit {self}"))
            }
            (false, _) => self.fit(text, magnitude),
        }
    }

    fn fit(self, text: &str, bits: u64) -> Result<u64, String> {
        if bits > self.mask() {
            return Err(format!("`{text}` does not fit {self}"));
        }
        Ok(bits)
    }

    /// The bits of the nearest value: floats round to nearest even, integers truncate and wrap.
    #[must_use]
    pub fn from_f64(self, value: f64) -> u64 {
        match self {
            Element::Float(2) => f16::from_f64(value).to_bits().into(),
            Element::Float(4) => (value as f32).to_bits().into(),
            Element::Float(_) => value.to_bits(),
            // Through 128 bits: 2^63 and more are values of u64.
            Element::Unsigned(_) | Element::Signed(_) => (value as i128) as u64 & self.mask(),
        }
    }

    /// The value of these bits; integers of more than 53 bits round.
    #[must_use]
    pub fn to_f64(self, bits: u64) -> f64 {
        match self {
            Element::Float(2) => f16::from_bits(bits as u16).to_f64(),
            Element::Float(4) => f32::from_bits(bits as u32).into(),
            Element::Float(_) => f64::from_bits(bits),
            Element::Unsigned(_) => bits as f64,
            Element::Signed(_) => self.extend(bits) as f64,
        }
    }

    fn extend(self, bits: u64) -> i64 {
        let unused = 64 - self.bits();
        ((bits << unused) as i64) >> unused
    }

    /// Mantissa bits that are stored, and exponent bits.
    fn float(self) -> Option<(u32, u32)> {
        match self {
            Element::Float(2) => Some((10, 5)),
            Element::Float(4) => Some((23, 8)),
            Element::Float(_) => Some((52, 11)),
            _ => None,
        }
    }

    /// True for a float that is no number.
    #[must_use]
    pub fn is_nan(self, bits: u64) -> bool {
        self.float().is_some_and(|(mantissa, _)| {
            bits & (self.mask() >> 1) > (self.mask() >> 1) - ((1 << mantissa) - 1)
        })
    }

    /// True for a float that is not zero but smaller than the smallest normal one.
    #[must_use]
    pub fn is_denormal(self, bits: u64) -> bool {
        self.float().is_some_and(|(mantissa, _)| {
            let magnitude = bits & (self.mask() >> 1);
            magnitude != 0 && magnitude < 1 << mantissa
        })
    }

    /// The position of a float among all, so that neighbours differ by 1 and both zeros are 0.
    /// Integers are their value.
    #[must_use]
    pub fn ordinal(self, bits: u64) -> i128 {
        match self {
            Element::Unsigned(_) => bits.into(),
            Element::Signed(_) => self.extend(bits).into(),
            Element::Float(_) => {
                let magnitude = i128::from(bits & (self.mask() >> 1));
                let negative = bits >> (self.bits() - 1) & 1 == 1;
                if negative { -magnitude } else { magnitude }
            }
        }
    }

    /// A value as text.
    #[must_use]
    pub fn print(self, bits: u64) -> String {
        let digits = 2 * self.size();
        match self {
            Element::Unsigned(_) => format!("{bits} (0x{bits:0digits$x})"),
            Element::Signed(_) => format!("{} (0x{bits:0digits$x})", self.extend(bits)),
            Element::Float(4) => format!("{:?} (0x{bits:08x})", f32::from_bits(bits as u32)),
            Element::Float(_) => format!("{:?} (0x{bits:0digits$x})", self.to_f64(bits)),
        }
    }

    /// Values at which implementations differ: limits, signs, powers of two and their neighbours;
    /// for floats also infinities, NaN, denormals and halves.
    #[must_use]
    pub fn edges(self) -> Vec<u64> {
        let mask = self.mask();
        let Some((mantissa, exponent)) = self.float() else {
            let mut edges = vec![
                0,
                1,
                2,
                3,
                7,
                10,
                100,
                mask,
                mask - 1,
                mask >> 1,
                (mask >> 1) + 1,
            ];
            for shift in (3..self.bits() - 1).step_by(4) {
                edges.extend([(1 << shift) - 1, 1 << shift, (1 << shift) + 1]);
            }
            // Digits that show which byte went where, and small negatives.
            edges.extend([0x0123_4567_89ab_cdef & mask, 0x5555_5555_5555_5555 & mask]);
            edges.extend([2u64, 7, 100].map(|n| n.wrapping_neg() & mask));
            return edges;
        };
        let infinity = ((1u64 << exponent) - 1) << mantissa;
        let smallest_normal = 1u64 << mantissa;
        let mut edges = vec![
            0,
            1,
            smallest_normal - 1,
            smallest_normal,
            infinity - 1,
            infinity,
            infinity | 1 << (mantissa - 1),
        ];
        for value in [
            0.5,
            1.0,
            1.5,
            2.0,
            2.5,
            3.0,
            10.0,
            127.0,
            128.0,
            255.0,
            256.0,
            2047.0,
            2048.0,
            32767.0,
            32768.0,
            65504.0,
            16_777_215.0,
            16_777_216.0,
            2_147_483_648.0,
            4_294_967_296.0,
            1e-5,
            0.1,
            1.0 / 3.0,
            std::f64::consts::PI,
        ] {
            edges.push(self.from_f64(value));
        }
        edges.extend([self.from_f64(1.0) - 1, self.from_f64(1.0) + 1]);
        let sign = (mask >> 1) + 1;
        let negative: Vec<u64> = edges.iter().map(|bits| bits | sign).collect();
        edges.extend(negative);
        edges.dedup();
        edges
    }
}

impl FromStr for Element {
    type Err = String;

    fn from_str(text: &str) -> Result<Element, String> {
        Ok(match text {
            "u8" => Element::Unsigned(1),
            "u16" => Element::Unsigned(2),
            "u32" => Element::Unsigned(4),
            "u64" => Element::Unsigned(8),
            "i8" => Element::Signed(1),
            "i16" => Element::Signed(2),
            "i32" => Element::Signed(4),
            "i64" => Element::Signed(8),
            "f16" => Element::Float(2),
            "f32" => Element::Float(4),
            "f64" => Element::Float(8),
            _ => return Err(format!("`{text}` is no type: u, i 8 to 64, f 16 to 64")),
        })
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self {
            Element::Unsigned(_) => 'u',
            Element::Signed(_) => 'i',
            Element::Float(_) => 'f',
        };
        write!(f, "{letter}{}", self.bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(ty: &str, text: &str) -> Result<u64, String> {
        ty.parse::<Element>()?.parse(text)
    }

    #[test]
    fn names_are_read_back() {
        for name in [
            "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f16", "f32", "f64",
        ] {
            assert_eq!(name.parse::<Element>().unwrap().to_string(), name);
        }
        assert!("f8".parse::<Element>().is_err());
    }

    #[test]
    fn values_in_and_beyond_each_type() {
        assert_eq!(parse("u8", "255"), Ok(255));
        assert!(parse("u8", "256").is_err());
        assert!(parse("u8", "-1").is_err());
        assert_eq!(parse("i8", "-128"), Ok(0x80));
        assert!(parse("i8", "-129").is_err());
        assert!(parse("i8", "128").is_err());
        assert_eq!(parse("i8", "0x80"), Ok(0x80));
        assert_eq!(parse("i64", "-9223372036854775808"), Ok(1 << 63));
        assert_eq!(parse("u64", "0xffff_ffff_ffff_ffff"), Ok(u64::MAX));
        assert_eq!(parse("f32", "-1.5"), Ok(0xbfc0_0000));
        assert_eq!(parse("f32", "0x7fc00000"), Ok(0x7fc0_0000));
        assert_eq!(parse("f16", "65504"), Ok(0x7bff));
        assert_eq!(parse("f32", "-inf"), Ok(0xff80_0000));
        assert!(parse("f32", "one").is_err());
        assert!(parse("u32", "").is_err());
        assert!(parse("u32", "-").is_err());
    }

    #[test]
    fn neighbours_are_one_apart_across_zero() {
        let f = Element::Float(4);
        let [zero, minus_zero, least, minus_least] = [0, 0x8000_0000, 1, 0x8000_0001];
        assert_eq!(f.ordinal(zero), f.ordinal(minus_zero));
        assert_eq!(f.ordinal(least) - f.ordinal(zero), 1);
        assert_eq!(f.ordinal(least) - f.ordinal(minus_least), 2);
        assert_eq!(Element::Signed(1).ordinal(0xff), -1);
    }

    #[test]
    fn classes_agree_with_the_host() {
        let f = Element::Float(4);
        for bits in f.edges() {
            let value = f32::from_bits(bits as u32);
            assert_eq!(f.is_nan(bits), value.is_nan(), "{bits:x}");
            assert_eq!(f.is_denormal(bits), value.is_subnormal(), "{bits:x}");
        }
        let f = Element::Float(8);
        for bits in f.edges() {
            let value = f64::from_bits(bits);
            assert_eq!(f.is_nan(bits), value.is_nan(), "{bits:x}");
            assert_eq!(f.is_denormal(bits), value.is_subnormal(), "{bits:x}");
        }
        for bits in 0..=u16::MAX {
            let value = f16::from_bits(bits);
            let f = Element::Float(2);
            assert_eq!(f.is_nan(bits.into()), value.is_nan(), "{bits:x}");
            let denormal = value.classify() == std::num::FpCategory::Subnormal;
            assert_eq!(f.is_denormal(bits.into()), denormal, "{bits:x}");
        }
    }

    #[test]
    fn edges_fit_their_type() {
        for size in [1, 2, 4, 8] {
            for element in [Element::Unsigned(size), Element::Signed(size)] {
                let edges = element.edges();
                assert!(
                    edges.iter().all(|bits| *bits <= element.mask()),
                    "{element}"
                );
                assert!(edges.contains(&element.mask()) && edges.contains(&0));
            }
        }
        let infinity = u64::from(f32::INFINITY.to_bits());
        assert!(Element::Float(4).edges().contains(&infinity));
    }
}
