// SPDX-License-Identifier: MIT
//! Checking `encode` vectors.
//!
//! For an operation's shape, three things are compared:
//!
//! 1. *Encoding.* The operands are set on the shape's neutral instruction. A `complete` vector must
//!    come out byte for byte; any other in the bits that its operands and its operation decide.
//! 2. *Decoding.* The vector's bytes (unasserted bits filled from 1) must decode to the shape's
//!    forms and operations, must show every stated operand, and must encode back to themselves.
//! 3. *Text.* What the bytes disassemble to must assemble to the same bytes.

use agx_isa::{
    Class, DecodeErrorKind, Decoder, Instr, Length, Mode, Style, asm, decode, instruction_length,
    known_undecoded,
};
use serde_json::Value;

use super::bind::{Bind, Problem, modifier_bits};
use super::load::{Asserts, Encode};
use super::ops::{self, Cases, Seen, Shape};
use super::value::string;
use super::{Outcome, outside};
use crate::input::hex;

/// What a shape's check found out beyond "passed".
#[derive(Clone, Copy, Default)]
struct Remarks {
    /// The from-scratch encoding differs in the destination hint, which no operand states.
    hint_taken: bool,
}

/// Checks one vector.
pub(super) fn check(vector: &Encode) -> Outcome {
    let Some(cases) = ops::find(&vector.op) else {
        return match outside::reason(vector) {
            Some(reason) => Outcome::Unchecked(reason.to_owned()),
            None => Outcome::Failed(format!("operation `{}` is not known", vector.op)),
        };
    };
    match check_cases(vector, *cases) {
        Ok(remarks) => Outcome::Passed {
            hint_taken: remarks.hint_taken,
        },
        Err(problem) => Outcome::Failed(problem),
    }
}

fn check_cases(vector: &Encode, cases: Cases) -> Result<Remarks, Problem> {
    match (cases, vector.asserts) {
        (Cases::Program, Some(Asserts::Framing)) => check_program(vector),
        (Cases::Program, _) => Err("a program asserts its framing".to_owned()),
        (_, Some(Asserts::Framing)) => Err("not the operation of a program".to_owned()),
        (Cases::Witness(seen, keys), _) => check_witness(vector, seen, keys),
        (Cases::One(shapes), _) => {
            let fits = |shape: &&Shape| {
                code_of(shape).is_ok_and(|code| len_of(&code) == vector.len) && (shape.when)(vector)
            };
            let fitting: Vec<_> = shapes.iter().filter(fits).collect();
            match fitting[..] {
                [shape] => check_shape(vector, shape),
                [] => Err(format!(
                    "`{}` has no form of {} bytes",
                    vector.op, vector.len
                )),
                // Nothing picks a form: a length witness may be any of them.
                _ => any(vector, &fitting),
            }
        }
        (Cases::Any(shapes), _) => any(vector, &shapes.iter().collect::<Vec<_>>()),
        (Cases::Every(shapes), _) => every(vector, shapes, |len| len == vector.len),
        (Cases::EveryPrefix(shapes), _) => every(vector, shapes, |len| len >= vector.len),
        (Cases::HighRegister(shapes), _) => check_high_register(vector, shapes),
    }
}

fn any(vector: &Encode, shapes: &[&Shape]) -> Result<Remarks, Problem> {
    let mut problems = Vec::new();
    for shape in shapes {
        match check_shape(vector, shape) {
            Ok(remarks) => return Ok(remarks),
            Err(problem) => problems.push(format!("as `{}`: {problem}", shape.code.join("; "))),
        }
    }
    Err(problems.join("; "))
}

fn every(
    vector: &Encode,
    shapes: &[Shape],
    fits: impl Fn(usize) -> bool,
) -> Result<Remarks, Problem> {
    for shape in shapes {
        let named = |p: Problem| format!("as `{}`: {p}", shape.code.join("; "));
        let len = len_of(&code_of(shape)?);
        if !fits(len) {
            return Err(named(format!("it has {len} bytes, not {}", vector.len)));
        }
        check_shape(vector, shape).map_err(named)?;
    }
    Ok(Remarks::default())
}

