// SPDX-License-Identifier: MIT
//! Vectors of kind `exec`: what programs, instructions and operations compute, on the simulator.

mod instruction;
mod kernel;
mod number;
mod source;
mod texture;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::Outcome;

/// A vector of kind `exec`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(
    dead_code,
    reason = "fields that only state where a fact comes from are still required"
)]
pub(super) struct Exec {
    id: String,
    kind: String,
    family: String,
    op: String,
    form: Form,
    /// A whole program or one instruction.
    hex: Option<String>,
    /// A whole program around the instruction: buffer 1 in, buffer 0 out.
    kernel_hex: Option<String>,
    inputs: Map<String, Value>,
    expected: Value,
    tolerance: Value,
    element_bits: Option<u32>,
    element_note: Option<String>,
    target: String,
    source: String,
    note: Option<String>,
    basis: Option<String>,
}

/// What the vector describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Form {
    /// A complete program.
    Kernel,
    /// One instruction.
    Instruction,
    /// An operation that takes several instructions.
    Source,
    /// A rule with one worked example.
    Rule,
}

/// Checks one vector.
pub(super) fn check(json: Value) -> Outcome {
    let vector: Exec = match serde_json::from_value(json) {
        Ok(vector) => vector,
        Err(error) => return Outcome::Failed(error.to_string()),
    };
    let checked = match vector.form {
        Form::Kernel => kernel::check(&vector),
        Form::Instruction => instruction::check(&vector),
        Form::Source | Form::Rule => source::check(&vector)
            .or_else(|| texture::check(&vector))
            .unwrap_or_else(|| Err(format!("operation `{}` is not known", vector.op))),
    };
    match checked {
        Ok(()) => Outcome::Passed { hint_taken: false },
        Err(problem) => Outcome::Failed(problem),
    }
}

impl Exec {
    /// Input `name`, a list of numbers.
    fn list(&self, name: &str) -> Result<Vec<number::Number>, String> {
        let value = self.inputs.get(name);
        number::list(value.ok_or_else(|| format!("input `{name}` is missing"))?)
    }

    /// The expected values, when they are one list.
    fn expected_list(&self) -> Result<Vec<number::Number>, String> {
        number::list(&self.expected)
    }
}
