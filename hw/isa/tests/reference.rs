// SPDX-License-Identifier: MIT
//! The table against the text of the hardware reference: the form list of isa-0, every field table
//! of isa-1 and isa-2, and every decoded example in the chapters. The reference is parsed here, so
//! an error in either shows.

mod support;

use std::collections::BTreeMap;

use agx_isa::{FORMS, Form, FormId, Instr, Mode, decode, hex};
use support::{FieldRow, atoms, bytes, cells, chapter, field_row, field_row_2, value_of};

/// isa-0, section 2: names, lengths, selections and marks of all rows, in order.
#[test]
fn form_list_of_isa_0() {
    let text = chapter("isa-0-index.md");
    let start = text.find("## 2. Form table").expect("section 2");
    let end = start + text[start..].find("## 3. ").expect("section 3");
    let mut rows = 0;
    for line in text[start..end].lines() {
        let Some(cells) = cells(line) else { continue };
        assert_eq!(cells.len(), 8, "not a row of the form table: {line}");
        let [number, name, place, len, mask, value, meaning, mark] = cells.as_slice() else {
            continue;
        };
        let Ok(number) = number.parse::<usize>() else {
            continue;
        };
        assert_eq!(number, rows + 1, "the list skips a row");
        rows += 1;
        let form = &FORMS[number - 1];
        let (first, rest) = name.split_once(" (").unwrap_or((name, ""));
        assert_eq!(form.name, first, "row {number}");
        for alias in rest
            .trim_end_matches(')')
            .split(", ")
            .filter(|a| !a.is_empty() && !a.contains("with exp"))
        {
            assert!(form.aliases.contains(&alias), "row {number}: alias {alias}");
        }
        assert_eq!(form.len.to_string(), *len, "row {number}");
        assert_eq!(
            form.mask,
            hex(mask.trim_matches('`')),
            "row {number} {name}: mask"
        );
        assert_eq!(
            form.value,
            hex(value.trim_matches('`')),
            "row {number} {name}: value"
        );
        assert_eq!(
            form.summary,
            meaning.replace('`', ""),
            "row {number} {name}: meaning"
        );
        let word = mark.split([',', ' ']).next().unwrap();
        assert!(
            form.mark.as_str().starts_with(word),
            "row {number} {name}: mark {mark}"
        );
        if place != "3" {
            let first = place.split([',', '/']).next().unwrap().trim();
            assert!(
                form.section == first
                    || place.contains(form.section.split(' ').next_back().unwrap()),
                "row {number} {name}: section {} is not {place}",
                form.section
            );
        }
    }
    assert_eq!(rows, FORMS.len());
    assert_eq!(rows, 133);
    let mut names: Vec<_> = FORMS.iter().map(|f| f.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 127);
}

/// Field names of a chapter that stand for something else here, by form.
fn rename(form: &str, name: &str) -> String {
    let to = match (form, name) {
        ("ATOMIC_RESULT", "dst") | ("SCR_FILL" | "ZEXT16" | "GET_SR32" | "GET_SR16", "dst") => "D",
        ("GET_SR32" | "GET_SR16", "selector") => "sr",
        ("PRED.6" | "PRED.10", "bank") => "P",
        ("PRED.6" | "PRED.10", "invert") => "inv",
        ("PRED.6" | "PRED.10", "a") => "A",
        ("PRED.6" | "PRED.10", "b") => "B",
        ("PRED.6" | "PRED.10", "rel_a") => "relA",
        ("PRED.6" | "PRED.10", "rel_b") => "relB",
        ("UADD.10", "word") => "U",
        ("ARGW.4", "word") => "D",
        ("ARGW.4" | "UADD.10", "src") => "A",
        ("DERIV.10", "dst") => "D",
        ("DERIV.10", "src") => "A",
        ("DERIV.10", "saturate") => "sat",
        ("LOGIC.10", "dst") => "D",
        ("LOGIC.10", "a") => "A",
        ("LOGIC.10", "b") => "B",
        ("LOGIC.10", "retain_a") => "auxA",
        ("LOGIC.10", "retain_b") => "auxB",
        ("LOGIC.10", "retain_b2") => "pub",
        ("LOGIC.10", "release_a") => "relA",
        ("LOGIC.10", "release_b") => "relB",
        // Parts of a joined field; checked through the printed operation.
        ("SG_REDUCE", "opclass" | "op") => "(operation)",
        ("DEV_ATOMIC", "returns" | "discards") => "(result)",
        ("SFU.10", "fam" | "fn" | "rnd") => "(function)",
        ("SELECT.10" | "SELECT.14", "eq" | "cond") => "(condition)",
        ("BITUN.8", "sel" | "sub") => "(function)",
        // isa-2 counts the constant bits of byte 4 into the hint.
        ("SG_REDUCE" | "SG_SHUFFLE" | "SG_BALLOT", "hint") => "(hint)",
        ("SG_SHUFFLE", "lane") => "lane_literal",
        ("SG_SHUFFLE", "mode") => "(mode)",
        ("SG_SHUFFLE", "lane_kind") => "(file)",
        _ => name,
    };
    to.to_owned()
}

