// SPDX-License-Identifier: MIT
//! What an operand key of a vector means in the instruction it talks about.
//!
//! A [`Bind`] knows one thing: how to *set* the stated value. A decoded instruction agrees with the
//! statement exactly when setting it changes nothing; values that the table can also read back
//! (registers, releases, slots) are read as well, so that reader and writer are both held to it.

use agx_isa::{
    Arg, Class, File, Form, FormId, Half, Instr, MiniFloat, Reg, Release, Role, SlotMask,
    Value as Operand,
};
use serde_json::Value;

use super::load::Encode;
use super::value::{boolean, integer, register, split_remark, string};

/// A problem, as text for the report.
pub(super) type Problem = String;

/// The meaning of one operand key.
#[derive(Clone, Copy)]
pub(super) enum Bind {
    /// A register in the first operand of these names that the form has.
    Reg(&'static [&'static str]),
    /// A register number; whether a half of it is meant follows from the form.
    Index(&'static str),
    /// A bare number in the operand's own file: a publication, a slot, a coefficient.
    Num(&'static str),
    /// An immediate or inline constant.
    Imm(&'static str),
    /// Last use of one operand.
    Kill(&'static str),
    /// Last use of the sources in order; one value for all, or one for each.
    Kills,
    /// Last use of those sources that are general registers.
    GprKills,
    /// Retain bits (bit 7 of the operand bytes) of A and B.
    Keeps,
    /// Negated operand.
    Neg(&'static str),
    /// Absolute value of an operand.
    Abs(&'static str),
    /// A modifier, by number.
    Mod(&'static str),
    /// A one-bit modifier, by truth value.
    Flag(&'static str),
    /// A modifier, by the vectors' names for its values.
    Names(&'static str, &'static [(&'static str, u64)]),
    /// One bit of the word, by truth value or number.
    RawBit(u8),
    /// One byte of the word, as number or hexadecimal text; the operation implies its value.
    Byte(usize),
    /// The slot waited for, 0 = none.
    Wait,
    /// The slot completed.
    Signal,
    /// The operation implies this text; another one contradicts it.
    Text(&'static str),
    /// The operation implies this truth value.
    Is(bool),
    /// The operation implies this number.
    Equals(u64),
    /// Several bindings of one key.
    All(&'static [Bind]),
    /// A binding in another instruction of a sequence.
    In(usize, &'static Bind),
    /// Anything else.
    Custom(&'static Custom),
}

/// A meaning with its own code.
pub(super) struct Custom {
    /// Sets the value, or refuses one that contradicts the instruction.
    pub(super) set: fn(&mut [Instr], &Value, &Encode) -> Result<(), Problem>,
    /// Bits of the first instruction that it decides.
    pub(super) owns: fn(&Form) -> u128,
    /// Set before the registers (true for what changes their width).
    pub(super) early: bool,
}

/// Operand `name` of the instruction.
pub(super) fn operand(instr: &Instr, name: &str) -> Result<usize, Problem> {
    let form = instr.form();
    form.operand(name)
        .ok_or_else(|| format!("{} has no operand {name}", form.name))
}

/// Sets modifier `name`, which must exist.
pub(super) fn set_modifier(instr: &mut Instr, name: &str, value: u64) -> Result<(), Problem> {
    let form = instr.form();
    let index = form
        .modifier(name)
        .ok_or_else(|| format!("{} has no field {name}", form.name))?;
    match instr.set_modifier_at(index, value) {
        Ok(()) => Ok(()),
        // Fields without a known meaning hold what a vector states.
        Err(_) if form.modifiers[index].class == Class::Opaque => {
            let bits = form.modifiers[index].bits.put(instr.bits(), value);
            *instr = Instr::from_word(instr.id(), bits).map_err(|e| e.to_string())?;
            Ok(())
        }
        Err(e) => Err(e.to_string()),
    }
}

/// Bits of modifier `name`, none when the form lacks it.
pub(super) fn modifier_bits(form: &Form, name: &str) -> u128 {
    form.modifier(name)
        .map_or(0, |m| form.modifiers[m].bits.mask())
}

/// Bits of operand `name`, none when the form lacks it.
pub(super) fn operand_bits(form: &Form, name: &str) -> u128 {
    form.operand(name).map_or(0, |o| form.operands[o].mask())
}

/// Puts another value into an operand; release and signs stay as they are where they can.
pub(super) fn set_value(instr: &mut Instr, index: usize, value: Operand) -> Result<(), Problem> {
    let old = instr.arg(index);
    if old.value == value {
        return Ok(());
    }
    let gpr = |v: Operand| matches!(v, Operand::Reg(r) if r.file == File::Gpr);
    let arg = if gpr(old.value) && gpr(value) {
        Arg { value, ..old }
    } else {
        let always = matches!(
            instr.form().operands[index].release,
            Release::Always | Release::DestroyedIf(_)
        );
        Arg {
            value,
            kill: always && old.kill,
            keep: None,
            ..old
        }
    };
    instr.set_arg(index, arg).map_err(|e| e.to_string())?;
    let now = instr.arg(index).value;
    if now == value {
        Ok(())
    } else {
        Err(format!("{value:?} was stored as {now:?}"))
    }
}

fn set_kill(instr: &mut Instr, index: usize, kill: bool) -> Result<(), Problem> {
    let old = instr.arg(index);
    if old.kill == kill {
        return Ok(());
    }
    instr
        .set_arg(
            index,
            Arg {
                kill,
                keep: None,
                ..old
            },
        )
        .map_err(|e| e.to_string())
}

/// Operands that a list of last uses runs over: sources, in order, that name registers.
fn sources(instr: &Instr) -> Vec<usize> {
    let form = instr.form();
    (0..form.operands.len())
        .filter(|&i| form.operands[i].role != Role::Def)
        .filter(|&i| matches!(instr.arg(i).value, Operand::Reg(_)))
        .collect()
}

/// A remark in parentheses must be one whose sense is known.
fn check_remark(remark: Option<&str>, vector: &Encode) -> Result<(), Problem> {
    let Some(remark) = remark else { return Ok(()) };
    // `byte3=0x02` names a byte of the vector itself.
    if let Some((byte, value)) = remark
        .strip_prefix("byte")
        .and_then(|r| r.split_once("=0x"))
        && let (Ok(byte), Ok(value)) = (byte.parse::<usize>(), u8::from_str_radix(value, 16))
    {
        return match vector.bytes.get(byte) {
            Some(&found) if found == value => Ok(()),
            found => Err(format!("remark `{remark}`, but the byte is {found:02x?}")),
        };
    }
    match remark {
        // Says that bits which the hardware ignores are set; such vectors assert decoding only.
        "bit 0 of the byte set" | "low bits of the byte set" => Ok(()),
        // x in the low, y in the high half of the register.
        "pair of halves" => Ok(()),
        _ => Err(format!("remark `{remark}` has no known meaning")),
    }
}

fn set_register(
    instr: &mut Instr,
    index: usize,
    text: &str,
    vector: &Encode,
) -> Result<(), Problem> {
    let (text, remark) = split_remark(text);
    check_remark(remark, vector)?;
    let wanted = register(text)?;
    set_value(instr, index, Operand::Reg(wanted.reg()))?;
    check_count(instr, index, wanted.count)
}

/// The extent that a text states must be the operand's own.
pub(super) fn check_count(instr: &Instr, index: usize, count: Option<u16>) -> Result<(), Problem> {
    let have = u16::from(instr.register_count(index));
    match count {
        Some(count) if count != have => Err(format!(
            "{count} registers stated, the operand covers {have}"
        )),
        // A pair written as its first register only would be a different statement.
        None if have > 1 => Err(format!("one register stated, the operand covers {have}")),
        _ => Ok(()),
    }
}

/// Register number of `rN`, with the part of the register that the form implies or the text says.
pub(super) fn set_index(instr: &mut Instr, index: usize, text: &str) -> Result<(), Problem> {
    let wanted = register(text)?;
    let half = match (instr.arg(index).value, wanted.half) {
        (Operand::Reg(r), Half::Whole) => r.half,
        (_, half) => half,
    };
    set_value(
        instr,
        index,
        Operand::Reg(Reg {
            half,
            ..wanted.reg()
        }),
    )?;
    match wanted.count {
        Some(_) => check_count(instr, index, wanted.count),
        None => Ok(()),
    }
}

fn set_number(instr: &mut Instr, name: &str, number: u64) -> Result<(), Problem> {
    let index = operand(instr, name)?;
    let file = match instr.arg(index).value {
        Operand::Reg(r) => r.file,
        _ => return set_value(instr, index, Operand::Int(number)),
    };
    let number = u16::try_from(number).map_err(|_| format!("{number} is no register number"))?;
    set_value(instr, index, Operand::Reg(Reg::new(file, number)))
}

fn set_immediate(instr: &mut Instr, name: &str, value: &Value) -> Result<(), Problem> {
    let index = operand(instr, name)?;
    if let Some(float) = value.as_f64().filter(|_| value.is_f64()) {
        let mini = MiniFloat::from_f32(float as f32)
            .filter(|m| f64::from(m.to_f32()) == float)
            .ok_or_else(|| format!("{float} is no 8-bit float"))?;
        return set_value(instr, index, Operand::Float(mini));
    }
    set_value(instr, index, Operand::Int(integer(value)?))
}

impl Bind {
    /// Order in which the keys of a vector are set: what decides the width of operands, then the
    /// operands, then their releases and hints.
    pub(super) fn phase(&self) -> u8 {
        match self {
            Bind::Custom(custom) if custom.early => 0,
            Bind::Kill(_) | Bind::Kills | Bind::GprKills => 2,
            Bind::Keeps => 3,
            Bind::Byte(_) => 4,
            Bind::In(_, inner) => inner.phase(),
            _ => 1,
        }
    }

    /// Sets the stated value.
    ///
    /// # Errors
    /// When the value cannot be read, or the instruction cannot hold it.
    pub(super) fn set(
        &self,
        parts: &mut [Instr],
        value: &Value,
        vector: &Encode,
    ) -> Result<(), Problem> {
        if let Bind::Custom(custom) = self {
            return (custom.set)(parts, value, vector);
        }
        let Some(first) = parts.first_mut() else {
            return Err("the form is not decoded".to_owned());
        };
        match *self {
            Bind::Reg(names) => {
                let index = names.iter().find_map(|name| first.form().operand(name));
                let index = index.ok_or_else(|| {
                    format!(
                        "{} has no operand {}",
                        first.form().name,
                        names.join(" or ")
                    )
                })?;
                set_register(first, index, string(value)?, vector)
            }
            Bind::Index(name) => {
                let index = operand(first, name)?;
                set_index(first, index, string(value)?)
            }
            Bind::Num(name) => set_number(first, name, integer(value)?),
            Bind::Imm(name) => set_immediate(first, name, value),
            Bind::Kill(name) => {
                let index = operand(first, name)?;
                set_kill(first, index, boolean(value)?)
            }
            Bind::Kills => {
                let sources = sources(first);
                let stated = match value {
                    Value::Array(list) if !list.is_empty() && list.len() <= sources.len() => {
                        list.iter().map(boolean).collect::<Result<Vec<_>, _>>()?
                    }
                    Value::Array(list) => {
                        return Err(format!(
                            "{} values for {} sources",
                            list.len(),
                            sources.len()
                        ));
                    }
                    one => vec![boolean(one)?],
                };
                for (n, index) in sources.into_iter().enumerate() {
                    // A list may leave out the last sources; they are as the last one listed.
                    set_kill(first, index, stated[n.min(stated.len() - 1)])?;
                }
                Ok(())
            }
            Bind::GprKills => {
                let kill = boolean(value)?;
                for index in sources(first) {
                    if matches!(first.arg(index).value, Operand::Reg(r) if r.file == File::Gpr) {
                        set_kill(first, index, kill)?;
                    }
                }
                Ok(())
            }
            Bind::Keeps => {
                let list = value.as_array().filter(|list| list.len() == 2);
                let list = list.ok_or_else(|| format!("`{value}` is no pair"))?;
                for (name, value) in ["A", "B"].into_iter().zip(list) {
                    let index = operand(first, name)?;
                    let arg = Arg {
                        keep: Some(boolean(value)?),
                        ..first.arg(index)
                    };
                    first.set_arg(index, arg).map_err(|e| e.to_string())?;
                }
                Ok(())
            }
            Bind::Neg(name) | Bind::Abs(name) => {
                let index = operand(first, name)?;
                let mut arg = first.arg(index);
                if matches!(self, Bind::Neg(_)) {
                    arg.neg = boolean(value)?;
                } else {
                    arg.abs = boolean(value)?;
                }
                first.set_arg(index, arg).map_err(|e| e.to_string())
            }
            Bind::Mod(name) => set_modifier(first, name, integer(value)?),
            Bind::Flag(name) => set_modifier(first, name, u64::from(boolean(value)?)),
            Bind::Names(name, names) => {
                let text = string(value)?;
                let known = names.iter().find(|(n, _)| *n == text);
                let (_, number) = known.ok_or_else(|| format!("`{text}` is no value of {name}"))?;
                set_modifier(first, name, *number)
            }
            Bind::RawBit(bit) => {
                let on = match value {
                    Value::Bool(on) => *on,
                    other => match integer(other)? {
                        0 => false,
                        1 => true,
                        n => return Err(format!("{n} is no bit")),
                    },
                };
                set_raw_bit(first, bit, on)
            }
            Bind::Byte(byte) => {
                let stated = match value {
                    Value::String(text) => {
                        let digits = text.strip_prefix("0x").unwrap_or(text);
                        u64::from_str_radix(digits, 16)
                            .map_err(|_| format!("`{text}` is no byte"))?
                    }
                    other => integer(other)?,
                };
                let have = first.encoded().get(byte).copied();
                if have.map(u64::from) == Some(stated) {
                    Ok(())
                } else {
                    Err(format!(
                        "byte {byte} is {have:02x?}, {stated:#04x} is stated"
                    ))
                }
            }
            Bind::Wait => {
                let slots = match integer(value)? {
                    0 => SlotMask::NONE,
                    slot @ 1..=6 => SlotMask::of(slot as u8),
                    slot => return Err(format!("{slot} is no slot")),
                };
                if first.waits() == slots {
                    return Ok(());
                }
                first.set_waits(slots).map_err(|e| e.to_string())
            }
            Bind::Signal => {
                let slot = u8::try_from(integer(value)?).map_err(|_| "no slot")?;
                first.set_completion(slot).map_err(|e| e.to_string())?;
                match first.completes() {
                    Some(s) if s == slot => Ok(()),
                    other => Err(format!("completes {other:?}, slot {slot} is stated")),
                }
            }
            Bind::Text(expected) => match string(value)? {
                text if text == expected => Ok(()),
                text => Err(format!("`{text}`, the operation says `{expected}`")),
            },
            Bind::Is(expected) => match boolean(value)? {
                truth if truth == expected => Ok(()),
                truth => Err(format!("{truth}, the operation says {expected}")),
            },
            Bind::Equals(expected) => match integer(value)? {
                number if number == expected => Ok(()),
                number => Err(format!("{number}, the operation says {expected}")),
            },
            Bind::All(binds) => binds
                .iter()
                .try_for_each(|bind| bind.set(parts, value, vector)),
            Bind::In(part, inner) => match parts.get_mut(part..) {
                Some(rest) if !rest.is_empty() => inner.set(rest, value, vector),
                _ => Err("no such instruction in the sequence".to_owned()),
            },
            Bind::Custom(_) => Ok(()),
        }
    }

    /// Compares the stated value with a decoded sequence.
    ///
    /// # Errors
    /// When they differ, or the value cannot be read.
    pub(super) fn check(
        &self,
        parts: &[Instr],
        value: &Value,
        vector: &Encode,
    ) -> Result<(), Problem> {
        let mut copy = parts.to_vec();
        self.set(&mut copy, value, vector)?;
        for (have, want) in parts.iter().zip(&copy) {
            if have != want {
                return Err(format!("expected `{want}`, got `{have}`"));
            }
        }
        Ok(())
    }

    /// Bits that the key decides, one word for each instruction of the sequence.
    pub(super) fn owns(&self, parts: &[Instr]) -> Vec<u128> {
        let mut masks = vec![0; parts.len()];
        let instr = &parts[0];
        let form = instr.form();
        masks[0] = match *self {
            Bind::Reg(names) => names
                .iter()
                .find_map(|name| form.operand(name))
                .map_or(0, |index| value_bits(instr, index)),
            Bind::Index(name) | Bind::Num(name) | Bind::Imm(name) => form
                .operand(name)
                .map_or(0, |index| value_bits(instr, index)),
            Bind::Kill(name) => form.operand(name).map_or(0, |i| release_bits(form, i)),
            Bind::Kills | Bind::GprKills => sources(instr)
                .into_iter()
                .filter(|&i| matches!(instr.arg(i).value, Operand::Reg(r) if r.file == File::Gpr))
                .fold(0, |mask, i| mask | release_bits(form, i)),
            Bind::Keeps => form
                .operands
                .iter()
                .fold(0, |m, o| m | o.keep.bit().bits().mask()),
            Bind::Neg(name) => form
                .operand(name)
                .map_or(0, |i| form.operands[i].neg.bits().mask()),
            Bind::Abs(name) => form
                .operand(name)
                .map_or(0, |i| form.operands[i].abs.bits().mask()),
            Bind::Mod(name) | Bind::Flag(name) | Bind::Names(name, _) => modifier_bits(form, name),
            Bind::RawBit(bit) => 1 << bit,
            Bind::Wait => form.wait.bits.mask(),
            Bind::Signal => form.completion.bits().mask(),
            Bind::Byte(_) | Bind::Text(_) | Bind::Is(_) | Bind::Equals(_) => 0,
            Bind::Custom(custom) => (custom.owns)(form),
            Bind::All(binds) => {
                for bind in binds {
                    for (mask, more) in masks.iter_mut().zip(bind.owns(parts)) {
                        *mask |= more;
                    }
                }
                masks[0]
            }
            Bind::In(part, inner) => {
                if let Some(rest) = parts.get(part..).filter(|rest| !rest.is_empty()) {
                    for (mask, more) in masks[part..].iter_mut().zip(inner.owns(rest)) {
                        *mask |= more;
                    }
                }
                masks[0]
            }
        };
        masks
    }
}

/// Bits that say which register or constant an operand is. Release and hint of a general register
/// are statements of their own.
fn value_bits(instr: &Instr, index: usize) -> u128 {
    let op = &instr.form().operands[index];
    let mut bits = op.mask() & !op.neg.bits().mask() & !op.abs.bits().mask();
    if matches!(instr.arg(index).value, Operand::Reg(r) if r.file == File::Gpr) {
        bits &= !release_bits(instr.form(), index) & !op.keep.bit().bits().mask();
    }
    bits
}

fn release_bits(form: &Form, index: usize) -> u128 {
    match form.operands[index].release {
        Release::If(bit) | Release::Unless(bit) => bit.bits().mask(),
        _ => 0,
    }
}

/// Sets one bit of the word, which must be a field of its own or already have the value.
fn set_raw_bit(instr: &mut Instr, bit: u8, on: bool) -> Result<(), Problem> {
    if instr.raw_bit(bit) == on {
        return Ok(());
    }
    let form = instr.form();
    let own = form
        .modifiers
        .iter()
        .position(|m| m.bits.mask() == 1 << bit);
    let index = own.ok_or_else(|| format!("bit {bit} of {} is fixed", form.name))?;
    instr
        .set_modifier_at(index, u64::from(on))
        .map_err(|e| e.to_string())
}

/// True when `id` is one of the forms.
pub(super) fn is_form(instr: &Instr, ids: &[FormId]) -> bool {
    ids.contains(&instr.id())
}
