// SPDX-License-Identifier: MIT
//! The checking mode of isa-2, 9.5: traps where a program relies on what the hardware does not
//! promise.
//!
//! The functional core delivers every result at once, so a program that reads a register before its
//! slot was waited for gets the right answer here and stale data on an M4, silently (isa-2, 9.1; HW).
//! [`Strict`] is the observer that finds such programs:
//!
//! * **Slots** (isa-2, 9.4 and 9.5). For each of the six slots it keeps which registers, scratch words
//!   and memory accesses are outstanding. Before each instruction it discharges the slots that the wait
//!   field names, then looks at what the instruction reads, writes and needs. As in the reference the
//!   sets belong to the SIMD group, not to a lane: a program must be right whatever the mask.
//!   Halves of a register are apart: recorded programs load both on one slot and release them one by
//!   one.
//! * **Lost values** (isa-1, 1.7; isa-2, 0). A released or destroyed register must not be read before it
//!   is rewritten; what was never written is undefined (isa-2, 10.4). These are tracked for each lane,
//!   because a write reaches only the active ones: each arm of an `if` may define a register, and each
//!   may release one that the other arm reads, without the other lanes being concerned. Whether a
//!   release under a partial mask spares the inactive lanes on hardware is not in the reference;
//!   isa-2, 1.3 says that an instruction acts only on active lanes.
//! * **Rules of single instructions**: reserved field values, argument words, barriers and program ends
//!   in divergent control flow, scopes, returning atomics without scratch.
//!
//! What each instruction touches is worked out once for a [`Program`] ([`Program::checks`]), as bit
//! sets; an instruction with nothing outstanding and nothing undefined costs a few words of logic.
//!
//! State is kept for each SIMD group under its [`Wave::serial`], so one [`Strict`] may watch any number
//! of them, interleaved in any way, and needs no reset.

mod check;
mod units;

pub use check::Checks;

use agx_isa::{Drain, Flow, MemoryOp, SlotMask, Space};
use check::{Base, Check, Quirk, Rare};
use units::{UNITS, Units};

use super::group::Stage;
use super::observe::Observer;
use super::program::Program;
use super::wave::Wave;
use crate::fault::FaultKind;

/// Which wait fields count (isa-0, 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitRule {
    /// Those proven on M4: what a compiler may rely on.
    Proven,
    /// All that are known: for programs recorded elsewhere.
    Recorded,
}

/// What to check besides slots, which are always checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Which waits count.
    pub waits: WaitRule,
    /// Reads of registers, predicates, publications and spilled words that were never written.
    pub undefined: bool,
    /// Reads of released and destroyed registers.
    pub released: bool,
    /// Reads of argument words that were never written, writes of them outside a launcher.
    pub arguments: bool,
    /// Encodings that only lenient decoding accepts.
    pub reserved: bool,
    /// Mask stack, barriers, program end, set-up code.
    pub control: bool,
    /// Reads of the bits above an 8- or 16-bit load, except by instructions that may cut them off.
    /// A correct program may still compute with them and mask the result.
    pub narrow: bool,
    /// Producers on a slot that has something outstanding. Legal when one instruction consumes the
    /// whole group (isa-2, 9.4, rule 7), which only a compiler knows.
    pub shared_slots: bool,
}

impl Options {
    /// For code of a compiler that follows the reference: all but what correct code may do.
    pub const COMPILER: Options = Options {
        waits: WaitRule::Proven,
        undefined: true,
        released: true,
        arguments: true,
        reserved: true,
        control: true,
        narrow: false,
        shared_slots: false,
    };

    /// For programs recorded elsewhere.
    pub const RECORDED: Options = Options {
        waits: WaitRule::Recorded,
        reserved: false,
        ..Options::COMPILER
    };
}

/// The observer.
pub struct Strict {
    options: Options,
    states: Vec<Box<State>>,
    /// The state used last.
    current: usize,
    /// States of SIMD groups that have ended.
    spare: Vec<Box<State>>,
}

