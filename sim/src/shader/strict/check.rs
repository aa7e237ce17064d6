// SPDX-License-Identifier: MIT
//! What the checks want to know of each micro-op, worked out once for a program.

use agx_isa::{
    AccessKind, Drain, File, Flow, FormId, Half, Instr, MemoryOp, Reg, SlotMask, Space, Value,
};

use super::units::Units;
use crate::shader::program::{OpInfo, Program};

/// The base field of a device access: which file, which number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Base {
    pub(super) gpr: bool,
    pub(super) index: u8,
}

/// Forms whose wait is restricted (isa-2, 9.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quirk {
    None,
    /// Only source A may be the pending one, unless both are of the same group (HW).
    Logic,
    /// Proven only for data from a one-component load, and then for returning operations other than
    /// compare-exchange.
    Atomic,
}

/// Checks that few instructions need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rare(u32);

impl Rare {
    /// Only lenient decoding accepts it.
    pub(super) const RESERVED: Rare = Rare(1);
    /// The program ends.
    pub(super) const STOP: Rare = Rare(1 << 1);
    /// A scope is popped, flipped, broken out of.
    pub(super) const SCOPES: Rare = Rare(1 << 2);
    /// The workgroup meets.
    pub(super) const RENDEZVOUS: Rare = Rare(1 << 3);
    /// Argument words are read.
    pub(super) const ARGUMENTS: Rare = Rare(1 << 4);
    /// Argument words are written.
    pub(super) const SETS_ARGUMENTS: Rare = Rare(1 << 5);
    /// A device atomic returns the old value.
    pub(super) const RETURNS: Rare = Rare(1 << 6);
    /// The landing record of one.
    pub(super) const LANDING: Rare = Rare(1 << 7);
    /// A mask operation or scratch access: not in set-up code.
    pub(super) const NOT_IN_LAUNCHER: Rare = Rare(1 << 8);
    /// A scratch word of constant number is read.
    pub(super) const FILLS: Rare = Rare(1 << 9);

    pub(super) fn any(self) -> bool {
        self.0 != 0
    }

    pub(super) fn has(self, other: Rare) -> bool {
        self.0 & other.0 != 0
    }

    fn set(&mut self, other: Rare, on: bool) {
        if on {
            self.0 |= other.0;
        }
    }
}

/// What the checks want to know of one micro-op.
#[derive(Clone, Debug)]
pub(super) struct Check {
    pub(super) reads: Units,
    pub(super) writes: Units,
    /// Registers lost after the reads.
    pub(super) kills: Units,
    /// Slots waited for: those proven on M4, and all that are named.
    pub(super) proven: SlotMask,
    pub(super) named: SlotMask,
    /// Slot completed, 0 when none.
    pub(super) completes: u8,
    pub(super) drain: Drain,
    /// A branch leads here.
    pub(super) label: bool,
    /// Registers are not all that it can clash in with what is outstanding: it drains, stores, spills, waits
    /// in a way of its own.
    pub(super) orders: bool,
    pub(super) flow: Flow,
    /// Reads of undefined upper halves are its business: it masks, shifts or copies.
    pub(super) tolerates_narrow: bool,
    /// The general register that it copies to another one, undefined bits and all.
    pub(super) copies: Option<u8>,
    /// It copies a register to itself: the wait idiom, for which any register will do (isa-2, 9.4).
    pub(super) only_waits: bool,
    pub(super) rare: Rare,
    /// What most instructions have nothing of.
    more: Option<Box<More>>,
}

/// The part of a [`Check`] that few instructions need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct More {
    /// Sources read late.
    pub(super) held: Units,
    /// The half above an 8- or 16-bit load: undefined behind it unless it was defined before.
    pub(super) narrow: Units,
    /// The same beside a 16-bit result.
    pub(super) beside: Units,
    /// Sources that a select copies, undefined bits and all.
    pub(super) copied: Units,
    /// The half that ZEXT16 clears.
    pub(super) cleared: Units,
    pub(super) quirk: Quirk,
    /// With a quirk: the reads that may be waited for.
    pub(super) awaitable: Units,
    pub(super) memory: Option<(Space, MemoryOp)>,
    pub(super) base: Option<Base>,
    /// A load of one element.
    pub(super) one_component: bool,
    pub(super) compare_exchange: bool,
    /// The scratch word that is saved (true) or filled.
    pub(super) scratch: Option<(u16, bool)>,
    pub(super) arguments_read: Vec<u8>,
    pub(super) arguments_written: Vec<u8>,
    /// The argument words are written by the launcher's copy, in blocks of four.
    pub(super) in_blocks: bool,
    /// Kind of scope, or number of scopes, and the loop depth of a break.
    pub(super) scope: (u8, u8),
    /// Why only lenient decoding accepts it.
    pub(super) reserved: Option<String>,
}

