// SPDX-License-Identifier: MIT
//! The shape of the instruction table: what one row of it says about one instruction form.
//!
//! A [`Form`] is an *encoding*, not an operation: `fadd` exists as `F2.4`, `F2.6`, `F2I.6`, ...
//! Its bits fall into three groups that never overlap:
//!
//! * the [`Operand`]s, each of which owns every bit that says something about it (register
//!   number, file, half, release, cache hint, modifiers);
//! * the [`Modifier`]s, the remaining fields;
//! * constant bits. [`Form::mask`]/[`Form::value`] are the ones that select the form (isa-0,
//!   section 2); the rest are constants that an encoder writes and a lenient decoder keeps.
//!
//! Everything else of this crate (encoder, decoder, text, queries) walks these descriptions.

mod modifier;
mod operand;
mod slots;

pub use modifier::{Class, Legal, Modifier, Style};
pub use operand::{Alt, Constant, File, KeepHint, Operand, Presence, Release, Role, Span};
pub use slots::{Completion, Wait};

use crate::bits::Bits;
use crate::illegal::Illegal;
use crate::instr::Instr;

/// Where a fact stands in the hardware reference, and how well it is proven.
///
/// The marks are those of isa-0, section 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mark {
    /// Executed on an M4.
    Hw,
    /// Executed on an M4 with restrictions that the section names.
    HwPartial,
    /// Executed on an A18 Pro only, or part of a program that ran there.
    HwA18,
    /// Bytes of the vendor compiler; not known to have run.
    Cmp,
    /// Value known, meaning not.
    Opaque,
}

impl Mark {
    /// The mark as the reference spells it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Mark::Hw => "HW",
            Mark::HwPartial => "HW (partial)",
            Mark::HwA18 => "HW-A18",
            Mark::Cmp => "CMP",
            Mark::Opaque => "OPAQUE",
        }
    }
}

/// The operation a form carries, by the value of its opcode bits.
#[derive(Clone, Copy, Debug)]
pub struct Opcode {
    /// The selecting bits; none when the form has one operation only.
    pub bits: Bits,
    /// Operation names by value. Unlisted values are reserved.
    pub names: &'static [(u64, &'static str)],
}

impl Opcode {
    /// A form with one operation.
    #[must_use]
    pub const fn one(names: &'static [(u64, &'static str); 1]) -> Opcode {
        Opcode {
            bits: Bits::NONE,
            names,
        }
    }

    /// Operations selected by `bits`.
    #[must_use]
    pub const fn by(bits: &[(u8, u8)], names: &'static [(u64, &'static str)]) -> Opcode {
        Opcode {
            bits: Bits::new(bits),
            names,
        }
    }
}

/// What a form does to control flow and to the execution-mask stack (isa-2, 6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flow {
    /// Falls through.
    Next,
    /// Ends the program (in a launcher: starts the main one).
    Stop,
    /// Jumps when some lane, or none, is active.
    Branch,
    /// Branch with link.
    Call,
    /// Return.
    Return,
    /// Pushes a scope.
    Push,
    /// Flips the top conditional scope.
    Else,
    /// Pops a scope.
    Pop,
    /// Drops lanes from the innermost loop.
    LoopUpdate,
    /// Drops lanes through several scopes.
    Break,
    /// Must never be executed.
    Trap,
}

/// May a compiler emit it?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// Yes: executed on an M4 with this meaning.
    Yes,
    /// The reference recommends it, but asks for a check on an M4 first; the text says what of.
    AfterValidation(&'static str),
    /// Decode and execute only; the text says why.
    No(&'static str),
}

/// Memory that an instruction accesses besides the registers that [`Instr::accesses`] lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Device memory, at the `base` operand.
    Device,
    /// The workgroup's memory, at the `root` operand.
    Threadgroup,
    /// The lane's scratch frame.
    Scratch,
    /// The pixel's record in tile memory.
    Tile,
    /// A texture or image.
    Image,
}