/// What one slot has outstanding.
#[derive(Default)]
struct Slot {
    /// Registers to be written.
    pending: Units,
    /// Those of them that one-component device loads write.
    one_component: Units,
    /// Sources that must not change.
    held: Units,
    /// Bases of device accesses: uniform pairs, register pairs.
    bases: [u128; 2],
    /// A threadgroup load.
    threadgroup: bool,
    /// An indexed scratch load.
    private: bool,
    /// Scratch words, and whether they are saved.
    scratch: Vec<(u16, bool)>,
    /// Micro-ops that completed on it since it was idle.
    producers: Vec<u32>,
}

/// What is known of one SIMD group.
struct State {
    serial: u64,
    /// Slots with something outstanding.
    active: SlotMask,
    slots: [Slot; 6],
    /// Registers that any of them has outstanding, as result or operand.
    busy: Units,
    /// Base of the returning atomic that was the last instruction.
    landing: Option<Base>,
    /// Lanes in which a unit was never written.
    never: [u32; UNITS],
    /// Lanes in which it was released or destroyed, and by which micro-op last.
    lost: [u32; UNITS],
    lost_at: [u32; UNITS],
    /// Lanes in which it is what a narrow load left undefined.
    narrow: [u32; UNITS],
    /// Units for which one of the masks is not empty.
    suspect: Units,
    /// Lanes that saved each scratch word.
    saved: Vec<u32>,
    /// Blocks of four argument words written by the launcher's copies, and by set-up code.
    copied_blocks: u64,
    computed_blocks: u64,
}

/// A message; boxed, as it is rare.
type Trap = Box<String>;

fn trap(message: String) -> Result<(), Trap> {
    Err(Box::new(message))
}

impl Strict {
    /// With these options.
    #[must_use]
    pub fn new(options: Options) -> Strict {
        Strict {
            options,
            states: Vec::new(),
            current: 0,
            spare: Vec::new(),
        }
    }

    /// How many SIMD groups it has seen start and not end.
    #[must_use]
    pub fn watched(&self) -> usize {
        self.states.len()
    }

    /// The index of the wave's state, made when it is new.
    #[inline(always)]
    fn find(&mut self, wave: &Wave<'_>) -> usize {
        let current = self.states.get(self.current);
        if current.map(|state| state.serial) != Some(wave.serial()) {
            self.switch(wave);
        }
        self.current
    }

    #[cold]
    fn switch(&mut self, wave: &Wave<'_>) {
        let serial = wave.serial();
        let found = self.states.iter().position(|s| s.serial == serial);
        self.current = found.unwrap_or_else(|| {
            let mut state = self.spare.pop().unwrap_or_else(State::new);
            state.start(wave, &self.options);
            self.states.push(state);
            self.states.len() - 1
        });
    }

    fn forget(&mut self, index: usize) {
        let state = self.states.swap_remove(index);
        self.spare.push(state);
    }
}

impl Observer for Strict {
    #[inline]
    fn before(
        &mut self,
        wave: &Wave<'_>,
        program: &Program,
        index: usize,
    ) -> Result<(), FaultKind> {
        let at = self.find(wave);
        let check = program.checks().get(index);
        let scene = Scene {
            options: &self.options,
            wave,
            program,
            index,
        };
        let result = self.states[at].step(check, &scene);
        if result.is_err() || check.flow == Flow::Stop {
            self.forget(at);
        }
        result.map_err(|message| FaultKind::Strict(*message))
    }
}

/// Where the checks are.
struct Scene<'a> {
    options: &'a Options,
    wave: &'a Wave<'a>,
    program: &'a Program,
    index: usize,
}

impl Scene<'_> {
    /// Address and text of a micro-op.
    fn name(&self, index: u32) -> String {
        let (address, text) = self.program.describe(index as usize);
        format!("`{text}` at {address:#x}")
    }
}

impl State {
    fn new() -> Box<State> {
        Box::new(State {
            serial: 0,
            active: SlotMask::NONE,
            slots: Default::default(),
            busy: Units::EMPTY,
            landing: None,
            never: [0; UNITS],
            lost: [0; UNITS],
            lost_at: [0; UNITS],
            narrow: [0; UNITS],
            suspect: Units::EMPTY,
            saved: Vec::new(),
            copied_blocks: 0,
            computed_blocks: 0,
        })
    }

