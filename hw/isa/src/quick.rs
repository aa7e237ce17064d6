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
//! **Operands.** Most operands that a compiler writes are registers, halves of them, uniforms or
//! immediates. The bits that say so, and where the number goes, are worked out by the general
//! writer for each operand and kind when its form is used first, so that writing is a mask, an OR
//! and the number.

use std::sync::{LazyLock, OnceLock};

use crate::bits::{Bit, Bits};
use crate::form::{
    Alt, Class, Completion, Constant, Derive, File, Form, Legal, Operand, Release, Span,
};
use crate::instr::{Arg, Half, Instr, LANDING_CODES, Reg, Value, has_variable_extent};
use crate::operand::{dead_bits, max_in, write};
use crate::table::{FormId, earlier_rows};

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
    /// Other fields say how far an operand extends.
    extends: bool,
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
        extends: id
            .form()
            .operands
            .iter()
            .any(|op| has_variable_extent(op.span)),
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
    if is_claimed(tests, bits) {
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

/// Do its bits mean an earlier row?
#[inline]
fn is_claimed(tests: &Tests, bits: u128) -> bool {
    let mut earlier = tests.earlier.iter();
    earlier.any(|(mask, value)| bits & mask == *value)
}

/// Has it bits of an earlier row, or tuples whose extent other fields say?
#[inline]
pub(crate) fn is_intricate(instr: &Instr) -> bool {
    let tests = &TESTS[instr.id() as usize];
    tests.extends || is_claimed(tests, instr.bits())
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

/// What operands usually are; a writer each.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A whole general register.
    Whole,
    /// Half of one.
    Low,
    High,
    /// A uniform where there may be a register.
    Uniform,
    /// A pointer in uniforms.
    Pair,
    /// A whole register of another file, the operand's own.
    Own,
    /// A number, in an operand that is always one.
    Number,
    /// Nothing, with number 0.
    Absent,
}

impl Kind {
    const ALL: [Kind; 8] = [
        Kind::Whole,
        Kind::Low,
        Kind::High,
        Kind::Uniform,
        Kind::Pair,
        Kind::Own,
        Kind::Number,
        Kind::Absent,
    ];

    /// The kind and the number of a value.
    #[inline(always)]
    fn of(value: Value) -> Option<(Kind, u64)> {
        let (kind, number) = match value {
            Value::Reg(Reg { file, index, half }) => {
                let kind = match (file, half) {
                    (File::Gpr, Half::Whole) => Kind::Whole,
                    (File::Gpr, Half::Low) => Kind::Low,
                    (File::Gpr, Half::High) => Kind::High,
                    (File::Uniform, Half::Whole) => Kind::Uniform,
                    (File::UniformPair, Half::Whole) => Kind::Pair,
                    (File::Imm, _) | (_, Half::Low | Half::High) => return None,
                    (_, Half::Whole) => Kind::Own,
                };
                (kind, u64::from(index))
            }
            Value::Int(number) => (Kind::Number, number),
            Value::Absent(0) => (Kind::Absent, 0),
            Value::Absent(_) | Value::Float(_) => return None,
        };
        Some((kind, number))
    }

    fn value(self, op: &Operand, number: u64) -> Value {
        let index = number as u16;
        match self {
            Kind::Whole => Value::gpr(index),
            Kind::Low => Value::gpr_half(index, false),
            Kind::High => Value::gpr_half(index, true),
            Kind::Uniform => Value::uniform(index),
            Kind::Pair => Value::Reg(Reg::new(File::UniformPair, index)),
            Kind::Own => Value::Reg(Reg::new(op.file, index)),
            Kind::Number => Value::Int(number),
            Kind::Absent => Value::Absent(index),
        }
    }

    /// The largest number that the operand may have.
    fn max(self, op: &Operand) -> u64 {
        match (self, op.alt) {
            (Kind::Uniform, Alt::Scattered { max_uniform, .. }) if op.index.width() >= 7 => {
                max_uniform.into()
            }
            (Kind::Uniform, Alt::Scattered { max_uniform, .. }) => u64::from(max_uniform).min(127),
            (Kind::Uniform, Alt::Wide { .. }) => 255,
            (Kind::Uniform, _) if op.file != File::Uniform => 0,
            (Kind::Whole | Kind::Low | Kind::High, _) => max_in(op, File::Gpr),
            (Kind::Pair, _) => max_in(op, File::UniformPair),
            (Kind::Absent, _) => 0,
            _ => max_in(op, op.file),
        }
    }
}

/// How an operand of one kind is written.
struct Writer {
    /// The operand's own file.
    file: File,
    /// All bits of the operand.
    mask: u128,
    /// Their values for number 0, retained and released; `None` = the form cannot.
    bits: [Option<u128>; 2],
    /// Where the number goes.
    number: Bits,
    max: u64,
    keep: Bit,
    neg: Bit,
    abs: Bit,
}

type Writers = [Option<Box<Writer>>; Kind::ALL.len()];

/// For each form the writers of its operands, made when the form is used first.
static WRITERS: [OnceLock<Box<[Writers]>>; FormId::ALL.len()] =
    [const { OnceLock::new() }; FormId::ALL.len()];

#[inline(always)]
fn writers(id: FormId) -> &'static [Writers] {
    WRITERS[id as usize].get_or_init(|| {
        let of = |op| Kind::ALL.map(|kind| Writer::of(op, kind).map(Box::new));
        id.form().operands.iter().map(of).collect()
    })
}

