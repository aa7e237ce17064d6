// SPDX-License-Identifier: MIT
//! Reading the hardware reference: markdown tables, byte strings, and the names that the chapters
//! give to the bits of a form.
#![allow(dead_code)]

use std::path::PathBuf;

use agx_isa::{Alt, Bits, Completion, Constant, Form, Release};

/// A chapter of docs/hw.
pub(crate) fn chapter(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs/hw")
        .join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// `"0c a0 10 06"` or `"0ca01006"` as bytes; `None` when it is something else.
pub(crate) fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits: String = text.split_whitespace().collect();
    if digits.is_empty() || !digits.len().is_multiple_of(2) {
        return None;
    }
    (0..digits.len())
        .step_by(2)
        .map(|i| {
            digits
                .get(i..i + 2)
                .and_then(|d| u8::from_str_radix(d, 16).ok())
        })
        .collect()
}

/// Cells of a markdown table row; escaped bars stay in their cell.
pub(crate) fn cells(line: &str) -> Option<Vec<String>> {
    let line = line.trim();
    let inner = line.strip_prefix('|')?.strip_suffix('|')?;
    let protected = inner.replace("\\|", "\u{1}");
    Some(
        protected
            .split('|')
            .map(|c| c.trim().replace('\u{1}', "|"))
            .collect(),
    )
}

/// A named run of bits inside a form, under every name that a chapter uses for it.
pub(crate) struct Atom {
    pub(crate) names: Vec<String>,
    pub(crate) bits: Bits,
}

/// Every field of a form with its names.
pub(crate) fn atoms(form: &Form) -> Vec<Atom> {
    let mut atoms = Vec::new();
    let mut push = |names: Vec<String>, bits: Bits| {
        if !bits.is_none() {
            atoms.push(Atom { names, bits });
        }
    };
    let own = |names: &[&str]| names.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
    push(
        own(&[
            "op", "sel", "opcode", "add", "right", "axis", "mode", "cond", "sgn", "wide", "eq",
        ]),
        form.opcode.bits,
    );
    push(own(&["wait", "wm", "waitidx", "tail"]), form.wait.bits);
    push(own(&["tag", "code"]), form.completion.bits());
    if let Completion::TagIf(_, bit) | Completion::FixedIf(_, bit) = form.completion {
        push(own(&["exp", "returns"]), bit.bits());
    }
    for m in form.modifiers {
        push(own(&[m.name]), m.bits);
    }
    for o in form.operands {
        let n = o.name;
        let l = n.to_lowercase();
        let mut names = own(&[n]);
        // Chapters abbreviate the comparands and destinations.
        names.push(l.clone());
        push(names, o.index);
        let named = |forms: &[&str]| {
            forms
                .iter()
                .map(|f| f.replace("{}", n).replace("{l}", &l))
                .collect::<Vec<_>>()
        };
        match o.release {
            Release::If(bit) => {
                push(
                    named(&["rel{}", "{l}_release", "rel_{l}", "release_{l}", "release"]),
                    bit.bits(),
                );
            }
            Release::Unless(bit) => push(named(&["ret{}", "retain"]), bit.bits()),
            _ => {}
        }
        push(
            named(&["aux{}", "ret{}", "retain", "retain_{l}"]),
            o.keep.bit().bits(),
        );
        push(named(&["h{}", "{l}_half", "f24"]), o.half.bits());
        push(named(&["{}32"]), o.size.bits());
        push(named(&["neg{}", "invert"]), o.neg.bits());
        push(named(&["abs{}"]), o.abs.bits());
        push(named(&["has_{l}", "has_{l}2"]), o.present.bits);
        match o.alt {
            Alt::Scattered { file, constant, .. } => {
                push(named(&["alt{}"]), file.bits());
                if let Constant::Int(bit) | Constant::IntOrFloat(bit) = constant {
                    push(named(&["c0{}"]), bit.bits());
                }
            }
            Alt::Wide { gpr, .. } => push(named(&["gpr{}"]), gpr.bits()),
            Alt::Address { gpr } => push(own(&["base_gpr", "base_gpr2"]), gpr),
            Alt::Literal { gpr, literal, .. } => {
                push(named(&["{l}_is_register"]), gpr);
                push(named(&["{l}_literal"]), literal);
            }
            Alt::Export(bit) => push(own(&["exp"]), bit.bits()),
            Alt::None => {}
        }
    }
    atoms
}

