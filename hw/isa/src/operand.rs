// SPDX-License-Identifier: MIT
//! Operands of an instruction word: [`read`], [`check`] and [`write`] walk one
//! [`Operand`](crate::Operand) description each.

use crate::form::{Alt, Constant, File, KeepHint, Operand, Presence, Release, Span};
use crate::illegal::Illegal;
use crate::instr::{Arg, Half, Reg, Value};
use crate::minifloat::MiniFloat;

/// Number of registers that `op` covers in an instruction with these bits, for the range check.
/// Spans that depend on other fields are checked by the form's own rule.
const fn fixed_count(span: Span) -> u64 {
    match span {
        Span::Regs(n) => n as u64,
        _ => 1,
    }
}

pub(crate) fn half_of(op: &Operand, bits: u128) -> Half {
    let narrow = match op.span {
        Span::Half => true,
        Span::Scalar => !op.size.is_none() && !op.size.get(bits),
        Span::NarrowIfClear(bit) => !bit.get(bits),
        Span::NarrowIfSet(bit) => bit.get(bits),
        // A 16-bit or 8-bit single access names a half; see `query::device_format`.
        Span::DeviceFormat => crate::query::device_format(bits).is_some_and(|f| f.narrow),
        Span::PackResult => (bits >> 77) & 1 == 1 || (bits >> 77) & 7 == 6,
        _ => false,
    };
    match (narrow, op.half.get(bits)) {
        // Inert on 32-bit accesses (isa-2, 2.3), refused elsewhere, but part of the encoding.
        (false, true) => Half::High,
        (false, _) => Half::Whole,
        (true, false) => Half::Low,
        (true, true) => Half::High,
    }
}

fn reg(op: &Operand, file: File, index: u64, bits: u128) -> Value {
    Value::Reg(Reg {
        file,
        index: index as u16,
        half: half_of(op, bits),
    })
}

/// Reads one operand.
#[inline]
pub(crate) fn read(op: &Operand, bits: u128) -> Arg {
    let index = op.index.get(bits);
    let keep_bit = op.keep.bit();
    let keep_value = keep_bit.get(bits);
    let (release_bit, kill) = match op.release {
        Release::Never => (false, false),
        Release::Always => (false, true),
        Release::If(bit) => (bit.get(bits), bit.get(bits)),
        Release::Unless(bit) => (!bit.get(bits), !bit.get(bits)),
        Release::DestroyedIf(bit) => (false, bit.get(bits)),
        Release::IfAll(all) => (false, all.get(bits) == all.max()),
    };
    let mut arg = Arg {
        value: Value::Int(index),
        neg: op.neg.get(bits),
        abs: op.abs.get(bits),
        kill,
        keep: if keep_bit.is_none() {
            None
        } else {
            Some(keep_value)
        },
    };
    if !op.present.bits.is_none() && op.present.bits.get(bits) == op.present.off {
        return Arg {
            value: Value::Absent(index as u16),
            kill: false,
            keep: None,
            ..arg
        };
    }
    // An operand in another file has no release bit and no hint: those bits are its number.
    let not_a_register = |value| Arg {
        value,
        kill: false,
        keep: None,
        ..arg
    };
    match op.alt {
        Alt::Scattered { file, constant, .. } if file.is_none() || file.get(bits) => {
            let low = index & 0x3f;
            if !keep_value {
                let number = low | u64::from(release_bit) << 6 | (index >> 6) << 7;
                return not_a_register(reg(op, File::Uniform, number, bits));
            }
            let float = || {
                MiniFloat::from_code(0x40 | low as u8, release_bit)
                    .map_or(Value::Int(low), Value::Float)
            };
            let int = |bit0: crate::Bit| {
                Value::Int(u64::from(bit0.get(bits)) | low << 1 | u64::from(release_bit) << 7)
            };
            return not_a_register(match constant {
                Constant::Float | Constant::PositiveFloat => float(),
                Constant::Int(bit0) => int(bit0),
                Constant::IntOrFloat(bit0) => {
                    if op.size.get(bits) {
                        float()
                    } else {
                        int(bit0)
                    }
                }
                Constant::None => Value::Int(low),
            });
        }
        Alt::Wide { gpr, constant } if !gpr.get(bits) => {
            if release_bit {
                let number = index | u64::from(keep_value) << 7;
                return not_a_register(reg(op, File::Uniform, number, bits));
            }
            // The hint bit above a constant means nothing; it is kept.
            return Arg {
                value: Value::Int(constant.get(bits)),
                kill: false,
                ..arg
            };
        }
        Alt::Address { gpr } if gpr.get(bits) == gpr.max() => {
            arg.value = reg(op, File::Gpr, index, bits);
            return arg;
        }
        Alt::Address { .. } => {
            return not_a_register(reg(op, File::UniformPair, index, bits));
        }
        Alt::Literal { gpr, literal, .. } if gpr.get(bits) == 0 => {
            return not_a_register(Value::Int(literal.get(bits)));
        }
        Alt::Export(bit) if bit.get(bits) => {
            arg.value = reg(op, File::Publication, index, bits);
            return arg;
        }
        _ => {}
    }
    arg.value = match op.file {
        File::Imm | File::SampleMask => Value::Int(index),
        file => reg(op, file, index, bits),
    };
    arg
}

