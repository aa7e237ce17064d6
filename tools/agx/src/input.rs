// SPDX-License-Identifier: MIT
//! Reading programs: raw bytes, or hexadecimal text.

use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, bail};

/// Reads a whole file; `-` is standard input.
pub(crate) fn read_file(path: &Path) -> anyhow::Result<Vec<u8>> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin()
            .read_to_end(&mut bytes)
            .context("standard input")?;
        return Ok(bytes);
    }
    std::fs::read(path).with_context(|| path.display().to_string())
}

/// Reads machine code: bytes, or hexadecimal text when the file holds nothing else.
pub(crate) fn read_code(path: &Path) -> anyhow::Result<Vec<u8>> {
    let bytes = read_file(path)?;
    if !is_hex_text(&bytes) {
        return Ok(bytes);
    }
    let text = std::str::from_utf8(&bytes).context("hexadecimal text")?;
    parse_hex(text).with_context(|| path.display().to_string())
}

/// The part of a line before `;` or `#`.
fn strip_comment(line: &str) -> &str {
    line.split([';', '#']).next().unwrap_or("")
}

/// True when the file is text of hexadecimal digits, blanks and comments, with at least one digit.
fn is_hex_text(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    let mut digits = 0;
    for line in text.lines() {
        for c in strip_comment(line).chars() {
            match c {
                _ if c.is_ascii_hexdigit() => digits += 1,
                _ if c.is_whitespace() => {}
                _ => return false,
            }
        }
    }
    digits > 0
}

/// Hexadecimal text to bytes. Digits may be grouped in any way that leaves whole bytes; a `0x`
/// before a group is allowed.
///
/// # Errors
/// Other characters, a group with an odd number of digits, or no bytes at all.
pub(crate) fn parse_hex(text: &str) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for group in text
        .lines()
        .flat_map(|line| strip_comment(line).split_whitespace())
    {
        let digits = group.strip_prefix("0x").unwrap_or(group);
        if let Some(bad) = digits.chars().find(|c| !c.is_ascii_hexdigit()) {
            bail!("`{group}`: `{bad}` is not a hexadecimal digit");
        }
        if digits.len() % 2 == 1 {
            bail!("`{group}` is not a whole number of bytes");
        }
        for i in (0..digits.len()).step_by(2) {
            bytes.push(u8::from_str_radix(&digits[i..i + 2], 16)?);
        }
    }
    if bytes.is_empty() {
        bail!("no bytes");
    }
    Ok(bytes)
}

/// Bytes as `0c a0 10 06`.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_text_takes_comments_and_any_grouping() {
        let text = "0c a0 1006 ; first\n# nothing\n0e000000\n";
        assert!(is_hex_text(text.as_bytes()));
        assert_eq!(
            parse_hex(text).unwrap(),
            [0x0c, 0xa0, 0x10, 6, 0x0e, 0, 0, 0]
        );
    }

    #[test]
    fn bytes_that_are_no_hex_text_are_binary() {
        for bytes in [
            &[0x0e, 0, 0, 0][..],
            b"",
            b"; only a comment",
            b"0e 00 xx",
            &[0xff, 0xfe],
        ] {
            assert!(!is_hex_text(bytes), "{bytes:?}");
        }
    }

    #[test]
    fn broken_groups_are_errors() {
        for text in ["0c a", "0c ag", "", "; nothing"] {
            assert!(parse_hex(text).is_err(), "{text:?}");
        }
    }
}
