// SPDX-License-Identifier: MIT
//! The numbers that `agx shaderdb run` finds and `compare` reads.

use agx_compiler::binary::Statistics;
use serde::{Deserialize, Serialize};

/// A run over the corpus.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// By name.
    pub(super) shaders: Vec<Shader>,
}

/// One shader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Shader {
    /// Its name in the corpus.
    pub(super) name: String,
    /// What came of it.
    #[serde(flatten)]
    pub(super) outcome: Outcome,
}

/// What came of a shader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Outcome {
    /// Machine code with these numbers.
    Compiled(Numbers),
    /// The compiler's message.
    Error(String),
}

/// Names a number of [`Numbers`] and says which way is better.
#[derive(Clone, Copy)]
pub(super) struct Metric {
    /// Heading.
    pub(super) name: &'static str,
    /// Its value.
    pub(super) get: fn(&Numbers) -> u64,
    /// Less is better; otherwise a change is only worth knowing.
    pub(super) less_is_better: bool,
    /// It is the same in every run of one compiler.
    pub(super) exact: bool,
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $field:ident: $heading:literal $(, $what:ident)*;)*) => {
        /// What is known of the machine code.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub(super) struct Numbers {
            $($(#[$doc])* pub(super) $field: u64,)*
        }

        /// All numbers, in the order of the table's columns.
        pub(super) const METRICS: &[Metric] = &[
            $(numbers!(@metric $field, $heading $(, $what)*),)*
        ];
    };
    (@metric $field:ident, $heading:literal) => {
        Metric { name: $heading, get: |n| n.$field, less_is_better: true, exact: true }
    };
    (@metric $field:ident, $heading:literal, neutral) => {
        Metric { less_is_better: false, ..numbers!(@metric $field, $heading) }
    };
    (@metric $field:ident, $heading:literal, time) => {
        Metric { exact: false, ..numbers!(@metric $field, $heading) }
    };
}

numbers! {
    /// Machine instructions.
    instructions: "instrs";
    /// Bytes of code.
    bytes: "bytes";
    /// Instructions that only wait.
    waits: "waits";
    /// Register moves.
    moves: "moves";
    /// General registers.
    gprs: "gprs";
    /// Values saved to scratch.
    spills: "spills";
    /// Values filled from scratch.
    fills: "fills";
    /// Scratch bytes.
    scratch: "scratch";
    /// Loops.
    loops: "loops", neutral;
    /// Estimated cycles.
    cycles: "cycles";
    /// Microseconds that translation and compilation took.
    compile_us: "us", time;
}

impl Numbers {
    /// Numbers of a binary and of its compilation.
    pub(super) fn new(stats: &Statistics, compile_us: u64) -> Numbers {
        Numbers {
            instructions: stats.instructions.into(),
            bytes: stats.bytes.into(),
            waits: stats.waits.into(),
            moves: stats.moves.into(),
            gprs: stats.gprs.into(),
            spills: stats.spills.into(),
            fills: stats.fills.into(),
            scratch: stats.scratch.into(),
            loops: stats.loops.into(),
            cycles: stats.cycles,
            compile_us,
        }
    }
}

impl Record {
    /// Shaders that did not compile.
    pub(super) fn failures(&self) -> usize {
        let failed = |shader: &&Shader| matches!(shader.outcome, Outcome::Error(_));
        self.shaders.iter().filter(failed).count()
    }

    /// The numbers of those that did, with their names.
    pub(super) fn compiled(&self) -> impl Iterator<Item = (&str, &Numbers)> {
        self.shaders
            .iter()
            .filter_map(|shader| match &shader.outcome {
                Outcome::Compiled(numbers) => Some((shader.name.as_str(), numbers)),
                Outcome::Error(_) => None,
            })
    }

    /// The shader of that name.
    pub(super) fn find(&self, name: &str) -> Option<&Shader> {
        self.shaders.iter().find(|shader| shader.name == name)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A shader whose numbers are all 0 but instructions.
    pub(in super::super) fn shader(name: &str, instructions: u64) -> Shader {
        Shader {
            name: name.to_owned(),
            outcome: Outcome::Compiled(Numbers {
                instructions,
                ..Numbers::default()
            }),
        }
    }

    #[test]
    fn a_record_survives_json() {
        let failed = Shader {
            name: "bad".to_owned(),
            outcome: Outcome::Error("why".to_owned()),
        };
        let record = Record {
            shaders: vec![shader("a", 7), failed],
        };
        let text = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), record);
        assert_eq!(record.failures(), 1);
        assert_eq!(record.compiled().count(), 1);
    }

    #[test]
    fn every_number_is_a_column() {
        let json = serde_json::to_value(Numbers::default()).unwrap();
        assert_eq!(json.as_object().unwrap().len(), METRICS.len());
        let stats = Statistics {
            instructions: 1,
            bytes: 2,
            waits: 3,
            moves: 4,
            gprs: 5,
            spills: 6,
            fills: 7,
            scratch: 8,
            loops: 9,
            cycles: 10,
        };
        let numbers = Numbers::new(&stats, 11);
        let values: Vec<u64> = METRICS
            .iter()
            .map(|metric| (metric.get)(&numbers))
            .collect();
        assert_eq!(values, (1..=11).collect::<Vec<u64>>());
    }
}
