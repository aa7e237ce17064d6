// SPDX-License-Identifier: MIT
//! What texels mean, for models of commands that convert them.

use ash::vk;

/// How components are numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// From 0 to 1.
    Unorm,
    /// The same on the sRGB curve, but for alpha.
    Srgb,
    /// Floats of 32, 16, 11 and 10 bits; the last two have no sign.
    Float,
    /// Integers.
    Uint,
    /// Integers with a sign.
    Sint,
}

/// A format whose texels are no blocks, of 16 bytes at most.
#[derive(Debug, Clone, Copy)]
pub struct Coding {
    /// The format.
    pub format: vk::Format,
    /// How components are numbers.
    pub kind: Kind,
    /// From the lowest bit on: which component, and its bits.
    pub fields: &'static [(usize, u32)],
}

/// A float with 5 bits of exponent, without a sign.
fn small_float(bits: u32, mantissa: u32) -> f64 {
    let exponent = (bits >> mantissa & 31) as i32;
    let fraction = f64::from(bits & ((1 << mantissa) - 1)) / f64::from(1 << mantissa);
    match exponent {
        0 => fraction * 2f64.powi(-14),
        31 => f64::NAN,
        exponent => (1.0 + fraction) * 2f64.powi(exponent - 15),
    }
}

impl Coding {
    /// Bytes of a texel.
    #[must_use]
    pub fn bytes(&self) -> u32 {
        self.fields.iter().map(|field| field.1).sum::<u32>() / 8
    }

    /// Whether texels are integers.
    #[must_use]
    pub fn is_integer(&self) -> bool {
        matches!(self.kind, Kind::Uint | Kind::Sint)
    }

    /// The components, absent ones 0, and 1 for alpha.
    #[must_use]
    pub fn decode(&self, texel: &[u8]) -> [f64; 4] {
        let bit = |at: usize| u32::from(texel[at / 8] >> (at % 8) & 1);
        let mut colour = [0.0, 0.0, 0.0, 1.0];
        let mut lowest = 0;
        for (component, width) in self.fields {
            let width = *width as usize;
            let bits = (0..width).fold(0, |all, at| all | bit(lowest + at) << at);
            lowest += width;
            let most = f64::from(u32::MAX >> (32 - width));
            colour[*component] = match self.kind {
                Kind::Unorm => f64::from(bits) / most,
                Kind::Srgb if *component == 3 => f64::from(bits) / most,
                Kind::Srgb => {
                    let value = f64::from(bits) / most;
                    match value <= 0.04045 {
                        true => value / 12.92,
                        false => ((value + 0.055) / 1.055).powf(2.4),
                    }
                }
                Kind::Uint => f64::from(bits),
                Kind::Sint => f64::from((bits << (32 - width)) as i32 >> (32 - width)),
                Kind::Float if width == 32 => f64::from(f32::from_bits(bits)),
                Kind::Float if width == 16 => {
                    let value = small_float(bits, 10);
                    if bits >> 15 == 0 { value } else { -value }
                }
                Kind::Float => small_float(bits, width as u32 - 5),
            };
        }
        colour
    }

    /// The distance of neighbouring values of a component.
    #[must_use]
    pub fn step(&self, component: usize, value: f64) -> f64 {
        let field = self.fields.iter().find(|field| field.0 == component);
        let width = field.map_or(1, |field| field.1);
        let mantissa = match width {
            32 => 23,
            16 => 10,
            width => width.saturating_sub(5),
        };
        match self.kind {
            Kind::Uint | Kind::Sint => 0.0,
            Kind::Unorm => 1.0 / f64::from(u32::MAX >> (32 - width)),
            // The steepest part of the curve is at its end.
            Kind::Srgb => 2.3 / 255.0,
            Kind::Float => value.abs().max(2f64.powi(-14)) * 2f64.powi(-(mantissa as i32)),
        }
    }

    /// Changes random bytes so that floats are from 0 to 1.
    pub fn tame(&self, texels: &mut [u8]) {
        if self.kind != Kind::Float {
            return;
        }
        for texel in texels.chunks_exact_mut(self.bytes() as usize) {
            let mut lowest = 0;
            for (_, width) in self.fields {
                // The sign, the exponent's highest and lowest bits are 0, the others but one are 1: that is
                // an eighth to a quarter, or a half to one.
                let (sign, exponent) = match width {
                    32 => (1, 8),
                    16 => (1, 5),
                    _ => (0, 5),
                };
                for at in 0..*width {
                    let index = (lowest + at) as usize;
                    let from_top = width - 1 - at;
                    let mask = 1 << (index % 8);
                    let lowest_of_exponent = sign + exponent - 1;
                    if from_top <= sign || from_top == lowest_of_exponent {
                        texel[index / 8] &= !mask;
                    } else if from_top + 1 < lowest_of_exponent {
                        texel[index / 8] |= mask;
                    }
                }
                lowest += width;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Coding = Coding {
        format: vk::Format::B10G11R11_UFLOAT_PACK32,
        kind: Kind::Float,
        fields: &[(0, 11), (1, 11), (2, 10)],
    };

    #[test]
    fn texels_are_decoded() {
        let word = 0x3c0_u32 | 0x380 << 11 | 0x200 << 22;
        assert_eq!(SMALL.decode(&word.to_le_bytes()), [1.0, 0.5, 2.0, 1.0]);
        let bytes = Coding {
            format: vk::Format::B8G8R8A8_UNORM,
            kind: Kind::Unorm,
            fields: &[(2, 8), (1, 8), (0, 8), (3, 8)],
        };
        assert_eq!(bytes.decode(&[0, 51, 255, 102]), [1.0, 0.2, 0.0, 0.4]);
        let signed = Coding {
            format: vk::Format::R16_SINT,
            kind: Kind::Sint,
            fields: &[(0, 16)],
        };
        assert_eq!(signed.decode(&[0xfe, 0xff]), [-2.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn tame_floats_are_from_0_to_1() {
        for word in crate::model::words(5, 200) {
            let mut texel = word.to_le_bytes();
            SMALL.tame(&mut texel);
            let colour = SMALL.decode(&texel);
            assert!(colour[..3].iter().all(|value| (0.1..1.0).contains(value)));
        }
    }
}
