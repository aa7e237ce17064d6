// SPDX-License-Identifier: MIT
//! `agx demo`: what the project does, in one command.

mod launch;
#[cfg(feature = "compiler")]
mod mandelbrot;

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

/// Options of `agx demo`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
    /// Instead: the programs of one compute launch, explained line by line.
    #[arg(long)]
    launch: bool,
    /// Where the picture goes.
    #[arg(short, long, default_value = "mandelbrot.png")]
    output: PathBuf,
}

/// Runs the command.
pub(crate) fn run(options: &Options, out: &mut impl Write) -> anyhow::Result<()> {
    #[cfg(feature = "compiler")]
    if !options.launch {
        return mandelbrot::run(&options.output, out);
    }
    launch::run(out)
}