impl Writer {
    fn of(op: &'static Operand, kind: Kind) -> Option<Writer> {
        let fits = match kind {
            Kind::Number => op.file == File::Imm,
            Kind::Own => !matches!(op.file, File::Gpr | File::Imm | File::SampleMask),
            // Where other fields decide which half is meant, the general way looks at them.
            Kind::Low | Kind::High => {
                matches!(op.span, Span::Regs(_) | Span::Half | Span::Scalar)
            }
            _ => true,
        };
        let fixed = !matches!(
            op.span,
            Span::NarrowIfClear(_) | Span::NarrowIfSet(_) | Span::PackResult
        );
        if op.align != 1 || op.min != 0 || !fixed || !fits {
            return None;
        }
        let of = |number| Arg::new(kind.value(op, number));
        let zero = write(op, 0, &of(0)).ok()?;
        // Each bit of the number is one of the instruction.
        let max = kind.max(op);
        let mut places = Vec::new();
        for bit in 0..u64::BITS - max.leading_zeros() {
            let place = write(op, 0, &of(1 << bit)).ok()? ^ zero;
            if place.count_ones() != 1 || zero & place != 0 {
                return None;
            }
            places.push(place.trailing_zeros() as u8);
        }
        Some(Writer {
            file: op.file,
            mask: op.mask(),
            bits: [Some(zero), write(op, 0, &of(0).kill()).ok()],
            number: Bits::scattered(&places)?,
            max,
            keep: op.keep.bit(),
            neg: op.neg,
            abs: op.abs,
        })
    }
}