/// Checks one field table against one form.
fn check_table(form: &Form, id: FormId, rows: &[FieldRow]) {
    let blank = Instr::new(id).bits();
    let mut fields: BTreeMap<String, Vec<&FieldRow>> = BTreeMap::new();
    let mut covered = 0u128;
    for row in rows {
        let width = row.hi - row.lo + 1;
        let mask = if width == 128 {
            u128::MAX
        } else {
            ((1u128 << width) - 1) << row.lo
        };
        assert_eq!(
            covered & mask,
            0,
            "{}: bits {}..{} twice",
            form.name,
            row.lo,
            row.hi
        );
        covered |= mask;
        if let Some(value) = row.fixed {
            let got = (blank & mask) >> row.lo;
            let hint = atoms(form).iter().any(|a| a.bits.mask() & mask != 0);
            // A constant here may be a field that isa-0 or isa-4 has explained since; its default
            // must still be the constant.
            assert!(
                got == u128::from(value),
                "{}: bits {}..{} are {got:#x}, the reference has {value:#x} (field: {hint})",
                form.name,
                row.lo,
                row.hi
            );
        } else if row.name != "fixed" {
            fields
                .entry(rename(form.name, &row.name))
                .or_default()
                .push(row);
        }
    }
    assert_eq!(
        covered,
        form.all_bits(),
        "{}: the table has gaps",
        form.name
    );
    for (name, mut pieces) in fields {
        pieces.sort_by_key(|r| r.slice);
        let want: Vec<(u32, u32)> = pieces.iter().map(|r| (r.lo, r.hi)).collect();
        let wanted_bits: Vec<u32> = want.iter().flat_map(|&(lo, hi)| lo..=hi).collect();
        let found = atoms(form).iter().any(|a| {
            let bits: Vec<u32> = a.bits.ranges().flat_map(|(lo, hi)| lo..=hi).collect();
            bits == wanted_bits && a.names.contains(&name)
        });
        // Operation selectors and joined fields hold the chapter's field among others.
        let inside = wanted_bits
            .iter()
            .all(|&b| (form.field_bits() | form.mask) >> b & 1 == 1);
        let joined = name.starts_with('(')
            || matches!(
                (form.name, name.as_str()),
                ("LOGIC.10", "t00" | "t01" | "t10" | "t11")
                    | ("F2I.6" | "F2I.8", "m" | "e" | "sgn" | "altA")
                    | ("PACKN.10", "eight")
                    | ("F2I.10", "sgn" | "sfmt")
                    | (
                        "DEV_LOAD" | "DEV_ATOMIC",
                        "has_index" | "has_index2" | "base_gpr" | "base_gpr2"
                    )
                    | ("BARRIER", "exec" | "sub")
                    | (_, "hint")
            );
        assert!(
            found || (joined && inside) || name == "(file)",
            "{}: no field `{name}` at {want:?}",
            form.name
        );
    }
}

