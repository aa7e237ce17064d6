// SPDX-License-Identifier: MIT
//! Who is the first to wait for each producer of a run of straight code.
//!
//! One walk from the back, with the next place of everything that can conflict with a producer (isa-2, 9.4, rules 1 to
//! 6): asking each producer's followers one by one would take time by the square of the run's length.

use agx_isa::MemoryOp;

use super::facts::{Facts, Pointer};
use super::regs::{COUNT, RegSet};
use super::slots::FIXED_SLOTS;

/// A place in a run.
type Place = u32;
/// Behind everything.
const NEVER: Place = Place::MAX;

/// The next places of what can conflict with a producer.
struct Ahead {
    /// By register: read or written.
    touched: [Place; COUNT as usize],
    /// By register: written.
    written: [Place; COUNT as usize],
    /// By publication: read or written; written.
    published: Places,
    publishes: Places,
    drain: Place,
    /// Device memory is written: by uniform pair, by a pointer in registers, by any.
    by_pair: Places,
    by_registers: Place,
    device: Place,
    threadgroup: Place,
    private: Place,
    /// By scratch word: saved; saved or brought back.
    saved: Places,
    scratch: Places,
}

/// Places by number, up to the highest number that has one: most code has few or none.
#[derive(Default)]
struct Places(Vec<Place>);

impl Places {
    fn get(&self, number: usize) -> Place {
        self.0.get(number).copied().unwrap_or(NEVER)
    }

    fn set(&mut self, number: usize, place: Place) {
        if self.0.len() <= number {
            self.0.resize(number + 1, NEVER);
        }
        self.0[number] = place;
    }
}

/// What comes behind an operation that completes late. Places are those in the run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Behind {
    /// The first operation that has to wait for it; the run's length when there is none.
    pub(super) consumer: usize,
    /// For each of [`FIXED_SLOTS`], the next operation that can complete on that one only.
    pub(super) fixed: [usize; FIXED_SLOTS.len()],
}

/// For each operation of a run that completes late, what comes behind it, from the last one on: the vector is one to take
/// them from.
pub(super) fn of<'a>(
    run: impl DoubleEndedIterator<Item = &'a Facts> + ExactSizeIterator + Clone,
) -> Vec<Behind> {
    let length = run.len();
    // Nothing in front of the first producer matters, and in most runs there is none.
    let Some(start) = run.clone().position(|facts| facts.late) else {
        return Vec::new();
    };
    let mut behind = Vec::with_capacity(length - start);
    let mut fixed = [usize::MAX; FIXED_SLOTS.len()];
    let mut ahead = Ahead {
        touched: [NEVER; COUNT as usize],
        written: [NEVER; COUNT as usize],
        published: Places::default(),
        publishes: Places::default(),
        drain: NEVER,
        by_pair: Places::default(),
        by_registers: NEVER,
        device: NEVER,
        threadgroup: NEVER,
        private: NEVER,
        saved: Places::default(),
        scratch: Places::default(),
    };
    for (place, facts) in run.enumerate().skip(start).rev() {
        if facts.late {
            for (slot, next) in FIXED_SLOTS.iter().zip(&mut fixed) {
                if facts.fixed_slot == Some(*slot) {
                    *next = place;
                }
            }
            behind.push(Behind {
                consumer: length.min(ahead.first(facts) as usize),
                fixed,
            });
        }
        ahead.add(place as Place, facts);
    }
    behind
}

impl Ahead {
    /// The first place that conflicts with a producer.
    fn first(&self, producer: &Facts) -> Place {
        let nearest = |set: RegSet, places: &[Place; COUNT as usize]| {
            set.iter().map(|reg| places[usize::from(reg)]).min()
        };
        let device = match producer.device {
            None => NEVER,
            Some((Pointer::Regs, _)) => self.device,
            Some((Pointer::Uniform(pair), _)) => {
                self.by_pair.get(pair.into()).min(self.by_registers)
            }
        };
        let scratch = producer.scratch.map(|(word, saves)| {
            let places = if saves { &self.scratch } else { &self.saved };
            places.get(word.into())
        });
        let publications = bits(producer.publishes)
            .map(|word| self.published.get(word))
            .chain(bits(producer.reads_published).map(|word| self.publishes.get(word)));
        let if_used = |space: Option<MemoryOp>, place: Place| space.map(|_| place);
        [
            nearest(producer.writes.touched(), &self.touched),
            nearest(producer.held, &self.written),
            Some(self.drain),
            Some(device),
            scratch,
            publications.min(),
            if_used(producer.threadgroup, self.threadgroup),
            if_used(producer.private, self.private),
        ]
        .into_iter()
        .flatten()
        .min()
        .unwrap_or(NEVER)
    }

    fn add(&mut self, place: Place, facts: &Facts) {
        let writes = |op: Option<MemoryOp>| matches!(op, Some(MemoryOp::Store | MemoryOp::Atomic));
        for reg in facts.named().iter() {
            self.touched[usize::from(reg)] = place;
        }
        for reg in facts.writes.touched().iter() {
            self.written[usize::from(reg)] = place;
        }
        for word in bits(facts.publishes | facts.reads_published) {
            self.published.set(word, place);
        }
        for word in bits(facts.publishes) {
            self.publishes.set(word, place);
        }
        if facts.drains {
            self.drain = place;
        }
        if let Some((base, op)) = facts.device
            && writes(Some(op))
        {
            self.device = place;
            match base {
                Pointer::Regs => self.by_registers = place,
                Pointer::Uniform(pair) => self.by_pair.set(pair.into(), place),
            }
        }
        if writes(facts.threadgroup) {
            self.threadgroup = place;
        }
        if writes(facts.private) {
            self.private = place;
        }
        if let Some((word, saves)) = facts.scratch {
            self.scratch.set(word.into(), place);
            if saves {
                self.saved.set(word.into(), place);
            }
        }
    }
}

/// The numbers of the bits that are set.
fn bits(mut set: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(first)
    })
}
