// SPDX-License-Identifier: MIT
//! `agx shaderdb`: what the compiler makes of the whole corpus, and how two such records differ.

mod compare;
mod record;
mod table;
mod yardstick;

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use clap::Subcommand;
use cortland_cts::corpus::{self, Entry};
use cortland_cts::device::agx::AgxCompiler;
use cortland_cts::device::layout::Layout;
use cortland_cts::device::simulated::Compiler as _;

use record::{Outcome, Record, Shader};

/// Commands of `agx shaderdb`.
#[derive(Subcommand, Clone, Debug)]
pub(crate) enum Command {
    /// Compile every shader of the corpus and print a line for each. Status 1 when any does not
    /// compile.
    Run {
        /// Only shaders whose name contains this.
        #[arg(long, default_value = "")]
        filter: String,
        /// The corpus; by default the one of the source tree that this tool was built from.
        #[arg(long)]
        dir: Option<PathBuf>,
        /// Also write the numbers to this file, for `compare`.
        #[arg(long)]
        json: Option<PathBuf>,
    },
    /// Compare compiled code with kernels that were written by hand: instructions in the file and
    /// executed on the simulated GPU. Status 1 when the file has more than 1.10 times as many.
    Yardstick {
        /// The corpus; by default the one of the source tree that this tool was built from.
        #[arg(long)]
        dir: Option<PathBuf>,
    },
    /// Print what got better and worse between two files of `run --json`. Status 1 when a shader
    /// no longer compiles.
    Compare {
        /// The earlier one.
        old: PathBuf,
        /// The later one.
        new: PathBuf,
    },
}

/// Runs a command. Returns false when shaders do not compile, or no longer.
pub(crate) fn run(command: &Command, out: &mut impl Write) -> anyhow::Result<bool> {
    match command {
        Command::Run { filter, dir, json } => {
            let dir = dir.clone().unwrap_or_else(corpus::directory);
            let mut entries = corpus::load_all(&dir).context("the corpus")?;
            entries.retain(|entry| entry.name.contains(filter));
            ensure!(!entries.is_empty(), "no shader's name contains {filter:?}");
            let shaders = entries.iter().map(measure).collect();
            let record = Record { shaders };
            table::print(&record, out)?;
            if let Some(path) = json {
                let text = serde_json::to_string_pretty(&record)?;
                fs::write(path, text + "\n").with_context(|| path.display().to_string())?;
            }
            Ok(record.failures() == 0)
        }
        Command::Yardstick { dir } => {
            let dir = dir.clone().unwrap_or_else(corpus::directory);
            yardstick::print(&dir, out)
        }
        Command::Compare { old, new } => compare::print(&read(old)?, &read(new)?, out),
    }
}

fn read(path: &PathBuf) -> anyhow::Result<Record> {
    let name = || path.display().to_string();
    let text = fs::read_to_string(path).with_context(name)?;
    serde_json::from_str(&text).with_context(name)
}

/// How often each shader is compiled; the fastest counts.
const ROUNDS: u32 = 3;

fn measure(entry: &Entry) -> Shader {
    let outcome = match compile(entry) {
        Ok(outcome) => outcome,
        Err(error) => {
            let error = format!("{error:#}");
            let prefix = format!("{}: ", entry.name);
            Outcome::Error(error.strip_prefix(&prefix).unwrap_or(&error).to_owned())
        }
    };
    Shader {
        name: entry.name.clone(),
        outcome,
    }
}

fn compile(entry: &Entry) -> anyhow::Result<Outcome> {
    // Compiling GLSL and validation are not the compiler's time.
    let case = entry.case()?;
    let layout = Layout::of(&case)?;
    let compiler = AgxCompiler::default();
    let mut fastest = u64::MAX;
    let mut statistics = None;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let binary = compiler.compile(&case, &layout)?;
        fastest = fastest.min(start.elapsed().as_micros() as u64);
        statistics = Some(binary.stats);
    }
    let statistics = statistics.context("no round")?;
    Ok(Outcome::Compiled(record::Numbers::new(
        &statistics,
        fastest,
    )))
}