/// Bits of an operand that say nothing about what it names at present.
pub(crate) fn dead_bits(op: &Operand, bits: u128) -> u128 {
    dead_bits_of(op, read(op, bits).value)
}

fn dead_bits_of(op: &Operand, value: Value) -> u128 {
    let release = op.release.bits().mask();
    match (op.alt, value) {
        (_, Value::Absent(_)) => release | op.keep.bit().bits().mask(),
        (Alt::Scattered { constant, .. }, value) => {
            let bit0 = match constant {
                Constant::Int(bit) | Constant::IntOrFloat(bit) => bit.bits().mask(),
                Constant::None | Constant::Float | Constant::PositiveFloat => 0,
            };
            // Register bit 6 is bit 7 of a uniform, and nothing in a constant.
            let bit6 = op.index.put(0, 0x40);
            match value {
                Value::Int(_) => bit6,
                Value::Float(_) => bit6 | bit0,
                _ => bit0,
            }
        }
        (Alt::Wide { constant, .. }, Value::Reg(_)) => constant.mask() & !op.index.mask(),
        (Alt::Literal { literal, .. }, Value::Int(_)) => {
            release | (op.index.mask() | op.half.bits().mask()) & !literal.mask()
        }
        (Alt::Address { .. }, Value::Reg(r)) if r.file == File::UniformPair => release,
        _ => 0,
    }
}

/// Largest number that operand `op` may have in `file`.
pub(crate) fn max_in(op: &Operand, file: File) -> u64 {
    let last = match (file, op.alt) {
        (File::Publication, Alt::Export(_)) => op.index.max(),
        (File::Gpr, Alt::Address { .. }) => 94,
        _ => op.max,
    };
    last + 1 - fixed_count(op.span)
}

fn range_error(op: &Operand, file: File, index: u64) -> Illegal {
    let mut legal = format!("{}..={}", op.min, max_in(op, file));
    if op.align > 1 {
        legal = format!("a multiple of {} in {legal}", op.align);
    }
    Illegal::number(op.name, index, legal)
}

