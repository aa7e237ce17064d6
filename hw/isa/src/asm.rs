// SPDX-License-Identifier: MIT
//! The text assembler: the inverse of the disassembly, plus labels, comments and raw bytes.
//!
//! A mnemonic may leave out its length suffix; the shortest form that can hold the operands is
//! taken then. The syntax is described in the crate's README.

use std::collections::HashMap;

use crate::decode::{Mode, decode};
use crate::form::{File, Form, Legal, Modifier, Release, Style};
use crate::instr::{Arg, Half, Instr, Reg, Value};
use crate::minifloat::MiniFloat;
use crate::print::FILE_PREFIXES;
use crate::query::SlotMask;
use crate::sysreg::SYSTEM_REGISTERS;
use crate::table::FormId;

/// A line that is not an instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct AsmError {
    /// Line number, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// Assembles a program.
///
/// # Errors
/// The first line that is no instruction, label or directive, or a label that does not exist.
pub fn assemble(source: &str) -> Result<Vec<u8>, AsmError> {
    let mut code = Vec::new();
    let mut labels: HashMap<&str, usize> = HashMap::new();
    // Branches to labels: offset of the branch, line, label.
    let mut fixups: Vec<(usize, usize, &str)> = Vec::new();
    for (number, text) in source.lines().enumerate() {
        let line = number + 1;
        let fail = |message: String| AsmError { line, message };
        let mut text = strip_comment(text).trim();
        while let Some((label, rest)) = split_label(text) {
            if labels.insert(label, code.len()).is_some() {
                return Err(fail(format!("label `{label}` is defined twice")));
            }
            text = rest.trim();
        }
        if text.is_empty() {
            continue;
        }
        if let Some(bytes) = text.strip_prefix(".bytes") {
            for digits in bytes.split_whitespace() {
                let byte = match digits.as_bytes() {
                    [a, b] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => {
                        u8::from_str_radix(digits, 16).ok()
                    }
                    _ => None,
                };
                let what = || fail(format!("`{digits}` is not two hexadecimal digits"));
                code.push(byte.ok_or_else(what)?);
            }
            continue;
        }
        let (instr, label) = parse(text).map_err(fail)?;
        if let Some(label) = label {
            fixups.push((code.len(), line, label));
        }
        code.extend_from_slice(&instr.encode().map_err(|e| fail(e.to_string()))?);
    }
    for (offset, line, label) in fixups {
        let fail = |message: String| AsmError { line, message };
        let target = *labels
            .get(label)
            .ok_or_else(|| fail(format!("label `{label}` does not exist")))?;
        let displacement = target as i64 - offset as i64;
        let mut branch = decode(&code[offset..], Mode::Lenient).map_err(|e| fail(e.to_string()))?;
        let index = target_index(branch.form()).ok_or_else(|| fail("no branch target".into()))?;
        branch
            .set_modifier_at(index, displacement as u64)
            .map_err(|e| fail(e.to_string()))?;
        let bytes = branch.encoded();
        code[offset..offset + bytes.len()].copy_from_slice(&bytes);
    }
    Ok(code)
}

/// Assembles one instruction. A branch target must be a displacement (`.+16`), not a label.
///
/// # Errors
/// A message that says what is wrong.
pub fn assemble_one(text: &str) -> Result<Instr, String> {
    match parse(strip_comment(text).trim())? {
        (instr, None) => Ok(instr),
        (_, Some(label)) => Err(format!("label `{label}` outside a program")),
    }
}