fn forms_named(name: &str) -> Vec<FormId> {
    FormId::ALL
        .iter()
        .copied()
        .filter(|id| id.form().name == name || id.form().aliases.contains(&name))
        .collect()
}

/// Every field table of isa-1, section 4.
#[test]
fn field_tables_of_isa_1() {
    let text = chapter("isa-1-alu.md");
    let mut tables = 0;
    let mut name = String::new();
    let mut rows: Vec<FieldRow> = Vec::new();
    for line in text.lines().chain([""]) {
        if let Some(row) = field_row(line, true).filter(|_| !name.is_empty()) {
            rows.push(row);
            continue;
        }
        if !rows.is_empty() && !line.starts_with('|') {
            let ids = forms_named(&name);
            assert!(!ids.is_empty(), "no form is called {name}");
            for id in ids.into_iter().filter(|id| {
                !matches!(
                    id,
                    FormId::PopCount
                        | FormId::BitRevMsb
                        | FormId::SfuRsqrt
                        | FormId::SfuExp2
                        | FormId::SfuRsqrt3
                )
            }) {
                check_table(id.form(), id, &rows);
                tables += 1;
            }
            rows.clear();
            name.clear();
        }
        // `#### NAME (...)`, or `NAME (n bytes):` in front of a table of its own.
        let heading = line.strip_prefix("#### ").unwrap_or(line);
        if line.starts_with("#### ") || heading.contains(" bytes)") || heading.contains("bytes), ")
        {
            let word = heading.split([' ', ':']).next().unwrap_or("");
            if !forms_named(word).is_empty() {
                name = word.to_owned();
            }
        }
    }
    assert!(tables >= 45, "only {tables} tables were found");
}

/// Field tables under headings ``### n `NAME` ``, whose fixed rows read `= value`; heading `from` stands
/// for form `to`. Returns how many were checked.
fn field_tables(text: &str, (from, to): (&str, &str)) -> usize {
    let mut tables = 0;
    let mut name = String::new();
    let mut rows: Vec<FieldRow> = Vec::new();
    for line in text.lines().chain([""]) {
        if !name.is_empty()
            && let Some(row) = field_row_2(line)
        {
            rows.push(row);
            continue;
        }
        if !rows.is_empty() && !line.starts_with('|') {
            // `UNIFORM_STORE` is the add form with a constant operand, an example and no form.
            for id in forms_named(&name)
                .into_iter()
                .filter(|id| *id != FormId::UAdd)
            {
                check_table(id.form(), id, &rows);
                tables += 1;
            }
            rows.clear();
            name.clear();
        }
        if let Some(heading) = line.strip_prefix("### ") {
            name = heading.split('`').nth(1).unwrap_or("").to_owned();
            if name == from {
                name = to.to_owned();
            }
        } else if line.starts_with("**WAIT_MOVE**") {
            name.clear();
        }
    }
    tables
}

#[test]
fn field_tables_of_isa_2() {
    // GET_SR has two encodings under one heading: isa-1 has a table for each.
    let tables = field_tables(&chapter("isa-2-memory-control.md"), ("GET_SR", ""));
    assert!(tables >= 20, "only {tables} tables were found");
}

#[test]
fn field_tables_of_isa_4() {
    // The tables of section 7 list the changed fields only.
    let text = chapter("isa-4-vulkan-gaps.md");
    let end = text.find("## 7. ").expect("section 7");
    // That of TG_ATOMIC is about the direct form.
    let tables = field_tables(&text[..end], ("TG_ATOMIC", "TG_ATOMIC0"));
    assert_eq!(tables, 2);
}

