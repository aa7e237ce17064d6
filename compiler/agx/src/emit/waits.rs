// SPDX-License-Identifier: MIT
//! Completion slots and waits of straight code, by isa-2, 9.4.
//!
//! A late result is not interlocked: its first consumer names the slot, or reads the old contents of the register. A
//! wait rides on the consumer's own field where that is proven for the operand; else on the instruction in front of it,
//! if that is no producer and its form has room; else on a copy of a register to itself. At the end of the code, which is
//! a mask operation, a branch or a label, everything is settled.

use agx_isa::{Instr as Machine, SlotMask};

use super::consumers;
use super::defined;
use super::encode::{Context, Sequence, encode, wait_move};
use super::facts::{Facts, named, read_by};
use super::regs::RegSet;
use super::slots::{FIXED_SLOTS, Slots};
use crate::ir::{AtomicOp, Instr, Mov, Ref, Src};

/// One operation of a run of straight code.
pub(super) struct Item<'a> {
    pub(super) instr: &'a Instr,
    pub(super) facts: &'a Facts,
    /// Registers that it reads last.
    pub(super) kills: RegSet,
}

/// The machine instructions of a run.
#[derive(Debug, Default)]
pub(super) struct Run {
    /// In order.
    pub(super) code: Vec<Machine>,
    /// How many of them only wait.
    pub(super) waits: u32,
    /// Registers that are defined behind it.
    pub(super) defined: RegSet,
    /// Registers that it names.
    pub(super) named: RegSet,
}

/// Emits a run of straight code, behind which every slot is idle. `defined`: registers with a value where it begins.
///
/// # Errors
/// The operation that no proven encoding holds.
pub(super) fn emit(items: &[Item<'_>], defined: RegSet) -> Result<Run, String> {
    let mut emitter = Emitter {
        items,
        slots: Slots::default(),
        run: Run {
            code: Vec::with_capacity(items.len() + items.len() / 4 + 2),
            defined,
            ..Run::default()
        },
        last: None,
        fixed_from: fixed_ahead(items),
        consumers: consumers::of(items.iter().map(|item| item.facts)),
        recent: None,
    };
    for index in 0..items.len() {
        emitter.step(index)?;
    }
    emitter.finish()
}

/// For each place, the next operation that can complete on one slot only, for each of [`FIXED_SLOTS`].
fn fixed_ahead(items: &[Item<'_>]) -> Vec<[usize; 2]> {
    let mut next = [usize::MAX; 2];
    let mut ahead: Vec<[usize; 2]> = items
        .iter()
        .enumerate()
        .rev()
        .map(|(index, item)| {
            for (slot, next) in FIXED_SLOTS.iter().zip(&mut next) {
                if item.facts.fixed_slot == Some(*slot) {
                    *next = index;
                }
            }
            next
        })
        .collect();
    ahead.reverse();
    ahead
}

/// The operation emitted last, if a wait may still be added to it.
struct Last {
    item: usize,
    ctx: Context,
    /// Where its machine instructions begin.
    start: usize,
}

struct Emitter<'a> {
    items: &'a [Item<'a>],
    slots: Slots,
    run: Run,
    last: Option<Last>,
    fixed_from: Vec<[usize; 2]>,
    /// For each producer, the first operation that waits for it.
    consumers: Vec<usize>,
    /// The producer issued last, and its slot.
    recent: Option<(usize, u8)>,
}

