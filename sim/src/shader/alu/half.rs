// SPDX-License-Identifier: MIT
//! fp16 bit patterns.

/// An fp16 as fp32 bits, exactly; subnormals become normal numbers (isa-1, 3; HW). Every NaN becomes
/// the canonical quiet one (isa-4, 11.2; HW).
#[inline(always)]
#[must_use]
pub fn widen(half: u32) -> u32 {
    let sign = (half & 0x8000) << 16;
    let magnitude = half & 0x7fff;
    // Normal numbers: move the fields, then correct the exponent's bias. Subnormals: the value is
    // magnitude * 2^-24, which the conversion of a small integer gives exactly.
    let normal = (magnitude << 13) + ((127 - 15) << 23);
    let subnormal = (magnitude as i32 as f32 * f32::from_bits((127 - 24) << 23)).to_bits();
    let special = if magnitude > 0x7c00 {
        return 0x7fc0_0000;
    } else {
        0x7f80_0000
    };
    let value = if magnitude < 0x0400 {
        subnormal
    } else if magnitude < 0x7c00 {
        normal
    } else {
        special
    };
    value | sign
}
