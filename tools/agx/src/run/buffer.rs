// SPDX-License-Identifier: MIT
//! Buffers on the command line: what is in them, how they are printed.

use std::io::{self, Write};
use std::path::PathBuf;
use std::str::FromStr;

use agx_uapi::abi::limits::PAGE_SIZE;

/// How bytes are read as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    U8,
    U16,
    U32,
    U64,
    I32,
    /// Hexadecimal.
    X32,
    F32,
}

impl Kind {
    fn size(self) -> usize {
        match self {
            Kind::U8 => 1,
            Kind::U16 => 2,
            Kind::U32 | Kind::I32 | Kind::X32 | Kind::F32 => 4,
            Kind::U64 => 8,
        }
    }

    /// One value's bytes.
    fn encode(self, text: &str) -> Result<Vec<u8>, String> {
        if self == Kind::F32 {
            let value: f32 = text.parse().map_err(|e| format!("`{text}`: {e}"))?;
            return Ok(value.to_le_bytes().to_vec());
        }
        let (digits, negative) = match text.strip_prefix('-') {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        let value = match digits.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        let value = i128::from(value.map_err(|e| format!("`{text}`: {e}"))?);
        let value = if negative { -value } else { value };
        let bits = 8 * self.size() as u32;
        if value >= 1 << bits || value < -(1 << (bits - 1)) {
            return Err(format!("`{text}` does not fit {bits} bits"));
        }
        Ok(value.to_le_bytes()[..self.size()].to_vec())
    }

    /// One value as text.
    fn decode(self, bytes: &[u8]) -> String {
        let mut raw = [0; 8];
        raw[..bytes.len()].copy_from_slice(bytes);
        let value = u64::from_le_bytes(raw);
        match self {
            Kind::U8 | Kind::U16 | Kind::U32 | Kind::U64 => value.to_string(),
            Kind::I32 => (value as i32).to_string(),
            Kind::X32 => format!("{value:08x}"),
            Kind::F32 => format!("{:?}", f32::from_bits(value as u32)),
        }
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Kind, String> {
        Ok(match text {
            "u8" => Kind::U8,
            "u16" => Kind::U16,
            "u32" => Kind::U32,
            "u64" => Kind::U64,
            "i32" => Kind::I32,
            "x32" => Kind::X32,
            "f32" => Kind::F32,
            _ => {
                return Err(format!(
                    "`{text}` is no type: u8, u16, u32, u64, i32, x32, f32"
                ));
            }
        })
    }
}

/// A buffer before the program runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Buffer {
    /// What its values are.
    pub(super) kind: Kind,
    /// Its content.
    pub(super) bytes: Vec<u8>,
}

impl Buffer {
    /// The content and zeros up to whole GPU pages: what the GPU sees.
    pub(super) fn padded(&self) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        bytes.resize(self.mapped_size(), 0);
        bytes
    }

    /// Bytes that are mapped for it.
    pub(super) fn mapped_size(&self) -> usize {
        self.bytes.len().max(1).next_multiple_of(PAGE_SIZE as usize)
    }
}

impl FromStr for Buffer {
    type Err = String;

    fn from_str(text: &str) -> Result<Buffer, String> {
        if let Some(path) = text.strip_prefix('@') {
            let bytes = std::fs::read(path).map_err(|e| format!("{path}: {e}"))?;
            return Ok(Buffer {
                kind: Kind::X32,
                bytes,
            });
        }
        let Some((kind, values)) = text.split_once(':') else {
            return Ok(Buffer {
                kind: Kind::U32,
                bytes: vec![0; parse_bytes(text)?],
            });
        };
        let kind: Kind = kind.parse()?;
        let mut bytes = Vec::new();
        for value in values.split(',').map(str::trim) {
            match value.split_once("..") {
                Some((first, last)) => {
                    let bound = |text: &str| {
                        let bound: i64 = text.parse().map_err(|e| format!("`{text}`: {e}"))?;
                        Ok::<i64, String>(bound)
                    };
                    let (first, last) = (bound(first)?, bound(last)?);
                    if last.saturating_sub(first) > MAX_BYTES as i64 {
                        return Err(format!("`{value}` is too long"));
                    }
                    for value in first..last {
                        bytes.extend(kind.encode(&value.to_string())?);
                    }
                }
                None => bytes.extend(kind.encode(value)?),
            }
        }
        Ok(Buffer { kind, bytes })
    }
}

