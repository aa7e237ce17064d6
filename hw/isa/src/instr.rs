// SPDX-License-Identifier: MIT
//! One instruction: a form and its bits, with operands read and written through the table.
//!
//! An [`Instr`] is 32 bytes, `Copy`, and always representable: setters refuse what does not fit, so
//! `encode` only has to apply the rules that span several fields.

use std::sync::LazyLock;

use crate::form::{
    Alt, Class, Completion, File, Form, KeepHint, Legal, Modifier, Operand, Release, Span,
};
use crate::illegal::Illegal;
use crate::minifloat::MiniFloat;
use crate::operand;
use crate::table::{self, FormId};
use crate::template::Template;

/// Which part of a register an operand names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    /// All 32 bits.
    Whole,
    /// Bits 0..15.
    Low,
    /// Bits 16..31.
    High,
}

/// A register, or the first of a tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reg {
    /// Its file.
    pub file: File,
    /// Its number.
    pub index: u16,
    /// The part named.
    pub half: Half,
}

impl Reg {
    /// A whole register.
    #[must_use]
    pub const fn new(file: File, index: u16) -> Reg {
        Reg {
            file,
            index,
            half: Half::Whole,
        }
    }
}

/// What an operand names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A register, table index or slot.
    Reg(Reg),
    /// An integer immediate or inline constant.
    Int(u64),
    /// A minifloat.
    Float(MiniFloat),
    /// The form has the operand, this instruction does not. The number bits are kept.
    Absent(u16),
}

impl Value {
    /// `r{index}`.
    #[must_use]
    pub const fn gpr(index: u16) -> Value {
        Value::Reg(Reg::new(File::Gpr, index))
    }

    /// `u{index}`.
    #[must_use]
    pub const fn uniform(index: u16) -> Value {
        Value::Reg(Reg::new(File::Uniform, index))
    }

    /// `p{index}`.
    #[must_use]
    pub const fn publication(index: u16) -> Value {
        Value::Reg(Reg::new(File::Publication, index))
    }

    /// The low or high half of `r{index}`.
    #[must_use]
    pub const fn gpr_half(index: u16, high: bool) -> Value {
        Value::Reg(Reg {
            file: File::Gpr,
            index,
            half: if high { Half::High } else { Half::Low },
        })
    }
}

/// An operand with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arg {
    /// What it names.
    pub value: Value,
    /// Negated, after `abs`.
    pub neg: bool,
    /// Absolute value.
    pub abs: bool,
    /// Last use: the register is released. Always true for operands that the form destroys.
    pub kill: bool,
    /// Cache hint. `None` in a setter = what the form's default says.
    pub keep: Option<bool>,
}

impl Arg {
    /// A value without modifiers, not released.
    #[must_use]
    pub const fn new(value: Value) -> Arg {
        Arg {
            value,
            neg: false,
            abs: false,
            kill: false,
            keep: None,
        }
    }

    /// The same, released.
    #[must_use]
    pub const fn kill(mut self) -> Arg {
        self.kill = true;
        self
    }

    /// The same, negated.
    #[must_use]
    pub const fn neg(mut self) -> Arg {
        self.neg = true;
        self
    }

    /// The same, absolute value.
    #[must_use]
    pub const fn abs(mut self) -> Arg {
        self.abs = true;
        self
    }
}

impl From<Value> for Arg {
    fn from(value: Value) -> Arg {
        Arg::new(value)
    }
}

/// The bytes of one instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Encoded {
    bytes: [u8; 16],
    len: u8,
}

impl std::ops::Deref for Encoded {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl std::fmt::Debug for Encoded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, b) in self.iter().enumerate() {
            write!(f, "{}{b:02x}", if i == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}

/// One instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Instr {
    id: FormId,
    bits: u128,
}

impl Instr {
    /// An instruction of this form with every field at its default and every operand 0.
    #[inline]
    #[must_use]
    pub fn new(id: FormId) -> Instr {
        // Worked out once for every form: a compiler asks for each instruction that it builds.
        static DEFAULTS: LazyLock<Vec<u128>> =
            LazyLock::new(|| FormId::ALL.iter().map(|&id| Instr::defaults(id)).collect());
        Instr {
            id,
            bits: DEFAULTS[id as usize],
        }
    }