/// The neutral instructions of a shape.
fn code_of(shape: &Shape) -> Result<Vec<Instr>, Problem> {
    shape
        .code
        .iter()
        .map(|text| asm::assemble_one(text).map_err(|e| format!("`{text}`: {e}")))
        .collect()
}

fn len_of(code: &[Instr]) -> usize {
    code.iter().map(|i| usize::from(i.form().len)).sum()
}

fn bytes_of(code: &[Instr]) -> Vec<u8> {
    code.iter().flat_map(|i| i.encoded().to_vec()).collect()
}

/// A value for each bit of a sequence, as bytes.
fn spread(code: &[Instr], words: &[u128]) -> Vec<u8> {
    code.iter()
        .zip(words)
        .flat_map(|(i, word)| word.to_le_bytes()[..usize::from(i.form().len)].to_vec())
        .collect()
}

/// The vector's keys with their meanings, in the order in which they are set.
fn bindings(
    vector: &Encode,
    find: impl Fn(&str) -> Option<&'static Bind>,
) -> Result<Vec<(&str, &'static Bind, &Value)>, Problem> {
    let mut bound = Vec::new();
    for (key, value) in &vector.operands {
        let bind = find(key)
            .ok_or_else(|| format!("operand key `{key}` has no meaning in `{}`", vector.op))?;
        bound.push((key.as_str(), bind, value));
    }
    bound.sort_by_key(|(_, bind, _)| bind.phase());
    Ok(bound)
}

fn check_shape(vector: &Encode, shape: &Shape) -> Result<Remarks, Problem> {
    let neutral = code_of(shape)?;
    let bound = bindings(vector, |key| shape.bind(key))?;
    // Bytes of longer instructions, when only their beginning is stated.
    let len = len_of(&neutral);
    let pad = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        bytes.resize(len, 0);
        bytes
    };
    let (bytes, mask) = (pad(&vector.stated_bytes()), pad(&vector.mask_bytes));

    let mut built = neutral.clone();
    for (key, bind, value) in &bound {
        bind.set(&mut built, value, vector)
            .map_err(|p| format!("operand `{key}`: {p}"))?;
    }
    for instr in &mut built {
        *instr = canonical(instr).map_err(|p| format!("built from its operands: {p}"))?;
    }
    let mut remarks = Remarks::default();
    if !matches!(
        vector.asserts,
        Some(Asserts::Decode | Asserts::Length | Asserts::Operation)
    ) {
        let scope = if vector.complete {
            let (scope, hint_taken) = complete_scope(vector, &built, &bytes);
            remarks.hint_taken = hint_taken;
            scope
        } else {
            stated_scope(shape, &built, &bound)
        };
        compare(
            "encoded from its operands",
            &bytes,
            &bytes_of(&built),
            &mask,
            &scope,
        )?;
    }

    // Unasserted bits are the built instruction's.
    let filled: Vec<u8> = bytes_of(&built)
        .iter()
        .zip(bytes.iter().zip(&mask))
        .map(|(own, (byte, mask))| own & !mask | byte & mask)
        .collect();
    let decoded = decode_like(&built, &filled)?;
    for (key, bind, value) in &bound {
        bind.check(&decoded, value, vector)
            .map_err(|p| format!("operand `{key}`: {p}"))?;
    }
    for (have, want) in decoded.iter().zip(&built) {
        same_operation(have, want, shape)?;
    }
    if vector.asserts == Some(Asserts::Decode) && bytes_of(&built) == bytes {
        return Err("asserts only decoding, but an assembler picks these very bytes".to_owned());
    }
    check_bytes_and_text(&decoded, &filled)?;
    Ok(remarks)
}

/// The same instruction under the row that its bits select: operands can make them another one of
/// the same operation (isa-0, 1.3, tie-breaks), such as F2I.6 for F2.6 with a low uniform.
fn canonical(built: &Instr) -> Result<Instr, Problem> {
    let bytes = built.encode().map_err(|e| e.to_string())?;
    let instr = decode(&bytes, Mode::Lenient).map_err(|e| e.to_string())?;
    if instr.op_name() == built.op_name() {
        Ok(instr)
    } else {
        Err(format!("`{built}` decodes as `{instr}`"))
    }
}

