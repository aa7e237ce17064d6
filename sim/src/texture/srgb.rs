// SPDX-License-Identifier: MIT
//! The sRGB transfer function, decoding direction (images, 11).
//!
//! Encoding is shader code on this hardware.

use std::sync::LazyLock;

/// The curve, in double precision: 12.92 below 0.04045, a power of 2.4 above.
#[must_use]
pub fn to_linear(encoded: f64) -> f64 {
    if encoded <= 0.04045 {
        encoded / 12.92
    } else {
        ((encoded + 0.055) / 1.055).powf(2.4)
    }
}

/// The 256 values of an 8-bit component, each the nearest fp32.
pub fn table() -> &'static [f32; 256] {
    static TABLE: LazyLock<[f32; 256]> =
        LazyLock::new(|| std::array::from_fn(|code| to_linear(code as f64 / 255.0) as f32));
    &TABLE
}

/// Of any value in 0..=1: what 8 bits stand for through the table, others by the formula.
#[must_use]
pub fn decode(value: f32) -> f32 {
    let code = (value * 255.0).round();
    if code / 255.0 == value {
        return table()[code as usize & 255];
    }
    to_linear(f64::from(value)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_a_known_value() {
        assert_eq!(table()[0], 0.0);
        assert_eq!(table()[255], 1.0);
        // 188 is the code next to linear one half.
        assert!((table()[188] - 0.502_886_5).abs() < 1e-6);
        assert!(table().is_sorted_by(|a, b| a < b));
        for code in 0..=255u8 {
            assert_eq!(decode(f32::from(code) / 255.0), table()[usize::from(code)]);
        }
    }
}