    /// [`Instr::new`]'s bits.
    pub(crate) const fn defaults(id: FormId) -> u128 {
        let form = id.form();
        let mut bits = form.base;
        let mut i = 0;
        while i < form.modifiers.len() {
            bits = form.modifiers[i].bits.put(bits, form.modifiers[i].default);
            i += 1;
        }
        bits = form.wait.bits.put(bits, form.wait.default);
        if form.opcode.bits.width() > 0 {
            bits = form.opcode.bits.put(bits, form.opcode.names[0].0);
        }
        if let Completion::Landing(code) = form.completion {
            bits = code.put(bits, LANDING_CODES[0]);
        }
        i = 0;
        while i < form.operands.len() {
            let op = &form.operands[i];
            i += 1;
            bits = op.present.bits.put(bits, op.present.on);
            bits = op.size.put(bits, true);
            if let Alt::Wide { gpr, .. } = op.alt {
                bits = gpr.put(bits, true);
            }
            if let Alt::Scattered { file, .. } = op.alt
                && file.is_none()
            {
                // The alternative file is all the form has: uniform 0 where allowed.
                continue;
            }
            if let KeepHint::NotReleased(bit) = op.keep {
                bits = bit.put(bits, true);
            }
        }
        bits
    }

    /// An instruction that begins as the template says.
    #[inline]
    #[must_use]
    pub const fn from_template(template: &Template) -> Instr {
        Instr {
            id: template.id(),
            bits: template.bits(),
        }
    }

    /// The low selecting bits, for messages.
    fn raw_selection(&self) -> u64 {
        (self.bits & self.form().mask) as u64
    }

    /// May a compiler emit this instruction?
    #[must_use]
    pub fn emit(&self) -> crate::Emit {
        let form = self.form();
        match (form.emit, form.emit_rule.and_then(|rule| rule(self))) {
            (crate::Emit::No(why), _) | (_, Some(why)) => crate::Emit::No(why),
            (emit, None) => emit,
        }
    }

    /// The instruction of this form with these bits.
    ///
    /// # Errors
    /// When the bits do not select the form, lie outside it, or hold illegal values.
    pub fn from_word(id: FormId, bits: u128) -> Result<Instr, Illegal> {
        let form = id.form();
        let instr = Instr { id, bits };
        if bits & !form.all_bits() != 0 {
            return Err(Illegal::rule(
                "length",
                instr.raw_selection(),
                "bits inside the form",
            ));
        }
        instr.check(false)?;
        Ok(instr)
    }

    /// An instruction whose bits are already known to belong to the form.
    #[inline]
    pub(crate) const fn from_bits(id: FormId, bits: u128) -> Instr {
        Instr { id, bits }
    }

    /// The row of the table.
    #[inline]
    #[must_use]
    pub const fn id(&self) -> FormId {
        self.id
    }