    fn start(&mut self, wave: &Wave<'_>, options: &Options) {
        self.serial = wave.serial();
        self.active = SlotMask::NONE;
        self.slots.iter_mut().for_each(Slot::clear);
        self.busy = Units::EMPTY;
        self.landing = None;
        let undefined = options.undefined && wave.initial != 0;
        self.never.fill(if undefined { wave.initial } else { 0 });
        self.lost.fill(0);
        self.narrow.fill(0);
        self.suspect = if undefined {
            Units::all()
        } else {
            Units::EMPTY
        };
        self.saved.clear();
        self.copied_blocks = 0;
        self.computed_blocks = 0;
    }

    /// One instruction, in the order of isa-2, 9.5.
    #[inline]
    fn step(&mut self, check: &Check, scene: &Scene<'_>) -> Result<(), Trap> {
        let landing = self.landing.take();
        if check.rare.any() {
            self.rare(check, scene, landing)?;
        }
        if !self.active.is_empty() && self.concerns(check) {
            self.outstanding(check, scene)?;
        }
        if !check.only_waits {
            self.flow_of_values(check, scene)?;
        }
        if check.completes != 0 {
            self.produce(check, scene, landing)?;
        }
        Ok(())
    }

    /// What is read must be defined, what is released is not any more, what is written is.
    #[inline(always)]
    fn flow_of_values(&mut self, check: &Check, scene: &Scene<'_>) -> Result<(), Trap> {
        if check.reads.meets(&self.suspect) {
            self.values(check, scene)?;
        }
        if !check.kills.is_empty() && scene.options.released {
            self.lose(check, scene);
        }
        let copied = match check.copies {
            Some(register) => {
                let low = 2 * usize::from(register);
                Some([self.narrow[low], self.narrow[low + 1]])
            }
            _ => None,
        };
        if check.writes.meets(&self.suspect) {
            self.define(&check.writes, scene.wave.active());
        }
        if let Some(halves) = copied {
            for unit in check.writes.iter() {
                self.narrow[unit] |= halves[unit % 2] & scene.wave.active();
                self.settle(unit);
            }
        }
        if check.has_more() {
            if check.more().narrow.meets(&self.suspect) {
                self.blur(&check.more().narrow, scene.options.narrow, scene);
            }
            if check.more().beside.meets(&self.suspect) {
                self.blur(&check.more().beside, true, scene);
            }
        }
        Ok(())
    }

    /// Whether an instruction has to do with what is outstanding; most between a load and its use have not.
    #[inline]
    fn concerns(&self, check: &Check) -> bool {
        check.orders
            || check.label
            || check.named.bits() & self.active.bits() != 0
            || check.reads.meets(&self.busy)
            || check.writes.meets(&self.busy)
    }

    /// Waits, and everything that depends on what is outstanding.
    fn outstanding(&mut self, check: &Check, scene: &Scene<'_>) -> Result<(), Trap> {
        let more = check.more();
        if check.label {
            // The end of a block is a drain point (isa-2, 9.4, rule 6).
            self.drained("a branch leads here", scene)?;
        }
        self.wait(check, scene)?;
        if self.active.is_empty() {
            return Ok(());
        }
        // ZEXT16 of a pending half is right in a program recorded on M4: it only writes the other
        // half (isa-2, 10.2). For a compiler the reference says no such thing.
        let recorded = scene.options.waits == WaitRule::Recorded;
        let (reads, writes) = match recorded && !more.cleared.is_empty() {
            true => (&Units::EMPTY, &more.cleared),
            false => (&check.reads, &check.writes),
        };
        for number in self.active.iter() {
            let slot = self.slot(number);
            if slot.pending.meets(reads) {
                let early = slot.pending.both(reads);
                return trap(self.unwaited("reads", &early, number, check, scene));
            }
            if slot.pending.meets(writes) {
                let early = slot.pending.both(writes);
                return trap(self.unwaited("overwrites", &early, number, check, scene));
            }
            if slot.held.meets(writes) {
                let early = slot.held.both(writes);
                return trap(format!(
                    "overwrites {}, an operand that {} reads until slot {number} completes",
                    early.name(),
                    self.producer(number, scene, |other| other.more().held.meets(&early)),
                ));
            }
            if let Some((word, saves)) = more.scratch {
                let clash = |(other, saved): &(u16, bool)| *other == word && (*saved || saves);
                if slot.scratch.iter().any(clash) {
                    return trap(format!(
                        "{} scratch word {word}, which {} still accesses on slot {number}",
                        if saves { "saves to" } else { "fills from" },
                        self.producer(number, scene, |other| other
                            .more()
                            .scratch
                            .is_some_and(|(w, _)| w == word)),
                    ));
                }
            }
            self.memory_order(number, check, scene)?;
        }
        match check.drain {
            Drain::No => Ok(()),
            Drain::Before | Drain::OwnWait => self.drained("this is a drain point", scene),
        }
    }