/// Largest buffer: 4 GiB.
const MAX_BYTES: usize = 1 << 32;

/// `4096`, `16k`, `1m`.
fn parse_bytes(text: &str) -> Result<usize, String> {
    let lower = text.to_ascii_lowercase();
    let (digits, unit) = match lower.strip_suffix('k') {
        Some(digits) => (digits, 1 << 10),
        None => match lower.strip_suffix('m') {
            Some(digits) => (digits, 1 << 20),
            None => (lower.as_str(), 1),
        },
    };
    let number = match digits.strip_prefix("0x") {
        Some(hex) => usize::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    let bytes = number.ok().and_then(|n: usize| n.checked_mul(unit));
    bytes
        .filter(|n| *n <= MAX_BYTES)
        .ok_or_else(|| format!("`{text}` is no size up to 4 GiB, and no TYPE:VALUES"))
}

/// `N[:TYPE]`.
#[derive(Clone, Debug)]
pub(super) struct Print {
    pub(super) index: usize,
    pub(super) kind: Option<Kind>,
}

impl FromStr for Print {
    type Err = String;

    fn from_str(text: &str) -> Result<Print, String> {
        let (index, kind) = match text.split_once(':') {
            Some((index, kind)) => (index, Some(kind.parse()?)),
            None => (text, None),
        };
        let index = index.parse().map_err(|e| format!("`{index}`: {e}"))?;
        Ok(Print { index, kind })
    }
}

/// `N=FILE`.
#[derive(Clone, Debug)]
pub(super) struct Save {
    pub(super) index: usize,
    pub(super) path: PathBuf,
}

impl FromStr for Save {
    type Err = String;

    fn from_str(text: &str) -> Result<Save, String> {
        let (index, path) = text.split_once('=').ok_or("it is not N=FILE")?;
        let index = index.parse().map_err(|e| format!("`{index}`: {e}"))?;
        Ok(Save {
            index,
            path: path.into(),
        })
    }
}

/// Prints values, a line for each 32 bytes; runs of equal lines are left out as `*`.
pub(super) fn print(
    out: &mut impl Write,
    index: usize,
    kind: Kind,
    bytes: &[u8],
) -> io::Result<()> {
    writeln!(out, "buffer {index}, {} bytes:", bytes.len())?;
    let mut last: Option<&[u8]> = None;
    let mut starred = false;
    for (number, line) in bytes.chunks(32).enumerate() {
        if last == Some(line) {
            if !starred {
                writeln!(out, "  *")?;
            }
            starred = true;
            continue;
        }
        starred = false;
        last = Some(line);
        write!(out, "  {:06x}:", number * 32)?;
        for value in line.chunks(kind.size()) {
            if value.len() == kind.size() {
                write!(out, " {}", kind.decode(value))?;
            } else {
                write!(out, " {value:02x?}")?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs() {
        let bytes = |text: &str| text.parse::<Buffer>().map(|b| b.bytes);
        assert_eq!(bytes("5"), Ok(vec![0; 5]));
        assert_eq!(bytes("2k"), Ok(vec![0; 2048]));
        assert_eq!(bytes("u8:1,0x20,254..256"), Ok(vec![1, 0x20, 254, 255]));
        assert_eq!(bytes("i32:-2"), Ok(vec![0xfe, 0xff, 0xff, 0xff]));
        assert_eq!(bytes("f32:1.5"), Ok(vec![0, 0, 0xc0, 0x3f]));
        assert_eq!(bytes("u64:1"), Ok(vec![1, 0, 0, 0, 0, 0, 0, 0]));
        for bad in [
            "",
            "x",
            "u8:256",
            "u8:-129",
            "u7:1",
            "f32:one",
            "99999999m",
            "@/no/such",
        ] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn equal_lines_are_starred() {
        let mut out = Vec::new();
        let mut bytes = vec![0; 4 * 32];
        bytes[96] = 7;
        print(&mut out, 3, Kind::U8, &bytes).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("buffer 3, 128 bytes:\n  000000: 0 0"));
        assert_eq!(text.matches('*').count(), 1);
        assert!(text.contains("  000060: 7 0"));
    }
}