fn strip_comment(line: &str) -> &str {
    let end = [";", "//"]
        .iter()
        .filter_map(|mark| line.find(mark))
        .min()
        .unwrap_or(line.len());
    &line[..end]
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn split_label(text: &str) -> Option<(&str, &str)> {
    let (label, rest) = text.split_once(':')?;
    is_name(label).then_some((label, rest))
}

fn target_index(form: &Form) -> Option<usize> {
    form.modifiers.iter().position(|m| m.style == Style::Target)
}

/// Parses one instruction; the second value is the label of its branch target.
fn parse(text: &str) -> Result<(Instr, Option<&str>), String> {
    let (mnemonic, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let mut parts = mnemonic.split('.');
    let operation = parts.next().unwrap_or("");
    let mut suffixes: Vec<&str> = parts.collect();
    let mut length = None;
    if let Some(first) = suffixes.first()
        && first.bytes().all(|b| b.is_ascii_digit())
        && let Ok(len) = first.parse::<u8>()
    {
        length = Some(len);
        suffixes.remove(0);
    }
    let fields: Vec<&str> = if rest.trim().is_empty() {
        Vec::new()
    } else {
        rest.split(',').map(str::trim).collect()
    };
    let mut candidates: Vec<FormId> = FormId::ALL
        .iter()
        .copied()
        .filter(|id| {
            let form = id.form();
            length.is_none_or(|len| len == form.len)
                && form.opcode.names.iter().any(|(_, name)| *name == operation)
        })
        .collect();
    candidates.sort_by_key(|id| id.form().len);
    let mut failure = if FormId::ALL.iter().any(|id| {
        id.form()
            .opcode
            .names
            .iter()
            .any(|(_, name)| *name == operation)
    }) {
        format!("`{operation}` has no form of that length")
    } else {
        format!("no operation is called `{operation}`")
    };
    // What a compiler may use comes first; other forms only serve when nothing else fits, and their
    // complaints only when no form of the first kind has one.
    let mut other = None;
    let mut told = false;
    for id in candidates {
        let emitted = !matches!(id.form().emit, crate::Emit::No(_));
        let complaint = match build(id, operation, &suffixes, &fields) {
            // The bits must mean this form: an earlier row may take them.
            Ok((instr, label)) => match decode(&instr.encoded(), Mode::Lenient) {
                Ok(decoded) if decoded == instr => {
                    if !matches!(instr.emit(), crate::Emit::No(_)) {
                        return Ok((instr, label));
                    }
                    other = other.or(Some((instr, label)));
                    continue;
                }
                Ok(decoded) => format!("these operands make a {}", decoded.form().name),
                Err(error) => error.to_string(),
            },
            Err(error) => format!("{}: {error}", id.form().name),
        };
        if emitted || !told {
            failure = complaint;
        }
        told |= emitted;
    }
    other.ok_or(failure)
}

fn build<'t>(
    id: FormId,
    operation: &str,
    suffixes: &[&str],
    fields: &[&'t str],
) -> Result<(Instr, Option<&'t str>), String> {
    let form = id.form();
    let mut instr = Instr::new(id);
    instr.set_operation(operation).map_err(|e| e.to_string())?;
    let dotted: Vec<usize> = (0..form.modifiers.len())
        .filter(|&m| form.modifiers[m].style == Style::Dot)
        .collect();
    if dotted.len() != suffixes.len() {
        let names: Vec<_> = dotted
            .iter()
            .map(|&m| format!(".{}", form.modifiers[m].name))
            .collect();
        return Err(format!(
            "wants {} behind the mnemonic",
            if names.is_empty() {
                "nothing".to_owned()
            } else {
                names.concat()
            }
        ));
    }
    for (&m, suffix) in dotted.iter().zip(suffixes) {
        set_modifier(&mut instr, m, suffix)?;
    }
    if fields.len() < form.operands.len() {
        return Err(format!(
            "wants {} operands, got {}",
            form.operands.len(),
            fields.len()
        ));
    }
    let (operands, modifiers) = fields.split_at(form.operands.len());
    let mut written = Vec::new();
    for (i, text) in operands.iter().enumerate() {
        let (mut arg, count) = parse_arg(text, form.operands[i].release)?;
        if let Value::Reg(r) = &mut arg.value
            && (r.file, form.operands[i].file) == (File::UniformPair, File::Uniform)
        {
            // Two uniform words that are no pointer.
            *r = Reg::new(File::Uniform, 2 * r.index);
        }
        let imm32 = form.operands[i].file == File::Imm && form.operands[i].index.width() == 32;
        if let Value::Int(v) = &mut arg.value
            && imm32
            && i32::try_from(*v as i64).is_ok_and(|v| v < 0)
        {
            // A negative number is its 32-bit pattern.
            *v &= u64::from(u32::MAX);
        }
        instr.set_arg(i, arg).map_err(|e| e.to_string())?;
        written.push((*text, arg.value, count));
    }
    let mut label = None;
    let mut stray = 0;
    let mut keys: Vec<&str> = Vec::new();
    for text in modifiers {
        if let Some(target) = target_index(form)
            && (text.starts_with('.') || is_name(text))
            && !text.contains('=')
        {
            if keys.contains(&"target") {
                return Err(format!("`{text}`: the target is already given"));
            }
            keys.push("target");
            if let Some(number) = text.strip_prefix('.') {
                set_modifier(&mut instr, target, number)?;
            } else {
                label = Some(*text);
            }
            continue;
        }
        let (key, value) = text.split_once('=').unwrap_or((text, "1"));
        if keys.contains(&key) {
            return Err(format!("`{key}` is given twice"));
        }
        keys.push(key);
        match key {
            "wait" => {
                let mut slots = SlotMask::NONE;
                for slot in value.split('|').filter(|s| *s != "0") {
                    match slot.parse::<u8>() {
                        Ok(slot @ 1..=6) => slots = slots | SlotMask::of(slot),
                        _ => return Err(format!("`{slot}` is not a slot 1..=6")),
                    }
                }
                instr.set_waits(slots).map_err(|e| e.to_string())?;
            }
            "slot" => {
                let slot = value
                    .parse()
                    .map_err(|_| format!("`{value}` is not a slot"))?;
                instr.set_completion(slot).map_err(|e| e.to_string())?;
            }
            "stray" => {
                let digits = value.strip_prefix("0x").unwrap_or(value);
                stray = u128::from_str_radix(digits, 16)
                    .map_err(|_| format!("`{value}` is not a hexadecimal number"))?;
            }
            _ => match form.modifier(key) {
                Some(m)
                    if form.modifiers[m].style == Style::Key
                        && form.modifiers[m].class != crate::Class::Derived =>
                {
                    set_modifier(&mut instr, m, value)?;
                }
                _ => return Err(format!("no field is called `{key}`")),
            },
        }
    }
    if stray & !instr.idle_bits() != 0 {
        return Err(format!("stray bits {stray:#x} belong to fields"));
    }
    instr = Instr::from_bits(id, instr.bits() ^ stray);
    if target_index(form).is_some() && !keys.contains(&"target") {
        return Err("wants a target: a label or `.+bytes`".to_owned());
    }
    instr.check(false).map_err(|e| e.to_string())?;
    for (i, (text, value, count)) in written.into_iter().enumerate() {
        let pair = form.operands[i].file == File::UniformPair;
        let takes = if pair {
            2
        } else {
            u16::from(instr.register_count(i))
        };
        if count.is_some_and(|count| count != takes) {
            return Err(format!("`{text}`: the form takes {takes} registers"));
        }
        if instr.arg(i).value != value {
            let means = crate::print::value_text(instr.arg(i).value);
            return Err(format!("`{text}`: the form takes {means}"));
        }
    }
    Ok((instr, label))
}

fn parse_number(text: &str) -> Option<u64> {
    let (negative, digits) = match text.as_bytes() {
        [b'-', ..] => (true, &text[1..]),
        [b'+', ..] => (false, &text[1..]),
        _ => (false, text),
    };
    let magnitude = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if negative {
        magnitude.wrapping_neg()
    } else {
        magnitude
    })
}

fn set_modifier(instr: &mut Instr, index: usize, text: &str) -> Result<(), String> {
    let m: &Modifier = &instr.form().modifiers[index];
    let named = match m.legal {
        Legal::Names(names) => names
            .iter()
            .find(|(_, name)| *name == text)
            .map(|(v, _)| *v),
        _ => None,
    };
    let value = named
        .or_else(|| parse_number(text))
        .ok_or_else(|| format!("`{text}` is not a value of {}", m.name))?;
    match instr.set_modifier_at(index, value) {
        // Values without a known meaning can be written by number; strict checks refuse them.
        Err(_) if m.class == crate::Class::Opaque && value <= m.bits.max() => {
            *instr = Instr::from_bits(instr.id(), m.bits.put(instr.bits(), value));
            Ok(())
        }
        result => result.map_err(|e| e.to_string()),
    }
}

/// Parses an operand; the second value is the number of registers of a written range.
fn parse_arg(text: &str, release: Release) -> Result<(Arg, Option<u16>), String> {
    let mut rest = text;
    let mut arg = Arg::new(Value::Absent(0));
    if let Some(inner) = rest.strip_prefix('-') {
        arg.neg = true;
        rest = inner;
    }
    if let Some(inner) = rest.strip_prefix('|') {
        arg.abs = true;
        rest = inner
            .strip_suffix('|')
            .ok_or_else(|| format!("`{text}` lacks its second bar"))?;
    }
    if let Some(inner) = rest.strip_prefix('^') {
        arg.kill = true;
        rest = inner;
    }
    if matches!(release, Release::Always | Release::DestroyedIf(_)) {
        // The form decides; the mark is for readers.
        arg.kill = true;
    }
    if let Some(inner) = rest.strip_suffix("{keep}") {
        arg.keep = Some(true);
        rest = inner;
    } else if let Some(inner) = rest.strip_suffix("{nokeep}") {
        arg.keep = Some(false);
        rest = inner;
    }
    let (value, count) = parse_value(rest).ok_or_else(|| format!("`{text}` is no operand"))?;
    arg.value = value;
    let register = |r: Reg| matches!(r.file, File::Gpr | File::Publication);
    if !matches!(value, Value::Reg(r) if register(r)) && arg.kill {
        arg.kill = matches!(release, Release::Always | Release::DestroyedIf(_));
        if !arg.kill {
            return Err(format!("`{text}`: only registers can be released"));
        }
    }
    Ok((arg, count))
}

fn parse_value(text: &str) -> Option<(Value, Option<u16>)> {
    match text {
        "true" => return Some((Value::Reg(Reg::new(File::Predicate, 6)), None)),
        "false" => return Some((Value::Reg(Reg::new(File::Predicate, 7)), None)),
        "none" => return Some((Value::Absent(0), None)),
        _ => {}
    }
    if let Some(raw) = text.strip_prefix("none#") {
        return Some((Value::Absent(raw.parse().ok()?), None));
    }
    if let Some(number) = text.strip_prefix('#') {
        return Some((
            if number.contains('.') {
                Value::Float(MiniFloat::from_f32(number.parse().ok()?)?)
            } else {
                Value::Int(parse_number(number)?)
            },
            None,
        ));
    }
    if let Some(name) = text.strip_prefix('%') {
        let number = match SYSTEM_REGISTERS.iter().find(|sr| sr.name == name) {
            Some(sr) => u16::from(sr.number),
            None => parse_number(name)?.try_into().ok()?,
        };
        return Some((Value::Reg(Reg::new(File::SysReg, number)), None));
    }
    let (text, half) = match text.strip_suffix(".l") {
        Some(inner) => (inner, Half::Low),
        None => match text.strip_suffix(".h") {
            Some(inner) => (inner, Half::High),
            None => (text, Half::Whole),
        },
    };
    let (first, last) = match text.split_once(':') {
        Some((first, last)) => (first, Some(last)),
        None => (text, None),
    };
    let numbered = |text: &str| {
        FILE_PREFIXES.iter().find_map(|(file, prefix)| {
            let digits = text.strip_prefix(prefix)?;
            let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            plain
                .then(|| digits.parse::<u16>().ok())
                .flatten()
                .map(|index| (*file, index))
        })
    };
    let (file, index) = numbered(first)?;
    let Some(last) = last else {
        return Some((Value::Reg(Reg { file, index, half }), None));
    };
    let (last_file, last_index) = numbered(last)?;
    if last_file != file || last_index < index {
        return None;
    }
    let count = last_index - index + 1;
    // A uniform pair is a pointer operand.
    if file == File::Uniform && count == 2 && index % 2 == 0 {
        let pair = Reg {
            file: File::UniformPair,
            index: index / 2,
            half,
        };
        return Some((Value::Reg(pair), Some(2)));
    }
    Some((Value::Reg(Reg { file, index, half }), Some(count)))
}
