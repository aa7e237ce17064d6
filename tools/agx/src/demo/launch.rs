// SPDX-License-Identifier: MIT
//! `agx demo --launch`: the programs of one complete compute launch, explained line by line.
//!
//! The launch is the worked example of docs/hw (launch, 12): `out[i] = i` for 64 threads. Its three
//! programs are written here as assembly and assembled when the command runs.

use std::io::Write;

use agx_isa::{Instr, Mode, asm};
use anyhow::{anyhow, ensure};

use crate::dis;
use crate::input::hex;

/// Code window of the GPU: every program lies in the 4 GiB from here on.
const WINDOW: u64 = 0x100_0000_0000;
const BODY: u64 = 0x100_0080_0000;
const LAUNCHER: u64 = 0x100_0090_0000;
/// Offset of the entry's first instruction in the entry arena at the start of the window.
const ENTRY: u64 = 0x3c0;

/// One program: lines of assembly, each with what it does here.
struct Program {
    title: &'static str,
    address: u64,
    about: &'static [&'static str],
    code: &'static [(&'static str, &'static str)],
}

/// The three programs, in the order in which the GPU runs them.
const PROGRAMS: [Program; 3] = [
    Program {
        title: "1. The launcher",
        address: LAUNCHER,
        about: &[
            "Runs before the shader and prepares what it sees. It has no inputs: the address of the",
            "resource record is written into its code. The record holds two 64-bit pointers: to the",
            "workgroup counts, and to the output buffer.",
        ],
        code: &[
            (
                "mov_imm.8 r2, #0x900400",
                "low word of the resource record's address",
            ),
            (
                "mov_imm.8 r3, #0x100",
                "high word: r2:r3 now point to the record",
            ),
            (
                "device_load.i32x4 r18:r21, r2:r3, none, slot=2",
                "fetch both pointers, four words at once",
            ),
            ("alloc.none", "the shader needs no on-chip memory"),
            (
                "target t=0x7aa",
                "main program = entry 0x3c0 (2 x 0x3c0 + 0x2a)",
            ),
            ("frame", "no publication words, no scratch memory"),
            (
                "arg_move u0, r18, wait=2",
                "argument word 0, once the load has landed",
            ),
            (
                "arg_move u1, r19",
                "word 1: u0:u1 = pointer to the workgroup counts",
            ),
            ("arg_move u2, r20", "word 2"),
            (
                "arg_move u3, r21",
                "word 3: u2:u3 = pointer to the output buffer",
            ),
            ("stop", "set-up is over: the hardware starts the entry"),
        ],
    },
    Program {
        title: "2. The entry",
        address: WINDOW + ENTRY,
        about: &[
            "A block of the entry arena, which is built once and never changes. It only jumps to the",
            "shader, so that shaders can lie anywhere in the window.",
        ],
        code: &[
            (
                "br_any body",
                "some lane is active, so the branch is always taken",
            ),
            ("stop", "never reached"),
        ],
    },
    Program {
        title: "3. The body",
        address: BODY,
        about: &[
            "The shader proper. 32 lanes execute it together, each with its own r0 and r1; the words",
            "u2 and u3 are the same for all of them.",
        ],
        code: &[
            (
                "get_sr r0, %global_id_x",
                "r0 = this thread's index: the value to store",
            ),
            (
                "get_sr r1, %global_id_x",
                "r1 = the same: where to store it",
            ),
            (
                "device_store.i32 r0, u2:u3, ^r1, wait=1",
                "out[r1] = r0; `^` says that r1 is not needed again",
            ),
            ("stop", "end of the thread"),
        ],
    },
];

impl Program {
    fn assemble(&self) -> anyhow::Result<Vec<u8>> {
        let mut code = Vec::new();
        for (text, _) in self.code {
            // The one label of the example is in another program.
            let offset = i128::from(BODY) - i128::from(self.address) - code.len() as i128;
            let text = text.replace(" body", &format!(" .{offset:+}"));
            let bytes = asm::assemble(&text).map_err(|e| anyhow!("{}: {e}", self.title))?;
            code.extend(bytes);
        }
        Ok(code)
    }
}

/// What an instruction says about completion slots.
fn slots(instr: &Instr) -> Option<String> {
    let waits: Vec<_> = instr.waits().iter().map(|slot| slot.to_string()).collect();
    match (waits.is_empty(), instr.completes()) {
        (true, None) => None,
        (true, Some(slot)) => Some(format!("completes slot {slot}")),
        (false, None) => Some(format!("waits for slot {}", waits.join(", "))),
        (false, Some(slot)) => Some(format!(
            "waits for slot {}, completes slot {slot}",
            waits.join(", ")
        )),
    }
}

