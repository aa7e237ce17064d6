// SPDX-License-Identifier: MIT
//! Binary floating-point formats, held exactly in `f64`.

use crate::ops::types::Scalar;

/// Direction of rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Round {
    NearestEven,
    Down,
    Up,
}

/// An IEEE 754 interchange format that `f64` contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Format {
    mantissa: u32,
    exponent: u32,
    /// Whether the hardware may take and give zero instead of a denormal.
    pub(crate) flushes: bool,
}

const HALF: Format = Format {
    mantissa: 10,
    exponent: 5,
    flushes: false,
};
const SINGLE: Format = Format {
    mantissa: 23,
    exponent: 8,
    flushes: true,
};

/// The format of a float type; single for all others.
pub(crate) fn of(scalar: Scalar) -> Format {
    if scalar == Scalar::F16 { HALF } else { SINGLE }
}

impl Format {
    pub(crate) fn is_half(self) -> bool {
        self == HALF
    }

    /// Exponent of the least normal number.
    pub(crate) fn min_exponent(self) -> i32 {
        2 - (1 << (self.exponent - 1))
    }

    pub(crate) fn min_normal(self) -> f64 {
        2f64.powi(self.min_exponent())
    }

    pub(crate) fn max(self) -> f64 {
        let exponent = (1 << (self.exponent - 1)) - 1;
        2f64.powi(exponent) * (2.0 - self.epsilon())
    }

    /// From 1 to the next number.
    pub(crate) fn epsilon(self) -> f64 {
        2f64.powi(-(self.mantissa as i32))
    }

    pub(crate) fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.mantissa
    }

    pub(crate) fn sign(self) -> u64 {
        1 << (self.mantissa + self.exponent)
    }

    pub(crate) fn nan(self) -> u64 {
        self.infinity() | 1 << (self.mantissa - 1)
    }

    pub(crate) fn is_nan(self, bits: u64) -> bool {
        bits & !self.sign() > self.infinity()
    }

    pub(crate) fn is_infinite(self, bits: u64) -> bool {
        bits & !self.sign() == self.infinity()
    }

    pub(crate) fn is_denormal(self, bits: u64) -> bool {
        let magnitude = bits & !self.sign();
        magnitude != 0 && magnitude < 1 << self.mantissa
    }

    /// The value.
    pub(crate) fn decode(self, bits: u64) -> f64 {
        let magnitude = bits & !self.sign();
        let fraction = (magnitude & ((1 << self.mantissa) - 1)) as f64;
        let field = (magnitude >> self.mantissa) as i32;
        let scale = |exponent: i32| 2f64.powi(exponent - self.mantissa as i32);
        let value = if magnitude > self.infinity() {
            f64::NAN
        } else if magnitude == self.infinity() {
            f64::INFINITY
        } else if field == 0 {
            fraction * scale(self.min_exponent())
        } else {
            let one = 2f64.powi(self.mantissa as i32);
            (fraction + one) * scale(field - 1 + self.min_exponent())
        };
        if bits & self.sign() != 0 {
            -value
        } else {
            value
        }
    }

    /// The bits of a value that the format holds.
    fn encode(self, value: f64) -> u64 {
        let sign = if value.is_sign_negative() {
            self.sign()
        } else {
            0
        };
        let value = value.abs();
        if value.is_nan() {
            return self.nan();
        }
        if value.is_infinite() {
            return sign | self.infinity();
        }
        let quantum = 2f64.powi(self.quantum(value));
        // Of a normal number with the implicit one: that adds one to the exponent's field.
        let units = (value / quantum) as u64;
        let field = (self.quantum(value) + self.mantissa as i32 - self.min_exponent()) as u64;
        sign | ((field << self.mantissa) + units)
    }

    /// Exponent of the last place of numbers like this.
    fn quantum(self, value: f64) -> i32 {
        exponent(value).max(self.min_exponent()) - self.mantissa as i32
    }

    /// A unit in the last place of numbers like this.
    pub(crate) fn ulp(self, value: f64) -> f64 {
        2f64.powi(self.quantum(value.abs().min(self.max())))
    }

    /// A number rounded to one that the format holds.
    pub(crate) fn round_value(self, value: f64, round: Round) -> f64 {
        if value == 0.0 || !value.is_finite() {
            return value;
        }
        let quantum = self.quantum(value.abs());
        // In two steps: the factor alone may be outside of f64's range.
        let units = value * 2f64.powi(-quantum / 2) * 2f64.powi(-quantum - -quantum / 2);
        let units = match round {
            Round::NearestEven => units.round_ties_even(),
            Round::Down => units.floor(),
            Round::Up => units.ceil(),
        };
        let rounded = (units * 2f64.powi(quantum)).copysign(value);
        let max = self.max();
        match round {
            _ if rounded.abs() <= max => rounded,
            Round::Down if rounded > 0.0 => max,
            Round::Up if rounded < 0.0 => -max,
            _ => f64::INFINITY.copysign(value),
        }
    }

    /// The bits of a number rounded to nearest, ties to even.
    pub(crate) fn round(self, value: f64) -> u64 {
        self.encode(self.round_value(value, Round::NearestEven))
    }

    /// What an operand's bits may count as: themselves, and zero for a denormal where those are
    /// flushed.
    pub(crate) fn flushed(self, bits: u64) -> Vec<u64> {
        if self.flushes && self.is_denormal(bits) {
            vec![bits, bits & self.sign()]
        } else {
            vec![bits]
        }
    }

    /// The same for all operands, in all combinations.
    pub(crate) fn all_flushed(self, operands: &[u64]) -> Vec<Vec<u64>> {
        let each: Vec<_> = operands.iter().map(|bits| self.flushed(*bits)).collect();
        crate::ops::inputs::product(&each)
    }
}