/// One row of a chapter's field table.
#[derive(Debug, Clone)]
pub(crate) struct FieldRow {
    pub(crate) lo: u32,
    pub(crate) hi: u32,
    /// Name without its slice.
    pub(crate) name: String,
    /// Lowest bit of the slice, for pieces of a split field.
    pub(crate) slice: u32,
    /// The constant, for fixed rows.
    pub(crate) fixed: Option<u64>,
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    if let Some(hex) = text.strip_prefix("0x") {
        u64::from_str_radix(hex, 16).ok()
    } else if let Some(binary) = text.strip_prefix("0b") {
        u64::from_str_radix(binary, 2).ok()
    } else {
        text.parse().ok()
    }
}

fn range(text: &str) -> Option<(u32, u32)> {
    let text = text.replace('–', "..");
    match text.split_once("..") {
        Some((lo, hi)) => Some((lo.trim().parse().ok()?, hi.trim().parse().ok()?)),
        None => text.trim().parse().ok().map(|bit| (bit, bit)),
    }
}

fn slice(text: &str) -> (String, u32) {
    match text.split_once('[') {
        Some((name, rest)) => {
            let inner = rest.trim_end_matches(']');
            let lo = inner
                .rsplit(':')
                .next()
                .and_then(|n| n.parse().ok())
                .unwrap_or(0);
            (name.to_owned(), lo)
        }
        None => (text.to_owned(), 0),
    }
}

/// A field table of isa-1 (`bits | field | value | ...`) or isa-2 (`bits | field | value / meaning`).
pub(crate) fn field_row(line: &str, fixed_by_name: bool) -> Option<FieldRow> {
    let cells = cells(line)?;
    let (lo, hi) = range(cells.first()?)?;
    let (name, slice) = slice(cells.get(1)?);
    let value = cells.get(2)?;
    let fixed = if fixed_by_name {
        (name == "fixed").then(|| number(value)).flatten()
    } else {
        let value = value.strip_prefix('=')?.trim().to_owned();
        number(value.split([' ', ';', ',']).next()?)
    };
    Some(FieldRow {
        lo,
        hi,
        name,
        slice,
        fixed,
    })
}

/// As [`field_row`] for isa-2, whose variable fields have no `=`.
pub(crate) fn field_row_2(line: &str) -> Option<FieldRow> {
    field_row(line, false).or_else(|| {
        let cells = cells(line)?;
        let (lo, hi) = range(cells.first()?)?;
        let (name, slice) = slice(cells.get(1)?);
        Some(FieldRow {
            lo,
            hi,
            name,
            slice,
            fixed: None,
        })
    })
}

/// Reads a field of an instruction word by any of its chapter names.
pub(crate) fn value_of(form: &Form, word: u128, name: &str) -> Option<u64> {
    let named: Vec<_> = atoms(form)
        .into_iter()
        .filter(|a| a.names.iter().any(|n| n == name))
        .collect();
    named.first().map(|a| a.bits.get(word))
}

/// The chapters that quote instruction bytes.
pub(crate) const CHAPTERS: &[&str] = &[
    "isa-0-index.md",
    "isa-1-alu.md",
    "isa-2-memory-control.md",
    "isa-3-texture-graphics.md",
    "isa-4-vulkan-gaps.md",
    "launch-and-compute.md",
    "graphics-stream.md",
];

/// Every byte string in a chapter: quoted in prose or a table, a table cell of its own, or a line of
/// a listing (`offset bytes text`). Not all of them are instructions.
pub(crate) fn byte_strings(text: &str) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for line in text.lines() {
        let quoted = line.split('`').skip(1).step_by(2).map(str::to_owned);
        let cells = cells(line).unwrap_or_default();
        for text in quoted.chain(cells) {
            if text.split(' ').all(|b| b.len() == 2) {
                found.extend(bytes(&text));
            }
        }
        found.extend(listing_line(line).map(|(_, code)| code));
    }
    found
}

/// A line of a program listing, `offset bytes text` or `offset label: bytes text`, as offset and
/// bytes.
pub(crate) fn listing_line(line: &str) -> Option<(usize, Vec<u8>)> {
    let mut words = line.split_whitespace();
    let offset = words.next()?.trim_end_matches(':');
    let offset = usize::from_str_radix(offset, 16)
        .ok()
        .filter(|_| offset.len() >= 2)?;
    let code: Vec<u8> = words
        .skip_while(|w| w.ends_with(':'))
        .map_while(|w| {
            (w.len() == 2)
                .then(|| u8::from_str_radix(w, 16).ok())
                .flatten()
        })
        .collect();
    (!code.is_empty()).then_some((offset, code))
}