/// What is done to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryOp {
    /// Read.
    Load,
    /// Write.
    Store,
    /// Read and write in one step.
    Atomic,
}

/// Is the instruction a point before which every slot must be idle (isa-2, 9.4, rule 6)?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Drain {
    /// No.
    No,
    /// Yes, and earlier instructions must have waited.
    Before,
    /// Yes, but its own wait field may do the last of it (coverage and depth output).
    OwnWait,
}

/// Bits that follow from other bits: see [`Class::Derived`].
pub type Derive = fn(u128) -> u128;

/// Why a compiler must not emit this instruction although its form is fine, if so.
pub type EmitRule = fn(&Instr) -> Option<&'static str>;

/// A rule over several fields of one form.
pub type Rule = fn(&Instr) -> Result<(), Illegal>;

/// One row of the instruction table.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// Name in the reference, ending in the length.
    pub name: &'static str,
    /// Other names in the reference.
    pub aliases: &'static [&'static str],
    /// Length in bytes.
    pub len: u8,
    /// Bits that select the form.
    pub mask: u128,
    /// Their values.
    pub value: u128,
    /// The constants of all bits that are no field: `value`, plus what the field tables show for
    /// bits outside `mask`.
    pub base: u128,
    /// Operations.
    pub opcode: Opcode,
    /// Operands, destinations first.
    pub operands: &'static [Operand],
    /// Other fields.
    pub modifiers: &'static [Modifier],
    /// Wait field.
    pub wait: Wait,
    /// Completion slot of the result.
    pub completion: Completion,
    /// Must slots be idle before it?
    pub drain: Drain,
    /// Memory accessed.
    pub memory: Option<(Space, MemoryOp)>,
    /// Control flow.
    pub flow: Flow,
    /// Rules beyond single fields (isa-0, 1.4).
    pub check: Option<Rule>,
    /// Derived bits.
    pub derive: Option<Derive>,
    /// For compilers: the form as a whole.
    pub emit: Emit,
    /// For compilers: operations and operands that the form can hold but that are not to be used.
    pub emit_rule: Option<EmitRule>,
    /// Evidence.
    pub mark: Mark,
    /// Section of the reference with the fields.
    pub section: &'static str,
    /// What it does, in the reference's notation.
    pub summary: &'static str,
}

impl Form {
    /// The start of a row: length, selection and evidence; no operands, one operation.
    #[must_use]
    pub const fn row(
        name: &'static str,
        len: u8,
        mask: &str,
        value: &str,
        mark: Mark,
        section: &'static str,
        summary: &'static str,
    ) -> Form {
        assert!(
            mask.len() == 2 * len as usize && value.len() == mask.len(),
            "length mismatch"
        );
        Form {
            name,
            aliases: &[],
            len,
            mask: crate::bits::hex(mask),
            value: crate::bits::hex(value),
            base: crate::bits::hex(value),
            opcode: Opcode {
                bits: Bits::NONE,
                names: &[],
            },
            operands: &[],
            modifiers: &[],
            wait: Wait::NONE,
            completion: Completion::None,
            drain: Drain::No,
            memory: None,
            flow: Flow::Next,
            check: None,
            derive: None,
            emit: Emit::Yes,
            emit_rule: None,
            mark,
            section,
            summary,
        }
    }