    /// Step 2: discharges what the wait field names.
    fn wait(&mut self, check: &Check, scene: &Scene<'_>) -> Result<(), Trap> {
        let more = check.more();
        let proven = scene.options.waits == WaitRule::Proven && check.drain != Drain::OwnWait;
        let waits = if proven { check.proven } else { check.named };
        let active = self.active;
        for number in waits.iter().filter(|&slot| active.contains(slot)) {
            if more.quirk != Quirk::None && !self.may_wait(number, check, proven)? {
                // Not what its wait is proven for.
                continue;
            }
            self.discharge(number);
        }
        Ok(())
    }

    /// Whether the wait of an instruction with a quirk counts for a slot.
    #[inline(never)]
    fn may_wait(&self, number: u8, check: &Check, proven: bool) -> Result<bool, Trap> {
        let more = check.more();
        let slot = self.slot(number);
        let other = slot.pending.both(&check.reads.without(&more.awaitable));
        let awaited = slot.pending.both(&more.awaitable);
        match more.quirk {
            Quirk::Logic if !other.is_empty() && awaited.is_empty() => Err(Box::new(format!(
                "reads {} as source B, pending on slot {number}: only source A is waited for",
                other.name(),
            ))),
            Quirk::Atomic if proven => {
                if !other.is_empty() {
                    return Err(Box::new(format!(
                        "reads {}, pending on slot {number}: only data is waited for",
                        other.name(),
                    )));
                }
                let simple = awaited.without(&slot.one_component).is_empty()
                    && check.rare.has(Rare::RETURNS)
                    && !more.compare_exchange;
                if !awaited.is_empty() && !simple {
                    return Err(Box::new(format!(
                        "waits for {} on slot {number}: proven only for the result of a \
                         one-component device load, in returning operations other than \
                         compare-exchange",
                        awaited.name(),
                    )));
                }
                Ok(!awaited.is_empty())
            }
            _ => Ok(true),
        }
    }

    fn discharge(&mut self, number: u8) {
        self.slots[usize::from(number - 1)].clear();
        let left = self.active.bits() & !SlotMask::of(number).bits();
        self.active = SlotMask::from_bits(left).unwrap_or(SlotMask::NONE);
        self.busy = Units::EMPTY;
        for slot in &self.slots {
            self.busy.add(&slot.pending);
            self.busy.add(&slot.held);
        }
    }

    fn slot(&self, number: u8) -> &Slot {
        &self.slots[usize::from(number - 1)]
    }

    /// The last instruction on a slot that `fits`, as text.
    fn producer(&self, number: u8, scene: &Scene<'_>, fits: impl Fn(&Check) -> bool) -> String {
        let checks = scene.program.checks();
        let mut producers = self.slot(number).producers.iter().rev().copied();
        match producers.find(|&index| fits(checks.get(index as usize))) {
            Some(index) => scene.name(index),
            None => "an earlier instruction".to_owned(),
        }
    }

