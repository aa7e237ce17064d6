// SPDX-License-Identifier: MIT
//! `agx dis`: bytes to assembly text that assembles back to the same bytes.

use std::collections::BTreeSet;
use std::io::{self, Write};

use agx_isa::{DecodeError, DecodeErrorKind, Decoder, Instr, Mode};

use crate::input::hex;

/// How to disassemble.
pub(crate) struct Options {
    /// Address of the first byte.
    pub(crate) base: u64,
    /// Refuse bits without a known meaning.
    pub(crate) strict: bool,
    /// Leave out the offset and byte column.
    pub(crate) plain: bool,
}

/// Column at which the comment with offset and bytes starts.
const COMMENT_COLUMN: usize = 56;

/// One decoded line of a program.
pub(crate) struct Line<'a> {
    /// Offset of its first byte.
    pub(crate) offset: usize,
    /// Its bytes.
    pub(crate) bytes: &'a [u8],
    /// The instruction, or why there is none.
    pub(crate) content: Result<Instr, DecodeError>,
}

/// Splits a program into instructions. A line whose error has no known length is the last one and
/// holds all remaining bytes.
pub(crate) fn lines(code: &[u8], mode: Mode) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    for item in Decoder::new(code, mode) {
        lines.push(match item {
            Ok((offset, instr)) => {
                let end = offset + usize::from(instr.form().len);
                Line {
                    offset,
                    bytes: &code[offset..end],
                    content: Ok(instr),
                }
            }
            Err(error) => {
                let offset = error.offset;
                let end = error.known_length().map_or(code.len(), |len| offset + len);
                Line {
                    offset,
                    bytes: &code[offset..end],
                    content: Err(error),
                }
            }
        });
    }
    lines
}

/// Offset that a branch or call at `offset` goes to, when it has one.
pub(crate) fn branch_target(offset: usize, instr: &Instr) -> Option<i64> {
    instr
        .displacement()
        .and_then(|d| (offset as i64).checked_add(d))
}

/// Offsets that get a label: starts of instructions that a branch or call goes to, and the end.
pub(crate) fn labels(lines: &[Line<'_>]) -> BTreeSet<usize> {
    let mut starts: BTreeSet<usize> = lines.iter().map(|l| l.offset).collect();
    starts.extend(lines.last().map(|l| l.offset + l.bytes.len()));
    lines
        .iter()
        .filter_map(|l| branch_target(l.offset, l.content.as_ref().ok()?))
        .filter_map(|target| usize::try_from(target).ok())
        .filter(|target| starts.contains(target))
        .collect()
}

/// Name of the label at an offset.
fn label(offset: usize) -> String {
    format!("L_{offset:04x}")
}

/// An instruction as text, with a label in place of the displacement where there is one.
pub(crate) fn text(offset: usize, instr: &Instr, labels: &BTreeSet<usize>) -> String {
    let plain = instr.to_string();
    match (instr.displacement(), branch_target(offset, instr)) {
        (Some(displacement), Some(target)) => match usize::try_from(target) {
            Ok(target) if labels.contains(&target) => {
                plain.replacen(&format!(".{displacement:+}"), &label(target), 1)
            }
            _ => plain,
        },
        _ => plain,
    }
}

/// Why bytes are no instruction, without repeating offset and bytes.
pub(crate) fn reason(error: &DecodeError) -> String {
    match &error.kind {
        DecodeErrorKind::Truncated { need } => {
            format!("ends early: the instruction has at least {need} bytes")
        }
        DecodeErrorKind::UnknownLength => "begins no known instruction".to_owned(),
        DecodeErrorKind::Reserved => "reserved encoding".to_owned(),
        DecodeErrorKind::Undecoded(what) => format!("not decoded: {what}"),
        DecodeErrorKind::Illegal(form, illegal) => format!("{form}: {illegal}"),
    }
}

/// Prints a listing. Returns false when it had to stop early, or when strict decoding refused
/// something.
pub(crate) fn run(code: &[u8], options: &Options, out: &mut impl Write) -> anyhow::Result<bool> {
    let mode = if options.strict {
        Mode::Strict
    } else {
        Mode::Lenient
    };
    let lines = lines(code, mode);
    let labels = labels(&lines);
    let mut good = true;
    for line in &lines {
        if labels.contains(&line.offset) {
            writeln!(out, "{}:", label(line.offset))?;
        }
        match &line.content {
            Ok(instr) => {
                let mut remark = String::new();
                if let Some(target) = branch_target(line.offset, instr)
                    && !usize::try_from(target).is_ok_and(|t| labels.contains(&t))
                {
                    remark = format!("to {:#x}", options.base.wrapping_add(target as u64));
                }
                let text = text(line.offset, instr, &labels);
                write_line(out, options, line, &text, &remark)?;
            }
            Err(error) if error.known_length().is_some() => {
                good &= !options.strict;
                let text = format!(".bytes {}", hex(line.bytes));
                write_line(out, options, line, &text, &reason(error))?;
            }
            Err(error) => {
                good = false;
                let shown = &line.bytes[..line.bytes.len().min(16)];
                let address = options.base.wrapping_add(line.offset as u64);
                let rest = line.bytes.len();
                writeln!(
                    out,
                    "; {address:04x}: {}: {}; stopped, {rest} byte{} left",
                    hex(shown),
                    reason(error),
                    if rest == 1 { "" } else { "s" },
                )?;
                out.flush()?;
                let _ = writeln!(io::stderr(), "agx: {error}");
            }
        }
    }
    if let Some(last) = lines.last() {
        let end = last.offset + last.bytes.len();
        if good && labels.contains(&end) {
            writeln!(out, "{}:", label(end))?;
        }
    }
    Ok(good)
}

fn write_line(
    out: &mut impl Write,
    options: &Options,
    line: &Line<'_>,
    text: &str,
    remark: &str,
) -> io::Result<()> {
    if options.plain {
        return writeln!(out, "    {text}");
    }
    let address = options.base.wrapping_add(line.offset as u64);
    let bytes = hex(line.bytes);
    let width = COMMENT_COLUMN - 4;
    write!(out, "    {text:<width$} ; {address:04x}: {bytes}")?;
    if !remark.is_empty() {
        // Comments of the assembler end at the line's end, so anything may stand here.
        write!(out, "  ({remark})")?;
    }
    writeln!(out)
}
