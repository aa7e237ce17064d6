// SPDX-License-Identifier: MIT
//! Operand keys with a meaning of their own.

use agx_isa::{
    Arg, File, Form, FormId, Half, Instr, MiniFloat, Reg, Release, Value as Operand,
    system_register, texture_mode,
};
use serde_json::Value;

use super::bind::{
    Custom, Problem, is_form, modifier_bits, operand, operand_bits, set_index, set_modifier,
    set_value,
};
use super::load::Encode;
use super::value::{boolean, integer, register, split_remark, string};

type Result = std::result::Result<(), Problem>;

const fn custom(
    set: fn(&mut [Instr], &Value, &Encode) -> Result,
    owns: fn(&Form) -> u128,
) -> Custom {
    Custom {
        set,
        owns,
        early: false,
    }
}

const fn early(
    set: fn(&mut [Instr], &Value, &Encode) -> Result,
    owns: fn(&Form) -> u128,
) -> Custom {
    Custom {
        early: true,
        ..custom(set, owns)
    }
}

const NOTHING: fn(&Form) -> u128 = |_| 0;

fn contradiction(stated: impl std::fmt::Display, found: impl std::fmt::Display) -> Result {
    Err(format!("`{stated}` is stated, found `{found}`"))
}

/// `stated` must be what the instruction shows anyway.
fn same<T: PartialEq + std::fmt::Debug>(stated: T, found: T) -> Result {
    if stated == found {
        Ok(())
    } else {
        Err(format!("{stated:?} is stated, found {found:?}"))
    }
}

#[cfg(test)]
fn name_of(instr: &Instr, modifier: &str) -> Option<&'static str> {
    let form = instr.form();
    let m = &form.modifiers[form.modifier(modifier)?];
    match m.legal {
        agx_isa::Legal::Names(names) => names
            .iter()
            .find(|(v, _)| *v == m.bits.get(instr.bits()))
            .map(|(_, name)| *name),
        _ => None,
    }
}

fn set_name(instr: &mut Instr, modifier: &str, name: &str) -> Result {
    let form = instr.form();
    let index = form
        .modifier(modifier)
        .ok_or_else(|| format!("no field {modifier}"))?;
    let value = match form.modifiers[index].legal {
        agx_isa::Legal::Names(names) => names.iter().find(|(_, n)| *n == name).map(|(v, _)| *v),
        _ => None,
    };
    let value = value.ok_or_else(|| format!("{modifier} has no value `{name}`"))?;
    set_modifier(instr, modifier, value)
}

// ---- General ----

/// A value that the vector does not assert: it asserts the class and the length only, and the form
/// is not decoded.
pub(super) static NOT_ASSERTED: Custom = custom(
    |_, _, vector| match vector.asserts {
        Some(super::load::Asserts::Length) => Ok(()),
        _ => Err("the form is not decoded".to_owned()),
    },
    NOTHING,
);

fn own_byte(byte: usize, value: &Value, vector: &Encode) -> Result {
    let text = string(value)?;
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let stated = u8::from_str_radix(digits, 16).map_err(|_| format!("`{text}` is no byte"))?;
    same(Some(&stated), vector.bytes.get(byte))
}

/// Byte 2 of the vector itself, as far as its mask states it.
pub(super) static BYTE_2: Custom = custom(|_, value, vector| own_byte(2, value, vector), NOTHING);
/// Byte 3 of the vector itself.
pub(super) static BYTE_3: Custom = custom(|_, value, vector| own_byte(3, value, vector), NOTHING);

/// The operation's own name, repeated.
pub(super) static OP_NAME: Custom = custom(
    |_, value, vector| same(string(value)?, vector.op.as_str()),
    NOTHING,
);

/// Number of registers written.
pub(super) static RESULT_COUNT: Custom = custom(
    |parts, value, _| same(integer(value)?, u64::from(parts[0].register_count(0))),
    NOTHING,
);

// ---- Arithmetic ----

