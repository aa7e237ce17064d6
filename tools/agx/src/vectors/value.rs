// SPDX-License-Identifier: MIT
//! Operand values as the vectors write them: `r4`, `r1 low half`, `r2:r3`, `r8..r11`, `0x26`.

use agx_isa::{File, Half, Reg};
use serde_json::Value;

/// A register, or a range of them, as a vector writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RegText {
    /// `r` = general, `u` = uniform.
    pub(super) file: File,
    /// The first register.
    pub(super) first: u16,
    /// `low half`, `high half`, or neither.
    pub(super) half: Half,
    /// Number of registers, when the text says so.
    pub(super) count: Option<u16>,
}

impl RegText {
    /// The register, or the first of the range.
    pub(super) fn reg(self) -> Reg {
        Reg {
            file: self.file,
            index: self.first,
            half: self.half,
        }
    }
}

/// Splits a remark in parentheses off an operand: `r64 (kept live)`.
pub(super) fn split_remark(text: &str) -> (&str, Option<&str>) {
    match text.split_once(" (") {
        Some((value, rest)) if rest.ends_with(')') => (value, Some(&rest[..rest.len() - 1])),
        _ => (text, None),
    }
}

fn plain(text: &str) -> Option<(File, u16)> {
    let file = match text.as_bytes().first()? {
        b'r' => File::Gpr,
        b'u' => File::Uniform,
        _ => return None,
    };
    let digits = &text[1..];
    let canonical = digits == "0" || !digits.starts_with('0');
    (canonical && digits.bytes().all(|b| b.is_ascii_digit()))
        .then(|| digits.parse().ok())
        .flatten()
        .map(|index| (file, index))
}

/// Reads a register text without remark.
///
/// # Errors
/// When it is none.
pub(super) fn register(text: &str) -> Result<RegText, String> {
    let none = || format!("`{text}` is no register");
    let (name, half) = match text.strip_suffix(" low half") {
        Some(name) => (name, Half::Low),
        None => match text.strip_suffix(" high half") {
            Some(name) => (name, Half::High),
            None => (text, Half::Whole),
        },
    };
    for separator in ["..", ":", ","] {
        if let Some((first, last)) = name.split_once(separator) {
            // `r8...` is an open range.
            if separator == ".." && last == "." {
                let (file, first) = plain(first).ok_or_else(none)?;
                return Ok(RegText {
                    file,
                    first,
                    half,
                    count: None,
                });
            }
            let (file, first) = plain(first).ok_or_else(none)?;
            let (last_file, last) = plain(last).ok_or_else(none)?;
            if last_file != file || last <= first {
                return Err(none());
            }
            return Ok(RegText {
                file,
                first,
                half,
                count: Some(last - first + 1),
            });
        }
    }
    let (file, first) = plain(name).ok_or_else(none)?;
    Ok(RegText {
        file,
        first,
        half,
        count: None,
    })
}

/// A JSON integer, or `0x...` text, as two's complement.
///
/// # Errors
/// When it is neither.
pub(super) fn integer(value: &Value) -> Result<u64, String> {
    match value {
        Value::Number(n) => n.as_u64().or_else(|| n.as_i64().map(|n| n as u64)),
        Value::String(text) => text
            .strip_prefix("0x")
            .and_then(|digits| u64::from_str_radix(digits, 16).ok()),
        _ => None,
    }
    .ok_or_else(|| format!("`{value}` is no integer"))
}

/// A JSON boolean.
///
/// # Errors
/// When it is none.
pub(super) fn boolean(value: &Value) -> Result<bool, String> {
    value
        .as_bool()
        .ok_or_else(|| format!("`{value}` is neither true nor false"))
}

/// A JSON string.
///
/// # Errors
/// When it is none.
pub(super) fn string(value: &Value) -> Result<&str, String> {
    value
        .as_str()
        .ok_or_else(|| format!("`{value}` is no text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_in_every_spelling() {
        let r = |first, half, count| {
            Ok(RegText {
                file: File::Gpr,
                first,
                half,
                count,
            })
        };
        assert_eq!(register("r95"), r(95, Half::Whole, None));
        assert_eq!(register("r1 low half"), r(1, Half::Low, None));
        assert_eq!(register("r1 high half"), r(1, Half::High, None));
        assert_eq!(register("r2:r3"), r(2, Half::Whole, Some(2)));
        assert_eq!(register("r2,r3"), r(2, Half::Whole, Some(2)));
        assert_eq!(register("r8..r11"), r(8, Half::Whole, Some(4)));
        assert_eq!(register("r8..."), r(8, Half::Whole, None));
        assert_eq!(register("u255").unwrap().file, File::Uniform);
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "r",
            "x4",
            "r04",
            "r-1",
            "r4 ",
            "r4 middle half",
            "r3:r2",
            "r1:u2",
            "4",
        ] {
            assert!(register(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn numbers() {
        assert_eq!(integer(&serde_json::json!("0x26")), Ok(0x26));
        assert_eq!(integer(&serde_json::json!(-12)), Ok((-12i64) as u64));
        assert!(integer(&serde_json::json!("26")).is_err());
        assert!(integer(&serde_json::json!(1.5)).is_err());
    }
}
