// SPDX-License-Identifier: MIT
//! Reading vectors: one JSON object a line (hw/isa/vectors/README.md).

use serde::Deserialize;
use serde_json::{Map, Value};

/// What an `encode` vector asserts beyond "bytes and operands, both ways".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Asserts {
    /// Only the instruction class and its length.
    Length,
    /// Decodes to the operands; an assembler would pick other bytes.
    Decode,
    /// The operation, but no registers and resource numbers.
    Operation,
    /// A whole program, with the length of each instruction.
    Framing,
}

/// A vector of kind `encode`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(
    dead_code,
    reason = "fields that only state where a fact comes from are still required"
)]
pub(super) struct Encode {
    pub(super) id: String,
    kind: String,
    pub(super) family: String,
    pub(super) op: String,
    pub(super) operands: Map<String, Value>,
    hex: String,
    pub(super) len: usize,
    mask: Option<String>,
    pub(super) asserts: Option<Asserts>,
    pub(super) complete: bool,
    target: String,
    source: String,
    note: Option<String>,
    /// `hex` as bytes.
    #[serde(skip)]
    pub(super) bytes: Vec<u8>,
    /// `mask` as bytes; all ones when the vector has none.
    #[serde(skip)]
    pub(super) mask_bytes: Vec<u8>,
}

/// A vector of kind `launch`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(
    dead_code,
    reason = "fields that only state where a fact comes from are still required"
)]
pub(super) struct Launch {
    pub(super) id: String,
    kind: String,
    family: String,
    pub(super) op: String,
    pub(super) inputs: Map<String, Value>,
    pub(super) expected: Map<String, Value>,
    target: String,
    source: String,
    pub(super) note: Option<String>,
    basis: Option<String>,
}

impl Encode {
    /// Reads the vector and turns its byte strings into bytes.
    ///
    /// # Errors
    /// Missing, superfluous or malformed members.
    pub(super) fn from_json(json: Value) -> Result<Encode, String> {
        let mut vector: Encode = serde_json::from_value(json).map_err(|e| e.to_string())?;
        vector.bytes = packed_hex(&vector.hex).ok_or("`hex` is no byte string")?;
        if vector.bytes.len() != vector.len {
            return Err(format!(
                "`hex` has {} bytes, `len` says {}",
                vector.bytes.len(),
                vector.len
            ));
        }
        vector.mask_bytes = match &vector.mask {
            None => vec![0xff; vector.len],
            Some(mask) => packed_hex(mask).ok_or("`mask` is no byte string")?,
        };
        if vector.mask_bytes.len() != vector.len {
            return Err("`mask` and `hex` differ in length".to_owned());
        }
        if vector.complete && (vector.mask.is_some() || vector.asserts.is_some()) {
            return Err("`complete` contradicts `mask` and `asserts`".to_owned());
        }
        if vector.asserts.is_some() && vector.mask.is_some() {
            return Err("`asserts` with a `mask` has no defined meaning".to_owned());
        }
        Ok(vector)
    }

    /// The stated bits; others are 0.
    pub(super) fn stated_bytes(&self) -> Vec<u8> {
        self.bytes
            .iter()
            .zip(&self.mask_bytes)
            .map(|(byte, mask)| byte & mask)
            .collect()
    }

    /// Operand `key` as an unsigned number.
    pub(super) fn number(&self, key: &str) -> Option<u64> {
        self.operands.get(key).and_then(Value::as_u64)
    }

    /// Operand `key` as text.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.operands.get(key).and_then(Value::as_str)
    }
}

impl Launch {
    /// Reads the vector.
    ///
    /// # Errors
    /// Missing, superfluous or malformed members.
    pub(super) fn from_json(json: Value) -> Result<Launch, String> {
        serde_json::from_value(json).map_err(|e| e.to_string())
    }
}

/// `0ca01006` as bytes.
pub(super) fn packed_hex(text: &str) -> Option<Vec<u8>> {
    if text.is_empty()
        || !text.len().is_multiple_of(2)
        || !text.bytes().all(|b| b.is_ascii_hexdigit())
    {
        return None;
    }
    (0..text.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&text[i..i + 2], 16).ok())
        .collect()
}
