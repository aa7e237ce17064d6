// SPDX-License-Identifier: MIT
//! fp16 bit patterns, held in the low half of a word.
//!
//! Everything is branch-free arithmetic on 32-bit words, so that loops over lanes become vector code
//! without the host's own fp16 instructions.

/// The one NaN that fp16 arithmetic produces (isa-4, 11.2; HW).
pub const NAN: u32 = 0x7e00;
/// Sign bit.
pub const SIGN: u32 = 0x8000;
/// Infinity; above it, without the sign, lie the NaNs.
pub const INFINITY: u32 = 0x7c00;

/// An fp16 as fp32 bits, exactly; subnormals become normal numbers (isa-1, 3; HW). Every NaN becomes
/// the canonical quiet one (isa-4, 11.2; HW). Looks at the low 16 bits only.
#[inline(always)]
#[must_use]
pub fn widen(half: u32) -> u32 {
    let sign = (half & SIGN) << 16;
    let magnitude = half & 0x7fff;
    // Normal numbers: move the fields, then correct the exponent's bias. Subnormals: the value is
    // magnitude * 2^-24, which the conversion of a small integer gives exactly.
    let normal = (magnitude << 13).wrapping_add((127 - 15) << 23);
    let subnormal = (magnitude as i32 as f32 * f32::from_bits((127 - 24) << 23)).to_bits();
    let finite = if magnitude < 0x0400 {
        subnormal
    } else {
        normal
    };
    let number = if magnitude < INFINITY {
        finite
    } else {
        0x7f80_0000
    } | sign;
    if magnitude > INFINITY {
        0x7fc0_0000
    } else {
        number
    }
}

/// fp32 bits as the nearest fp16, ties to even; overflow gives infinity, subnormals are kept, every
/// NaN becomes [`NAN`] (isa-1, 3; isa-4, 11.2; HW). The upper half of the result is 0.
#[inline(always)]
#[must_use]
pub fn narrow(bits: u32) -> u32 {
    let sign = bits >> 16 & SIGN;
    let magnitude = bits & 0x7fff_ffff;
    // Normal results: add just under half a unit, or half a unit when the last kept bit is odd, and
    // drop 13 bits. A carry into the exponent is right, also the one that leads to infinity; what is
    // larger still is cut to infinity.
    let odd = magnitude >> 13 & 1;
    let rounded = magnitude.wrapping_add(0x0fff + odd) >> 13;
    let normal = rounded.wrapping_sub((127 - 15) << 10).min(INFINITY);
    // Subnormal results are multiples of 2^-24, the unit of fp32 numbers from 0.5 on: the addition
    // rounds, and the difference of the patterns is the number of units.
    let half = 0.5f32;
    let subnormal = (f32::from_bits(magnitude) + half)
        .to_bits()
        .wrapping_sub(half.to_bits());
    // 2^-14 is the smallest normal fp16.
    let number = if magnitude < (127 - 14) << 23 {
        subnormal
    } else {
        normal
    } | sign;
    if magnitude > 0x7f80_0000 { NAN } else { number }
}

/// fp64 as the nearest fp16, rounded once; otherwise as [`narrow`].
#[inline(always)]
#[must_use]
pub fn narrow_f64(value: f64) -> u32 {
    narrow(round_to_odd(value))
}

/// fp64 as fp32 bits, rounded to odd: an inexact result gets its last bit set. Rounding that to a
/// format with at least two bits less, subnormals included, is as good as rounding `value` itself.
#[inline(always)]
#[must_use]
pub(crate) fn round_to_odd(value: f64) -> u32 {
    let nearest = value as f32;
    let back = f64::from(nearest);
    // Neither comparison holds for NaN, and both fail when the conversion was exact.
    let above = back.abs() > value.abs();
    let below = back.abs() < value.abs();
    sticky(nearest, above, below)
}

/// `nearest` is off by less than a unit: `above` says that its magnitude is too large, `below` that
/// it is too small. Answers the one of the two neighbours of the exact value whose last bit is set.
#[inline(always)]
pub(crate) fn sticky(nearest: f32, above: bool, below: bool) -> u32 {
    let bits = nearest.to_bits();
    let even = bits & 1 ^ 1;
    // One step on the bit pattern is one step of the magnitude. Only even patterns move.
    bits.wrapping_add(u32::from(below) & even)
        .wrapping_sub(u32::from(above) & even)
}