    fn unwaited(
        &self,
        does: &str,
        units: &Units,
        number: u8,
        check: &Check,
        scene: &Scene<'_>,
    ) -> String {
        let why = if check.named.contains(number) {
            "; a wait of this form is not proven for it"
        } else {
            ""
        };
        format!(
            "{does} {}, pending on slot {number} since {}{why}",
            units.name(),
            self.producer(number, scene, |other| other.writes.meets(units)),
        )
    }

    /// Rule 5: accesses that the hardware does not order.
    fn memory_order(&self, number: u8, check: &Check, scene: &Scene<'_>) -> Result<(), Trap> {
        let more = check.more();
        let slot = self.slot(number);
        let Some((space, MemoryOp::Store | MemoryOp::Atomic)) = more.memory else {
            return Ok(());
        };
        let (clash, what) = match space {
            Space::Device => match more.base {
                Some(base) => {
                    let bases = slot.bases[usize::from(base.gpr)];
                    (bases >> (base.index & 127) & 1 == 1, "the same base")
                }
                None => (false, ""),
            },
            Space::Threadgroup => (slot.threadgroup, "threadgroup memory"),
            Space::Scratch => (slot.private && more.scratch.is_none(), "indexed scratch"),
            Space::Tile | Space::Image => (false, ""),
        };
        if clash {
            return trap(format!(
                "stores while {} is outstanding on slot {number}: accesses to {what} are not ordered",
                self.producer(number, scene, |other| match other.more().memory {
                    Some((other_space, _)) =>
                        other_space == space
                            && (space != Space::Device || other.more().base == more.base),
                    None => other.rare.has(Rare::LANDING),
                }),
            ));
        }
        Ok(())
    }

    fn drained(&self, why: &str, scene: &Scene<'_>) -> Result<(), Trap> {
        let Some(number) = self.active.iter().next() else {
            return Ok(());
        };
        let registers = self.slot(number).pending;
        let what = if registers.is_empty() {
            String::new()
        } else {
            format!(" ({})", registers.name())
        };
        trap(format!(
            "slot {number}{what} is outstanding since {}, and {why}",
            self.producer(number, scene, |_| true),
        ))
    }

    /// Step 7.
    fn produce(
        &mut self,
        check: &Check,
        scene: &Scene<'_>,
        landing: Option<Base>,
    ) -> Result<(), Trap> {
        let more = check.more();
        let number = check.completes;
        if scene.options.shared_slots && self.active.contains(number) {
            return trap(format!(
                "completes on slot {number}, which is outstanding since {}",
                self.producer(number, scene, |_| true),
            ));
        }
        self.active = self.active | SlotMask::of(number);
        let slot = &mut self.slots[usize::from(number - 1)];
        slot.pending.add(&check.writes);
        slot.held.add(&more.held);
        self.busy.add(&check.writes);
        self.busy.add(&more.held);
        slot.producers.push(scene.index as u32);
        slot.scratch.extend(more.scratch);
        if more.one_component {
            slot.one_component.add(&check.writes);
        }
        match more.memory {
            Some((Space::Threadgroup, _)) => slot.threadgroup = true,
            Some((Space::Scratch, MemoryOp::Load)) if more.scratch.is_none() => {
                slot.private = true;
            }
            _ => {}
        }
        if let Some(base) = landing.or(more.base) {
            slot.bases[usize::from(base.gpr)] |= 1 << (base.index & 127);
        }
        Ok(())
    }

    /// Reads of undefined values.
    #[inline(never)]
    fn values(&self, check: &Check, scene: &Scene<'_>) -> Result<(), Trap> {
        let active = scene.wave.active();
        // What is wrong with some of the units, and the lanes in which it is with the first of them.
        let among = |masks: &[u32; UNITS]| {
            let mut units = Units::EMPTY;
            for unit in check.reads.both(&self.suspect).iter() {
                if masks[unit] & active != 0 {
                    units.insert(unit);
                }
            }
            let first = units.iter().next()?;
            let lanes = masks[first] & active;
            Some((first, format!("{} in lanes {lanes:#010x}", units.name())))
        };
        if let Some((unit, what)) = among(&self.lost) {
            let by = scene.name(self.lost_at[unit]);
            return trap(format!("reads {what}, lost since {by}"));
        }
        if let Some((_, what)) = among(&self.never) {
            return trap(format!("reads {what}, never written"));
        }
        if check.tolerates_narrow {
            return Ok(());
        }
        let mut used = self.narrow;
        if check.has_more() {
            check.more().copied.iter().for_each(|unit| used[unit] = 0);
        }
        match among(&used) {
            Some((_, what)) => trap(format!(
                "reads {what}, bits that a narrow load or 16-bit result leaves undefined"
            )),
            _ => Ok(()),
        }
    }

