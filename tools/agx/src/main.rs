// SPDX-License-Identifier: MIT
//! `agx`: look at, write and check programs for Apple9 GPUs.
//!
//! Everything it knows about instructions comes from the table in [`agx_isa`]; this crate only
//! reads files, lays out text and compares.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Parser, Subcommand};

mod asm;
#[cfg(feature = "compiler")]
mod compile;
mod demo;
mod dis;
mod explain;
mod input;
mod run;
#[cfg(feature = "compiler")]
mod shaderdb;
mod vectors;
#[cfg(feature = "compiler")]
mod vulkan;

/// The compiler allocates small blocks by the thousand; its C part takes them from here as well.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Disassembler, assembler and test-vector checker for Apple9 GPU programs.
#[derive(Parser)]
#[command(name = "agx", version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Disassemble a program.
    ///
    /// The output is assembly that `agx asm` turns back into the same bytes: offset and bytes
    /// stand in a comment behind each line. Encodings of known length without a known meaning
    /// become `.bytes` lines; where the length itself is unknown the listing ends with status 1.
    Dis {
        /// Address of the first byte, for the address column (decimal or 0x...).
        #[arg(long, value_parser = parse_address, default_value = "0")]
        base: u64,
        /// Refuse bits that the hardware reference cannot explain; status 1 when there are any.
        #[arg(long)]
        strict: bool,
        /// Only the assembly, without offset and bytes.
        #[arg(long)]
        plain: bool,
        /// Binary or hexadecimal text; `-` reads standard input.
        file: PathBuf,
    },
    /// Assemble a program.
    Asm {
        /// Assembly text; `-` reads standard input.
        file: PathBuf,
        /// Where to write the bytes; `-` writes standard output.
        #[arg(short, long)]
        output: PathBuf,
        /// Write hexadecimal text, one instruction a line, instead of bytes.
        #[arg(long)]
        hex: bool,
    },
    /// Explain every field of one instruction.
    Explain {
        /// The instruction's bytes, in memory order.
        #[arg(required = true)]
        hex: Vec<String>,
    },
    /// Check golden vectors (JSON lines) against the instruction table.
    Vectors {
        /// Files of vectors.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Also name every vector that passed or was left unchecked.
        #[arg(short, long)]
        verbose: bool,
    },
    /// Run a compute program on the simulated GPU.
    ///
    /// The program goes the whole way that a driver's would: buffers are created and bound through
    /// the kernel's interface, an entry, a launch program and a command stream are written, and a
    /// submit is waited for. Status 1 when the GPU faulted.
    Run(run::Options),
    /// Compile a shader.
    ///
    /// Prints the machine code with the pointers that a launch program must publish, and numbers
    /// about it. Descriptors lie in their sets as in `agx shaderdb`: bindings ascending, 16 bytes
    /// each.
    #[cfg(feature = "compiler")]
    Compile(compile::Options),
    /// Compile the shader corpus, or compare two such runs.
    #[cfg(feature = "compiler")]
    #[command(subcommand)]
    Shaderdb(shaderdb::Command),
    /// Disassemble a complete compute launch with explanations.
    Demo(demo::Options),
    /// Ask the Vulkan loader for the driver, and let it compute something.
    ///
    /// Status 1 when the loader does not find it or a result is wrong.
    #[cfg(feature = "compiler")]
    Vulkan,
}

/// A decimal or `0x` address; underscores are allowed.
fn parse_address(text: &str) -> Result<u64, String> {
    let text = text.replace('_', "");
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    }
    .map_err(|e| e.to_string())
}

fn execute(cli: Cli, out: &mut impl Write) -> anyhow::Result<bool> {
    match cli.command {
        Command::Dis {
            base,
            strict,
            plain,
            file,
        } => {
            let code = input::read_code(&file)?;
            dis::run(
                &code,
                &dis::Options {
                    base,
                    strict,
                    plain,
                },
                out,
            )
        }
        Command::Asm { file, output, hex } => asm::run(&file, &output, hex, out).map(|()| true),
        Command::Explain { hex } => {
            let bytes = input::parse_hex(&hex.join(" ")).context("not an instruction's bytes")?;
            explain::run(&bytes, out).map(|()| true)
        }
        Command::Vectors { files, verbose } => vectors::run(&files, verbose, out),
        Command::Run(options) => run::run(&options, out),
        #[cfg(feature = "compiler")]
        Command::Compile(options) => compile::run(&options, out).map(|()| true),
        #[cfg(feature = "compiler")]
        Command::Shaderdb(command) => shaderdb::run(&command, out),
        Command::Demo(options) => demo::run(&options, out).map(|()| true),
        #[cfg(feature = "compiler")]
        Command::Vulkan => vulkan::run(out),
    }
}

/// Status of a process that SIGPIPE ended, by shell convention.
const BROKEN_PIPE: u8 = 128 + 13;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut out = BufWriter::new(io::stdout().lock());
    let result = execute(cli, &mut out).and_then(|good| {
        out.flush()?;
        Ok(good)
    });
    // A second flush on drop must not fail loudly.
    let _ = out.into_parts();
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let broken = |e: &io::Error| e.kind() == io::ErrorKind::BrokenPipe;
            if error
                .chain()
                .any(|e| e.downcast_ref::<io::Error>().is_some_and(broken))
            {
                return ExitCode::from(BROKEN_PIPE);
            }
            // Standard error may be gone as well; there is nobody left to tell.
            let _ = writeln!(io::stderr(), "agx: {error:#}");
            ExitCode::FAILURE
        }
    }
}