/// `immediate 0`: an inline constant of that value; the sign of a zero is not stated.
pub(super) static ADDEND: Custom = custom(
    |parts, value, _| {
        let text = string(value)?;
        let number: Option<f32> = text.strip_prefix("immediate ").and_then(|n| n.parse().ok());
        let number = number.ok_or_else(|| format!("`{text}` is no immediate"))?;
        let index = operand(&parts[0], "B")?;
        if matches!(parts[0].arg(index).value, Operand::Float(f) if f.to_f32() == number) {
            return Ok(());
        }
        let mini =
            MiniFloat::from_f32(number).ok_or_else(|| format!("{number}: no 8-bit float"))?;
        set_value(&mut parts[0], index, Operand::Float(mini))
    },
    // The sign bit is free.
    |form| {
        let Some(index) = form.operand("B") else {
            return 0;
        };
        match form.operands[index].release {
            Release::If(bit) => operand_bits(form, "B") & !bit.bits().mask() & !(1 << 43),
            _ => operand_bits(form, "B"),
        }
    },
);

/// `r0`, or the one text that names both sources of a length witness.
pub(super) static IADD_SOURCE: Custom = custom(
    |parts, value, _| {
        let (text, with_uniform) = match string(value)?.split_once(" and ") {
            Some((text, "uniform word")) => (text, true),
            Some(_) => return Err(format!("`{value}` is no source")),
            None => (string(value)?, false),
        };
        let index = operand(&parts[0], "A")?;
        set_value(&mut parts[0], index, Operand::Reg(register(text)?.reg()))?;
        let b = operand(&parts[0], "B")?;
        let uniform = matches!(parts[0].arg(b).value, Operand::Reg(r) if r.file == File::Uniform);
        // Which word is not stated.
        if with_uniform && !uniform {
            set_value(&mut parts[0], b, Operand::uniform(0))?;
        }
        Ok(())
    },
    |form| operand_bits(form, "A"),
);

/// True when a bit-field extract reaches bit 31.
pub(super) fn extracts_to_the_top(vector: &Encode) -> bool {
    matches!((vector.number("offset"), vector.number("width")), (Some(o), Some(w)) if o + w == 32)
}

/// The width that a plain right shift leaves.
pub(super) static REST_WIDTH: Custom = custom(
    |parts, value, _| {
        let index = operand(&parts[0], "imm")?;
        let Operand::Int(offset) = parts[0].arg(index).value else {
            return Err("no immediate amount".to_owned());
        };
        // The width decides the amount just as the offset does.
        let width = integer(value)?;
        let amount = 32u64
            .checked_sub(width)
            .ok_or_else(|| format!("width {width}"))?;
        if amount == offset {
            Ok(())
        } else {
            contradiction(amount, offset)
        }
    },
    NOTHING,
);

/// `logical shift right by n`.
pub(super) static SHIFT_NOTE: Custom = custom(
    |_, value, vector| {
        let offset = vector.number("offset").ok_or("no offset")?;
        same(string(value)?, &format!("logical shift right by {offset}"))
    },
    NOTHING,
);

/// A left amount, encoded as the right rotation by 32 minus it.
pub(super) static LEFT_AMOUNT: Custom = custom(
    |parts, value, _| {
        let amount = integer(value)?;
        let right = 32u64
            .checked_sub(amount)
            .ok_or_else(|| format!("amount {amount}"))?;
        let index = operand(&parts[0], "amt")?;
        set_value(&mut parts[0], index, Operand::Int(right & 31))
    },
    |form| operand_bits(form, "amt"),
);