/// Floor of the binary logarithm of a positive number.
pub(crate) fn exponent(value: f64) -> i32 {
    if value == 0.0 {
        return i32::MIN / 2;
    }
    let field = (value.to_bits() >> 52 & 0x7ff) as i32;
    if field == 0 {
        63 - 1074 - value.to_bits().leading_zeros() as i32
    } else {
        field - 1023
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_comes_back() {
        for bits in 0..=0xffff {
            let value = HALF.decode(bits);
            assert!(value.is_nan() || HALF.round(value) == bits, "{bits:#x}");
            let known = half::f16::from_bits(bits as u16).to_f64();
            assert!(
                value.is_nan() && known.is_nan() || value == known,
                "{bits:#x}"
            );
        }
    }

    #[test]
    fn rounds_to_single_as_the_cpu_does() {
        let mut bits = 1u64;
        for _ in 0..200_000 {
            bits = bits
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            // Exponents about those of singles.
            let exponent = 1023 - 160 + (bits >> 33) % 320;
            let value = f64::from_bits(bits >> 12 | exponent << 52);
            let ties = f64::from_bits(value.to_bits() & !0xfff_ffff | 0x1000_0000);
            for value in [value, -value, ties] {
                let single = value as f32;
                assert_eq!(
                    SINGLE.round(value),
                    u64::from(single.to_bits()),
                    "{value:e}"
                );
                assert_eq!(
                    SINGLE.decode(u64::from(single.to_bits())),
                    f64::from(single)
                );
            }
        }
    }

    #[test]
    fn rounds_in_the_named_direction() {
        assert_eq!(HALF.round_value(1e6, Round::Down), 65504.0);
        assert_eq!(HALF.round_value(-1e6, Round::Down), f64::NEG_INFINITY);
        assert_eq!(HALF.round_value(65519.0, Round::NearestEven), 65504.0);
        assert_eq!(HALF.round_value(65520.0, Round::NearestEven), f64::INFINITY);
        assert_eq!(SINGLE.round_value(1e-60, Round::Up), 2f64.powi(-149));
        assert_eq!(SINGLE.round_value(1.0 + 1e-9, Round::Down), 1.0);
    }
}
