// SPDX-License-Identifier: MIT
//! What the six completion slots have outstanding, and which slot a producer takes (isa-2, 9).

use agx_isa::{MemoryOp, SlotMask};
use arrayvec::ArrayVec;

use super::facts::{Facts, Pointer};
use super::regs::{HalfSet, RegSet};

/// Completion slots.
pub(super) const SLOTS: usize = 6;
/// The slot of threadgroup and indexed scratch loads.
const FIXED: u8 = 6;
/// Slots that some producers cannot but complete on: those loads, and publications.
pub(super) const FIXED_SLOTS: [u8; 2] = [FIXED, 1];

/// Producers on one slot that were not waited for.
#[derive(Debug, Clone, Default)]
pub(super) struct Outstanding {
    /// Registers to be written.
    pub(super) pending: HalfSet,
    /// Those of them that device loads of one word write.
    pub(super) one_word: RegSet,
    /// Sources that must not change.
    pub(super) held: RegSet,
    /// Uniform pairs that are bases of device accesses, one bit each (there are 128), and whether registers are any.
    device_pairs: u128,
    device_registers: bool,
    threadgroup: bool,
    private: bool,
    /// Publications to be written, and those still to be read.
    publishes: u128,
    reads_published: u128,
    /// Scratch words, and whether they are saved.
    scratch: Vec<(u16, bool)>,
}

impl Outstanding {
    fn add(&mut self, facts: &Facts) {
        self.pending |= facts.writes;
        self.held |= facts.held;
        if facts.one_word {
            self.one_word |= facts.writes.touched();
        }
        match facts.device {
            Some((Pointer::Uniform(pair), _)) => self.device_pairs |= 1 << (pair & 127),
            Some((Pointer::Regs, _)) => self.device_registers = true,
            None => {}
        }
        self.threadgroup |= facts.threadgroup.is_some();
        self.private |= facts.private.is_some();
        self.publishes |= facts.publishes;
        self.reads_published |= facts.reads_published;
        self.scratch.extend(facts.scratch);
    }

    fn add_all(&mut self, other: &Outstanding) {
        self.pending |= other.pending;
        self.held |= other.held;
        self.one_word |= other.one_word;
        self.device_pairs |= other.device_pairs;
        self.device_registers |= other.device_registers;
        self.threadgroup |= other.threadgroup;
        self.private |= other.private;
        self.publishes |= other.publishes;
        self.reads_published |= other.reads_published;
        self.scratch.extend_from_slice(&other.scratch);
    }

    fn clear(&mut self) {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        *self = Outstanding {
            scratch,
            ..Outstanding::default()
        };
    }

    /// Must an operation wait for these producers (isa-2, 9.4, rules 1 to 6)?
    pub(super) fn conflicts(&self, facts: &Facts) -> bool {
        let writes = |op: Option<MemoryOp>| matches!(op, Some(MemoryOp::Store | MemoryOp::Atomic));
        let scratch = |(word, saves): (u16, bool)| {
            let clash = |(other, saved): &(u16, bool)| *other == word && (*saved || saves);
            self.scratch.iter().any(clash)
        };
        let device = |(base, op): (Pointer, MemoryOp)| {
            let alias = match base {
                Pointer::Uniform(pair) => self.device_pairs >> (pair & 127) & 1 == 1,
                Pointer::Regs => self.device_pairs != 0,
            };
            writes(Some(op)) && (alias || self.device_registers)
        };
        facts.drains
            || self
                .pending
                .meets(HalfSet::whole(facts.reads) | facts.writes)
            || self.held.meets(facts.writes.touched())
            || self.publishes & (facts.publishes | facts.reads_published) != 0
            || self.reads_published & facts.publishes != 0
            || facts.scratch.is_some_and(scratch)
            || facts.device.is_some_and(device)
            || (self.threadgroup && writes(facts.threadgroup))
            || (self.private && writes(facts.private))
    }
}

/// A slot, and what is outstanding on it.
#[derive(Debug, Clone, Default)]
struct Group {
    producers: Outstanding,
    /// The first instruction that waits for the group.
    consumer: usize,
}

/// The six slots.
#[derive(Debug, Clone, Default)]
pub(super) struct Slots {
    groups: [Group; SLOTS],
    /// Slots with something outstanding.
    active: SlotMask,
    /// What all of them have outstanding: most operations conflict with nothing of it.
    all: Outstanding,
}

/// Slots in the order in which the proven compiler takes them (isa-1, 1.6).
const ORDER: [u8; SLOTS] = [6, 1, 2, 3, 4, 5];

impl Slots {
    fn group(&self, slot: u8) -> Option<&Group> {
        let group = &self.groups[usize::from(slot - 1)];
        self.active.contains(slot).then_some(group)
    }

    /// Slots with something outstanding.
    #[inline]
    pub(super) fn active(&self) -> SlotMask {
        self.active
    }

    fn select(&self, mut f: impl FnMut(&Group) -> bool) -> SlotMask {
        let mut found = SlotMask::NONE;
        for slot in self.active.iter() {
            if f(&self.groups[usize::from(slot - 1)]) {
                found = found | SlotMask::of(slot);
            }
        }
        found
    }