/// The TEX table of isa-3, 2.3: constants, and every named field bit by bit.
#[test]
fn texture_table_of_isa_3() {
    let text = chapter("isa-3-texture-graphics.md");
    let start = text.find("### 2.3 TEX bundle").expect("section");
    let section = &text[start..start + text[start..].find("### 2.4").expect("next section")];
    let form = FormId::Tex.form();
    let blank = Instr::new(FormId::Tex).bits();
    let field = |name: &str| {
        let index = |n| form.operands[form.operand(n).unwrap()].index;
        let modifier = |n| form.modifiers[form.modifier(n).unwrap()].bits;
        match name {
            "dst" | "param" | "tex" | "samp" => index(name),
            "sel" | "gather" | "kind" | "mode" => modifier(name),
            "wait (WT)" => form.wait.bits,
            "tagA" => form.completion.bits(),
            "retire helpers" => modifier("retire"),
            "param release" => form.operands[form.operand("param").unwrap()].release.bits(),
            "offset x" => modifier("offset_x"),
            "offset y" => modifier("offset_y"),
            "imm LOD" => modifier("lod"),
            "any (inert)" => modifier("f65"),
            _ => agx_isa::Bits::NONE,
        }
    };
    let (mut constants, mut fields) = (0, 0);
    for line in section.lines() {
        let Some(cells) = cells(line) else { continue };
        let bits: Vec<u32> = cells[0]
            .split(", ")
            .filter_map(|part| match part.split_once("..") {
                Some((lo, hi)) => Some(lo.parse().ok()?..=hi.parse().ok()?),
                None => part.parse().ok().map(|bit| bit..=bit),
            })
            .flatten()
            .collect();
        if bits.is_empty() {
            continue;
        }
        if let Ok(value) = cells[1].parse::<u128>() {
            for (i, bit) in bits.iter().enumerate() {
                // Bits 96 and 97 read as one number; they have a seen alternative and are a field.
                assert_eq!(blank >> bit & 1, value >> i & 1, "bit {bit}: {line}");
                constants += 1;
            }
            continue;
        }
        // `dst[4:0]`, `tex[5], tex[6], tex[7]`, `offset y [0], [3:1]`, `opcode`.
        let name = cells[1].split('[').next().unwrap().trim();
        let want = field(name);
        if want.is_none() {
            assert!(matches!(name, "opcode" | "tagB"), "{line}");
            continue;
        }
        let mut places: Vec<u32> = Vec::new();
        for slice in cells[1].split('[').skip(1) {
            let inner = slice.split(']').next().unwrap();
            let (hi, lo) = inner.split_once(':').unwrap_or((inner, inner));
            places.extend(lo.parse::<u32>().unwrap()..=hi.parse::<u32>().unwrap());
        }
        if places.is_empty() {
            places = (0..bits.len() as u32).collect();
        }
        assert_eq!(places.len(), bits.len(), "{line}");
        for (place, bit) in places.iter().zip(&bits) {
            assert_eq!(
                want.put(0, 1 << place),
                1u128 << bit,
                "{name}[{place}]: {line}"
            );
            fields += 1;
        }
    }
    assert!(
        constants >= 20 && fields >= 70,
        "{constants} constants, {fields} field bits"
    );
}

/// The examples under the field tables of isa-1: bytes, and every field by name.
#[test]
fn decoded_examples_of_isa_1() {
    let text = chapter("isa-1-alu.md");
    let lines: Vec<&str> = text.lines().collect();
    let mut examples = 0;
    for pair in lines.windows(2) {
        let Some(example) = pair[0].strip_prefix("- `") else {
            continue;
        };
        let Some(fields) = pair[1].trim().strip_prefix("decoded fields: ") else {
            continue;
        };
        let code = bytes(example.split('`').next().unwrap()).expect(pair[0]);
        let instr = decode(&code, Mode::Strict).unwrap_or_else(|e| panic!("{}: {e}", pair[0]));
        assert_eq!(instr.form().len as usize, code.len(), "{}", pair[0]);
        assert_eq!(&*instr.encode().unwrap(), code, "{}", pair[0]);
        examples += 1;
        let fields = fields.split(". (").next().unwrap().trim_end_matches('.');
        for field in fields.split(", ").filter(|f| *f != "none") {
            let (name, value) = field
                .split_once('=')
                .unwrap_or_else(|| panic!("{field}: {}", pair[1]));
            let value = match value.strip_prefix("0x") {
                Some(hex) => u64::from_str_radix(hex, 16).unwrap(),
                None => value.parse().unwrap(),
            };
            let name = rename(instr.form().name, name);
            let Some(got) = value_of(instr.form(), instr.bits(), &name) else {
                // A joined field: the operation's name is checked by the vectors.
                continue;
            };
            assert_eq!(got, value, "{}: {name} of {instr:?}", pair[0]);
        }
    }
    assert!(examples >= 75, "only {examples} examples were found");
}