    fn lose(&mut self, check: &Check, scene: &Scene<'_>) {
        let active = scene.wave.active();
        for unit in check.kills.iter() {
            self.lost[unit] |= active;
            self.lost_at[unit] = scene.index as u32;
            self.settle(unit);
        }
    }

    /// The active lanes of what is written are defined from now on.
    fn define(&mut self, units: &Units, active: u32) {
        for unit in units.both(&self.suspect).iter() {
            self.never[unit] &= !active;
            self.lost[unit] &= !active;
            self.narrow[unit] &= !active;
            self.settle(unit);
        }
    }

    /// The half above a narrow load or beside a 16-bit result: bits that may be cut off, but not used. `report`: say so when they are used.
    fn blur(&mut self, units: &Units, report: bool, scene: &Scene<'_>) {
        let active = scene.wave.active();
        for unit in units.iter() {
            let undefined = (self.never[unit] | self.lost[unit]) & active;
            self.never[unit] &= !active;
            self.lost[unit] &= !active;
            if report {
                self.narrow[unit] |= undefined;
            }
            self.settle(unit);
        }
    }

    fn settle(&mut self, unit: usize) {
        if self.never[unit] | self.lost[unit] | self.narrow[unit] == 0 {
            self.suspect.remove(unit);
        } else {
            self.suspect.insert(unit);
        }
    }

    /// Checks of single instructions.
    #[inline(never)]
    fn rare(
        &mut self,
        check: &Check,
        scene: &Scene<'_>,
        landing: Option<Base>,
    ) -> Result<(), Trap> {
        let rare = check.rare;
        let wave = scene.wave;
        let dispatch = wave.group.dispatch;
        if rare.has(Rare::RESERVED) && scene.options.reserved {
            let why = check.more().reserved.as_deref().unwrap_or_default();
            return trap(format!("a reserved encoding: {why}"));
        }
        if rare.has(Rare::LANDING) && landing.is_none() {
            return trap("not directly behind the atomic whose result lands here".to_owned());
        }
        if rare.has(Rare::RETURNS) && dispatch.scratch_bytes < 4 {
            // isa-0, 6, row 34.
            return trap(format!(
                "returns a value, for which FRAME's extent A must be at least 4, not {}",
                dispatch.scratch_bytes
            ));
        }
        if rare.has(Rare::RETURNS) {
            self.landing = check.more().base;
        }
        if rare.has(Rare::FILLS) && scene.options.undefined {
            self.filled(check, wave)?;
        }
        if let Some((word, true)) = check.more().scratch {
            let word = usize::from(word);
            if self.saved.len() <= word {
                self.saved.resize(word + 1, 0);
            }
            self.saved[word] |= wave.active();
        }
        if scene.options.arguments {
            self.arguments(check, scene)?;
        }
        if scene.options.control {
            control(check, wave)?;
        }
        Ok(())
    }

    fn filled(&self, check: &Check, wave: &Wave<'_>) -> Result<(), Trap> {
        let Some((word, _)) = check.more().scratch else {
            return Ok(());
        };
        let saved = self.saved.get(usize::from(word)).copied().unwrap_or(0);
        let lanes = wave.active() & !saved;
        if lanes != 0 {
            return trap(format!(
                "fills from scratch word {word}, which lanes {lanes:#010x} never saved"
            ));
        }
        Ok(())
    }