    /// Slots that an operation must wait for.
    #[inline]
    pub(super) fn needed(&self, facts: &Facts) -> SlotMask {
        if self.active.is_empty() || !self.all.conflicts(facts) {
            return SlotMask::NONE;
        }
        self.select(|group| group.producers.conflicts(facts))
    }

    /// What a slot has outstanding.
    pub(super) fn outstanding(&self, slot: u8) -> Option<&Outstanding> {
        self.group(slot).map(|group| &group.producers)
    }

    /// Registers that some of these slots deliver.
    pub(super) fn pending(&self, slots: SlotMask) -> RegSet {
        let mut pending = HalfSet::EMPTY;
        for slot in slots.iter() {
            if let Some(group) = self.outstanding(slot) {
                pending |= group.pending;
            }
        }
        pending.touched()
    }

    /// Registers that any slot delivers.
    #[inline]
    pub(super) fn all_pending(&self) -> RegSet {
        self.all.pending.touched()
    }

    /// Registers that anything under way delivers or holds.
    pub(super) fn busy(&self) -> RegSet {
        self.all_pending() | self.all.held
    }

    /// A register through which these slots can be waited for, and the slots that must be waited for with it: a register
    /// that they deliver, else one that they hold, else `idle`, a settled one. If another slot delivers the other half of
    /// each, that one, too.
    pub(super) fn register(&self, slots: SlotMask, idle: Option<u8>) -> (u8, SlotMask) {
        let mine = self.pending(slots);
        let held = |slot| self.outstanding(slot).map(|group| group.held);
        let held = slots.iter().filter_map(held);
        let held = held.fold(RegSet::EMPTY, |all, one| all | one);
        let meets = |group: &Group| group.producers.pending.touched().meets(mine);
        let others = self
            .select(meets)
            .iter()
            .filter(|slot| !slots.contains(*slot));
        let others = others.map(SlotMask::of);
        let others = others.fold(SlotMask::NONE, |all, one| all | one);
        let theirs = self.pending(others);
        let free = mine.without(theirs).first();
        match free.or_else(|| held.without(theirs).first()) {
            Some(register) => (register, slots),
            None if mine.is_empty() && idle.is_some() => (idle.unwrap_or(0), slots),
            // All that is under way, lest the register be.
            None if mine.is_empty() => (0, self.active()),
            None => (mine.first().unwrap_or(0), slots | others),
        }
    }

    /// These slots were waited for.
    pub(super) fn settle(&mut self, slots: SlotMask) {
        let settled = slots & self.active;
        if settled.is_empty() {
            return;
        }
        for slot in settled.iter() {
            self.groups[usize::from(slot - 1)].producers.clear();
        }
        self.active = self.active.without(settled);
        self.all.clear();
        for slot in self.active.iter() {
            self.all
                .add_all(&self.groups[usize::from(slot - 1)].producers);
        }
    }

    /// The slot for a producer whose first consumer is instruction `consumer`.
    ///
    /// Producers that are consumed together share a slot: one wait covers them. Others take an idle slot, so that their
    /// consumers do not wait for each other. When none is idle, or the form has but one slot, the producer joins the
    /// group whose consumer is nearest: a slot completes when everything on it has (isa-2, 9.1; HW), so whoever waits
    /// first waits for the whole group, and the others find their registers settled.
    ///
    /// The slots in `settled` count as idle: the producer itself waits for them. Those in `fixed_ahead` are wanted by
    /// producers in front of the consumer that have no other.
    pub(super) fn choose(
        &self,
        facts: &Facts,
        consumer: usize,
        fixed_ahead: SlotMask,
        settled: SlotMask,
    ) -> u8 {
        if let Some(slot) = facts.fixed_slot {
            return slot;
        }
        let group = |slot: u8| self.group(slot).filter(|_| !settled.contains(slot));
        let together = |slot: &u8| group(*slot).is_some_and(|g| g.consumer == consumer);
        if let Some(slot) = ORDER.into_iter().find(together) {
            return slot;
        }
        // Some slots are left to the producers that need them.
        let usable: ArrayVec<u8, SLOTS> = ORDER
            .into_iter()
            .filter(|slot| !fixed_ahead.contains(*slot))
            .collect();
        let idle = |slot: &u8| group(*slot).is_none();
        if let Some(slot) = usable.iter().copied().find(idle) {
            return slot;
        }
        // Better late for an old group, most of which has arrived by then, than early for a new one.
        let distance = |slot: &u8| match group(*slot) {
            Some(group) if group.consumer >= consumer => group.consumer - consumer,
            Some(group) => 2 * (consumer - group.consumer),
            None => 0,
        };
        usable.into_iter().min_by_key(distance).unwrap_or(FIXED)
    }

    /// A producer was issued.
    pub(super) fn produce(&mut self, slot: u8, facts: &Facts, consumer: usize) {
        let group = &mut self.groups[usize::from(slot - 1)];
        group.consumer = match self.active.contains(slot) {
            true => group.consumer.min(consumer),
            false => consumer,
        };
        group.producers.add(facts);
        self.all.add(facts);
        self.active = self.active | SlotMask::of(slot);
    }
}
