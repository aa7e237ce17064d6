// SPDX-License-Identifier: MIT
//! Instructions as text. The syntax is described in the crate's README; [`crate::asm`] reads it
//! back, bit for bit.

use std::fmt;
use std::sync::LazyLock;

use crate::form::{Class, File, Legal, Modifier, Style};
use crate::instr::{Arg, Half, Instr, Reg, Value, sign_extend};
use crate::operand::default_keep;
use crate::sysreg::system_register;
use crate::table::FORMS;

/// Prefixes of the numbered files, longest first where one begins another.
pub(crate) const FILE_PREFIXES: &[(File, &str)] = &[
    (File::Texture, "tex"),
    (File::Image, "img"),
    (File::Sampler, "samp"),
    (File::Scratch, "scr"),
    (File::Output, "out"),
    (File::TileWord, "tw"),
    (File::Coefficient, "cf"),
    (File::Gpr, "r"),
    (File::Uniform, "u"),
    (File::Publication, "p"),
    (File::Predicate, "P"),
];

/// Operations that exist in several lengths; their mnemonics carry the length.
static AMBIGUOUS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut seen: Vec<(&str, u8)> = Vec::new();
    let mut ambiguous = Vec::new();
    for form in &FORMS {
        for (_, name) in form.opcode.names {
            if seen.iter().any(|(n, len)| n == name && *len != form.len) {
                ambiguous.push(*name);
            }
            seen.push((name, form.len));
        }
    }
    ambiguous
});

fn write_reg(f: &mut impl fmt::Write, reg: Reg, count: u8) -> fmt::Result {
    // Refused operands are printed too: their numbers may be anything.
    let index = u32::from(reg.index);
    match reg.file {
        File::SysReg => {
            return match u8::try_from(reg.index).ok().and_then(system_register) {
                Some(sr) => write!(f, "%{}", sr.name),
                None => write!(f, "%{:#x}", reg.index),
            };
        }
        File::UniformPair => {
            return write!(f, "u{}:u{}", 2 * index, 2 * index + 1);
        }
        File::Predicate if reg.index == 6 => return f.write_str("true"),
        File::Predicate if reg.index == 7 => return f.write_str("false"),
        _ => {}
    }
    let prefix = FILE_PREFIXES
        .iter()
        .find(|(file, _)| *file == reg.file)
        .map_or("?", |(_, p)| p);
    write!(f, "{prefix}{}", reg.index)?;
    if count > 1 {
        write!(f, ":{prefix}{}", index + u32::from(count) - 1)?;
    }
    f.write_str(match reg.half {
        Half::Whole => "",
        Half::Low => ".l",
        Half::High => ".h",
    })
}

fn write_value(f: &mut impl fmt::Write, value: Value, count: u8) -> fmt::Result {
    match value {
        Value::Reg(reg) => write_reg(f, reg, count),
        Value::Int(v) if v < 256 => write!(f, "#{v}"),
        Value::Int(v) => write!(f, "#{v:#x}"),
        Value::Float(v) => write!(f, "#{:?}", v.to_f32()),
        Value::Absent(0) => f.write_str("none"),
        Value::Absent(raw) => write!(f, "none#{raw}"),
    }
}

/// An operand's value alone, for messages.
pub(crate) fn value_text(value: Value) -> String {
    let mut text = String::new();
    // Writing into a string cannot fail.
    let _ = write_value(&mut text, value, 1);
    text
}

fn write_arg(f: &mut impl fmt::Write, arg: &Arg, count: u8, default_keep: bool) -> fmt::Result {
    if arg.neg {
        f.write_char('-')?;
    }
    if arg.abs {
        f.write_char('|')?;
    }
    if arg.kill {
        f.write_char('^')?;
    }
    write_value(f, arg.value, count)?;
    match arg.keep {
        Some(true) if !default_keep => f.write_str("{keep}")?,
        Some(false) if default_keep => f.write_str("{nokeep}")?,
        _ => {}
    }
    if arg.abs {
        f.write_char('|')?;
    }
    Ok(())
}

fn write_number(f: &mut impl fmt::Write, value: u64) -> fmt::Result {
    if value < 10 {
        write!(f, "{value}")
    } else {
        write!(f, "{value:#x}")
    }
}

fn write_modifier(f: &mut impl fmt::Write, m: &Modifier, value: u64) -> fmt::Result {
    let flag = m.bits.width() == 1 && m.legal == Legal::Any;
    if flag && value == 1 && m.default == 0 {
        return f.write_str(m.name);
    }
    write!(f, "{}=", m.name)?;
    match m.legal {
        Legal::Signed => write!(f, "{}", sign_extend(value, m.bits.width()) as i64),
        Legal::Names(names) => match names.iter().find(|(v, _)| *v == value) {
            Some((_, name)) => f.write_str(name),
            None => write_number(f, value),
        },
        _ => write_number(f, value),
    }
}

impl Instr {
    /// The operation with its length suffix and dotted modifiers.
    fn write_mnemonic(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = self.form();
        let name = self.op_name();
        f.write_str(name)?;
        if AMBIGUOUS.contains(&name) {
            write!(f, ".{}", form.len)?;
        }
        for m in form.modifiers.iter().filter(|m| m.style == Style::Dot) {
            let value = m.bits.get(self.bits());
            let name = match m.legal {
                Legal::Names(names) => names.iter().find(|(v, _)| *v == value).map(|(_, n)| *n),
                _ => None,
            };
            match name {
                Some(name) => write!(f, ".{name}")?,
                None => write!(f, ".{value:#x}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Instr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_mnemonic(f)?;
        let form = self.form();
        let mut separator = " ";
        let mut next = |f: &mut fmt::Formatter<'_>| {
            let s = separator;
            separator = ", ";
            f.write_str(s)
        };
        for (i, op) in form.operands.iter().enumerate() {
            next(f)?;
            let arg = self.arg(i);
            let mut count = self.register_count(i);
            if matches!(op.alt, crate::Alt::Address { .. }) {
                count = 2;
            }
            write_arg(f, &arg, count, default_keep(op, &arg))?;
        }
        for m in form.modifiers {
            let value = m.bits.get(self.bits());
            match m.style {
                Style::Dot => {}
                Style::Target => {
                    next(f)?;
                    write!(f, ".{:+}", sign_extend(value, m.bits.width()) as i64)?;
                }
                Style::Key if value != m.default && m.class != Class::Derived => {
                    next(f)?;
                    write_modifier(f, m, value)?;
                }
                Style::Key => {}
            }
        }
        let wait = form.wait.bits.get(self.bits());
        if wait != form.wait.default {
            next(f)?;
            f.write_str("wait=")?;
            let slots = self.waits();
            if slots.is_empty() {
                f.write_str("0")?;
            }
            for (i, slot) in slots.iter().enumerate() {
                write!(f, "{}{slot}", if i == 0 { "" } else { "|" })?;
            }
        }
        if !form.completion.bits().is_none() {
            let tag = form.completion.bits().get(self.bits());
            if let Some(slot) = self.completes() {
                next(f)?;
                write!(f, "slot={slot}")?;
            } else if tag != 0 {
                next(f)?;
                write!(f, "slot={}", tag + 1)?;
            }
        }
        let stray = self.stray_bits();
        if stray != 0 {
            next(f)?;
            write!(f, "stray={stray:#x}")?;
        }
        Ok(())
    }
}