#[inline]
pub(crate) fn check(op: &Operand, bits: u128) -> Result<(), Illegal> {
    let Presence {
        bits: present,
        on,
        off,
    } = op.present;
    if !present.is_none() {
        let value = present.get(bits);
        if value == off {
            return Ok(());
        }
        if value != on {
            return Err(Illegal::rule(op.name, value, "presence bits that agree"));
        }
    }
    if let Release::IfAll(all) = op.release {
        let value = all.get(bits);
        if value != 0 && value != all.max() {
            return Err(Illegal::rule(op.name, value, "release bits that agree"));
        }
    }
    match op.alt {
        Alt::Address { gpr } | Alt::Literal { gpr, .. } => {
            let value = gpr.get(bits);
            if value != 0 && value != gpr.max() {
                return Err(Illegal::rule(op.name, value, "file bits that agree"));
            }
        }
        _ => {}
    }
    let arg = read(op, bits);
    match arg.value {
        Value::Reg(r) => {
            let index = u64::from(r.index);
            let legal =
                if r.file == op.file || matches!(op.alt, Alt::Export(_) | Alt::Address { .. }) {
                    (op.min..=max_in(op, r.file)).contains(&index)
                        && index.is_multiple_of(u64::from(op.align))
                } else if let Alt::Scattered { max_uniform, .. } = op.alt {
                    index <= u64::from(max_uniform)
                } else {
                    true
                };
            if legal {
                Ok(())
            } else if r.file == op.file || !matches!(op.alt, Alt::Scattered { .. }) {
                Err(range_error(op, r.file, index))
            } else {
                Err(Illegal::rule(
                    op.name,
                    index,
                    "a uniform that the form reaches",
                ))
            }
        }
        Value::Int(v) => match op.alt {
            Alt::Literal { max, .. } if v > u64::from(max) => {
                Err(Illegal::number(op.name, v, format!("0..={max}")))
            }
            Alt::Scattered {
                constant: Constant::None,
                ..
            } => Err(Illegal::rule(op.name, v, "a register or uniform")),
            Alt::None if v > op.max => Err(range_error(op, op.file, v)),
            _ => Ok(()),
        },
        Value::Float(f) => match op.alt {
            Alt::Scattered {
                constant: Constant::PositiveFloat,
                ..
            } if f.is_negative() => Err(Illegal::operand(
                op.name,
                f.to_f32().to_string(),
                "a positive constant".into(),
            )),
            _ => Ok(()),
        },
        Value::Absent(_) => Ok(()),
    }
}

/// Writes one operand; the inverse of [`read`]. Bits that say nothing about the new value become 0.
#[inline]
pub(crate) fn write(op: &Operand, bits: u128, arg: &Arg) -> Result<u128, Illegal> {
    let mut bits = write_value(op, bits, arg)?;
    let back = read(op, bits).value;
    if !op.is_plain() {
        bits &= !dead_bits_of(op, back);
    }
    // Which part of a register is meant may be implied by other fields: they come first.
    let whole_for_low = matches!((arg.value, back), (Value::Reg(a), Value::Reg(b))
        if a.half == Half::Whole && b == Reg { half: Half::Low, ..a });
    if back != arg.value && !whole_for_low {
        let (value, legal) = (
            crate::print::value_text(arg.value),
            crate::print::value_text(back),
        );
        return Err(Illegal::operand(
            op.name,
            value,
            format!("{legal} with the present modifiers"),
        ));
    }
    Ok(bits)
}

