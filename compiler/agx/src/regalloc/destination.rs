// SPDX-License-Identifier: MIT
//! Where results go.

use crate::analysis::ValueSet;
use crate::ir::{Shape, Value};

use super::RegSet;
use super::allocator::State;
use super::constraints::{Results, Sharing};
use super::hints::{Hints, MOVE};
use super::windows::{Wanted, bases};

/// Which registers an instruction reads.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reads {
    /// All of them.
    pub(super) claimed: RegSet,
    /// Those among them whose content nobody needs afterwards.
    pub(super) ending: RegSet,
    /// By source group: the first register.
    pub(super) bases: [u8; 4],
    /// The first registers of those groups that have several members, all of them values.
    pub(super) tuples: RegSet,
}

/// What the choice depends on besides the results.
pub(super) struct Choice<'a> {
    pub(super) state: &'a State,
    pub(super) hints: &'a Hints,
    pub(super) live_out: &'a ValueSet,
    pub(super) reads: &'a Reads,
    /// How many values need new registers besides those that have to leave the results'.
    pub(super) homeless: usize,
}

/// What it costs to move a value out of the way. One that other blocks need has to come back.
pub(super) fn eviction(live_out: bool) -> i32 {
    1 + if live_out { 2 * MOVE } else { MOVE }
}

impl Choice<'_> {
    /// The first register of the window for an instruction's results.
    pub(super) fn best(&self, results: &Results, sharing: Sharing) -> Option<u8> {
        let values = &results.values;
        let count = values.len() as u8;
        if let [value] = values[..]
            && !self.hints.has_wishes(value)
            && let Some(register) = self.first_good(value, results.shape, sharing)
        {
            return Some(register);
        }
        // Windows in which a result lies where something decided for it, and the least that any other costs.
        let (mut favourites, mut floor) = (RegSet::EMPTY, 0);
        for (place, value) in values.iter().enumerate() {
            let (wanted, least) = self.hints.favourites(*value);
            favourites = favourites.with(wanted.down(place as u8));
            floor += least;
        }
        let Reads {
            claimed, ending, ..
        } = *self.reads;
        let never = match sharing {
            Sharing::Any | Sharing::DistinctUnlessEqual => claimed.without(ending),
            Sharing::Distinct => claimed,
        };
        let taken = self.state.occupied().without(claimed);
        let wanted = Wanted {
            shape: results.shape,
            count,
            places: (1 << count) - 1,
            favourites,
            floor,
            never,
            taken,
        };
        wanted.best(self.state.file, |base| {
            let window = RegSet::window(base, count);
            if window.meets(never) {
                return None;
            }
            let shared = window.common(claimed);
            let equal = shared == window && self.reads.tuples.contains(base);
            if sharing == Sharing::DistinctUnlessEqual && !shared.is_empty() && !equal {
                return None;
            }
            self.cost(results, base, window.common(taken))
        })
    }

    /// What has no wishes takes the first register that nothing speaks against.
    fn first_good(&self, value: Value, shape: Shape, sharing: Sharing) -> Option<u8> {
        let empty = match sharing {
            Sharing::Any => self.state.free.with(self.reads.ending),
            _ => self.state.free,
        };
        let good = empty.common(bases(shape, 1, self.state.file));
        good.without(self.hints.against(value)).first()
    }

    /// What a window costs, if there are registers for those who have to leave it.
    fn cost(&self, results: &Results, base: u8, crowded: RegSet) -> Option<i32> {
        let mut cost = 0;
        let mut homeless = self.homeless;
        for other in crowded.iter().filter_map(|r| self.state.at[r as usize]) {
            cost += eviction(self.live_out.contains(other));
            homeless += 1;
        }
        if homeless > 0 {
            let window = RegSet::window(base, results.values.len() as u8);
            if (self.state.free.without(window).len() as usize) < homeless {
                return None;
            }
        }
        for (value, register) in results.values.iter().zip(base..) {
            cost += self.hints.cost(*value, register, &self.state.free);
        }
        Some(cost)
    }
}