/// Source and result type of the special functions (isa-1, 4.4). Both keys set both; a missing one
/// is the other's default: fp32 result of a bfloat16 source, the same type otherwise.
pub(super) static SFU_TYPES: Custom = early(
    |parts, value, vector| {
        let known = ["f32", "f16", "bf16"];
        if !known.contains(&string(value)?) {
            return Err(format!("{value} is no type"));
        }
        let source = vector.text("src_type").unwrap_or("f32");
        let result = match (vector.text("dst_type"), source) {
            (Some(result), _) => result,
            (None, "bf16") => "f32",
            (None, source) => source,
        };
        // st, 16-bit result, and the third selector: `fmt` in SFU.10, `h` in RCP.10.
        let (st, narrow, third) = match (source, result) {
            ("f32", "f32") => (2, 0, [0, 0]),
            ("f16", "f16") => (1, 1, [2, 1]),
            ("f16", "f32") => (1, 0, [1, 0]),
            ("bf16", "f32") => (0, 0, [0, 0]),
            _ => return Err(format!("{source} to {result} is no combination")),
        };
        let instr = &mut parts[0];
        let half = |narrow| if narrow { Half::Low } else { Half::Whole };
        set_modifier(instr, "st", st)?;
        set_modifier(instr, "d16", narrow)?;
        if is_form(instr, &[FormId::Rcp]) {
            set_modifier(instr, "h", third[1])?;
        } else {
            set_modifier(instr, "fmt", third[0])?;
        }
        // The operands' widths follow from the fields just set.
        for (name, narrow) in [("D", narrow == 1), ("A", st != 2)] {
            let index = operand(instr, name)?;
            match instr.arg(index).value {
                Operand::Reg(r) if r.half == half(narrow) => {}
                other => return Err(format!("{name} is {other:?}")),
            }
        }
        Ok(())
    },
    |form| {
        ["st", "d16", "fmt", "h"]
            .iter()
            .fold(0, |m, name| m | modifier_bits(form, name))
    },
);

/// `low 16 bits of r0`, `high 16 bits of r0`, or a whole register for the 16-bit formats.
pub(super) static PACK_RESULT: Custom = custom(
    |parts, value, _| {
        let text = string(value)?;
        let (name, high) = match text.split_once(" 16 bits of ") {
            Some(("low", name)) => (name, Some(0)),
            Some(("high", name)) => (name, Some(1)),
            Some(_) => return Err(format!("`{text}` is no half")),
            None => (text, None),
        };
        let instr = &mut parts[0];
        let index = operand(instr, "D")?;
        let narrow = matches!(instr.arg(index).value, Operand::Reg(r) if r.half != Half::Whole);
        if narrow != high.is_some() {
            return Err("the format writes another width".to_owned());
        }
        let half = match high {
            None => Half::Whole,
            Some(1) => Half::High,
            Some(_) => Half::Low,
        };
        let wanted = Reg {
            half,
            ..register(name)?.reg()
        };
        set_value(instr, index, Operand::Reg(wanted))
    },
    |form| operand_bits(form, "D"),
);

/// `r0,r1`: A and B.
pub(super) static PACK_SOURCES: Custom = custom(
    |parts, value, _| {
        let text = string(value)?;
        let (a, b) = text
            .split_once(',')
            .ok_or_else(|| format!("`{text}` are no two sources"))?;
        for (name, text) in [("A", a), ("B", b)] {
            let index = operand(&parts[0], name)?;
            set_value(&mut parts[0], index, Operand::Reg(register(text)?.reg()))?;
        }
        Ok(())
    },
    |form| (operand_bits(form, "A") | operand_bits(form, "B")) & !releases(form, &["A", "B"]),
);

fn releases(form: &Form, names: &[&str]) -> u128 {
    names
        .iter()
        .filter_map(|name| form.operand(name))
        .fold(0, |mask, index| {
            let op = &form.operands[index];
            mask | op.release.bits().mask() | op.keep.bit().bits().mask()
        })
}

/// The unpack format by number; the 16-bit ones carry a second bit.
pub(super) static UNPACK_MODE: Custom = early(
    |parts, value, _| {
        let mode = integer(value)?;
        set_modifier(&mut parts[0], "mode", mode)
    },
    |form| modifier_bits(form, "mode") | modifier_bits(form, "w16"),
);

