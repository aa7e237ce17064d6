// SPDX-License-Identifier: MIT
//! The 8-bit float immediate of the fp32 and predicate forms (isa-1, 2.3, HW).

/// Byte layout: bit 0 = 1, bits 3:1 = mantissa m, bits 7:4 = exponent e, 8..=15; the sign is a
/// separate instruction bit. e = 8 is m / 32, e = 9..15 is (1 + m/8) * 2^(e - 11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MiniFloat {
    /// Bits 7:1 of the byte: e in bits 6:3, m in bits 2:0. Bit 6 is always set.
    code: u8,
    /// Negative.
    negative: bool,
}

impl MiniFloat {
    /// From the byte's bits 7:1 and the sign; `None` when the exponent is below 8, where the same
    /// bits name a uniform.
    #[must_use]
    pub const fn from_code(code: u8, negative: bool) -> Option<MiniFloat> {
        if code & 0x40 != 0 && code < 0x80 {
            Some(MiniFloat { code, negative })
        } else {
            None
        }
    }

    /// Bits 7:1 of the byte.
    #[must_use]
    pub const fn code(self) -> u8 {
        self.code
    }

    /// The sign bit.
    #[must_use]
    pub const fn is_negative(self) -> bool {
        self.negative
    }

    /// The value; every minifloat is exact in fp32.
    #[must_use]
    pub fn to_f32(self) -> f32 {
        let m = f32::from(self.code & 7);
        let e = i32::from(self.code >> 3);
        let magnitude = if e == 8 {
            m / 32.0
        } else {
            (1.0 + m / 8.0) * 2f32.powi(e - 11)
        };
        if self.negative { -magnitude } else { magnitude }
    }

    /// The minifloat equal to `value` (zeros by sign), or `None`: an encoder must match exactly.
    #[inline]
    #[must_use]
    pub fn from_f32(value: f32) -> Option<MiniFloat> {
        let magnitude = value.to_bits() & 0x7fff_ffff;
        let (exponent, mantissa) = ((magnitude >> 23) as i32 - 127, magnitude & 0x7f_ffff);
        let code = match exponent {
            5.. => return None,
            -2..=4 => {
                // The exponent's bias is 11 (e = 9..15); three bits of the mantissa are there.
                if mantissa & 0xf_ffff != 0 {
                    return None;
                }
                ((exponent + 11) as u8) << 3 | (mantissa >> 20) as u8
            }
            // Multiples of 1/32 below 1/4; scaling up by a power of two is exact.
            _ => {
                let scaled = f32::from_bits(magnitude) * 32.0;
                let m = scaled as u8;
                if f32::from(m) != scaled {
                    return None;
                }
                0x40 | m
            }
        };
        MiniFloat::from_code(code, value.is_sign_negative())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of isa-1, 2.3.
    #[test]
    fn examples_of_the_reference() {
        for (byte, value) in [
            (0x81u8, 0.0f32),
            (0x85, 0.0625),
            (0x91, 0.25),
            (0xa1, 0.5),
            (0xb1, 1.0),
            (0xb9, 1.5),
            (0xc1, 2.0),
            (0xcd, 3.5),
            (0xff, 30.0),
        ] {
            let mini = MiniFloat::from_f32(value).unwrap();
            assert_eq!(mini.code() << 1 | 1, byte, "{value}");
            assert_eq!(mini.to_f32(), value);
        }
    }

    #[test]
    fn only_exact_values() {
        for value in [0.1, 31.0, 0.03, f32::NAN, f32::INFINITY, 1e-40] {
            assert_eq!(MiniFloat::from_f32(value), None, "{value}");
        }
        assert!(MiniFloat::from_f32(-0.0).unwrap().is_negative());
    }

    /// Against the definition: the one of all codes whose value has the same bits.
    #[test]
    fn from_f32_is_the_search_over_all_codes() {
        let searched = |value: f32| {
            (0x40..0x80)
                .filter_map(|code| MiniFloat::from_code(code, value.is_sign_negative()))
                .find(|mini| mini.to_f32().to_bits() == value.to_bits())
        };
        // All floats whose mantissa is a multiple of 2^17, and their neighbours.
        for top in 0..=u32::MAX >> 17 {
            for low in [0, 1, 0x1_ffff] {
                let value = f32::from_bits(top << 17 | low);
                assert_eq!(MiniFloat::from_f32(value), searched(value), "{value:e}");
            }
        }
    }

    #[test]
    fn all_codes_round_trip() {
        for code in 0x40..0x80 {
            for negative in [false, true] {
                let mini = MiniFloat::from_code(code, negative).unwrap();
                assert_eq!(MiniFloat::from_f32(mini.to_f32()), Some(mini));
            }
        }
    }
}