/// Nothing more.
static NO_MORE: More = More {
    held: Units::EMPTY,
    narrow: Units::EMPTY,
    beside: Units::EMPTY,
    copied: Units::EMPTY,
    cleared: Units::EMPTY,
    quirk: Quirk::None,
    awaitable: Units::EMPTY,
    memory: None,
    base: None,
    one_component: false,
    compare_exchange: false,
    scratch: None,
    arguments_read: Vec::new(),
    arguments_written: Vec::new(),
    in_blocks: false,
    scope: (0, 0),
    reserved: None,
};

/// The records of all micro-ops of a program.
#[derive(Debug)]
pub struct Checks(Vec<Check>);

impl Checks {
    /// Works them out.
    #[must_use]
    pub fn of(program: &Program) -> Checks {
        let mut checks: Vec<Check> = program.info().iter().map(Check::of).collect();
        for (op, info) in program.ops().iter().zip(program.info()) {
            let branches = info.instr.is_some_and(|i| i.displacement().is_some());
            if branches && let Some(check) = checks.get_mut(op.target as usize) {
                check.label = true;
            }
        }
        Checks(checks)
    }

    #[inline(always)]
    pub(super) fn get(&self, index: usize) -> &Check {
        &self.0[index]
    }
}

/// What is not checked.
const NOTHING: Check = Check {
    reads: Units::EMPTY,
    writes: Units::EMPTY,
    kills: Units::EMPTY,
    proven: SlotMask::NONE,
    named: SlotMask::NONE,
    completes: 0,
    drain: Drain::No,
    label: false,
    orders: false,
    flow: Flow::Next,
    tolerates_narrow: false,
    copies: None,
    only_waits: false,
    rare: Rare(0),
    more: None,
};

impl Check {
    fn of(info: &OpInfo) -> Check {
        let mut check = NOTHING;
        // What cannot be executed faults by itself, and says better why.
        if let (Some(instr), None) = (&info.instr, &info.refused) {
            let mut more = NO_MORE.clone();
            check.registers(instr, &mut more);
            check.slots(instr, &mut more);
            check.rest(instr, &mut more);
            let stores = matches!(more.memory, Some((_, MemoryOp::Store | MemoryOp::Atomic)));
            check.orders = check.drain != Drain::No
                || stores
                || more.scratch.is_some()
                || more.quirk != Quirk::None
                || !more.cleared.is_empty();
            check.more = (more != NO_MORE).then(|| Box::new(more));
        }
        check
    }

    /// The rest of it.
    #[inline(always)]
    pub(super) fn more(&self) -> &More {
        self.more.as_deref().unwrap_or(&NO_MORE)
    }

    /// Has it more than nothing?
    #[inline(always)]
    pub(super) fn has_more(&self) -> bool {
        self.more.is_some()
    }

    fn registers(&mut self, instr: &Instr, more: &mut More) {
        let only = instr.form().wait.only;
        for access in instr.accesses() {
            let units = Units::of(access.reg, access.count);
            let name = instr.form().operands[access.operand].name;
            let numbers = (access.reg.index..).take(usize::from(access.count));
            let read = access.kind == AccessKind::Read;
            match access.reg.file {
                File::Uniform if read => more.arguments_read.extend(numbers.map(|n| n as u8)),
                File::Uniform => more.arguments_written.extend(numbers.map(|n| n as u8)),
                File::Scratch => more.scratch = Some((access.reg.index, !read)),
                _ => {}
            }
            if read {
                self.reads.add(&units);
                if matches!(name, "T" | "F") {
                    more.copied.add(&units);
                }
                if access.held {
                    more.held.add(&units);
                }
                if access.kill {
                    // Of a half only that half: recorded programs release `r1.l` and read `r1.h`.
                    self.kills.add(&units);
                }
                if only == Some(name) {
                    more.awaitable.add(&units);
                }
            } else {
                self.writes.add(&units);
                // The half that a 16-bit result leaves alone is undefined unless it held something (isa-1, 4.5).
                if access.reg.file == File::Gpr && access.reg.half == Half::Low {
                    let high = Reg {
                        half: Half::High,
                        ..access.reg
                    };
                    more.beside.add(&Units::of(high, 1));
                }
            }
        }
        if let Some(format) = instr.device_format()
            && instr.id() == FormId::DevLoad
            && let Value::Reg(dst) = instr.arg(0).value
        {
            more.one_component = format.components == 1;
            let bytes = format.element_bytes * format.components;
            let last = dst.index + u16::from(format.registers - 1);
            let reg = |half| Reg {
                file: File::Gpr,
                index: last,
                half,
            };
            // Bits above the loaded width cannot be relied on (isa-2, 2.2), but a half that holds
            // something keeps it (isa-0, 6, row 22; recorded programs load both halves of a
            // register on one slot).
            if bytes % 4 != 0 && dst.half != Half::High {
                more.narrow.add(&Units::of(reg(Half::High), 1));
            }
        }
        if instr.id() == FormId::Zext16
            && let Value::Reg(dst) = instr.arg(0).value
        {
            let high = Reg {
                half: Half::High,
                ..dst
            };
            more.cleared = Units::of(high, 1);
        }
    }