fn write_value(op: &Operand, bits: u128, arg: &Arg) -> Result<u128, Illegal> {
    let refuse = |legal: &str| {
        Err(Illegal::operand(
            op.name,
            crate::print::value_text(arg.value),
            legal.to_owned(),
        ))
    };
    let mut bits = bits;
    if (arg.neg && op.neg.is_none()) || (arg.abs && op.abs.is_none()) {
        return refuse("an operand without this sign modifier");
    }
    bits = op.neg.put(bits, arg.neg);
    bits = op.abs.put(bits, arg.abs);
    if !op.present.bits.is_none() {
        let absent = matches!(arg.value, Value::Absent(_));
        bits = op.present.bits.put(
            bits,
            if absent {
                op.present.off
            } else {
                op.present.on
            },
        );
    }
    match arg.value {
        Value::Absent(index) => {
            if op.present.bits.is_none() {
                return refuse("present: the form always has the operand");
            }
            if u64::from(index) > op.index.max() {
                return Err(range_error(op, op.file, u64::from(index)));
            }
            bits = op.index.put(bits, u64::from(index));
            bits = write_release(op, bits, arg, false)?;
        }
        Value::Reg(r) => return write_register(op, bits, arg, r),
        Value::Float(f) => {
            let Alt::Scattered { file, constant, .. } = op.alt else {
                return refuse("a register");
            };
            let size = match constant {
                Constant::Float | Constant::IntOrFloat(_) => true,
                Constant::PositiveFloat if !f.is_negative() => true,
                _ => return refuse("a value that the form's constants include"),
            };
            bits = op.size.put(bits, size);
            bits = file.put(bits, true);
            bits = op.keep.bit().put(bits, true);
            bits = op.index.put(bits, u64::from(f.code() & 0x3f));
            if let Release::If(bit) = op.release {
                bits = bit.put(bits, f.is_negative());
            }
        }
        Value::Int(v) => match (op.file, op.alt) {
            (File::Imm | File::SampleMask, _) => {
                if v > op.max {
                    return Err(range_error(op, op.file, v));
                }
                bits = op.index.put(bits, v);
            }
            (_, Alt::Scattered { file, constant, .. }) => {
                let (Constant::Int(bit0) | Constant::IntOrFloat(bit0)) = constant else {
                    return refuse("a register, a uniform or a minifloat");
                };
                if v > 255 || (bit0.is_none() && v & 1 == 1) {
                    return refuse(if bit0.is_none() {
                        "an even number 0..=254"
                    } else {
                        "0..=255"
                    });
                }
                if let Constant::IntOrFloat(_) = constant {
                    bits = op.size.put(bits, false);
                }
                bits = file.put(bits, true);
                bits = op.keep.bit().put(bits, true);
                bits = op.index.put(bits, (v >> 1) & 0x3f);
                bits = bit0.put(bits, v & 1 == 1);
                if let Release::If(bit) = op.release {
                    bits = bit.put(bits, v & 0x80 != 0);
                }
            }
            (_, Alt::Wide { gpr, constant }) => {
                if v > constant.max() {
                    return refuse("0..=255");
                }
                bits = gpr.put(bits, false);
                if let Release::If(bit) = op.release {
                    bits = bit.put(bits, false);
                }
                bits = op.keep.bit().put(bits, arg.keep.unwrap_or(false));
                bits = constant.put(bits, v);
            }
            (_, Alt::Literal { gpr, literal, max }) => {
                if v > u64::from(max) {
                    return Err(Illegal::number(op.name, v, format!("0..={max}")));
                }
                bits = gpr.put(bits, 0);
                bits = literal.put(bits, v);
                if let Release::If(bit) = op.release {
                    bits = bit.put(bits, false);
                }
            }
            _ => return refuse("a register"),
        },
    }
    Ok(bits)
}

