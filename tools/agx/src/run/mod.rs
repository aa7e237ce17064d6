// SPDX-License-Identifier: MIT
//! `agx run`: a compute program on the simulated GPU, through the whole stack: the kernel's
//! interface, a command stream, a launch program, the shader core.

mod buffer;
mod machine;
mod watch;

use std::io::Write;
use std::path::{Path, PathBuf};

use agx_isa::asm::assemble;
use anyhow::{Context as _, bail, ensure};
use clap::{Args, ValueEnum};

use buffer::{Buffer, Print, Save};
use machine::Machine;

/// How a launch names its grid (launch, 8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Launch {
    /// Sizes in the record.
    Direct,
    /// Workgroup counts in memory.
    IndirectGroups,
    /// Thread counts and workgroup sizes in memory.
    IndirectThreads,
}

/// Which GPU to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Device {
    /// M4 (G16G).
    M4,
    /// A18 Pro (G17P).
    A18pro,
}

/// Options of `agx run`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
    /// Assembly (a name ending in .s or .asm, or --asm), bytes or hexadecimal text; `-` reads
    /// standard input.
    file: PathBuf,
    /// The file is assembly whatever its name.
    #[arg(long)]
    asm: bool,
    /// A buffer, in the order of the arguments: a size in bytes (`4096`, `16k`), values
    /// (`u32:1,2,0x30`, `f32:0.5,-1`, `u8:0..256`), or the content of a file (`@data.bin`).
    #[arg(short, long = "buffer", value_name = "SPEC")]
    buffers: Vec<Buffer>,
    /// Words to publish behind the pointers, as values are given for buffers.
    #[arg(long, value_name = "VALUES")]
    constants: Option<Buffer>,
    /// Threads of the grid: x[,y[,z]].
    #[arg(short, long, value_parser = parse_size, default_value = "32")]
    threads: [u32; 3],
    /// Threads of a workgroup: x[,y[,z]].
    #[arg(short, long, value_parser = parse_size, default_value = "32")]
    local: [u32; 3],
    /// Where the grid's size stands.
    #[arg(long, value_enum, default_value = "direct")]
    launch: Launch,
    /// Buffers begin at argument pointer 0, and the threadgroup pointer follows the last, as in
    /// programs recorded from other drivers. Otherwise pointer 0 leads to the workgroup counts and
    /// buffers begin at pointer 1.
    #[arg(long)]
    bare: bool,
    /// Bytes of threadgroup memory.
    #[arg(long, default_value = "0")]
    threadgroup: u32,
    /// Bytes of scratch of each lane; at least 4 for programs with returning atomics.
    #[arg(long, default_value = "0")]
    scratch: u16,
    /// Publication words that the program uses.
    #[arg(long, default_value = "0")]
    publications: u16,
    /// Print a buffer afterwards: N or N:TYPE (u8, u16, u32, u64, i32, x32, f32). Without this,
    /// buffers that changed are printed.
    #[arg(short, long = "print", value_name = "N[:TYPE]")]
    prints: Vec<Print>,
    /// Write a buffer to a file afterwards.
    #[arg(long = "save", value_name = "N=FILE")]
    saves: Vec<Save>,
    /// Write what the GPU is given to this directory: arena.bin, body.bin, launcher.bin (and the
    /// root record at +0x400), stream.bin.
    #[arg(long, value_name = "DIR")]
    dump: Option<PathBuf>,
    /// Fault on what hardware lets pass although results depend on it.
    #[arg(long)]
    strict: bool,
    /// With --strict: the program was recorded elsewhere, so waits count in all instructions whose
    /// wait field is known, not only where it is proven on M4.
    #[arg(long, requires = "strict")]
    recorded: bool,
    /// Print each instruction with the lanes' new values.
    #[arg(long)]
    trace: bool,
    /// Print how often each operation ran, and with how many lanes.
    #[arg(long)]
    profile: bool,
    /// Which GPU to be.
    #[arg(long, value_enum, default_value = "m4")]
    device: Device,
    /// Host threads; 0 = one for each core.
    #[arg(long, default_value = "0")]
    host_threads: usize,
    /// Instructions that one SIMD group may execute.
    #[arg(long, default_value = "1000000000")]
    watchdog: u64,
}

/// `x`, `x,y` or `x,y,z`; the rest is 1.
fn parse_size(text: &str) -> Result<[u32; 3], String> {
    let mut size = [1; 3];
    let parts: Vec<&str> = text.split([',', 'x']).collect();
    if parts.len() > 3 {
        return Err("more than three axes".to_owned());
    }
    for (axis, part) in size.iter_mut().zip(parts) {
        *axis = part.trim().parse().map_err(|e| format!("`{part}`: {e}"))?;
    }
    Ok(size)
}

fn code(options: &Options) -> anyhow::Result<Vec<u8>> {
    let extension = options.file.extension().and_then(|e| e.to_str());
    if !options.asm && !matches!(extension, Some("s" | "asm")) {
        return crate::input::read_code(&options.file);
    }
    let bytes = crate::input::read_file(&options.file)?;
    let text = String::from_utf8(bytes).context("the assembly is not UTF-8")?;
    assemble(&text).with_context(|| options.file.display().to_string())
}

/// Runs `code` with defaults on a zeroed buffer of 32-bit words and answers its content afterwards.
pub(crate) fn simple(code: &[u8], threads: u32, words: usize) -> anyhow::Result<Vec<u32>> {
    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }
    let size = (4 * words).to_string();
    let threads = threads.to_string();
    let line: Line = clap::Parser::try_parse_from(["agx run", "-b", &size, "-t", &threads, "-"])?;
    let machine = Machine::new(&line.options)?;
    if let machine::Done::Fault(text) = machine.execute(code)? {
        bail!("{text}");
    }
    let bytes = machine.buffer(0);
    let (values, _) = bytes.as_chunks::<4>();
    let values = values.iter().take(words);
    Ok(values.map(|word| u32::from_le_bytes(*word)).collect())
}

/// Runs the program. Returns false when the GPU faulted.
pub(crate) fn run(options: &Options, out: &mut impl Write) -> anyhow::Result<bool> {
    let code = code(options)?;
    ensure!(!code.is_empty(), "the program is empty");
    let buffers = options.buffers.len();
    for index in options
        .prints
        .iter()
        .map(|print| print.index)
        .chain(options.saves.iter().map(|save| save.index))
    {
        ensure!(index < buffers, "there is no buffer {index}");
    }
    let machine = Machine::new(options)?;
    let done = machine.execute(&code)?;
    machine.report(out)?;
    if options.prints.is_empty() {
        for (index, buffer) in options.buffers.iter().enumerate() {
            let after = machine.buffer(index);
            if after != buffer.padded() {
                buffer::print(out, index, buffer.kind, &after[..buffer.bytes.len()])?;
            }
        }
    }
    for print in &options.prints {
        let buffer = &options.buffers[print.index];
        let bytes = machine.buffer(print.index);
        let kind = print.kind.unwrap_or(buffer.kind);
        buffer::print(out, print.index, kind, &bytes[..buffer.bytes.len()])?;
    }
    for save in &options.saves {
        let bytes = machine.buffer(save.index);
        let length = options.buffers[save.index].bytes.len();
        write_file(&save.path, &bytes[..length])?;
    }
    match done {
        machine::Done::Completed => Ok(true),
        machine::Done::Fault(text) => {
            writeln!(out, "fault: {text}")?;
            Ok(false)
        }
    }
}

fn write_file(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if path == Path::new("-") {
        bail!("standard output is for the listing; name a file");
    }
    std::fs::write(path, bytes).with_context(|| path.display().to_string())
}
