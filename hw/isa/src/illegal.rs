// SPDX-License-Identifier: MIT
//! Why a value cannot stand in an instruction.

use std::borrow::Cow;

/// An operand or field value that the form does not allow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} = {value}: legal is {legal}")]
pub struct Illegal {
    /// The operand or field, as the reference names it.
    pub field: &'static str,
    /// The offending value: register number, immediate or field contents.
    pub value: Value,
    /// What would be legal.
    pub legal: Cow<'static, str>,
}

/// An offending value; fields print in hexadecimal when large.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(u64),
    /// An operand, as assembly text.
    Text(String),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Number(n) if *n < 1024 => write!(f, "{n}"),
            Value::Number(n) => write!(f, "{n:#x}"),
            Value::Text(text) => f.write_str(text),
        }
    }
}

impl Illegal {
    /// A broken rule with a fixed description.
    #[must_use]
    pub const fn rule(field: &'static str, value: u64, legal: &'static str) -> Illegal {
        Illegal {
            field,
            value: Value::Number(value),
            legal: Cow::Borrowed(legal),
        }
    }

    /// A number outside a computed range.
    #[must_use]
    pub fn number(field: &'static str, value: u64, legal: String) -> Illegal {
        Illegal {
            field,
            value: Value::Number(value),
            legal: Cow::Owned(legal),
        }
    }

    /// An operand of a wrong kind.
    #[must_use]
    pub fn operand(field: &'static str, value: String, legal: String) -> Illegal {
        Illegal {
            field,
            value: Value::Text(value),
            legal: Cow::Owned(legal),
        }
    }
}
