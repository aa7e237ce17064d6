// SPDX-License-Identifier: MIT
//! What a scenario's process hands back to the one that started it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How a scenario ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// All that it expects by itself is so.
    Passed,
    /// The driver does not offer what it needs.
    Skipped(String),
    /// What is wrong.
    Failed(String),
}

/// A scenario's end, and what it computed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Outcome {
    /// How it ended.
    pub verdict: Verdict,
    /// The driver that ran it.
    pub driver: String,
    /// Bytes by name; Vulkan defines every bit of them.
    pub results: BTreeMap<String, Vec<u8>>,
    /// What validation layers and the driver said of it, warnings and errors.
    pub messages: Vec<String>,
}

/// The error of a scenario that needs something that the driver does not offer.
#[derive(Debug, Clone)]
pub struct Skip(pub String);

impl std::fmt::Display for Skip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "not offered: {}", self.0)
    }
}

impl std::error::Error for Skip {}

impl From<anyhow::Result<()>> for Verdict {
    fn from(result: anyhow::Result<()>) -> Verdict {
        match result {
            Ok(()) => Verdict::Passed,
            Err(error) => match error.downcast_ref::<Skip>() {
                Some(skip) => Verdict::Skipped(skip.0.clone()),
                None => Verdict::Failed(format!("{error:#}")),
            },
        }
    }
}

/// Says where two byte strings differ first, as words; nothing when they are equal.
#[must_use]
pub fn difference(got: &[u8], expected: &[u8]) -> Option<String> {
    if got == expected {
        return None;
    }
    if got.len() != expected.len() {
        return Some(format!("{} bytes instead of {}", got.len(), expected.len()));
    }
    let wrong = got.iter().zip(expected).filter(|(a, b)| a != b).count();
    let at = got.iter().zip(expected).position(|(a, b)| a != b)?;
    let from = at & !3;
    let show = |bytes: &[u8]| {
        let words = bytes[from..].chunks(4).take(4);
        let words: Vec<String> = words
            .map(|w| w.iter().rev().map(|b| format!("{b:02x}")).collect())
            .collect();
        words.join(" ")
    };
    Some(format!(
        "{wrong} of {} bytes differ, the first at {at}: got words {} instead of {} from byte {from}",
        got.len(),
        show(got),
        show(expected)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skips_are_told_from_failures() {
        assert_eq!(Verdict::from(Ok(())), Verdict::Passed);
        let skip = anyhow::Error::new(Skip("x".to_owned()));
        assert_eq!(Verdict::from(Err(skip)), Verdict::Skipped("x".to_owned()));
        let failure = Verdict::from(Err(anyhow::anyhow!("y")));
        assert_eq!(failure, Verdict::Failed("y".to_owned()));
    }

    #[test]
    fn the_first_difference_is_shown() {
        assert_eq!(difference(&[1, 2], &[1, 2]), None);
        assert!(difference(&[1], &[1, 2]).is_some());
        let text = difference(&[0, 0, 0, 0, 1, 0, 0, 0], &[0; 8]).unwrap();
        assert!(
            text.contains("first at 4") && text.contains("00000001"),
            "{text}"
        );
    }
}