/// The `Example bytes | Decoded` tables of isa-2.
#[test]
fn decoded_examples_of_isa_2() {
    let text = chapter("isa-2-memory-control.md");
    let mut examples = 0;
    let mut compared = 0;
    for line in text.lines() {
        let Some(cells) = cells(line) else { continue };
        let [code, fields] = cells.as_slice() else {
            continue;
        };
        let Some(code) = bytes(code) else { continue };
        let instr = decode(&code, Mode::Strict).unwrap_or_else(|e| panic!("{line}: {e}"));
        assert_eq!(instr.form().len as usize, code.len(), "{line}");
        assert_eq!(&*instr.encode().unwrap(), code, "{line}");
        examples += 1;
        for field in fields.split_whitespace() {
            let Some((name, value)) = field.split_once('=') else {
                continue;
            };
            let value = match value.strip_prefix("0x") {
                Some(hex) => u64::from_str_radix(hex, 16).unwrap(),
                None => value.parse().unwrap(),
            };
            let name = rename(instr.form().name, name);
            if matches!(
                name.as_str(),
                "has_index" | "has_index2" | "base_gpr" | "base_gpr2"
            ) {
                let got = value_of(instr.form(), instr.bits(), &name).unwrap();
                assert_eq!(got != 0, value != 0, "{line}: {name}");
                continue;
            }
            if let Some(got) = value_of(instr.form(), instr.bits(), &name) {
                assert_eq!(got, value, "{line}: {name} of {instr:?}");
                compared += 1;
            }
        }
    }
    assert!(examples >= 45, "only {examples} examples were found");
    assert!(compared >= 180, "only {compared} fields were compared");
}

/// Quoted strings that must not decode: what isa-0, section 3 lists as "known length, no decoded
/// form", and patterns with placeholders.
const NOT_DECODED: &[&str] = &[
    "60 00 e7 02",
    "11 02 1c 02 09 00 c0 81",
    "10 03 1c 05 01 c0 00 00",
    "10 03 1c 05 02 c0 00 00 00 00",
    "10 03 1d 05 03 c0 00 00",
    "0b 01 0f 08 02 0a 00 80 00 00",
    "2b 00 09 c0",
    "67 16 54 04 05 00 01 8e 02 00 00 10",
    "e7 16 54 04 05 00 01 0e 00 00 00 04",
    "07 22 02 00",
    "8f 00 56 dd dd dd dd dd dd 00",
    "77 01 E0 E1 E2 00 00 02 80 00",
    // The first bytes of a longer program (launch 3.3).
    "03 00 07 00",
];

fn decode_all(code: &[u8], mode: Mode) -> Result<Vec<Instr>, agx_isa::DecodeError> {
    agx_isa::Decoder::new(code, mode)
        .map(|r| r.map(|(_, i)| i))
        .collect()
}

