// SPDX-License-Identifier: MIT
//! Numbers as `exec` vectors write them, and how close two must be.

use serde_json::Value;

/// A number of a vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// Raw bits with their width in bits, from the number of digits.
    Bits(u64, u32),
    /// An integer as is.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// Any NaN.
    AnyNan,
}

impl Number {
    /// One number.
    ///
    /// # Errors
    /// When it is none.
    pub(super) fn read(value: &Value) -> Result<Number, String> {
        match value {
            Value::Bool(b) => Ok(Number::Bool(*b)),
            Value::Number(n) => n
                .as_i64()
                .map(Number::Int)
                .ok_or_else(|| format!("{n} is no integer")),
            Value::String(text) if text == "any NaN" || text == "nan" => Ok(Number::AnyNan),
            Value::String(text) => text
                .strip_prefix("0x")
                .and_then(|digits| {
                    let bits = u64::from_str_radix(digits, 16).ok()?;
                    Some(Number::Bits(bits, 4 * digits.len() as u32))
                })
                .ok_or_else(|| format!("`{text}` is no number")),
            _ => Err(format!("{value} is no number")),
        }
    }

    /// The bits as a 32-bit register holds them.
    pub(super) fn word(self) -> u32 {
        match self {
            Number::Bits(bits, _) => bits as u32,
            Number::Int(value) => value as u32,
            Number::Bool(value) => u32::from(value),
            Number::AnyNan => 0x7fc0_0000,
        }
    }

    /// Bytes as a buffer holds it. 8-bit inputs are packed, 16-bit inputs sit in 32-bit elements
    /// (hw/isa/vectors/README.md).
    pub(super) fn buffer_bytes(self) -> Vec<u8> {
        match self {
            Number::Bits(bits, 0..=8) => vec![bits as u8],
            Number::Bits(bits, 33..) => bits.to_le_bytes().to_vec(),
            _ => self.word().to_le_bytes().to_vec(),
        }
    }
}

/// A list of numbers; nested lists are flattened.
///
/// # Errors
/// When something in it is no number.
pub(super) fn list(value: &Value) -> Result<Vec<Number>, String> {
    match value {
        Value::Array(values) => {
            let mut numbers = Vec::new();
            for value in values {
                numbers.extend(list(value)?);
            }
            Ok(numbers)
        }
        single => Ok(vec![Number::read(single)?]),
    }
}

/// What a float result may differ by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Tolerance {
    /// Nothing.
    Exact,
    /// So many units in the last place of fp32.
    Ulps(u64),
}

impl Tolerance {
    /// From a vector.
    ///
    /// # Errors
    /// When the text is not known.
    pub(super) fn read(value: &Value) -> Result<Tolerance, String> {
        let text = value.as_str().ok_or("the tolerance is no text")?;
        match text {
            "exact" | "exact; NaN payload not asserted" => Ok(Tolerance::Exact),
            _ => text
                .strip_suffix(" ulp")
                .and_then(|n| n.parse().ok())
                .map(Tolerance::Ulps)
                .ok_or_else(|| format!("tolerance `{text}` is not known")),
        }
    }
}

/// Does the result, of `bits` bits, agree with what is expected?
pub(super) fn agrees(result: u64, bits: u32, expected: Number, tolerance: Tolerance) -> bool {
    let mask = u64::MAX >> (64 - bits);
    let result = result & mask;
    match expected {
        Number::AnyNan if bits == 16 => result & 0x7fff > 0x7c00,
        Number::AnyNan => f32::from_bits(result as u32).is_nan(),
        Number::Bits(expected, _) => match tolerance {
            Tolerance::Exact => result == expected,
            Tolerance::Ulps(limit) => {
                let (a, b) = (result as u32, expected as u32);
                let (x, y) = (f32::from_bits(a), f32::from_bits(b));
                // NaN must be the same NaN.
                a == b || !x.is_nan() && !y.is_nan() && ordinal(a).abs_diff(ordinal(b)) <= limit
            }
        },
        Number::Int(expected) => result == expected as u64 & mask,
        Number::Bool(expected) => result == u64::from(expected),
    }
}

/// fp32 bits as an integer in the order of the numbers; neighbours differ by one, both zeros are 0.
fn ordinal(bits: u32) -> i64 {
    let magnitude = i64::from(bits & 0x7fff_ffff);
    if bits >> 31 == 1 {
        -magnitude
    } else {
        magnitude
    }
}