/// Writes operand `index` of form `id` if it is of the usual kinds; `None` = take the general way.
#[inline(always)]
pub(crate) fn write_usual(id: FormId, index: usize, bits: u128, arg: &Arg) -> Option<u128> {
    let (kind, number) = Kind::of(arg.value)?;
    let writer = writers(id).get(index)?[kind as usize].as_deref()?;
    let foreign = matches!(arg.value, Value::Reg(reg) if reg.file != writer.file);
    if number > writer.max
        || (kind == Kind::Own && foreign)
        || (arg.neg && writer.neg.is_none())
        || (arg.abs && writer.abs.is_none())
    {
        return None;
    }
    let constant = writer.bits[usize::from(arg.kill)]?;
    let mut bits = (bits & !writer.mask) | constant | writer.number.spread(number);
    if arg.neg {
        bits = writer.neg.put(bits, true);
    }
    if arg.abs {
        bits = writer.abs.put(bits, true);
    }
    match arg.keep {
        Some(_) if matches!(kind, Kind::Uniform | Kind::Pair | Kind::Absent) => None,
        Some(keep) => Some(writer.keep.put(bits, keep)),
        None => Some(bits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::FORMS;

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
        const FILES: [File; 15] = [
            File::Gpr,
            File::Uniform,
            File::UniformPair,
            File::Publication,
            File::Predicate,
            File::SysReg,
            File::Scratch,
            File::Coefficient,
            File::Output,
            File::TileWord,
            File::Texture,
            File::Sampler,
            File::Image,
            File::SampleMask,
            File::Imm,
        ];
        let numbers = || (0..=260).chain([511, 512, 8191, u16::MAX.into()]);
        let mut quick = [0; Kind::ALL.len()];
        for &id in FormId::ALL {
            for (i, op) in id.form().operands.iter().enumerate() {
                // Registers of files that the operand may or may not have.
                for (file, number) in FILES
                    .into_iter()
                    .flat_map(|f| [0, 1, 5, 63].map(|n| (f, n)))
                {
                    let arg = Arg::new(Value::Reg(Reg::new(file, number)));
                    if let Some(bits) = write_usual(id, i, id.form().base, &arg) {
                        assert_eq!(
                            Ok(bits),
                            write(op, id.form().base, &arg),
                            "{id:?} {i} {arg:?}"
                        );
                    }
                }
                for (kind, number) in Kind::ALL
                    .into_iter()
                    .flat_map(|k| numbers().map(move |n| (k, n)))
                {
                    for options in 0..24 {
                        let [kill, neg, abs] = [1, 2, 4].map(|bit| options & bit != 0);
                        let keep = [None, Some(false), Some(true)][options >> 3];
                        let arg = Arg {
                            kill,
                            keep,
                            neg,
                            abs,
                            ..Arg::new(kind.value(op, number))
                        };
                        for before in [id.form().base, u128::MAX] {
                            if let Some(bits) = write_usual(id, i, before, &arg) {
                                assert_eq!(Ok(bits), write(op, before, &arg), "{id:?} {arg:?}");
                                quick[kind as usize] += 1;
                            }
                        }
                    }
                }
            }
        }
        assert!(quick.iter().all(|count| *count > 0), "{quick:?}");
    }

    /// A register is released in the short way as in the long one.
    #[test]
    fn quick_releases_are_the_general_ones() {
        let mut state = 1u128;
        for &id in FormId::ALL {
            for i in 0..id.form().operands.len() {
                for _ in 0..500 {
                    state = state.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645) + 1;
                    let instr = Instr::from_bits(id, state ^ state >> 64 ^ state << 64);
                    let (mut quick, mut general) = (instr, instr);
                    assert_eq!(quick.release(i), general.release_any(i), "{instr:?}");
                    assert_eq!(quick, general);
                }
            }
        }
    }

    /// What setters have written has only to be asked for the rules that span several fields.
    #[test]
    fn setters_leave_the_rules_open_only() {
        let mut state = 1u64;
        let mut next = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut passed = 0;
        for &id in FormId::ALL {
            let form = id.form();
            for _ in 0..1000 {
                let mut instr = Instr::new(id);
                let names = form.opcode.names;
                if let Some((_, name)) = names.get(next(names.len() as u64 + 1) as usize) {
                    assert_eq!(instr.set_operation(name), Ok(()));
                }
                for (i, modifier) in form.modifiers.iter().enumerate() {
                    if modifier.class != Class::Derived {
                        let _ =
                            instr.set_modifier_at(i, next(modifier.bits.max().saturating_add(1)));
                    }
                }
                for (i, op) in form.operands.iter().enumerate() {
                    let kind = Kind::ALL[next(Kind::ALL.len() as u64) as usize];
                    let below = [8, 256][next(2) as usize];
                    let mut arg = Arg::new(kind.value(op, next(below)));
                    (arg.kill, arg.neg, arg.abs) = (next(2) == 0, next(4) == 0, next(4) == 0);
                    let _ = instr.set_arg(i, arg);
                }
                if let Some(slots) = crate::SlotMask::from_bits(next(64) as u8) {
                    let _ = instr.set_waits(slots);
                }
                let _ = instr.set_completion(next(8) as u8);
                if instr.check_rules().is_ok() {
                    passed += 1;
                    assert_eq!(instr.check(false), Ok(()), "{instr:?}");
                }
            }
        }
        assert!(passed > 50_000, "only {passed} passed");
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