/// Which half an unpack reads: a name, or whether it is the high one.
pub(super) static UNPACK_HALF: Custom = custom(
    |parts, value, _| {
        let high = match value {
            Value::String(text) => match text.as_str() {
                "lo" => false,
                "hi" => true,
                other => return Err(format!("`{other}` is no half")),
            },
            other => boolean(other)?,
        };
        let index = operand(&parts[0], "A")?;
        let old = parts[0].arg(index);
        let Operand::Reg(reg) = old.value else {
            return Err("no register".to_owned());
        };
        let half = match (reg.half, high) {
            // The 16-bit modes read the whole register.
            (Half::Whole, false) => Half::Whole,
            (_, true) => Half::High,
            (_, false) => Half::Low,
        };
        let value = Operand::Reg(Reg { half, ..reg });
        parts[0]
            .set_arg(index, Arg { value, ..old })
            .map_err(|e| e.to_string())
    },
    |form| {
        form.operand("A")
            .map_or(0, |a| form.operands[a].half.bits().mask())
    },
);

/// Cube helper by number; it is the operation.
pub(super) static CUBE_MODE: Custom = custom(
    |parts, value, _| {
        let names = ["cube_face", "cube_s", "cube_t"];
        let mode = usize::try_from(integer(value)?).map_err(|_| "no mode")?;
        same(names.get(mode).copied(), parts[0].operation())
    },
    |form| form.opcode.bits.mask(),
);

// ---- Predicates and selects ----

/// The vector has an immediate comparand.
pub(super) fn has_imm(vector: &Encode) -> bool {
    vector.operands.contains_key("imm")
}

/// The vector has two register comparands.
pub(super) fn lacks_imm(vector: &Encode) -> bool {
    !has_imm(vector)
}

/// `x >= n`, written as `x > n - 1`.
pub(super) static AT_LEAST: Custom = custom(
    |_, value, vector| {
        let limit = vector.number("imm").ok_or("no immediate")? + 1;
        same(string(value)?, &format!("x >= {limit}"))
    },
    NOTHING,
);

/// The condition that holds exactly when `relation` does not. Floats have one for equality only:
/// NaN satisfies neither of two opposite orders.
fn negated(relation: &str) -> Option<&'static str> {
    Some(match relation {
        "ile" => "igt",
        "ige" => "ilt",
        "ule" => "ugt",
        "uge" => "ult",
        "ine" => "ieq",
        "fne" => "feq",
        _ => return None,
    })
}

/// The condition with exchanged comparands.
fn mirrored(relation: &str) -> Option<&'static str> {
    Some(match relation {
        "flt" => "fgt",
        "fgt" => "flt",
        "fle" => "fge",
        "fge" => "fle",
        "ilt" => "igt",
        "igt" => "ilt",
        "ult" => "ugt",
        "ugt" => "ult",
        "ieq" => "ieq",
        "feq" => "feq",
        _ => return None,
    })
}

const COND: fn(&Form) -> u128 = |form| modifier_bits(form, "cond");

/// The relation of a select of 1 or 0: the condition itself, or the opposite one with the constants
/// exchanged.
pub(super) static SWAPPED_RELATION: Custom = custom(
    |parts, value, vector| {
        let relation = string(value)?;
        match (vector.number("if_true"), vector.number("if_false")) {
            (Some(1), Some(0)) => set_name(&mut parts[0], "cond", relation),
            (Some(0), Some(1)) => {
                let opposite =
                    negated(relation).ok_or_else(|| format!("`{relation}` has no opposite"))?;
                set_name(&mut parts[0], "cond", opposite)
            }
            _ => Err("the constants are not 1 and 0".to_owned()),
        }
    },
    COND,
);

/// The condition by its two fields; either key sets both.
pub(super) static CONDITION: Custom = custom(
    |parts, _, vector| {
        let code = vector.number("condition_code").filter(|code| *code < 8);
        let code = code.ok_or("no condition_code below 8")?;
        let equality = vector
            .operands
            .get("equality_bit")
            .ok_or("no equality_bit")?;
        set_modifier(
            &mut parts[0],
            "cond",
            code | u64::from(boolean(equality)?) << 3,
        )
    },
    COND,
);