fn assert_reencodes(instrs: &[Instr], code: &[u8], context: &str) {
    let again: Vec<u8> = instrs
        .iter()
        .flat_map(|i| i.encode().unwrap().to_vec())
        .collect();
    assert_eq!(again, code, "{context}");
    for instr in instrs {
        let text = instr.to_string();
        let parsed = agx_isa::asm::assemble_one(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(parsed, *instr, "{text}");
    }
}

/// Every byte string of four bytes or more in the prose and tables decodes, re-encodes to the same
/// bytes, and survives a trip through assembly text.
#[test]
fn quoted_byte_strings() {
    let mut decoded = 0;
    for name in support::CHAPTERS {
        for line in chapter(name).lines() {
            for quoted in line.split('`').skip(1).step_by(2) {
                let spaced = quoted.split(' ').all(|b| b.len() == 2);
                let Some(code) = bytes(quoted).filter(|c| spaced && c.len() >= 4) else {
                    continue;
                };
                let result = decode_all(&code, Mode::Lenient);
                if NOT_DECODED.contains(&quoted) {
                    assert!(result.is_err(), "{quoted} decodes");
                    continue;
                }
                let instrs = result.unwrap_or_else(|e| panic!("{name}: {quoted}: {e}"));
                assert_reencodes(&instrs, &code, line);
                decoded += 1;
            }
        }
    }
    assert!(decoded >= 335, "only {decoded} strings were found");
}

/// The self-check of isa-0, section 8: each string is exactly the named form.
#[test]
fn self_check_of_isa_0() {
    let text = chapter("isa-0-index.md");
    let section = &text[text.find("## 8. Decoder self-check").unwrap()..];
    let mut checked = 0;
    for line in section.lines() {
        let Some(cells) = cells(line) else { continue };
        let [codes, names, operands] = cells.as_slice() else {
            continue;
        };
        for (quoted, name) in codes.split('/').zip(names.split('/')) {
            let Some(code) = bytes(quoted.trim().trim_matches('`')) else {
                continue;
            };
            let instr = decode(&code, Mode::Strict).unwrap_or_else(|e| panic!("{line}: {e}"));
            assert_eq!(instr.form().name, name.trim(), "{line}");
            assert_eq!(usize::from(instr.form().len), code.len(), "{line}");
            if let Some((slot, _)) = operands.split_once("wait ").and_then(|(_, r)| {
                let digits = r.split(|c: char| !c.is_ascii_digit()).next()?;
                Some((digits.parse::<u8>().ok()?, ()))
            }) && !codes.contains('/')
            {
                assert!(instr.waits().contains(slot), "{line}: {instr}");
            }
            if let Some((_, tag)) = operands.split_once(", tag ") {
                let got = instr.completion_tag().map(|t| t.to_string());
                assert_eq!(got.as_deref(), Some(tag), "{line}");
            }
            checked += 1;
        }
    }
    assert!(checked >= 42, "only {checked} rows");
}

/// Programs listed line by line in isa-2, isa-3, isa-4 and the launch chapter: offsets follow from
/// the lengths, every line is one or more whole instructions.
#[test]
fn program_listings() {
    let mut programs = 0;
    let mut lines = 0;
    for name in [
        "isa-2-memory-control.md",
        "isa-3-texture-graphics.md",
        "isa-4-vulkan-gaps.md",
        "launch-and-compute.md",
    ] {
        let text = chapter(name);
        for block in text.split("```").skip(1).step_by(2) {
            let mut next = None;
            for line in block.lines() {
                let Some((offset, code)) = support::listing_line(line) else {
                    next = None;
                    continue;
                };
                // Data of the entry arena and the streams is listed in the same style.
                let data = name == "launch-and-compute.md"
                    && (line.contains("repeated")
                        || line.contains(" then ")
                        || decode_all(&code, Mode::Lenient).is_err());
                if data {
                    next = None;
                    continue;
                }
                let instrs = decode_all(&code, Mode::Lenient)
                    .unwrap_or_else(|e| panic!("{name}: {line}: {e}"));
                assert_reencodes(&instrs, &code, line);
                if let Some(next) = next {
                    assert_eq!(offset, next, "{name}: {line}");
                } else {
                    programs += 1;
                }
                next = Some(offset + code.len());
                lines += 1;
            }
        }
    }
    assert!(
        programs >= 10 && lines >= 200,
        "{programs} programs, {lines} lines"
    );
}