fn write_register(op: &Operand, bits: u128, arg: &Arg, r: Reg) -> Result<u128, Illegal> {
    let refuse = |legal: &str| {
        Err(Illegal::operand(
            op.name,
            crate::print::value_text(arg.value),
            legal.to_owned(),
        ))
    };
    let index = u64::from(r.index);
    let mut bits = bits;
    // The half: a bit of its own, a size bit, or implied.
    match (r.half, op.half.is_none(), op.size.is_none()) {
        (Half::High, true, _) => return refuse("a whole register or its low half"),
        (half, false, _) => bits = op.half.put(bits, half == Half::High),
        (half, true, false) => bits = op.size.put(bits, half == Half::Whole),
        (Half::Low, true, true) if matches!(op.span, Span::Regs(_)) => {
            return refuse("a whole register");
        }
        _ => {}
    }
    if op.span == Span::Half && r.half == Half::Whole && r.file == File::Gpr && !op.half.is_none() {
        return refuse("a half register");
    }
    match (op.alt, r.file) {
        (
            Alt::Scattered {
                file, max_uniform, ..
            },
            File::Uniform,
        ) => {
            if index > u64::from(max_uniform) {
                return Err(Illegal::number(
                    op.name,
                    index,
                    format!("u0..=u{max_uniform}"),
                ));
            }
            // Bit 7 goes to the register's bit 6, which short operands lack.
            if index >> 7 != 0 && op.index.width() < 7 {
                return Err(Illegal::rule(op.name, index, "u0..=u127"));
            }
            bits = file.put(bits, true);
            bits = op.index.put(bits, (index & 0x3f) | (index >> 7) << 6);
            bits = op.keep.bit().put(bits, false);
            if let Release::If(bit) = op.release {
                bits = bit.put(bits, index & 0x40 != 0);
            }
            if arg.kill {
                return refuse("a uniform without release");
            }
            return Ok(bits);
        }
        (Alt::Wide { gpr, .. }, File::Uniform) => {
            if index > 255 {
                return Err(Illegal::rule(op.name, index, "u0..=u255"));
            }
            if arg.kill {
                return refuse("a uniform without release");
            }
            bits = gpr.put(bits, false);
            bits = op.index.put(bits, index & 0x7f);
            bits = op.keep.bit().put(bits, index & 0x80 != 0);
            if let Release::If(bit) = op.release {
                bits = bit.put(bits, true);
            }
            return Ok(bits);
        }
        (Alt::Address { gpr }, File::UniformPair) => bits = gpr.put(bits, 0),
        (Alt::Address { gpr }, File::Gpr) => bits = gpr.put(bits, gpr.max()),
        (Alt::Export(bit), File::Publication) => bits = bit.put(bits, true),
        (Alt::Export(bit), File::Gpr) => bits = bit.put(bits, false),
        (Alt::Scattered { file, .. }, File::Gpr) if !file.is_none() => bits = file.put(bits, false),
        (Alt::Wide { gpr, .. }, File::Gpr) => bits = gpr.put(bits, true),
        (Alt::Literal { gpr, .. }, File::Gpr) => bits = gpr.put(bits, gpr.max()),
        (Alt::None, file) if file == op.file => {}
        (Alt::Address { .. }, _) => {
            return refuse("a register pair, or a uniform pair that starts at an even word");
        }
        _ => return refuse("an operand of the form's register file"),
    }
    let range = op.min..=max_in(op, r.file);
    if !range.contains(&index) || !index.is_multiple_of(u64::from(op.align)) {
        return Err(range_error(op, r.file, index));
    }
    bits = op.index.put(bits, index);
    write_release(op, bits, arg, r.file == File::UniformPair)
}

fn write_release(op: &Operand, bits: u128, arg: &Arg, pair: bool) -> Result<u128, Illegal> {
    let absent = matches!(arg.value, Value::Absent(_));
    let mut bits = bits;
    match op.release {
        Release::If(bit) => bits = bit.put(bits, arg.kill && !absent),
        Release::Unless(bit) => bits = bit.put(bits, !arg.kill),
        Release::Never if arg.kill => {
            let value = crate::print::value_text(arg.value);
            return Err(Illegal::operand(
                op.name,
                value,
                "not released: the form cannot".into(),
            ));
        }
        Release::IfAll(all) => {
            bits = all.put(bits, if arg.kill && !absent { all.max() } else { 0 });
        }
        Release::Always | Release::Never | Release::DestroyedIf(_) => {}
    }
    if pair && arg.kill && matches!(op.release, Release::If(_)) {
        return Err(Illegal::rule(op.name, 1, "not released: a uniform pointer"));
    }
    let keep = arg.keep.unwrap_or(default_keep(op, arg));
    Ok(op.keep.bit().put(bits, keep))
}

/// The cache hint that an encoder writes for this operand.
pub(crate) fn default_keep(op: &Operand, arg: &Arg) -> bool {
    matches!(op.keep, KeepHint::NotReleased(_))
        && !arg.kill
        && matches!(arg.value, Value::Reg(r) if r.file != File::Uniform)
}