/// The relation of a register to a uniform, encoded as uniform `cond` register; an opposite one is
/// encoded with exchanged results.
pub(super) static MIRRORED_RELATION: Custom = custom(
    |parts, value, vector| {
        let relation = string(value)?;
        if vector.op != format!("select_{relation}_uniform") {
            return Err(format!("`{relation}` is not the relation of {}", vector.op));
        }
        let exchanged = match (vector.number("true_word"), vector.number("false_word")) {
            (Some(1), Some(2)) => false,
            (Some(2), Some(1)) => true,
            _ => return Err("the words are not 1 and 2".to_owned()),
        };
        let plain = if exchanged {
            negated(relation)
        } else {
            Some(relation)
        };
        let cond = plain.and_then(mirrored);
        let cond = cond.ok_or_else(|| format!("`{relation}` cannot be encoded so"))?;
        set_name(&mut parts[0], "cond", cond)
    },
    COND,
);

/// `uniform words`: A is a uniform.
pub(super) static COMPARE_UNIFORM: Custom = custom(
    |parts, value, _| {
        same(string(value)?, "uniform words")?;
        let index = operand(&parts[0], "A")?;
        match parts[0].arg(index).value {
            Operand::Reg(r) if r.file == File::Uniform => Ok(()),
            other => Err(format!("A is {other:?}")),
        }
    },
    NOTHING,
);

// ---- Uniform operands ----

/// `uniform_source` says which of A and B reads `uniform_word`.
pub(super) static UNIFORM_SOURCE: Custom = custom(
    |parts, _, vector| {
        let source = vector.number("uniform_source").ok_or("no uniform_source")?;
        let word = vector.number("uniform_word").ok_or("no uniform_word")?;
        let name = *["A", "B"]
            .get(source as usize)
            .ok_or_else(|| format!("source {source}"))?;
        let word = u16::try_from(word).map_err(|_| format!("word {word}"))?;
        let index = operand(&parts[0], name)?;
        set_value(&mut parts[0], index, Operand::uniform(word))
    },
    |form| operand_bits(form, "A") | operand_bits(form, "B"),
);

/// The source that is no uniform: `r64 (kept live)`.
pub(super) static OTHER_SOURCE: Custom = custom(
    |parts, value, vector| {
        let source = vector.number("uniform_source").ok_or("no uniform_source")?;
        let name = *["B", "A"]
            .get(source as usize)
            .ok_or_else(|| format!("source {source}"))?;
        let (text, remark) = split_remark(string(value)?);
        let index = operand(&parts[0], name)?;
        set_value(&mut parts[0], index, Operand::Reg(register(text)?.reg()))?;
        match remark {
            Some("kept live") => {
                let arg = Arg {
                    kill: false,
                    ..parts[0].arg(index)
                };
                parts[0].set_arg(index, arg).map_err(|e| e.to_string())
            }
            None => Ok(()),
            Some(remark) => Err(format!("remark `{remark}` has no known meaning")),
        }
    },
    NOTHING,
);

// ---- Memory ----

/// Element width and count, from `width` and `components` or from `shape`; with them the natural
/// index scale, one element (three words count as four), unless `index_shift` states another.
pub(super) static FORMAT: Custom = early(
    |parts, value, vector| {
        let (width, components) = match vector.text("shape") {
            None => {
                integer(value)?;
                let width = vector.number("width").ok_or("no width")?;
                (width, vector.number("components").ok_or("no components")?)
            }
            Some("u8") => (8, 1),
            Some("u16") => (16, 1),
            Some("u32") => (32, 1),
            Some("u64") => (32, 2),
            Some("u32x3") => (32, 3),
            Some("u32x4") => (32, 4),
            Some(shape) => return Err(format!("`{shape}` is no shape")),
        };
        let name = match components {
            1 => format!("i{width}"),
            n => format!("i{width}x{n}"),
        };
        set_name(&mut parts[0], "format", &name)?;
        let format = parts[0].device_format().ok_or("no device format")?;
        same(u64::from(format.components), components)?;
        same(u64::from(format.element_bytes) * 8, width)?;
        if vector.operands.contains_key("index_shift") {
            return Ok(());
        }
        let bytes = (width / 8 * components).next_power_of_two();
        set_scale(&mut parts[0], u64::from(bytes.trailing_zeros()))
    },
    |form| modifier_bits(form, "format"),
);