/// Prints the example.
pub(crate) fn run(out: &mut impl Write) -> anyhow::Result<()> {
    writeln!(
        out,
        "A complete compute launch on an Apple9 GPU: out[i] = i for i = 0..63"
    )?;
    writeln!(
        out,
        "64 threads in two workgroups of 32, one storage buffer."
    )?;
    writeln!(out)?;
    writeln!(out, "Address map")?;
    for (address, what) in [
        (WINDOW, "entry arena (here: the entry at +0x3c0)"),
        (BODY, "shader body"),
        (LAUNCHER, "launcher at +0, resource record at +0x400"),
        (
            0x20_0000_0000,
            "command stream: \"run the launcher, 64 x 1 x 1 threads\"",
        ),
        (0x20_0001_0000, "output buffer"),
    ] {
        writeln!(out, "  {:<17}{what}", split_address(address))?;
    }
    writeln!(out)?;
    writeln!(
        out,
        "Loads arrive late. An instruction that starts one names a completion slot (1 to 6),"
    )?;
    writeln!(
        out,
        "and whoever needs the result names the same slot to wait for. The hardware does not"
    )?;
    writeln!(
        out,
        "check: without the wait the old register contents would be read."
    )?;
    for program in &PROGRAMS {
        print_program(program, out)?;
    }
    writeln!(out)?;
    writeln!(
        out,
        "The store names slot 1 although nothing is pending there: waiting for an idle slot"
    )?;
    writeln!(out, "costs nothing.")?;
    run_it(out)?;
    writeln!(out)?;
    writeln!(
        out,
        "Try one instruction by itself:  agx explain e7 10 54 00 01 01 21 00 11 00 00 90 11 00"
    )?;
    writeln!(out, "Run a program of your own:      agx run --help")?;
    Ok(())
}

/// Words of the output buffer; the launch writes the first 64.
const WORDS: usize = 80;

/// Runs the launch on the simulated GPU and prints the output buffer.
fn run_it(out: &mut impl Write) -> anyhow::Result<()> {
    writeln!(out)?;
    writeln!(out, "4. On the simulated M4")?;
    writeln!(out)?;
    for line in [
        "The same launch, submitted through the kernel's interface (the Asahi DRM UAPI) and executed",
        "by the simulated GPU. The output buffer was zero before; words 64 to 79 must stay so.",
    ] {
        writeln!(out, "  {line}")?;
    }
    writeln!(out)?;
    let [.., body] = &PROGRAMS;
    let words = crate::run::simple(&body.assemble()?, 64, WORDS)?;
    for (index, line) in words.chunks(16).enumerate() {
        write!(out, "  {:>3}:", 16 * index)?;
        for word in line {
            write!(out, " {word:>3}")?;
        }
        writeln!(out)?;
    }
    let expected = |index: usize| if index < 64 { index as u32 } else { 0 };
    ensure!(
        words
            .iter()
            .enumerate()
            .all(|(i, word)| *word == expected(i)),
        "the output is not 0, 1, 2, ... 63"
    );
    Ok(())
}

/// `0x100_0080_0000`, as the hardware reference groups it.
fn split_address(address: u64) -> String {
    format!(
        "{:#x}_{:04x}_{:04x}",
        address >> 32,
        address >> 16 & 0xffff,
        address & 0xffff
    )
}

fn print_program(program: &Program, out: &mut impl Write) -> anyhow::Result<()> {
    let code = program.assemble()?;
    writeln!(out)?;
    writeln!(
        out,
        "{} at {} ({} bytes)",
        program.title,
        split_address(program.address),
        code.len()
    )?;
    writeln!(out)?;
    for line in program.about {
        writeln!(out, "  {line}")?;
    }
    writeln!(out)?;
    let lines = dis::lines(&code, Mode::Strict);
    ensure!(
        lines.len() == program.code.len(),
        "{}: lines and meanings differ",
        program.title
    );
    for (line, (_, meaning)) in lines.iter().zip(program.code) {
        let instr = match &line.content {
            Ok(instr) => instr,
            Err(error) => return Err(anyhow!("{}: {error}", program.title)),
        };
        let target = dis::branch_target(line.offset, instr)
            .map(|target| program.address.wrapping_add(target as u64));
        writeln!(out, "  {:02x}: {}", line.offset, hex(line.bytes))?;
        writeln!(out, "      {:<48}{meaning}", instr.to_string())?;
        if let Some(target) = target {
            let name = if target == BODY { " (the body)" } else { "" };
            writeln!(out, "      {:<48}to {}{name}", "", split_address(target))?;
        }
        if let Some(slots) = slots(instr) {
            writeln!(out, "      {:<48}-> {slots}", "")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of launch, 12.5, 12.2 and 12.3.
    const BYTES: [&str; 3] = [
        "2c 80 02 00 10 00 80 04 3c 80 02 00 04 00 00 00 67 00 54 24 02 00 00 00 57 00 00 40 26 00 \
         77 00 2a 41 00 00 00 00 77 01 aa 07 00 00 00 02 80 00 f7 00 2a 00 00 00 00 00 00 00 \
         0b 24 09 44 1b 26 09 04 2b 28 09 04 3b 2a 09 04 0e 00 00 00",
        "0f 00 54 40 fc 7f 00 00 00 00 0e 00 00 00",
        "0c a0 10 06 1c a0 10 06 e7 10 54 00 01 01 21 00 11 00 00 90 11 00 0e 00 00 00",
    ];

    #[test]
    fn the_programs_are_those_of_the_reference() {
        for (program, bytes) in PROGRAMS.iter().zip(BYTES) {
            assert_eq!(
                hex(&program.assemble().unwrap()),
                bytes,
                "{}",
                program.title
            );
        }
    }
}
