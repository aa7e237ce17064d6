// SPDX-License-Identifier: MIT
//! Fast paths of the decoder and the encoder.
//!
//! **Legality.** [`Instr::check`] walks the descriptions of every operand and modifier, which costs more than
//! the rest of decoding. Almost every real instruction passes, so each form gets, once, a few tests
//! on the raw bits that together accept only legal instructions: masks that must not be all ones
//! (a register number of 96 or more has its two top bits set), bits that must be zero, small sets
//! of field values. What they do not accept goes to the full check, which decides. A test holds the
//! two together.
//!
//! **Operands.** Most operands that a compiler writes are whole registers of one file, or an
//! immediate. The bits that say so are worked out once per operand by the general writer, so that
//! writing is a mask, an OR and the number.

use std::sync::LazyLock;

use crate::bits::{Bit, Bits};
use crate::form::{
    Alt, Class, Completion, Constant, Derive, File, Form, Legal, Operand, Release, Span,
};
use crate::instr::{Arg, Half, Instr, LANDING_CODES, Reg, Value};
use crate::operand::{dead_bits, max_in, write};
use crate::table::{FORMS, FormId, earlier_rows};

/// The tests of one form.
#[derive(Default)]
struct Tests {
    /// Suspicious when any of these bits is set.
    any: u128,
    /// Suspicious when all bits of one of these are set.
    all: Vec<u128>,
    /// Suspicious when the field's value is not in the set, which has a bit for each of 256 values.
    sets: Vec<(Bits, [u64; 4])>,
    /// Suspicious when the field's value is not in the sorted list.
    lists: Vec<(Bits, Vec<u64>)>,
    /// No quick answer for this form.
    never: bool,
    /// The form's selecting bits and their values.
    mask: u128,
    value: u128,
    derive: Option<Derive>,
    /// Rows that win over this one: whatever they claim is not quick.
    earlier: Vec<(u128, u128)>,
    /// Strict: these bits must have the form's constants ...
    constant: u128,
    base: u128,
    /// ... fields without a known meaning must have a value that was seen ...
    opaque: Vec<(Bits, Vec<u64>)>,
    /// ... and these operands may have bits that say nothing, which must be 0.
    compound: Vec<&'static Operand>,
}

static TESTS: LazyLock<Vec<Tests>> = LazyLock::new(|| {
    let of = |&id: &FormId| Tests {
        earlier: earlier_rows(id)
            .iter()
            .map(|row| (row.form().mask, row.form().value))
            .collect(),
        ..Tests::of(id.form())
    };
    FormId::ALL.iter().map(of).collect()
});

/// True only if the instruction passes the check. False means nothing.
#[inline]
pub(crate) fn is_legal(instr: &Instr, strict: bool) -> bool {
    let tests = &TESTS[instr.id() as usize];
    let bits = instr.bits();
    if tests.never || bits & tests.any != 0 || tests.all.iter().any(|mask| bits & mask == *mask) {
        return false;
    }
    for (field, set) in &tests.sets {
        let value = field.get(bits);
        if (set[(value >> 6) as usize & 3] >> (value & 63)) & 1 == 0 {
            return false;
        }
    }
    for (field, list) in &tests.lists {
        if list.binary_search(&field.get(bits)).is_err() {
            return false;
        }
    }
    if bits & tests.mask != tests.value {
        return false;
    }
    if tests
        .earlier
        .iter()
        .any(|(mask, value)| bits & mask == *value)
    {
        return false;
    }
    if tests.derive.is_some_and(|derive| derive(bits) != bits) {
        return false;
    }
    if strict && !tests.is_known(bits) {
        return false;
    }
    instr.form().check.is_none_or(|check| check(instr).is_ok())
}

impl Tests {
    fn is_known(&self, bits: u128) -> bool {
        (bits ^ self.base) & self.constant == 0
            && self
                .opaque
                .iter()
                .all(|(field, seen)| seen.contains(&field.get(bits)))
            && self
                .compound
                .iter()
                .all(|op| bits & dead_bits(op, bits) == 0)
    }

