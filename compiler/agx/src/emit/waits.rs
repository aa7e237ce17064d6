// SPDX-License-Identifier: MIT
//! Completion slots and waits of straight code, by isa-2, 9.4.
//!
//! A late result is not interlocked: its first consumer names the slot, or reads the old contents of the register. A
//! wait rides on the consumer's own field where that is proven for the operand; else on the instruction in front of it,
//! if that is no producer and its form has room; else on a copy of a register to itself. At the end of the code, which is
//! a mask operation, a branch or a label, everything is settled.

use agx_isa::{Instr as Machine, SlotMask};

use super::consumers::{self, Behind};
use super::defined;
use super::encode::{Context, Encoder, encode, wait_move};
use super::facts::{Facts, read_by};
use super::plain::{Operation, Plain};
use super::regs::RegSet;
use super::slots::{FIXED_SLOTS, Slots};
use crate::ir::{AtomicOp, Instr, Mov, Ref, Src};

/// One operation of a run of straight code.
#[derive(Clone, Copy)]
pub(super) struct Item<'a> {
    pub(super) instr: &'a Instr,
    pub(super) operation: &'a Operation,
    /// Registers that it reads last.
    pub(super) kills: RegSet,
}

/// What was emitted for a run.
#[derive(Debug, Default)]
pub(super) struct Run {
    /// How many of the machine instructions only wait.
    pub(super) waits: u32,
    /// Registers that are defined behind it.
    pub(super) defined: RegSet,
    /// Registers that it names.
    pub(super) named: RegSet,
}

/// Emits a run of straight code, in front of which and behind which all of `slots` are idle. `defined`: registers with a value where it begins.
///
/// # Errors
/// The operation that no proven encoding holds.
pub(super) fn emit(
    plain: &Plain,
    items: &[Item<'_>],
    defined: RegSet,
    slots: &mut Slots,
    code: &mut Vec<Machine>,
) -> Result<Run, String> {
    let mut emitter = Emitter {
        plain,
        items,
        slots,
        code,
        run: Run {
            defined,
            ..Run::default()
        },
        last: None,
        context: Context::PLAIN,
        behind: consumers::of(items.iter().map(|item| &item.operation.facts)),
        recent: None,
    };
    for index in 0..items.len() {
        emitter.step(index)?;
    }
    emitter.finish()
}

/// The operation emitted last, if a wait may still be added to it.
struct Last {
    item: usize,
    /// Where its machine instructions begin.
    start: usize,
    /// [`Emitter::context`] is its; else it is plain.
    in_context: bool,
}

struct Emitter<'a> {
    plain: &'a Plain,
    items: &'a [Item<'a>],
    slots: &'a mut Slots,
    code: &'a mut Vec<Machine>,
    run: Run,
    last: Option<Last>,
    /// What stood around the last operation that waited, or whose encoding depends on its place.
    context: Context,
    /// For each producer from the last one to the next, what comes behind it.
    behind: Vec<Behind>,
    /// The producer issued last, and its slot.
    recent: Option<(usize, u8)>,
}

