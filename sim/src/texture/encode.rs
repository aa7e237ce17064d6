// SPDX-License-Identifier: MIT
//! From components to the bytes of an element: what stores and exports do (images, 11).
//!
//! Roundings are those of images, 11, INFERRED from the API; saturation of unsigned integers is HW
//! (isa-4, 2.2).

use agx_hw::format::{Channels, Numeric};

use super::format::{Codec, packed};
use crate::shader::alu::half;

impl Codec {
    /// The little-endian words of an element with these components of memory: fp32 bits, or integers
    /// for integer formats. Those that the format has not are dropped.
    #[must_use]
    pub fn encode(&self, components: [u32; 4]) -> [u32; 4] {
        let c = components;
        let field = |component: usize, bits| self.encode_field(c[component], bits);
        match self.channels {
            Channels::R8 => [field(0, 8), 0, 0, 0],
            Channels::R8G8 => [field(0, 8) | field(1, 8) << 8, 0, 0, 0],
            Channels::R8G8B8A8 => {
                let word = field(0, 8) | field(1, 8) << 8 | field(2, 8) << 16 | field(3, 8) << 24;
                [word, 0, 0, 0]
            }
            Channels::R16 => [field(0, 16), 0, 0, 0],
            Channels::R16G16 => [field(0, 16) | field(1, 16) << 16, 0, 0, 0],
            Channels::R16G16B16A16 => [
                field(0, 16) | field(1, 16) << 16,
                field(2, 16) | field(3, 16) << 16,
                0,
                0,
            ],
            Channels::R32 => [c[0], 0, 0, 0],
            Channels::R32G32 => [c[0], c[1], 0, 0],
            Channels::R32G32B32A32 => c,
            Channels::R11G11B10 => {
                let word = unsigned_float(c[0], 6)
                    | unsigned_float(c[1], 6) << 11
                    | unsigned_float(c[2], 5) << 22;
                [word, 0, 0, 0]
            }
            Channels::R9G9B9E5 => [shared_exponent([c[0], c[1], c[2]]), 0, 0, 0],
            other => {
                let mut word = 0;
                for (component, (first, bits)) in packed(other).iter().enumerate() {
                    word |= field(component, *bits) << first;
                }
                [word, 0, 0, 0]
            }
        }
    }

    /// One component as a field of `bits` bits.
    fn encode_field(&self, value: u32, bits: u32) -> u32 {
        let mask = u32::MAX >> (32 - bits);
        match self.numeric {
            Numeric::Unorm => normalised(value, 0.0, mask) & mask,
            Numeric::Snorm => normalised(value, -1.0, mask >> 1) & mask,
            Numeric::Uint => value.min(mask),
            Numeric::Sint => {
                let top = (mask >> 1) as i32;
                (value as i32).clamp(-top - 1, top) as u32 & mask
            }
            Numeric::Float | Numeric::Xr => half::narrow(value) & mask,
        }
    }
}

/// `value` clamped to `low..=1` times `top`, to the nearest, ties to even; NaN is 0.
fn normalised(value: u32, low: f64, top: u32) -> u32 {
    let value = f64::from(f32::from_bits(value));
    if value.is_nan() {
        return 0;
    }
    // The product of two fp32 numbers is exact in fp64.
    (value.clamp(low, 1.0) * f64::from(top)).round_ties_even() as i32 as u32
}

/// An unsigned float of five bits of exponent and `mantissa` bits below: negative is 0, to the nearest
/// even, and what is finite stays finite.
fn unsigned_float(value: u32, mantissa: u32) -> u32 {
    let value = f32::from_bits(value);
    let infinity = 31 << mantissa;
    if value.is_nan() {
        return infinity | 1 << (mantissa - 1);
    }
    if value <= 0.0 {
        return 0;
    }
    if value == f32::INFINITY {
        return infinity;
    }
    // Units of the last bit: 2^(e - mantissa), e being at least -14.
    let exponent = (((value.to_bits() >> 23) as i32) - 127).max(-14);
    let unit = f64::from(exponent - mantissa as i32).exp2();
    let units = (f64::from(value) / unit).round_ties_even();
    // A carry into the exponent is what the pattern of the next binade looks like. The leading one of
    // a normal number adds one to the exponent field, which is one less than with the usual bias.
    let code = ((exponent + 14) as f64) * f64::from(1u32 << mantissa) + units;
    (code as u32).min(infinity - 1)
}

/// Three mantissas of nine bits with one exponent, as the API's conversion is written.
fn shared_exponent(components: [u32; 3]) -> u32 {
    // The largest: 511/512 * 2^16.
    const LIMIT: f64 = 65408.0;
    let c = components.map(|bits| {
        let value = f64::from(f32::from_bits(bits));
        // NaN is 0.
        if value > 0.0 { value.min(LIMIT) } else { 0.0 }
    });
    let largest = c[0].max(c[1]).max(c[2]);
    let floor_log2 = if largest > 0.0 {
        ((largest.to_bits() >> 52) as i32 & 0x7ff) - 1023
    } else {
        -16
    };
    let mut exponent = floor_log2.max(-16) + 1 + 15;
    let quantum = |exponent: i32| f64::from(exponent - 15 - 9).exp2();
    let round = |value: f64, exponent: i32| (value / quantum(exponent) + 0.5).floor() as u32;
    if round(largest, exponent) == 512 {
        exponent += 1;
    }
    let [r, g, b] = c.map(|value| round(value, exponent));
    r | g << 9 | b << 18 | (exponent as u32) << 27
}