/// Decodes a sequence that must have the forms of `like`.
fn decode_like(like: &[Instr], bytes: &[u8]) -> Result<Vec<Instr>, Problem> {
    let mut decoded = Vec::new();
    let mut rest = bytes;
    for want in like {
        let instr = decode(rest, Mode::Lenient).map_err(|e| e.to_string())?;
        if instr.id() != want.id() {
            return Err(format!(
                "expected form {}, got {} (`{instr}`)",
                want.form().name,
                instr.form().name
            ));
        }
        let len = usize::from(instr.form().len);
        if instruction_length(rest) != Length::Bytes(instr.form().len) {
            return Err(format!(
                "the length rule gives {:?}",
                instruction_length(rest)
            ));
        }
        rest = &rest[len..];
        decoded.push(instr);
    }
    if rest.is_empty() {
        Ok(decoded)
    } else {
        Err(format!("{} bytes left over", rest.len()))
    }
}

/// Operation, mnemonic suffixes and pinned fields must be equal.
fn same_operation(have: &Instr, want: &Instr, shape: &Shape) -> Result<(), Problem> {
    if have.op_name() != want.op_name() {
        return Err(format!(
            "expected operation {}, got {}",
            want.op_name(),
            have.op_name()
        ));
    }
    for (i, m) in have.form().modifiers.iter().enumerate() {
        let part = m.style == Style::Dot || shape.pins.contains(&m.name);
        if part && have.modifier_at(i) != want.modifier_at(i) {
            return Err(format!(
                "field {}: expected {:#x}, got {:#x} (`{have}`)",
                m.name,
                want.modifier_at(i),
                have.modifier_at(i)
            ));
        }
    }
    Ok(())
}

/// Everything is compared. Only the destination hint in bit 32 of the wide forms is taken over when
/// no operand states it: isa-0, 3 has both values executed and asks to ignore it, and complete
/// vectors of the same operation differ in it.
fn complete_scope(vector: &Encode, built: &[Instr], bytes: &[u8]) -> (Vec<u8>, bool) {
    let mut scope = vec![0xff; bytes.len()];
    let mut taken = false;
    let mut offset = 0;
    for instr in built {
        let form = instr.form();
        let hint = |m: &&agx_isa::Modifier| m.class == Class::Hint && m.bits.mask() == 1 << 32;
        if form.modifiers.iter().any(|m| hint(&m)) && !vector.operands.contains_key("hint_bit32") {
            scope[offset + 4] &= !1;
            taken |= (instr.encoded()[4] ^ bytes[offset + 4]) & 1 != 0;
        }
        offset += usize::from(form.len);
    }
    (scope, taken)
}