    fn of(form: &'static Form) -> Tests {
        let mut tests = Tests {
            mask: form.mask,
            value: form.value,
            derive: form.derive,
            constant: form.all_bits() & !form.field_bits() & !form.mask,
            base: form.base,
            compound: form.operands.iter().filter(|op| !op.is_plain()).collect(),
            ..Tests::default()
        };
        for m in form.modifiers.iter().filter(|m| m.class == Class::Opaque) {
            let seen = match m.legal {
                Legal::Set(values) => values.to_vec(),
                Legal::Names(names) => names.iter().map(|(v, _)| *v).collect(),
                _ => continue,
            };
            tests.opaque.push((m.bits, seen));
        }
        tests.values(form.opcode.bits, form.opcode.names.iter().map(|(v, _)| *v));
        if !form.wait.mask && !form.wait.bits.is_none() {
            // Slot number 7.
            tests.all.push(form.wait.bits.mask());
        }
        match form.completion {
            Completion::Landing(bits) => tests.values(bits, LANDING_CODES.iter().copied()),
            Completion::TwinTag(a, b) => {
                // Equal tags, as one field of both.
                let twin = Bits::join(a, b);
                tests.values(twin, (0..=5).map(|tag| tag | tag << 3));
            }
            other => tests.at_most(other.bits(), 5, 0),
        }
        for m in form.modifiers.iter().filter(|m| m.class != Class::Opaque) {
            match m.legal {
                Legal::Any | Legal::Signed => {}
                Legal::SignedEven => tests.any |= m.bits.put(0, 1),
                Legal::Multiple(n) if n.is_power_of_two() => tests.any |= m.bits.put(0, n - 1),
                Legal::Range(lo, hi) if m.bits.width() <= 8 => tests.values(m.bits, lo..=hi),
                Legal::Multiple(_) | Legal::Range(..) => tests.never = true,
                Legal::Set(values) => tests.values(m.bits, values.iter().copied()),
                Legal::Names(names) => tests.values(m.bits, names.iter().map(|(v, _)| *v)),
            }
        }
        for op in form.operands {
            tests.operand(op);
        }
        tests
    }

    /// The field must hold one of `values`.
    fn values(&mut self, field: Bits, values: impl Iterator<Item = u64>) {
        if field.is_none() {
            return;
        }
        if field.width() > 8 {
            let mut list: Vec<u64> = values.collect();
            list.sort_unstable();
            self.lists.push((field, list));
            return;
        }
        let mut set = [0; 4];
        let mut count = 0;
        for v in values {
            set[(v >> 6) as usize] |= 1 << (v & 63);
            count += 1;
        }
        if count <= field.max() {
            self.sets.push((field, set));
        }
    }

    /// The field must not exceed `max` when all bits of `when` are set.
    fn at_most(&mut self, field: Bits, max: u64, when: u128) {
        if field.is_none() || max >= field.max() {
            return;
        }
        let top = 1 << (field.width() - 1);
        if field.width() >= 2 && max + 1 >= top + top / 2 {
            self.all.push(when | field.put(0, top | (top / 2)));
        } else if max + 1 >= top {
            self.all.push(when | field.put(0, top));
        } else if when == 0 && field.width() <= 8 {
            self.values(field, 0..=max);
        } else {
            self.never = true;
        }
    }

    fn operand(&mut self, op: &Operand) {
        // The longest tuple that a span of variable extent can name.
        let longest = match op.span {
            Span::Regs(n) => u64::from(n),
            Span::DeviceFormat | Span::TextureResult | Span::BlockParams => 4,
            Span::AtomicData | Span::CubeResult => 2,
            Span::TextureParams => 10,
            Span::ImageParams => 8,
            _ => 1,
        };
        self.at_most(op.index, op.max + 1 - longest, 0);
        if op.min > 0 {
            self.values(op.index, op.min..=op.max);
        }
        if op.align > 1 {
            self.any |= op.index.put(0, u64::from(op.align) - 1);
        }
        if !op.present.bits.is_none() {
            let values = [op.present.on, op.present.off];
            self.values(op.present.bits, values.into_iter());
        }
        let release = match op.release {
            Release::If(bit) => bit.bits().mask(),
            Release::IfAll(all) => {
                self.values(all, [0, all.max()].into_iter());
                0
            }
            _ => 0,
        };
        match op.alt {
            Alt::Scattered {
                file,
                constant,
                max_uniform,
            } => {
                let file = file.bits().mask();
                if max_uniform < 127 || constant == Constant::PositiveFloat {
                    // Uniform bit 6 and the constant's sign sit in the release bit.
                    self.all.push(file | release);
                }
                if constant == Constant::None {
                    self.all.push(file | op.keep.bit().bits().mask());
                }
            }
            Alt::Address { gpr } => {
                if gpr.width() > 1 {
                    self.values(gpr, [0, gpr.max()].into_iter());
                }
                self.at_most(op.index, 94, gpr.mask());
            }
            Alt::Literal { gpr, literal, max } => {
                if gpr.width() > 1 {
                    self.values(gpr, [0, gpr.max()].into_iter());
                }
                self.at_most(literal, u64::from(max), 0);
            }
            Alt::None | Alt::Wide { .. } | Alt::Export(_) => {}
        }
    }
}

/// How an operand is written when it is what its form usually has there: a whole register of the
/// operand's own file, or an immediate.
struct Template {
    /// All bits of the operand.
    mask: u128,
    /// Their values for number 0, retained and released; `None` = the form cannot.
    bits: [Option<u128>; 2],
    index: Bits,
    max: u64,
    file: File,
    keep: Bit,
}

static TEMPLATES: LazyLock<Vec<Vec<Option<Template>>>> = LazyLock::new(|| {
    FORMS
        .iter()
        .map(|form| form.operands.iter().map(Template::of).collect())
        .collect()
});