fn set_scale(instr: &mut Instr, shift: u64) -> Result {
    set_name(instr, "scale", &format!("lsl{shift}"))
}

/// Left shift of the index.
pub(super) static INDEX_SHIFT: Custom = custom(
    |parts, value, _| set_scale(&mut parts[0], integer(value)?),
    |form| modifier_bits(form, "scale"),
);

/// `rN`, `rN computed`, or the register that holds the thread index in captured programs: the one
/// behind the loaded words.
pub(super) static MEMORY_INDEX: Custom = custom(
    |parts, value, _| {
        let text = string(value)?;
        let index = operand(&parts[0], "index")?;
        match text.strip_suffix(" computed") {
            Some(name) => {
                set_index(&mut parts[0], index, name)?;
                set_index_kill(&mut parts[0], true)
            }
            None if text == "thread id register" => {
                let words = parts[0]
                    .device_format()
                    .ok_or("no device format")?
                    .components;
                set_value(&mut parts[0], index, Operand::gpr(u16::from(words)))
            }
            None => set_index(&mut parts[0], index, text),
        }
    },
    |form| operand_bits(form, "index") & !releases(form, &["index"]),
);

fn set_index_kill(instr: &mut Instr, kill: bool) -> Result {
    let index = operand(instr, "index")?;
    let arg = Arg {
        kill,
        ..instr.arg(index)
    };
    instr.set_arg(index, arg).map_err(|e| e.to_string())
}

/// `computed` releases the index, `direct` and `retained` keep it.
pub(super) static INDEX_MODE: Custom = custom(
    |parts, value, _| match string(value)? {
        "computed" => set_index_kill(&mut parts[0], true),
        "direct" | "retained" => set_index_kill(&mut parts[0], false),
        mode => Err(format!("`{mode}` is no index mode")),
    },
    |form| releases(form, &["index"]),
);

/// The register index of an atomic. One vector of a compare-exchange calls it "desired" and names
/// the register behind it "compare"; by isa-2, 5.1 the desired and compare values are the *data*
/// pair, so only the register's position is compared.
pub(super) static ATOMIC_INDEX: Custom = custom(
    |parts, value, vector| {
        let text = string(value)?;
        let index = operand(&parts[0], "index")?;
        let name = match text.split_once(" (desired), ") {
            Some((name, rest)) if vector.op == "device_atomic_cmpxchg" => {
                let next = register(name)?.first + 1;
                same(rest, &format!("r{next} (compare)"))?;
                name
            }
            Some(_) => return Err(format!("`{text}` in {}", vector.op)),
            None => text,
        };
        set_index(&mut parts[0], index, name)
    },
    |form| operand_bits(form, "index"),
);

/// Whether an atomic returns; discarding ones release the data register instead.
pub(super) static RETURNS: Custom = custom(
    |parts, value, _| {
        let returns = boolean(value)?;
        set_name(
            &mut parts[0],
            "result",
            if returns { "ret" } else { "void" },
        )
    },
    |form| modifier_bits(form, "result"),
);

// ---- Control flow ----

/// `waits: true`: the pending result of slot 6 is waited for.
pub(super) static WAITS_FOR_SIX: Custom = custom(
    |parts, value, _| {
        let slots = match boolean(value)? {
            true => agx_isa::SlotMask::of(6),
            false => agx_isa::SlotMask::NONE,
        };
        parts[0].set_waits(slots).map_err(|e| e.to_string())
    },
    |form| form.wait.bits.mask(),
);

/// Conditional scopes to the loop; the encoding counts two more, and the outermost loop's bank 1.
pub(super) static LEVELS: Custom = custom(
    |parts, value, _| {
        set_modifier(&mut parts[0], "scopes2", integer(value)?.saturating_add(2))?;
        let index = operand(&parts[0], "depth")?;
        set_value(
            &mut parts[0],
            index,
            Operand::Reg(Reg::new(File::Predicate, 1)),
        )
    },
    |form| modifier_bits(form, "scopes2") | operand_bits(form, "depth"),
);