/// What an incomplete vector states: its operands' fields, and all that makes up the operation.
fn stated_scope(
    shape: &Shape,
    built: &[Instr],
    bound: &[(&str, &'static Bind, &Value)],
) -> Vec<u8> {
    let mut words: Vec<u128> = built
        .iter()
        .map(|instr| {
            let form = instr.form();
            let mut word = form.opcode.bits.mask() | form.all_bits() & !form.field_bits();
            for m in form.modifiers.iter().filter(|m| m.style == Style::Dot) {
                word |= m.bits.mask();
            }
            shape
                .pins
                .iter()
                .fold(word, |word, pin| word | modifier_bits(form, pin))
        })
        .collect();
    for (_, bind, _) in bound {
        for (word, owned) in words.iter_mut().zip(bind.owns(built)) {
            *word |= owned;
        }
    }
    spread(built, &words)
}

fn compare(
    what: &str,
    expected: &[u8],
    got: &[u8],
    mask: &[u8],
    scope: &[u8],
) -> Result<(), Problem> {
    let differs = expected
        .iter()
        .zip(got)
        .zip(mask.iter().zip(scope))
        .any(|((e, g), (m, s))| (e ^ g) & m & s != 0);
    if !differs {
        return Ok(());
    }
    let masked = if mask.iter().all(|m| *m == 0xff) {
        String::new()
    } else {
        format!(" under mask {}", hex(mask))
    };
    Err(format!(
        "{what}: expected {}, got {}{masked}",
        hex(expected),
        hex(got)
    ))
}

/// Encoding a decoded instruction, and reading its text, must give its bytes back.
fn check_bytes_and_text(decoded: &[Instr], bytes: &[u8]) -> Result<(), Problem> {
    let mut offset = 0;
    for instr in decoded {
        let own = &bytes[offset..offset + usize::from(instr.form().len)];
        let again = instr.encode().map_err(|e| format!("encoded again: {e}"))?;
        if *again != *own {
            return Err(format!(
                "encoded again: expected {}, got {}",
                hex(own),
                hex(&again)
            ));
        }
        check_text(instr)?;
        offset += own.len();
    }
    Ok(())
}

fn check_text(instr: &Instr) -> Result<(), Problem> {
    let text = instr.to_string();
    let read = asm::assemble_one(&text).map_err(|e| format!("`{text}` does not assemble: {e}"))?;
    if read == *instr {
        Ok(())
    } else {
        let (want, got) = (instr.encoded(), read.encoded());
        Err(format!(
            "`{text}` assembles to {}, not {}",
            hex(&got),
            hex(&want)
        ))
    }
}

/// A vector that shows an instruction's class and length.
fn check_witness(
    vector: &Encode,
    seen: &[Seen],
    keys: &'static [(&'static str, Bind)],
) -> Result<Remarks, Problem> {
    let find = |key: &str| {
        keys.iter()
            .find(|(name, _)| *name == key)
            .map(|(_, bind)| bind)
    };
    let bound = bindings(vector, find)?;
    let mut rest = &vector.bytes[..];
    let mut decoded = Vec::new();
    for part in seen {
        match (part, decode(rest, Mode::Lenient)) {
            (Seen::Op(names), Ok(instr)) => {
                if !names.contains(&instr.op_name()) {
                    return Err(format!("expected {}, got `{instr}`", names.join(" or ")));
                }
                check_bytes_and_text(&[instr], &rest[..usize::from(instr.form().len)])?;
                rest = &rest[usize::from(instr.form().len)..];
                decoded.push(instr);
            }
            (Seen::Undecoded(what), Err(error)) => {
                if error.kind != DecodeErrorKind::Undecoded(what) {
                    return Err(format!("expected undecoded {what}, got: {error}"));
                }
                let len = known_undecoded(rest).map_or(0, |(len, _)| usize::from(len));
                rest = rest.get(len..).ok_or("ends early")?;
            }
            (Seen::Undecoded(what), Ok(instr)) => {
                return Err(format!("expected undecoded {what}, got `{instr}`"));
            }
            (Seen::Op(_), Err(error)) => return Err(error.to_string()),
        }
    }
    if !rest.is_empty() {
        return Err(format!("{} of {} bytes left over", rest.len(), vector.len));
    }
    for (key, bind, value) in bound {
        bind.check(&decoded, value, vector)
            .map_err(|p| format!("operand `{key}`: {p}"))?;
    }
    Ok(Remarks::default())
}