    fn arguments(&mut self, check: &Check, scene: &Scene<'_>) -> Result<(), Trap> {
        let more = check.more();
        let dispatch = scene.wave.group.dispatch;
        let unwritten = |word: &&u8| !dispatch.uniforms.is_written(**word);
        if let Some(word) = more.arguments_read.iter().find(unwritten) {
            return trap(format!("reads argument word u{word}, never written"));
        }
        let launcher = dispatch.stage == Stage::Launcher;
        for &word in &more.arguments_written {
            if !launcher {
                return trap(format!("writes argument word u{word} outside a launcher"));
            }
            // The launcher's copies work in blocks of four: the rest of such a block may be
            // overwritten after set-up (launch, 5.2; HW).
            let block = 1 << (word / 4);
            let (mine, others) = if more.in_blocks {
                (&mut self.copied_blocks, self.computed_blocks)
            } else {
                (&mut self.computed_blocks, self.copied_blocks)
            };
            *mine |= block;
            if others & block != 0 {
                return trap(format!(
                    "writes argument word u{word}: its block of four holds both launcher copies and \
                     results of set-up code"
                ));
            }
        }
        Ok(())
    }
}

impl Slot {
    fn clear(&mut self) {
        self.pending = Units::EMPTY;
        self.one_component = Units::EMPTY;
        self.held = Units::EMPTY;
        self.bases = [0; 2];
        self.threadgroup = false;
        self.private = false;
        self.scratch.clear();
        self.producers.clear();
    }
}

/// Mask stack, barriers, program end, set-up code.
fn control(check: &Check, wave: &Wave<'_>) -> Result<(), Trap> {
    let rare = check.rare;
    if rare.has(Rare::NOT_IN_LAUNCHER) && wave.group.dispatch.stage == Stage::Launcher {
        // isa-2, 2.8.
        return trap("set-up code has no mask operations and no scratch".to_owned());
    }
    if rare.has(Rare::SCOPES) {
        scopes(check, wave)?;
    }
    let missing = wave.initial & !wave.active();
    if rare.has(Rare::RENDEZVOUS) && missing != 0 {
        // isa-2, 7.2.
        return trap(format!(
            "a workgroup barrier in divergent control flow: lanes {missing:#010x} are missing"
        ));
    }
    if rare.has(Rare::STOP) {
        // isa-2, 6.10.
        if !wave.stack.is_empty() {
            let depth = wave.stack.len();
            return trap(format!("the program ends inside {depth} scopes"));
        }
        if missing != 0 {
            return trap(format!(
                "the program ends under a partial mask: lanes {missing:#010x} are missing"
            ));
        }
    }
    Ok(())
}

/// Scopes that do not match (isa-2, 6.1 and 14, question 9): what happens then is not known.
fn scopes(check: &Check, wave: &Wave<'_>) -> Result<(), Trap> {
    const CONDITIONAL: u8 = 1;
    let (n, depth) = check.more().scope;
    let top = wave.stack.last().map(|scope| scope.kind);
    match check.flow {
        // The implicit outermost loop has no scope of its own.
        Flow::Pop if top == Some(n) || (top.is_none() && n != CONDITIONAL) => Ok(()),
        Flow::Pop => trap(format!(
            "pops a scope of kind {n}, but the innermost is {}",
            top.map_or("none".to_owned(), |kind| format!("of kind {kind}")),
        )),
        Flow::Else if top == Some(CONDITIONAL) => Ok(()),
        Flow::Else => trap("flips a scope, but the innermost is no conditional one".to_owned()),
        Flow::Break => {
            let kinds = wave.stack.iter().rev().map(|scope| scope.kind);
            let crossed = kinds.take_while(|&kind| kind == CONDITIONAL).count();
            let loops = wave.stack.iter().filter(|s| s.kind != CONDITIONAL).count();
            if crossed != usize::from(n) {
                return trap(format!(
                    "breaks through {n} scopes, but there are {crossed} inside the innermost loop"
                ));
            }
            // The outermost loop may do without a scope (isa-2, 6.1, rule 2).
            if !(loops..=loops + 1).contains(&usize::from(depth)) {
                return trap(format!(
                    "breaks out of the loop at depth {depth}, but there are {loops} loop scopes"
                ));
            }
            Ok(())
        }
        _ => Ok(()),
    }
}