/// The number of levels in words.
pub(super) static LEVELS_NOTE: Custom = custom(
    |_, value, vector| {
        let text = match vector.number("levels_to_loop") {
            Some(1) => "break under one if",
            Some(2) => "break under two nested ifs",
            other => return Err(format!("no wording for {other:?} levels")),
        };
        same(string(value)?, text)
    },
    NOTHING,
);

/// Loop depth, from 2 on: lanes drop out where the bank one below is false.
pub(super) static LOOP_DEPTH: Custom = custom(
    |parts, value, _| {
        let depth = integer(value)?;
        let bank = depth.checked_sub(1).and_then(|b| u16::try_from(b).ok());
        let bank = bank.ok_or_else(|| format!("depth {depth}"))?;
        let index = operand(&parts[0], "bank")?;
        set_value(
            &mut parts[0],
            index,
            Operand::Reg(Reg::new(File::Predicate, bank)),
        )
    },
    |form| operand_bits(form, "bank"),
);

// ---- Subgroups ----

/// `simd` or `quad`, which the operation says as well.
pub(super) static SCOPE: Custom = custom(
    |parts, value, _| {
        let scope = match parts[0].op_name() {
            "subgroup_reduce" => "simd",
            "quad_reduce" => "quad",
            other => other,
        };
        same(string(value)?, scope)
    },
    NOTHING,
);

/// The reduction; integer types are told apart by the operation's name.
pub(super) static REDUCTION: Custom = custom(
    |parts, value, vector| {
        let name = match (string(value)?, vector.op.ends_with("_i32")) {
            ("add", true) => "iadd",
            ("min", true) => "imin",
            ("max", true) => "imax",
            (name @ ("and" | "or" | "xor" | "umin" | "umax" | "fadd" | "fmul"), false) => name,
            (name, _) => return Err(format!("`{name}` in {}", vector.op)),
        };
        set_name(&mut parts[0], "operation", name)
    },
    |form| modifier_bits(form, "operation"),
);

/// `exclusive`: bit 3 of the type byte.
pub(super) static SCAN: Custom = custom(
    |parts, value, _| {
        same(string(value)?, "exclusive")?;
        let ty = parts[0].modifier("type").ok_or("no type byte")?;
        set_modifier(&mut parts[0], "type", ty | 8)
    },
    |form| modifier_bits(form, "type"),
);

/// The one ballot predicate whose compare fields are known (isa-4, 4.3): bytes 5 to 9.
pub(super) static BALLOT_PREDICATE: Custom = custom(
    |parts, value, _| {
        same(string(value)?, "lane < 5 built inline")?;
        same(&parts[0].encoded()[5..], &[0x00, 0x14, 0x48, 0x22, 0x0c])
    },
    NOTHING,
);

// ---- System registers ----

fn is_narrow(vector: &Encode) -> bool {
    match vector.number("value_width") {
        Some(width) => width == 16,
        None => vector
            .number("sr_index")
            .and_then(|n| u8::try_from(n).ok())
            .and_then(system_register)
            .is_some_and(|sr| sr.narrow),
    }
}

/// The 16-bit form: stated, or what the register needs (isa-0, 5). A vector that states neither
/// fits both.
pub(super) fn narrow_sr(vector: &Encode) -> bool {
    is_narrow(vector) || vector.operands.is_empty()
}

/// The 32-bit form.
pub(super) fn wide_sr(vector: &Encode) -> bool {
    !is_narrow(vector)
}

/// Width of the value, which picks the form.
pub(super) static SR_WIDTH: Custom = custom(
    |parts, value, _| {
        let width = if is_form(&parts[0], &[FormId::GetSr16]) {
            16
        } else {
            32
        };
        same(integer(value)?, width)
    },
    NOTHING,
);

/// Names of the vectors for system registers: `local_id.x`.
pub(super) static SR_NAME: Custom = custom(
    |parts, value, _| {
        let name = match string(value)? {
            "subgroup_lane" => "lane".to_owned(),
            "helper_lane" => "is_helper".to_owned(),
            name => name
                .replace("global_invocation_id", "global_id")
                .replace('.', "_"),
        };
        let index = operand(&parts[0], "sr")?;
        let known = agx_isa::SYSTEM_REGISTERS.iter().find(|sr| sr.name == name);
        let known = known.ok_or_else(|| format!("no system register is called `{name}`"))?;
        let reg = Reg::new(File::SysReg, u16::from(known.number));
        set_value(&mut parts[0], index, Operand::Reg(reg))
    },
    |form| operand_bits(form, "sr"),
);