/// `rule`: the single bit of the vector is bit 6 of one operand's register number, in every shape.
fn check_high_register(vector: &Encode, shapes: &[Shape]) -> Result<Remarks, Problem> {
    let stated = |key: &str| vector.operands.get(key).map(string).transpose();
    let operand = match (stated("rule")?, stated("operand")?) {
        (Some("register bit 6 (add 64)"), Some(operand @ ("dst" | "src0" | "src1"))) => operand,
        (Some("dst bit 6"), None) => "dst",
        (Some("src bit 6"), None) => "src0",
        other => return Err(format!("no rule reads {other:?}")),
    };
    if let Some(key) = vector
        .operands
        .keys()
        .find(|k| !["rule", "operand"].contains(&k.as_str()))
    {
        return Err(format!(
            "operand key `{key}` has no meaning in `{}`",
            vector.op
        ));
    }
    if vector.stated_bytes() != vector.mask_bytes {
        return Err("the rule is about bits that are set".to_owned());
    }
    for shape in shapes {
        let named = |p: String| format!("as `{}`: {p}", shape.code.join("; "));
        let code = code_of(shape)?;
        let position = match operand {
            "dst" => 0,
            "src0" => 1,
            _ => 2,
        };
        let with = |number: u16| -> Result<Instr, Problem> {
            let mut instr = code[0];
            let text = format!("r{number}");
            super::bind::set_index(&mut instr, position, &text).map_err(named)?;
            Ok(instr)
        };
        // Every register below 32, so that each low bit was seen in both states.
        for number in 0..32 {
            let (low, high) = (with(number)?, with(number + 64)?);
            let mut moved = low.bits() ^ high.bits();
            for byte in &vector.mask_bytes {
                if moved as u8 != *byte {
                    let got = hex(&(low.bits() ^ high.bits()).to_le_bytes()[..vector.len]);
                    let want = hex(&vector.mask_bytes);
                    return Err(named(format!(
                        "adding 64 moves bits {got}, stated are {want}"
                    )));
                }
                moved >>= 8;
            }
            if moved != 0 {
                return Err(named(
                    "adding 64 moves bits behind the stated ones".to_owned(),
                ));
            }
            let bytes = high.encoded();
            if decode(&bytes, Mode::Strict).map_err(|e| e.to_string())? != high {
                return Err(named(format!("r{} does not decode", number + 64)));
            }
        }
    }
    Ok(Remarks::default())
}

/// A whole program: the lengths of its instructions, up to and including the final stop.
fn check_program(vector: &Encode) -> Result<Remarks, Problem> {
    let mut lengths = Vec::new();
    let mut last = None;
    for item in Decoder::new(&vector.bytes, Mode::Lenient) {
        match item {
            Ok((_, instr)) => {
                check_text(&instr)?;
                lengths.push(u64::from(instr.form().len));
                last = Some(instr);
            }
            Err(error) => match (&error.kind, error.known_length()) {
                // Framing only: bytes that the reference names without decoding them.
                (DecodeErrorKind::Undecoded(_), Some(len)) => {
                    lengths.push(len as u64);
                    last = None;
                }
                _ => return Err(error.to_string()),
            },
        }
    }
    let end: u64 = lengths.iter().sum();
    let last = last.map_or("", |instr| instr.op_name());
    if last != "stop" || end != vector.len as u64 {
        return Err(format!(
            "ends with `{last}` at {end} of {} bytes",
            vector.len
        ));
    }
    for (key, value) in &vector.operands {
        match key.as_str() {
            "instruction_lengths" => {
                let stated: Option<Vec<u64>> = value
                    .as_array()
                    .and_then(|list| list.iter().map(Value::as_u64).collect());
                if stated.as_ref() != Some(&lengths) {
                    return Err(format!("expected lengths {value}, got {lengths:?}"));
                }
            }
            "last_instruction" if value.as_str() == Some(last) => {}
            "last_instruction" => return Err(format!("expected to end with {value}")),
            // What the program computes: a matter of executing it, not of framing.
            "meaning" if value.is_string() => {}
            _ => {
                return Err(format!(
                    "operand key `{key}` has no meaning in `{}`",
                    vector.op
                ));
            }
        }
    }
    if vector.op == "kernel_split" && !vector.operands.contains_key("instruction_lengths") {
        return Err("states no instruction_lengths".to_owned());
    }
    Ok(Remarks::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every template must assemble, or its vectors would fail for the wrong reason.
    #[test]
    fn every_template_assembles() {
        for (op, cases) in ops::OPS {
            let (Cases::One(shapes)
            | Cases::Any(shapes)
            | Cases::Every(shapes)
            | Cases::EveryPrefix(shapes)
            | Cases::HighRegister(shapes)) = cases
            else {
                continue;
            };
            for shape in *shapes {
                let code = code_of(shape).unwrap_or_else(|e| panic!("{op}: {e}"));
                for instr in code {
                    instr
                        .check(false)
                        .unwrap_or_else(|e| panic!("{op}: {instr}: {e}"));
                }
            }
        }
    }

    #[test]
    fn no_operation_is_listed_twice() {
        let mut names: Vec<_> = ops::OPS.iter().map(|(name, _)| name).collect();
        names.sort();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