    /// Other names.
    #[must_use]
    pub const fn aka(mut self, aliases: &'static [&'static str]) -> Form {
        self.aliases = aliases;
        self
    }

    /// Constants outside the selecting bits.
    #[must_use]
    pub const fn constant(mut self, bits: &[(u8, u8)], value: u64) -> Form {
        let bits = Bits::new(bits);
        self.base |= bits.spread(value);
        self
    }

    /// One operation.
    #[must_use]
    pub const fn op(mut self, names: &'static [(u64, &'static str); 1]) -> Form {
        self.opcode = Opcode::one(names);
        self
    }

    /// Operations by opcode bits.
    #[must_use]
    pub const fn ops(mut self, opcode: Opcode) -> Form {
        self.opcode = opcode;
        self
    }

    /// Operands.
    #[must_use]
    pub const fn args(mut self, operands: &'static [Operand]) -> Form {
        self.operands = operands;
        self
    }

    /// Modifiers.
    #[must_use]
    pub const fn mods(mut self, modifiers: &'static [Modifier]) -> Form {
        self.modifiers = modifiers;
        self
    }

    /// Wait field.
    #[must_use]
    pub const fn waits(mut self, wait: Wait) -> Form {
        self.wait = wait;
        self
    }

    /// Completion slot.
    #[must_use]
    pub const fn completes(mut self, completion: Completion) -> Form {
        self.completion = completion;
        self
    }

    /// A drain point.
    #[must_use]
    pub const fn drains(mut self) -> Form {
        self.drain = Drain::Before;
        self
    }

    /// A drain point that may wait itself.
    #[must_use]
    pub const fn drains_with_own_wait(mut self) -> Form {
        self.drain = Drain::OwnWait;
        self
    }

    /// Memory accessed.
    #[must_use]
    pub const fn memory(mut self, space: Space, op: MemoryOp) -> Form {
        self.memory = Some((space, op));
        self
    }

    /// Derived bits.
    #[must_use]
    pub const fn derive(mut self, derive: Derive) -> Form {
        self.derive = Some(derive);
        self
    }

    /// Instructions of the form that a compiler must not emit.
    #[must_use]
    pub const fn emit_rule(mut self, rule: EmitRule) -> Form {
        self.emit_rule = Some(rule);
        self
    }

    /// For compilers that have validated it.
    #[must_use]
    pub const fn emit_after_validation(mut self, what: &'static str) -> Form {
        self.emit = Emit::AfterValidation(what);
        self
    }

    /// Control flow; every kind but `Next` is a drain point.
    #[must_use]
    pub const fn flow(mut self, flow: Flow) -> Form {
        self.flow = flow;
        self.drain = Drain::Before;
        self
    }

    /// Extra rule.
    #[must_use]
    pub const fn check(mut self, check: Rule) -> Form {
        self.check = Some(check);
        self
    }

    /// Not for compilers.
    #[must_use]
    pub const fn do_not_emit(mut self, why: &'static str) -> Form {
        self.emit = Emit::No(why);
        self
    }

    /// Bits of the instruction word that the form has.
    #[must_use]
    pub const fn all_bits(&self) -> u128 {
        if self.len == 16 {
            u128::MAX
        } else {
            (1 << (8 * self.len as u32)) - 1
        }
    }

    /// Bits that some field owns.
    #[must_use]
    pub const fn field_bits(&self) -> u128 {
        let mut mask = self.opcode.bits.mask() | self.wait.bits.mask() | self.completion.mask();
        let mut i = 0;
        while i < self.operands.len() {
            mask |= self.operands[i].mask();
            i += 1;
        }
        i = 0;
        while i < self.modifiers.len() {
            mask |= self.modifiers[i].bits.mask();
            i += 1;
        }
        mask
    }

    /// The operand of this name.
    #[must_use]
    pub const fn operand(&self, name: &str) -> Option<usize> {
        let mut i = 0;
        while i < self.operands.len() {
            if same_text(self.operands[i].name, name) {
                return Some(i);
            }
            i += 1;
        }
        None
    }

    /// The modifier of this name.
    #[must_use]
    pub const fn modifier(&self, name: &str) -> Option<usize> {
        let mut i = 0;
        while i < self.modifiers.len() {
            if same_text(self.modifiers[i].name, name) {
                return Some(i);
            }
            i += 1;
        }
        None
    }
}

/// `a == b`, in constants too.
const fn same_text(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// The number with this name.
pub(crate) const fn number_of(names: &[(u64, &str)], name: &str) -> Option<u64> {
    let mut i = 0;
    while i < names.len() {
        if same_text(names[i].1, name) {
            return Some(names[i].0);
        }
        i += 1;
    }
    None
}