    /// The row of the table.
    #[inline]
    #[must_use]
    pub fn form(&self) -> &'static Form {
        self.id.form()
    }

    /// The instruction word; bit 0 is bit 0 of byte 0.
    #[inline]
    #[must_use]
    pub const fn bits(&self) -> u128 {
        self.bits
    }

    /// The operation's name, `None` for a reserved opcode value.
    #[must_use]
    pub fn operation(&self) -> Option<&'static str> {
        let opcode = &self.form().opcode;
        let value = opcode.bits.get(self.bits);
        opcode
            .names
            .iter()
            .find(|(v, _)| *v == value)
            .map(|(_, name)| *name)
    }

    /// The operation's name; `reserved` for a reserved opcode value.
    #[must_use]
    pub fn op_name(&self) -> &'static str {
        self.operation().unwrap_or("reserved")
    }

    /// Selects the operation by name.
    ///
    /// # Errors
    /// When the form has no such operation.
    pub fn set_operation(&mut self, name: &str) -> Result<(), Illegal> {
        let opcode = &self.form().opcode;
        let Some((value, _)) = opcode.names.iter().find(|(_, n)| *n == name) else {
            let legal: Vec<_> = opcode.names.iter().map(|(_, n)| *n).collect();
            return Err(Illegal::operand(
                "operation",
                name.to_owned(),
                legal.join(", "),
            ));
        };
        self.bits = opcode.bits.put(self.bits, *value);
        Ok(())
    }

    /// The number bits of operand `index`, whatever file they name.
    #[inline]
    #[must_use]
    pub fn raw(&self, index: usize) -> u64 {
        self.form().operands[index].index.get(self.bits)
    }

    /// One bit of the instruction word.
    #[inline]
    #[must_use]
    pub const fn raw_bit(&self, bit: u8) -> bool {
        (self.bits >> bit) & 1 == 1
    }

    /// Value of the modifier with this name; `None` when the form has none such.
    #[must_use]
    pub fn modifier(&self, name: &str) -> Option<u64> {
        let form = self.form();
        form.modifier(name)
            .map(|m| form.modifiers[m].bits.get(self.bits))
    }

    /// Value of modifier `index` of the form.
    #[inline]
    #[must_use]
    pub fn modifier_at(&self, index: usize) -> u64 {
        self.form().modifiers[index].bits.get(self.bits)
    }

    /// Value of modifier `index` of the form, sign-extended to 64 bits when it is signed: what
    /// [`Instr::set_modifier_at`] takes.
    #[must_use]
    pub fn signed_modifier_at(&self, index: usize) -> u64 {
        let m = &self.form().modifiers[index];
        let value = m.bits.get(self.bits);
        if is_signed(m.legal) {
            sign_extend(value, m.bits.width())
        } else {
            value
        }
    }

    /// Sets the modifier with this name. Signed fields take two's complement.
    ///
    /// # Errors
    /// When the form has no such modifier, or the value is not legal for it.
    pub fn set_modifier(&mut self, name: &'static str, value: u64) -> Result<(), Illegal> {
        match self.form().modifier(name) {
            Some(index) => self.set_modifier_at(index, value),
            None => Err(Illegal::rule(
                name,
                value,
                "nothing: the form has no such field",
            )),
        }
    }

    /// Sets modifier `index` of the form.
    ///
    /// # Errors
    /// When the value is not legal.
    #[inline]
    pub fn set_modifier_at(&mut self, index: usize, value: u64) -> Result<(), Illegal> {
        let m = &self.form().modifiers[index];
        // A signed value arrives sign-extended and is cut to the field only if nothing is lost.
        let stored = if is_signed(m.legal) {
            let cut = value & m.bits.max();
            if sign_extend(cut, m.bits.width()) != value {
                return Err(illegal_modifier(m, value));
            }
            cut
        } else {
            value
        };
        if stored > m.bits.max() || !m.allows(stored) {
            return Err(illegal_modifier(m, value));
        }
        self.bits = m.bits.put(self.bits, stored);
        self.derive();
        Ok(())
    }

    /// Brings derived bits in line with the rest.
    #[inline]
    fn derive(&mut self) {
        if let Some(derive) = self.form().derive {
            self.bits = derive(self.bits);
        }
    }

    /// Operand `index` of the form.
    ///
    /// # Panics
    /// When the form has no operand `index`.
    #[inline]
    #[must_use]
    pub fn arg(&self, index: usize) -> Arg {
        operand::read(&self.form().operands[index], self.bits)
    }

    /// The operand with this name.
    #[must_use]
    pub fn operand(&self, name: &str) -> Option<Arg> {
        self.form().operand(name).map(|i| self.arg(i))
    }

    /// All operands, destinations first.
    pub fn args(&self) -> impl Iterator<Item = Arg> + '_ {
        self.form()
            .operands
            .iter()
            .map(|op| operand::read(op, self.bits))
    }

    /// Sets operand `index` of the form.
    ///
    /// # Errors
    /// When the form cannot hold the operand; the error names operand, value and legal range.
    ///
    /// # Panics
    /// When the form has no operand `index`.
    #[inline(always)]
    pub fn set_arg(&mut self, index: usize, arg: impl Into<Arg>) -> Result<(), Illegal> {
        let arg = arg.into();
        match crate::quick::write_usual(self.id, index, self.bits, &arg) {
            Some(bits) => {
                self.bits = bits;
                self.derive();
                Ok(())
            }
            None => self.set_any(index, &arg),
        }
    }

    /// [`Instr::set_arg`], along the operand's description.
    #[inline(never)]
    fn set_any(&mut self, index: usize, arg: &Arg) -> Result<(), Illegal> {
        self.bits = operand::write(&self.form().operands[index], self.bits, arg)?;
        self.derive();
        Ok(())
    }

    /// Releases source `index`, a general register: its last use.
    ///
    /// # Errors
    /// When the operand is none, or the form cannot release it.
    ///
    /// # Panics
    /// When the form has no operand `index`.
    #[inline]
    pub fn release(&mut self, index: usize) -> Result<(), Illegal> {
        let touch = &crate::touch::touches(self.id)[index];
        match touch.releasing {
            Some(releasing) if touch.is_register(self.bits) => {
                self.bits = releasing.apply(self.bits);
                self.derive();
                Ok(())
            }
            _ => self.release_any(index),
        }
    }

    /// [`Instr::release`], along the operand's description.
    pub(crate) fn release_any(&mut self, index: usize) -> Result<(), Illegal> {
        let op = &self.form().operands[index];
        let is_register = |value| matches!(value, Value::Reg(reg) if reg.file == File::Gpr);
        self.bits = match op.release {
            _ if !is_register(self.arg(index).value) => {
                return Err(Illegal::rule(op.name, 1, "a general register, to release"));
            }
            Release::If(bit) => bit.put(self.bits, true),
            Release::Unless(bit) => bit.put(self.bits, false),
            Release::IfAll(all) => all.put(self.bits, all.max()),
            Release::Always => self.bits,
            Release::Never | Release::DestroyedIf(_) => {
                return Err(Illegal::rule(
                    op.name,
                    1,
                    "not released: the form cannot say it",
                ));
            }
        };
        // No encoder keeps in the cache what it releases.
        self.bits = op.keep.bit().put(self.bits, false);
        self.derive();
        Ok(())
    }

    /// Sets the operand with this name.
    ///
    /// # Errors
    /// When there is no such operand or the form cannot hold the value.
    pub fn set_operand(&mut self, name: &'static str, arg: impl Into<Arg>) -> Result<(), Illegal> {
        match self.form().operand(name) {
            Some(index) => self.set_arg(index, arg),
            None => Err(Illegal::rule(
                name,
                0,
                "nothing: the form has no such operand",
            )),
        }
    }

    /// Sets the slots to wait for; bit i = slot i + 1.
    ///
    /// # Errors
    /// When the form has no wait field, or an index field is given several slots.
    pub fn set_waits(&mut self, slots: crate::SlotMask) -> Result<(), Illegal> {
        let wait = &self.form().wait;
        let mask = u64::from(slots.bits());
        let value = if wait.mask {
            mask
        } else if mask.count_ones() <= 1 {
            u64::from(u64::BITS - mask.leading_zeros())
        } else {
            return Err(Illegal::rule(
                "wait",
                mask,
                "one slot: the form holds a slot number",
            ));
        };
        if value > wait.bits.max() {
            let legal = format!("slots 1..={} ({})", wait.bits.width(), self.form().name);
            return Err(Illegal::number("wait", mask, legal));
        }
        self.bits = wait.bits.put(self.bits, value);
        Ok(())
    }

    /// Sets the completion slot, 1..=6.
    ///
    /// # Errors
    /// When the form cannot name that slot.
    pub fn set_completion(&mut self, slot: u8) -> Result<(), Illegal> {
        const SLOTS: &str = "a slot 1..=6";
        if !(1..=6).contains(&slot) {
            return Err(Illegal::rule("slot", u64::from(slot), SLOTS));
        }
        match self.form().completion {
            Completion::Landing(bits) => {
                self.bits = bits.put(self.bits, LANDING_CODES[usize::from(slot - 1)]);
            }
            Completion::Tag(bits) | Completion::TagIf(bits, _) | Completion::SysRegTag(bits) => {
                self.bits = bits.put(self.bits, u64::from(slot - 1));
            }
            Completion::TwinTag(a, b) => {
                let tag = u64::from(slot - 1);
                self.bits = b.put(a.put(self.bits, tag), tag);
            }
            Completion::Fixed(only) | Completion::FixedIf(only, _) if only == slot => {}
            _ => {
                return Err(Illegal::rule(
                    "slot",
                    u64::from(slot),
                    "the slot the form implies",
                ));
            }
        }
        Ok(())
    }

    /// Raw value of the completion tag field, if the form has one.
    #[must_use]
    pub fn completion_tag(&self) -> Option<u64> {
        let bits = self.form().completion.bits();
        (!bits.is_none()).then(|| bits.get(self.bits))
    }

    /// Mask of the components that a texture bundle writes; 0 for other forms.
    #[must_use]
    pub fn texture_components(&self) -> u8 {
        if self.id == FormId::Tex {
            table::components(self.bits)
        } else {
            0
        }
    }

    /// Checks every field and every rule of the form.
    ///
    /// With `strict`, bits without a known meaning must have their known value.
    ///
    /// # Errors
    /// The first illegal field.
    #[inline]
    pub fn check(&self, strict: bool) -> Result<(), Illegal> {
        let form = self.form();
        if self.bits & form.mask != form.value {
            return Err(Illegal::rule(
                "selecting bits",
                self.raw_selection(),
                "the form's own",
            ));
        }
        if self.operation().is_none() {
            let value = form.opcode.bits.get(self.bits);
            return Err(Illegal::rule("operation", value, "a listed opcode value"));
        }
        if let Some(first) = table::earlier_claim(self.id, self.bits) {
            // The bits mean that row (isa-0, 1.3); its rules decide.
            return Instr::from_bits(first, self.bits).check(strict);
        }
        if let Some(derive) = form.derive
            && derive(self.bits) != self.bits
        {
            return Err(Illegal::rule(
                "derived bits",
                0,
                "what the other fields imply",
            ));
        }
        for (i, op) in form.operands.iter().enumerate() {
            operand::check(op, self.bits)?;
            self.check_extent(i, op)?;
        }
        for m in form.modifiers {
            let value = m.bits.get(self.bits);
            if (m.class != Class::Opaque || strict) && !m.allows(value) {
                return Err(illegal_modifier(m, value));
            }
        }
        if !form.wait.mask && form.wait.bits.get(self.bits) == 7 {
            return Err(Illegal::rule("wait", 7, "a slot 1..=6, or 0"));
        }
        match form.completion {
            Completion::Landing(bits) if !LANDING_CODES.contains(&bits.get(self.bits)) => {
                return Err(Illegal::rule("code", bits.get(self.bits), "1..=6"));
            }
            Completion::TwinTag(a, b) if a.get(self.bits) != b.get(self.bits) => {
                return Err(Illegal::rule("tagB", b.get(self.bits), "the same as tagA"));
            }
            Completion::Tag(bits)
            | Completion::TwinTag(bits, _)
            | Completion::TagIf(bits, _)
            | Completion::SysRegTag(bits)
                if bits.get(self.bits) > 5 =>
            {
                return Err(Illegal::rule("tag", bits.get(self.bits), "0..=5"));
            }
            _ => {}
        }
        if strict && self.stray_bits() != 0 {
            let bit = u64::from(self.stray_bits().trailing_zeros());
            return Err(Illegal::rule("reserved bit", bit, "its constant"));
        }
        form.check.map_or(Ok(()), |check| check(self))
    }

    /// Does a tuple end inside of its file whose extent depends on other fields? That of fixed ones is part of the range.
    #[inline]
    fn check_extent(&self, index: usize, op: &Operand) -> Result<(), Illegal> {
        if has_variable_extent(op.span) {
            let last = op.index.get(self.bits) + u64::from(self.register_count(index)) - 1;
            if last > op.max {
                return Err(tuple_error(op, last));
            }
        }
        Ok(())
    }

    /// The part of [`Instr::check`] that setters leave open: rules that span several fields. It suffices for an
    /// instruction whose fields were all set by setters, modifiers before operands, or are as [`Instr::new`] or a
    /// [`Template`] made them.
    ///
    /// # Errors
    /// The first broken rule.
    #[inline]
    pub fn check_rules(&self) -> Result<(), Illegal> {
        let form = self.form();
        if crate::quick::is_intricate(self) {
            self.check_intricate()?;
        }
        form.check.map_or(Ok(()), |check| check(self))
    }

    fn check_intricate(&self) -> Result<(), Illegal> {
        if table::earlier_claim(self.id, self.bits).is_some() {
            return self.check(false);
        }
        let mut operands = self.form().operands.iter().enumerate();
        operands.try_for_each(|(i, op)| self.check_extent(i, op))
    }

    /// Bits without a meaning in this instruction: outside every field, or in an operand that
    /// names something for which they say nothing (bit 0 of a constant, in a register operand).
    #[must_use]
    pub fn idle_bits(&self) -> u128 {
        let form = self.form();
        let dead = form
            .operands
            .iter()
            .fold(0, |mask, op| mask | operand::dead_bits(op, self.bits));
        form.all_bits() & (!form.field_bits() & !form.mask | dead)
    }

    /// The idle bits that differ from the form's constants.
    #[must_use]
    pub fn stray_bits(&self) -> u128 {
        (self.bits ^ self.form().base) & self.idle_bits()
    }

    /// The instruction's bytes.
    ///
    /// # Errors
    /// When an operand or a combination of fields is not legal.
    #[inline]
    pub fn encode(&self) -> Result<Encoded, Illegal> {
        if !crate::quick::is_legal(self, false) {
            self.check(false)?;
        }
        Ok(self.encoded())
    }

    /// The bytes, without the checks: for instructions that come from a decoder.
    #[inline]
    #[must_use]
    pub fn encoded(&self) -> Encoded {
        Encoded {
            bytes: self.bits.to_le_bytes(),
            len: self.form().len,
        }
    }
}