    fn slots(&mut self, instr: &Instr, more: &mut More) {
        self.named = instr.waits();
        self.proven = instr.proven_waits();
        self.completes = instr.completes().unwrap_or(0);
        self.drain = instr.drain();
        more.quirk = match (instr.form().wait.only, instr.memory()) {
            (None, _) => Quirk::None,
            (Some(_), None) => Quirk::Logic,
            (Some(_), Some(_)) => Quirk::Atomic,
        };
        more.memory = instr.memory();
        let base = instr.operand("base").map(|base| base.value);
        if let Some(Value::Reg(reg)) = base {
            more.base = Some(Base {
                gpr: reg.file == File::Gpr,
                index: reg.index as u8,
            });
        }
        more.compare_exchange = matches!(more.memory, Some((_, MemoryOp::Atomic)))
            && instr.modifier("op") == Some(COMPARE_EXCHANGE);
    }

    fn rest(&mut self, instr: &Instr, more: &mut More) {
        self.flow = instr.flow();
        more.reserved = instr.check(true).err().map(|illegal| illegal.to_string());
        more.in_blocks = instr.id() == FormId::Argw;
        more.scope = match self.flow {
            Flow::Pop => (instr.modifier("kind").unwrap_or(0) as u8, 0),
            // Coded as 2 + number of scopes (isa-2, 6.8).
            Flow::Break => (
                instr.modifier("scopes2").unwrap_or(2).saturating_sub(2) as u8,
                instr.raw(0) as u8,
            ),
            _ => (0, 0),
        };
        self.tolerates_narrow = tolerates_narrow(instr.id());
        if let Some((from, to)) = copied(instr) {
            self.only_waits = from == to;
            self.copies = (from != to).then_some(from);
        }
        let mask_op = matches!(
            self.flow,
            Flow::Push | Flow::Else | Flow::Pop | Flow::LoopUpdate | Flow::Break
        );
        let scratch = matches!(more.memory, Some((Space::Scratch, _)));
        let rare = &mut self.rare;
        rare.set(Rare::RESERVED, more.reserved.is_some());
        rare.set(Rare::STOP, self.flow == Flow::Stop);
        rare.set(
            Rare::SCOPES,
            matches!(self.flow, Flow::Pop | Flow::Else | Flow::Break),
        );
        let rendezvous = instr.id() == FormId::Barrier && instr.op_name() == "barrier";
        rare.set(Rare::RENDEZVOUS, rendezvous);
        rare.set(Rare::ARGUMENTS, !more.arguments_read.is_empty());
        rare.set(Rare::SETS_ARGUMENTS, !more.arguments_written.is_empty());
        rare.set(Rare::RETURNS, instr.wants_atomic_result());
        rare.set(Rare::LANDING, instr.id() == FormId::AtomicResult);
        rare.set(Rare::NOT_IN_LAUNCHER, mask_op || scratch);
        rare.set(Rare::FILLS, matches!(more.scratch, Some((_, false))));
    }
}

/// isa-2, 5.1.
const COMPARE_EXCHANGE: u64 = 0x12;

/// Does the form cut or move away bits of its sources, or keep them as they are? Those are the ways in
/// which a program gets rid of the undefined bits above a narrow load (isa-2, 2.2) or a 16-bit result (isa-1, 4.5). A
/// multiplication by a power of two is a shift (isa-1, 4.15).
fn tolerates_narrow(id: FormId) -> bool {
    matches!(
        id,
        FormId::Logic
            | FormId::LogicI
            | FormId::Logic1
            | FormId::Logic4
            | FormId::LsI
            | FormId::LsR
            | FormId::AsrI
            | FormId::AsrR
            | FormId::IMad
            | FormId::UBfe
            | FormId::FShR
            | FormId::ScrSave
            | FormId::PrivStore
    )
}

/// From which register to which the instruction copies all bits: `or` and `and` of a register with
/// itself.
fn copied(instr: &Instr) -> Option<(u8, u8)> {
    if instr.id() != FormId::Logic || !matches!(instr.op_name(), "or" | "and") {
        return None;
    }
    let whole = |index| match instr.arg(index).value {
        Value::Reg(reg) if reg.file == File::Gpr && reg.half == Half::Whole => Some(reg.index),
        _ => None,
    };
    let (dst, a, b) = (whole(0)?, whole(1)?, whole(2)?);
    (a == b).then_some((a as u8, dst as u8))
}