// ---- Textures, tiles, images ----

/// The parameter block. The vectors call its words `r16...`; they are publications (isa-3, 2.2).
pub(super) static TEXTURE_COORDS: Custom = custom(
    |parts, value, _| {
        let reg = register(string(value)?)?;
        let index = operand(&parts[0], "param")?;
        set_value(&mut parts[0], index, Operand::publication(reg.first))
    },
    |form| operand_bits(form, "param"),
);

/// The slot, which the bundle names twice.
pub(super) static TEXTURE_SLOT: Custom = custom(
    |parts, value, _| {
        let slot = u8::try_from(integer(value)?).map_err(|_| "no slot")?;
        parts[0].set_completion(slot).map_err(|e| e.to_string())?;
        same(Some(slot), parts[0].completes())
    },
    |form| form.completion.mask(),
);

/// Constant texel offset; the mode must take one.
pub(super) static TEXTURE_OFFSET: Custom = custom(
    |parts, value, _| {
        let list = value.as_array().filter(|list| list.len() == 2);
        let list = list.ok_or_else(|| format!("`{value}` are no two offsets"))?;
        let mode = parts[0]
            .modifier("mode")
            .and_then(texture_mode)
            .ok_or("unknown mode")?;
        if !mode.name.ends_with("offset") {
            return Err(format!("mode {} takes no offset", mode.name));
        }
        set_modifier(&mut parts[0], "offset_x", integer(&list[0])?)?;
        set_modifier(&mut parts[0], "offset_y", integer(&list[1])?)
    },
    |form| modifier_bits(form, "offset_x") | modifier_bits(form, "offset_y"),
);

/// A literal set of samples, or a mask register.
pub(super) static SAMPLE_MASK: Custom = custom(
    |parts, value, _| {
        let index = operand(&parts[0], "mask")?;
        match value {
            Value::String(text) => set_index(&mut parts[0], index, text),
            number => set_value(&mut parts[0], index, Operand::Int(integer(number)?)),
        }
    },
    |form| operand_bits(form, "mask") & !releases(form, &["mask"]),
);

/// One sample, as a literal set.
pub(super) static SAMPLE: Custom = custom(
    |parts, value, _| {
        let sample = integer(value)?;
        if sample > 3 {
            return Err(format!("sample {sample}"));
        }
        let index = operand(&parts[0], "mask")?;
        set_value(&mut parts[0], index, Operand::Int(1 << sample))
    },
    |form| operand_bits(form, "mask"),
);

/// Parameter words of a block store. The vector calls them `r8..r11`; they are publications
/// (isa-3, 3.3).
pub(super) static STORE_PARAMETERS: Custom = custom(
    |parts, value, _| {
        let reg = register(string(value)?)?;
        let index = operand(&parts[0], "param")?;
        set_value(&mut parts[0], index, Operand::publication(reg.first))?;
        same(reg.count, Some(u16::from(parts[0].register_count(index))))
    },
    |form| operand_bits(form, "param"),
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_condition_mirrors_back() {
        for relation in [
            "flt", "fle", "fgt", "fge", "ilt", "igt", "ult", "ugt", "ieq", "feq",
        ] {
            assert_eq!(mirrored(mirrored(relation).unwrap()), Some(relation));
        }
    }

    #[test]
    fn float_orders_have_no_opposite() {
        for relation in ["flt", "fle", "fgt", "fge"] {
            assert_eq!(negated(relation), None);
        }
    }

    #[test]
    fn the_texture_conditions_name_table_fields() {
        let instr = agx_isa::asm::assemble_one("select.10.flt r0, r0, r0, r0, r0").unwrap();
        assert_eq!(name_of(&instr, "cond"), Some("flt"));
    }
}