impl std::fmt::Debug for Instr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} [{}; {:?}]", self, self.form().name, self.encoded())
    }
}

/// Codes of slots 1..=6 in the atomic result record (isa-2, 5.3, HW).
pub(crate) const LANDING_CODES: [u64; 6] = [2, 4, 3, 5, 6, 1];

const fn is_signed(legal: Legal) -> bool {
    matches!(legal, Legal::Signed | Legal::SignedEven)
}

/// Sign-extends the low `width` bits to 64.
pub(crate) const fn sign_extend(value: u64, width: u32) -> u64 {
    let shift = 64 - width;
    (((value << shift) as i64) >> shift) as u64
}

#[cold]
fn tuple_error(op: &Operand, last: u64) -> Illegal {
    Illegal::number(
        op.name,
        last,
        format!("a tuple that ends at or below {}", op.max),
    )
}

pub(crate) const fn has_variable_extent(span: Span) -> bool {
    matches!(
        span,
        Span::DeviceFormat
            | Span::AtomicData
            | Span::TextureResult
            | Span::TextureParams
            | Span::CubeResult
            | Span::ImageParams
            | Span::BlockParams
    )
}

#[cold]
fn illegal_modifier(m: &Modifier, value: u64) -> Illegal {
    let half = 1u64 << (m.bits.width().max(1) - 1);
    let legal = match m.legal {
        Legal::Any => format!("0..={:#x}", m.bits.max()),
        Legal::Range(lo, hi) => format!("{lo}..={hi}"),
        Legal::Signed => format!("-{half}..={}", half - 1),
        Legal::SignedEven => format!("an even number, -{half}..={}", half - 1),
        Legal::Multiple(n) => format!("a multiple of {n} up to {:#x}", m.bits.max()),
        Legal::Set(values) => format!("one of {values:#x?}").replace('\n', " "),
        Legal::Names(names) => {
            let names: Vec<_> = names.iter().map(|(v, n)| format!("{v:#x} ({n})")).collect();
            format!("one of {}", names.join(", "))
        }
    };
    Illegal::number(m.name, value, legal)
}
