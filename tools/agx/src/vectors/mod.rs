// SPDX-License-Identifier: MIT
//! `agx vectors`: golden vectors against the instruction table.
//!
//! Nothing passes silently: an operation, operand key or value that this module cannot interpret
//! is a failure, as is a line that is no vector. Kinds that need a simulator or other crates are
//! counted as unchecked, with the reason.

mod bind;
mod descriptor;
mod encode;
mod exec;
mod launch;
mod layout;
mod load;
mod meaning;
mod ops;
mod outside;
mod value;

use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;

use load::{Encode, Launch};

/// What became of one vector.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    /// Everything it states holds.
    Passed {
        /// Built from its operands it differs in the destination hint, which no operand states.
        hint_taken: bool,
    },
    /// Something does not hold, or cannot be interpreted.
    Failed(String),
    /// Not a matter of this tool; the text says why.
    Unchecked(String),
}

/// Counts over all files.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    hints_taken: usize,
    unchecked: BTreeMap<String, usize>,
}

impl Tally {
    fn unchecked(&self) -> usize {
        self.unchecked.values().sum()
    }
}

/// Checks every vector of the files. Returns false when one failed.
pub(crate) fn run(files: &[PathBuf], verbose: bool, out: &mut impl Write) -> anyhow::Result<bool> {
    let mut tally = Tally::default();
    for file in files {
        check_file(file, verbose, &mut tally, out)?;
    }
    if tally.hints_taken > 0 {
        writeln!(
            out,
            "{} of the passed are complete but for the cache hint in bit 32, which they do not state",
            tally.hints_taken
        )?;
    }
    for (reason, count) in &tally.unchecked {
        writeln!(out, "unchecked {count}: {reason}")?;
    }
    let unchecked = tally.unchecked();
    writeln!(
        out,
        "{} passed, {} failed, {unchecked} unchecked",
        tally.passed, tally.failed
    )?;
    Ok(tally.failed == 0)
}

fn check_file(
    file: &Path,
    verbose: bool,
    tally: &mut Tally,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let bytes = crate::input::read_file(file)?;
    let name = file.display();
    let mut ids = HashSet::new();
    let mut seen = false;
    for (number, line) in bytes.split(|b| *b == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        seen = true;
        let (id, outcome) = check_line(line);
        let place = match &id {
            Some(id) => format!("{name}:{}: {id}", number + 1),
            None => format!("{name}:{}", number + 1),
        };
        let outcome = match id {
            Some(id) if !ids.insert(id.clone()) => {
                Outcome::Failed("the id stands twice in this file".to_owned())
            }
            _ => outcome,
        };
        match outcome {
            Outcome::Passed { hint_taken } => {
                tally.passed += 1;
                tally.hints_taken += usize::from(hint_taken);
                if verbose {
                    writeln!(out, "passed {place}")?;
                }
            }
            Outcome::Failed(problem) => {
                tally.failed += 1;
                writeln!(out, "FAILED {place}: {problem}")?;
            }
            Outcome::Unchecked(reason) => {
                if verbose {
                    writeln!(out, "unchecked {place}: {reason}")?;
                }
                *tally.unchecked.entry(reason).or_default() += 1;
            }
        }
    }
    if !seen {
        tally.failed += 1;
        writeln!(out, "FAILED {name}: holds no vectors")?;
    }
    Ok(())
}

/// Checks one line; the id comes back as far as the line has one.
fn check_line(line: &[u8]) -> (Option<String>, Outcome) {
    let json: Value = match serde_json::from_slice(line) {
        Ok(json) => json,
        Err(error) => return (None, Outcome::Failed(format!("no JSON: {error}"))),
    };
    let text = |key: &str| json.get(key).and_then(Value::as_str).map(str::to_owned);
    let id = text("id");
    if id.is_none() {
        return (None, Outcome::Failed("no vector: it has no id".to_owned()));
    }
    let outcome = match text("kind").as_deref() {
        Some("encode") => match Encode::from_json(json) {
            Ok(vector) => encode::check(&vector),
            Err(problem) => Outcome::Failed(problem),
        },
        Some("launch") => match Launch::from_json(json) {
            Ok(vector) => launch::check(&vector),
            Err(problem) => Outcome::Failed(problem),
        },
        Some("exec") => exec::check(json),
        Some("descriptor") => descriptor::check(json),
        Some("layout") => layout::check(json),
        Some(kind) => Outcome::Failed(format!("kind `{kind}` is not known")),
        None => Outcome::Failed("no vector: it has no kind".to_owned()),
    };
    (id, outcome)
}
