// SPDX-License-Identifier: MIT
//! Compiled code beside code that was written by hand.

use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, ensure};
use cortland_cts::corpus::{self, Entry, yardstick};
use cortland_cts::device::agx::AgxCompiler;
use cortland_cts::device::layout::Layout;
use cortland_cts::device::simulated::{Compiler as _, Options, SimulatedDevice};

/// What compiled code may have more than hand-written code.
const LIMIT: f64 = 1.10;

/// One kernel's numbers: compiled, by hand.
struct Line {
    name: String,
    instructions: [u64; 2],
    bytes: [u64; 2],
    executed: [u64; 2],
}

/// Prints a line for each kernel. Returns false when compiled code is beyond the limit, or computes
/// something else.
pub(super) fn print(directory: &Path, out: &mut impl Write) -> anyhow::Result<bool> {
    let entries = corpus::load_all(directory).context("the corpus")?;
    let device = SimulatedDevice::new(AgxCompiler::default(), Options::default());
    writeln!(
        out,
        "{:16} {:>24} {:>24} {:>24}",
        "compiled / hand", "instructions", "bytes", "executed"
    )?;
    let mut good = true;
    for name in yardstick::names(directory)? {
        let entry = entries.iter().find(|entry| entry.name == name);
        let entry = entry.with_context(|| format!("{name} measures no shader of the corpus"))?;
        match measure(directory, entry, &device) {
            Ok(line) => good &= line.print(out)?,
            Err(error) => {
                good = false;
                writeln!(out, "{name:16} {error:#}")?;
            }
        }
    }
    if !good {
        writeln!(
            out,
            "beyond {LIMIT:.2} times the instructions of hand-written code, or wrong"
        )?;
    }
    Ok(good)
}

fn measure(
    directory: &Path,
    entry: &Entry,
    device: &SimulatedDevice<AgxCompiler>,
) -> anyhow::Result<Line> {
    let case = entry.case()?;
    let layout = Layout::of(&case)?;
    let compiled = device.compiler().compile(&case, &layout)?;
    let hand = yardstick::load(directory, &entry.name, &compiled)?;
    let (results, executed) = device.run_counted(&compiled, &case, &layout)?;
    let (reference, by_hand) = device.run_counted(&hand, &case, &layout)?;
    ensure!(by_hand > 0, "nothing was executed");
    entry
        .judge(&results, &reference)
        .context("compiled and hand-written code disagree")?;
    Ok(Line {
        name: entry.name.clone(),
        instructions: [&compiled, &hand].map(|binary| binary.stats.instructions.into()),
        // Without what pads compiled code.
        bytes: [&compiled, &hand].map(|binary| binary.stats.bytes.into()),
        executed: [executed, by_hand],
    })
}

impl Line {
    fn print(&self, out: &mut impl Write) -> anyhow::Result<bool> {
        write!(out, "{:16}", self.name)?;
        for pair in [self.instructions, self.bytes, self.executed] {
            let [compiled, hand] = pair;
            let text = format!("{compiled} / {hand} = {:.2}", ratio(pair));
            write!(out, " {text:>24}")?;
        }
        let good = ratio(self.instructions) <= LIMIT;
        writeln!(out, "{}", if good { "" } else { "  !" })?;
        Ok(good)
    }
}

fn ratio([compiled, hand]: [u64; 2]) -> f64 {
    compiled as f64 / hand as f64
}