/// The file and number of a value without half.
#[inline]
fn plain(value: Value) -> Option<(File, u64)> {
    match value {
        Value::Reg(Reg {
            file,
            index,
            half: Half::Whole,
        }) if file != File::Imm => Some((file, u64::from(index))),
        Value::Int(v) => Some((File::Imm, v)),
        _ => None,
    }
}

impl Template {
    fn of(op: &'static Operand) -> Option<Template> {
        let value = match op.file {
            File::Imm => Value::Int(0),
            File::SampleMask => return None,
            file => Value::Reg(Reg::new(file, 0)),
        };
        let arg = Arg::new(value);
        // Where other fields decide which half is meant, the general way looks at them.
        let fixed = !matches!(
            op.span,
            Span::NarrowIfClear(_) | Span::NarrowIfSet(_) | Span::PackResult
        );
        (op.align == 1 && op.min == 0 && fixed).then(|| Template {
            mask: op.mask(),
            bits: [write(op, 0, &arg).ok(), write(op, 0, &arg.kill()).ok()],
            index: op.index,
            max: max_in(op, op.file),
            file: op.file,
            keep: op.keep.bit(),
        })
    }
}

/// Writes operand `index` of form `id` if it is of the usual kind and has no sign modifiers;
/// `None` = take the general way.
#[inline]
pub(crate) fn write_plain(id: FormId, index: usize, bits: u128, arg: &Arg) -> Option<u128> {
    let (file, number) = plain(arg.value)?;
    let template = TEMPLATES[id as usize].get(index)?.as_ref()?;
    if file != template.file || number > template.max || arg.neg || arg.abs {
        return None;
    }
    let constant = template.bits[usize::from(arg.kill)]?;
    let bits = template
        .index
        .put((bits & !template.mask) | constant, number);
    Some(match arg.keep {
        Some(keep) => template.keep.put(bits, keep),
        None => bits,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operand::{read, read_register};

    /// The quick answer exists for every form that a compiler emits.
    #[test]
    fn every_emitted_form_has_quick_tests() {
        for (form, tests) in FORMS.iter().zip(TESTS.iter()) {
            assert!(
                !tests.never || form.emit != crate::Emit::Yes,
                "{}",
                form.name
            );
        }
    }

    /// The quick writer agrees with the general one, from any previous contents.
    #[test]
    fn quick_writes_are_the_general_ones() {
        for &id in FormId::ALL {
            for (i, op) in id.form().operands.iter().enumerate() {
                for number in [
                    0,
                    1,
                    31,
                    63,
                    64,
                    94,
                    95,
                    96,
                    127,
                    128,
                    255,
                    256,
                    8191,
                    u16::MAX,
                ] {
                    let reg = Value::Reg(Reg::new(op.file, number));
                    for value in [reg, Value::gpr(number), Value::Int(u64::from(number))] {
                        for (kill, keep) in [false, true]
                            .into_iter()
                            .flat_map(|k| [None, Some(false), Some(true)].map(|keep| (k, keep)))
                        {
                            let arg = Arg {
                                kill,
                                keep,
                                ..Arg::new(value)
                            };
                            for before in [id.form().base, u128::MAX] {
                                if let Some(bits) = write_plain(id, i, before, &arg) {
                                    assert_eq!(Ok(bits), write(op, before, &arg), "{id:?} {arg:?}");
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// The short way to a register tells what the long one does, whatever the bits are.
    #[test]
    fn quick_registers_are_the_general_ones() {
        let mut state = 1u128;
        for &id in FormId::ALL {
            for op in id.form().operands {
                for round in 0..500 {
                    state = state.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645) + 1;
                    let random = state ^ state >> 64 ^ state << 64;
                    let bits = if round % 2 == 0 {
                        random
                    } else {
                        random & state
                    };
                    if let Some((reg, kill)) = read_register(op, bits) {
                        let arg = read(op, bits);
                        assert_eq!((Value::Reg(reg), kill), (arg.value, arg.kill), "{id:?}");
                    }
                }
            }
        }
    }

    /// Whatever is accepted quickly passes the full check; drawn from words in which all free bits
    /// are random, few are set, or few are clear.
    #[test]
    fn quick_implies_legal() {
        let mut state = 1u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let x = (state >> 33) ^ state;
            x.wrapping_mul(0xff51_afd7_ed55_8ccd)
        };
        let mut accepted = 0;
        for &id in FormId::ALL {
            let form = id.form();
            for round in 0..20_000 {
                let mut word = || u128::from(next()) | u128::from(next()) << 64;
                let random = match round % 3 {
                    0 => word(),
                    1 => word() & word() & word(),
                    _ => word() | word() | word(),
                };
                let free = form.all_bits() & !form.mask;
                let instr = Instr::from_bits(id, (form.base & !free) | (random & free));
                for strict in [false, true] {
                    if is_legal(&instr, strict) {
                        accepted += 1;
                        assert_eq!(instr.check(strict), Ok(()), "{instr:?}");
                    }
                }
            }
        }
        assert!(accepted > 200_000, "only {accepted} were accepted");
    }
}