impl Emitter<'_> {
    fn step(&mut self, index: usize) -> Result<(), String> {
        let Item {
            instr,
            facts,
            kills,
        } = self.items[index];
        let active = self.slots.active();
        let (needed, pending) = match active.is_empty() {
            true => (SlotMask::NONE, RegSet::EMPTY),
            false => (self.slots.needed(facts), self.slots.pending(active)),
        };
        let mut ctx = Context {
            waits: needed,
            late: self.slots.pending(needed),
            kills,
            idle: self.run.defined.without(pending).complete().first(),
            ..Context::PLAIN
        };
        let consumer = facts.late.then(|| self.consumers[index]);
        if let Some(consumer) = consumer {
            let places = FIXED_SLOTS.iter().zip(self.fixed_from[index]);
            let wanted = places.filter(|(_, place)| *place < consumer);
            let fixed_ahead = wanted
                .map(|(slot, _)| SlotMask::of(*slot))
                .fold(SlotMask::NONE, |all, one| all | one);
            ctx.slot = self.slots.choose(facts, consumer, fixed_ahead, needed);
            // Nobody here consumes it, so its slot has to be settled where the run ends. The load issued just before
            // arrives at about the same time: whoever waits for that one settles both.
            if consumer >= self.items.len()
                && facts.fixed_slot.is_none()
                && let Some((before, slot)) = self.recent
                && before + 1 == index
                && !needed.contains(slot)
                && self.slots.outstanding(slot).is_some()
            {
                ctx.slot = slot;
            }
        }
        let items = self.items;
        let mut made;
        let mut sequence: &[Machine] = if !is_plain(&items[index], &ctx) {
            made = encode(instr, &ctx)?;
            &made
        } else if facts.late && facts.fixed_slot.is_none() {
            made = on_slot(facts.plain.clone(), ctx.slot)?;
            &made
        } else {
            &facts.plain
        };
        let carried = match sequence.first() {
            Some(first) if !needed.is_empty() => self.carried(instr, first, needed),
            _ => SlotMask::NONE,
        };
        if carried != needed {
            let rest = without(needed, carried);
            ctx.waits = if self.attach(rest)? {
                carried
            } else {
                self.wait_for(needed)?;
                SlotMask::NONE
            };
            made = encode(instr, &ctx)?;
            sequence = &made;
        }
        self.slots.settle(needed);
        self.push(index, ctx, sequence);
        if let Some(consumer) = consumer {
            self.slots.produce(ctx.slot, facts, consumer);
            self.recent = Some((index, ctx.slot));
        }
        self.run.defined = defined::step(self.run.defined, facts);
        Ok(())
    }

    fn push(&mut self, item: usize, ctx: Context, sequence: &[Machine]) {
        let start = self.run.code.len();
        self.run.code.extend_from_slice(sequence);
        self.run.named |= self.items[item].facts.named();
        // A wait would hold a producer back, and what depends on it; an atomic waits for its data only.
        let Item { instr, facts, .. } = self.items[item];
        let open = !facts.late && !matches!(instr, Instr::Atomic(_)) && !sequence.is_empty();
        self.last = open.then_some(Last { item, ctx, start });
    }

    /// The slots in the instruction's wait field for which that wait counts.
    fn carried(&self, instr: &Instr, machine: &Machine, needed: SlotMask) -> SlotMask {
        let named = SlotMask::from_bits(machine.proven_waits().bits() & needed.bits());
        let good = named
            .unwrap_or(SlotMask::NONE)
            .iter()
            .filter(|slot| self.rides(instr, machine, *slot));
        good.map(SlotMask::of)
            .fold(SlotMask::NONE, |all, one| all | one)
    }

    /// May the instruction itself wait for this slot (isa-2, 9.3)?
    fn rides(&self, instr: &Instr, machine: &Machine, slot: u8) -> bool {
        let Some(outstanding) = self.slots.outstanding(slot) else {
            return true;
        };
        let operands = 0..machine.form().operands.len();
        let late = |operand: usize| read_by(machine, operand) & outstanding.pending;
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
        let waits = last.ctx.waits | slots;
        let ctx = Context { waits, ..last.ctx };
        let sequence = encode(self.items[last.item].instr, &ctx)?;
        let holds = sequence.first().is_some_and(|m| m.proven_waits() == waits);
        if holds {
            last.ctx = ctx;
            self.run.code.truncate(last.start);
            self.run.code.extend(sequence);
        }
        Ok(holds)
    }

    /// A copy of a register to itself that waits.
    fn wait_for(&mut self, slots: SlotMask) -> Result<(), String> {
        let busy = self.slots.busy();
        let idle = self.run.defined.without(busy).complete().first();
        let (register, slots) = self.slots.register(slots, idle);
        let machine = wait_move(register, slots)?;
        self.run.named |= named(&machine);
        self.run.code.push(machine);
        self.run.waits += 1;
        self.last = None;
        Ok(())
    }

    fn finish(mut self) -> Result<Run, String> {
        let active = self.slots.active();
        if !active.is_empty() && !self.attach(active)? {
            self.wait_for(active)?;
        }
        Ok(self.run)
    }
}

/// The same with its late result on this slot.
fn on_slot(mut sequence: Sequence, slot: u8) -> Result<Sequence, String> {
    for machine in sequence.iter_mut().filter(|m| m.completes().is_some()) {
        let done = machine.set_completion(slot);
        done.map_err(|illegal| illegal.to_string())?;
    }
    Ok(sequence)
}

/// Does nothing but the slot of an operation's encoding depend on its place, so that it is the one that its facts were
/// read off?
fn is_plain(item: &Item<'_>, ctx: &Context) -> bool {
    // A copy of a uniform names a register whose value does not matter.
    let is_uniform = |src: &Src| matches!(src.from, Ref::Uniform(_));
    let fixed = !matches!(item.instr, Instr::Mov(Mov { src, .. }) if is_uniform(src));
    fixed && ctx.waits.is_empty()
}

/// An operand that is no register.
fn is_fixed(machine: &Machine, operand: usize) -> bool {
    read_by(machine, operand).is_empty()
}

fn without(slots: SlotMask, others: SlotMask) -> SlotMask {
    SlotMask::from_bits(slots.bits() & !others.bits()).unwrap_or(SlotMask::NONE)
}