impl Emitter<'_> {
    fn step(&mut self, index: usize) -> Result<(), String> {
        let Item {
            instr, operation, ..
        } = self.items[index];
        let facts = &operation.facts;
        let needed = self.slots.needed(facts);
        let behind = match facts.late {
            true => self.behind.pop(),
            false => None,
        };
        let slot = behind.map_or(Context::PLAIN.slot, |behind| {
            self.slot(index, behind, needed)
        });
        let mut start = self.code.len();
        let in_context = !(needed.is_empty() && is_fixed_encoding(instr));
        if in_context {
            start = self.step_in_context(index, needed, slot)?;
        } else {
            self.code.extend(self.plain.code(operation).iter().copied());
            if facts.late && facts.fixed_slot.is_none() {
                complete(&mut self.code[start..], slot)?;
            }
        }
        self.emitted(index, start, in_context);
        if let Some(Behind { consumer, .. }) = behind {
            self.slots.produce(slot, facts, consumer);
            self.recent = Some((index, slot));
        }
        self.run.defined = defined::step(self.run.defined, facts);
        Ok(())
    }

    /// Emits an operation that waits, or whose encoding depends on its place. Where its machine instructions begin: a
    /// wait may have come in front of them.
    fn step_in_context(
        &mut self,
        index: usize,
        needed: SlotMask,
        slot: u8,
    ) -> Result<usize, String> {
        let Item { instr, kills, .. } = self.items[index];
        let mut ctx = Context {
            waits: needed,
            late: self.slots.pending(needed),
            slot,
            kills,
            idle: self.run.defined.without(self.slots.all_pending()).first(),
        };
        let mut start = self.code.len();
        self.encode(instr, &ctx)?;
        if needed.is_empty() {
            self.context = ctx;
            return Ok(start);
        }
        let carried = match self.code.get(start) {
            Some(first) => self.carried(instr, first, needed),
            None => SlotMask::NONE,
        };
        if carried != needed {
            self.code.truncate(start);
            ctx.waits = if self.attach(needed.without(carried))? {
                carried
            } else {
                self.wait_for(needed)?;
                SlotMask::NONE
            };
            start = self.code.len();
            self.encode(instr, &ctx)?;
        }
        self.slots.settle(needed);
        self.context = ctx;
        Ok(start)
    }

    /// Encodes an operation, which touches what it does without waits.
    fn encode(&mut self, instr: &Instr, ctx: &Context) -> Result<(), String> {
        let mut facts = Facts::NONE;
        encode(instr, ctx, self.code, &mut facts)
    }

    /// The slot for a producer.
    fn slot(&self, index: usize, behind: Behind, needed: SlotMask) -> u8 {
        let facts = &self.items[index].operation.facts;
        let Behind { consumer, fixed } = behind;
        // Nobody here consumes it, so its slot has to be settled where the run ends. The load issued just before
        // arrives at about the same time: whoever waits for that one settles both.
        if consumer >= self.items.len()
            && facts.fixed_slot.is_none()
            && let Some((before, slot)) = self.recent
            && before + 1 == index
            && !needed.contains(slot)
            && self.slots.outstanding(slot).is_some()
        {
            return slot;
        }
        let mut fixed_ahead = SlotMask::NONE;
        for (slot, place) in FIXED_SLOTS.into_iter().zip(fixed) {
            if place < consumer {
                fixed_ahead = fixed_ahead | SlotMask::of(slot);
            }
        }
        self.slots.choose(facts, consumer, fixed_ahead, needed)
    }

    /// An operation was emitted from `start` on.
    fn emitted(&mut self, index: usize, start: usize, in_context: bool) {
        let Item {
            instr, operation, ..
        } = self.items[index];
        self.run.named |= operation.facts.named();
        // A wait would hold a producer back, and what depends on it; an atomic waits for its data only.
        let open =
            !operation.facts.late && !matches!(instr, Instr::Atomic(_)) && self.code.len() > start;
        self.last = open.then_some(Last {
            item: index,
            start,
            in_context,
        });
    }

    /// The slots in the instruction's wait field for which that wait counts.
    fn carried(&self, instr: &Instr, machine: &Machine, needed: SlotMask) -> SlotMask {
        let named = machine.proven_waits() & needed;
        if machine.form().wait.only.is_none() && !matches!(instr, Instr::Atomic(_)) {
            // Any operand may be the awaited one.
            return named;
        }
        let mut good = SlotMask::NONE;
        for slot in named.iter() {
            if self.rides(instr, machine, slot) {
                good = good | SlotMask::of(slot);
            }
        }
        good
    }

    /// May the instruction itself wait for this slot (isa-2, 9.3)?
    fn rides(&self, instr: &Instr, machine: &Machine, slot: u8) -> bool {
        let Some(outstanding) = self.slots.outstanding(slot) else {
            return true;
        };
        let operands = 0..machine.form().operands.len();
        let pending = outstanding.pending.touched();
        let late = |operand: usize| read_by(machine, operand) & pending;
        if let Instr::Atomic(op) = instr {
            // Proven for the data of returning operations, from a load of one word, and for nothing else.
            let simple = op.dst.is_some() && op.op != AtomicOp::CompareExchange;
            let fits = |operand: usize| {
                let late = late(operand);
                match machine.can_wait_for(operand, slot) {
                    true => !late.is_empty() && late.is_subset(outstanding.one_word),
                    false => late.is_empty(),
                }
            };
            let mut operands = operands;
            return simple && operands.all(|operand| is_fixed(machine, operand) || fits(operand));
        }
        let can = |operand: usize| machine.can_wait_for(operand, slot);
        let mut waiting = operands.clone().filter(|o| !late(*o).is_empty());
        if waiting.clone().all(can) {
            return true;
        }
        // A logic operation's B is awaited together with its A.
        machine.memory().is_none() && waiting.any(can)
    }

    /// Adds a wait to the operation emitted last; false when it cannot have it.
    fn attach(&mut self, slots: SlotMask) -> Result<bool, String> {
        let Some(last) = &mut self.last else {
            return Ok(false);
        };
        let Item { instr, kills, .. } = self.items[last.item];
        let mut ctx = match last.in_context {
            true => self.context,
            false => Context {
                kills,
                ..Context::PLAIN
            },
        };
        ctx.waits = ctx.waits | slots;
        let (start, end) = (last.start, self.code.len());
        let mut facts = Facts::NONE;
        encode(instr, &ctx, self.code, &mut facts)?;
        let holds = self.code[end..]
            .first()
            .is_some_and(|machine| ctx.waits.without(machine.proven_waits()).is_empty());
        if holds {
            (self.context, last.in_context) = (ctx, true);
            self.code.drain(start..end);
        } else {
            self.code.truncate(end);
        }
        Ok(holds)
    }

    /// A copy of a register to itself that waits.
    fn wait_for(&mut self, slots: SlotMask) -> Result<(), String> {
        let idle = self.run.defined.without(self.slots.busy()).first();
        let (register, slots) = self.slots.register(slots, idle);
        let ctx = Context {
            waits: slots,
            ..Context::PLAIN
        };
        let mut facts = Facts::NONE;
        wait_move(register, &mut Encoder::new(&ctx, self.code, &mut facts))?;
        self.run.named |= facts.named();
        self.run.waits += 1;
        self.last = None;
        Ok(())
    }

    fn finish(mut self) -> Result<Run, String> {
        let active = self.slots.active();
        if !active.is_empty() && !self.attach(active)? {
            self.wait_for(active)?;
        }
        self.slots.settle(active);
        Ok(self.run)
    }
}

/// Puts the late result of an operation on this slot.
fn complete(code: &mut [Machine], slot: u8) -> Result<(), String> {
    let alone = code.len() == 1;
    let late = |machine: &&mut Machine| alone || machine.completes().is_some();
    for machine in code.iter_mut().filter(late) {
        let done = machine.set_completion(slot);
        done.map_err(|illegal| illegal.to_string())?;
    }
    Ok(())
}

/// Does an operation that waits for nothing have one encoding, but for the slot that it completes?
#[inline]
fn is_fixed_encoding(instr: &Instr) -> bool {
    // A copy of a uniform names a register whose value does not matter.
    let is_uniform = |src: &Src| matches!(src.from, Ref::Uniform(_));
    !matches!(instr, Instr::Mov(Mov { src, .. }) if is_uniform(src))
}

/// An operand that is no register.
fn is_fixed(machine: &Machine, operand: usize) -> bool {
    read_by(machine, operand).is_empty()
}
