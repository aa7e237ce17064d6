// SPDX-License-Identifier: MIT
//! Runs random programs on a device and compares.

use super::config::Config;
use super::tree::Program;
use super::{emit, generate, interpret, shrink};
use crate::case::{Buffer, BufferKind, Case, Device};
use mesa_nir::SpecConstant;
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

/// Runs of smaller programs on the device after one has failed, at most.
const SHRINK_TRIES: usize = 2000;

impl Program {
    /// The shader and its input.
    #[must_use]
    pub fn case(&self) -> Case {
        let buffer = |binding, kind, words: &[u32]| Buffer {
            set: 0,
            binding,
            element: 0,
            kind,
            bytes: bytes(words),
            address_at: None,
        };
        Case {
            name: format!("random program {}", self.seed),
            spirv: emit::module(self),
            entry: "main".into(),
            specialization: (0..)
                .zip(&self.spec)
                .map(|(id, &value)| SpecConstant {
                    id,
                    bits: value.into(),
                })
                .collect(),
            groups: self.groups,
            base_group: [0; 3],
            push_constants: bytes(&self.push),
            buffers: vec![
                buffer(emit::binding::INPUT, BufferKind::Storage, &self.input),
                buffer(emit::binding::OUTPUT, BufferKind::Storage, &self.output),
                buffer(emit::binding::OWN, BufferKind::Storage, &self.own),
                buffer(emit::binding::ATOMICS, BufferKind::Storage, &self.atomics),
                buffer(emit::binding::UNIFORM, BufferKind::Uniform, &self.uniform),
            ],
            images: Vec::new(),
        }
    }

    /// What the buffers of [`Self::case`] hold after the run, by the interpreter.
    ///
    /// # Panics
    /// When the program breaks the rules of the tree; those of the generator do not.
    #[must_use]
    pub fn expected(&self) -> Vec<Vec<u8>> {
        match interpret::run(self) {
            Ok(memory) => vec![
                bytes(&self.input),
                bytes(&memory.output),
                bytes(&memory.own),
                bytes(&memory.atomics),
                bytes(&self.uniform),
            ],
            Err(why) => panic!("the program of seed {} breaks the rules: {why}", self.seed),
        }
    }
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// A program that a device did not run as it should, already made small.
#[derive(Debug)]
pub struct Failure {
    /// What went wrong with the small program.
    pub message: String,
    /// The small program.
    pub program: Box<Program>,
}

impl Failure {
    /// Writes the program as text and as SPIR-V; returns the files' names.
    ///
    /// # Errors
    /// When the files cannot be written.
    pub fn write(&self, directory: &Path) -> std::io::Result<[PathBuf; 2]> {
        std::fs::create_dir_all(directory)?;
        let path = |end| directory.join(format!("random-{}.{end}", self.program.seed));
        let paths = [path("txt"), path("spv")];
        std::fs::write(&paths[0], self.to_string())?;
        std::fs::write(&paths[1], bytes(&emit::module(&self.program)))?;
        Ok(paths)
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.message, self.program)
    }
}

impl std::error::Error for Failure {}

/// Runs the program of a seed on a device and compares every byte of its buffers with what the interpreter says.
///
/// # Errors
/// A failing program, shrunk as long as the device fails it in the same way (refuses it, or gives other results).
pub fn check(seed: u64, config: &Config, device: &dyn Device) -> Result<(), Failure> {
    let program = generate::program(seed, config);
    let Err(trouble) = run(&program, device) else {
        return Ok(());
    };
    let refused = matches!(trouble, Trouble::Refused(_));
    let small = shrink::shrink(&program, SHRINK_TRIES, &mut |candidate| {
        run(candidate, device).is_err_and(|t| matches!(t, Trouble::Refused(_)) == refused)
    });
    let (Trouble::Refused(message) | Trouble::Differs(message)) =
        run(&small, device).err().unwrap_or(trouble);
    Err(Failure {
        message,
        program: Box::new(small),
    })
}

enum Trouble {
    Refused(String),
    Differs(String),
}

fn run(program: &Program, device: &dyn Device) -> Result<(), Trouble> {
    let case = program.case();
    let found = device
        .run(&case)
        .map_err(|e| Trouble::Refused(format!("{e:#}")))?;
    let names = ["input", "output", "own", "atomics", "uniform"];
    let expected = program.expected();
    if found.len() != expected.len() {
        return Err(Trouble::Differs(format!(
            "{} buffers came back",
            found.len()
        )));
    }
    for ((name, found), expected) in names.iter().zip(&found).zip(&expected) {
        let words = |bytes: &[u8]| -> Vec<[u8; 4]> { bytes.as_chunks().0.to_vec() };
        let (found, expected) = (words(found), words(expected));
        if found.len() != expected.len() {
            return Err(Trouble::Differs(format!(
                "the {name} buffer has another size"
            )));
        }
        let differing: Vec<usize> = (0..found.len())
            .filter(|&i| found[i] != expected[i])
            .collect();
        if let Some(&first) = differing.first() {
            let per_invocation = match *name {
                "output" => program.output_words,
                "own" => super::tree::OWN_WORDS,
                _ => 1,
            } as usize;
            let place = match per_invocation {
                1 => format!("word {first}"),
                n => format!("invocation {}, word {}", first / n, first % n),
            };
            return Err(Trouble::Differs(format!(
                "seed {}: {} words of the {name} buffer differ, the first in {place}: \
                 {:#010x} instead of {:#010x}",
                program.seed,
                differing.len(),
                u32::from_le_bytes(found[first]),
                u32::from_le_bytes(expected[first]),
            )));
        }
    }
    Ok(())
}

/// The seeds that a test runs: `count` from 0, or what the environment says: `CORTLAND_RANDOM_SEEDS` is how many,
/// `CORTLAND_RANDOM_FIRST` the first one.
#[must_use]
pub fn seeds(count: u64) -> std::ops::Range<u64> {
    let number = |name| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    let first = number("CORTLAND_RANDOM_FIRST").unwrap_or(0);
    let count = number("CORTLAND_RANDOM_SEEDS").unwrap_or(count);
    first..first.saturating_add(count)
}
