// SPDX-License-Identifier: MIT
//! The search for the window that costs least.
//!
//! A window is a run of consecutive registers for a group; its base is the first of them. Costs are dear to work out, so
//! most windows are ruled out before, as sets of bases.

use crate::ir::Shape;

use super::hints::MOVE;
use super::{FILE, RegSet};

/// What a group wants, and what it finds in the registers.
pub(super) struct Wanted {
    pub(super) shape: Shape,
    /// Registers of the window, gaps included.
    pub(super) count: u8,
    /// Bit i: the i-th place matters; the others are gaps.
    pub(super) places: u8,
    /// Bases of windows that may cost less than others.
    pub(super) favourites: RegSet,
    /// The least that any other window costs.
    pub(super) floor: i32,
    /// Registers that no window but a favourite may have.
    pub(super) never: RegSet,
    /// Registers that somebody has to leave, which takes more than a [`MOVE`].
    pub(super) taken: RegSet,
}

/// The windows of a group, by their bases.
pub(super) struct Windows {
    favourites: RegSet,
    /// Those of the others that nobody has to leave.
    clear: RegSet,
    crowded: RegSet,
    floor: i32,
}

/// Multiples of each alignment, from 1 on.
const MULTIPLES: [RegSet; 4] = [multiples(1), multiples(2), multiples(3), multiples(4)];

const fn multiples(of: u8) -> RegSet {
    let mut set = RegSet::EMPTY;
    let mut register = 0;
    while register < FILE as u8 {
        set.insert(register);
        register += of;
    }
    set
}

/// Where a group of so many registers may begin.
pub(super) fn bases(shape: Shape, count: u8, file: u8) -> RegSet {
    let end = (file.min(shape.last + 1) + 1).saturating_sub(count);
    RegSet::below(end).common(MULTIPLES[usize::from(shape.align) - 1])
}

impl Windows {
    /// Those that a group may have in a file of so many registers.
    pub(super) fn of(wanted: &Wanted, file: u8) -> Windows {
        let possible = bases(wanted.shape, wanted.count, file);
        let favourites = wanted.favourites.common(possible);
        let (mut never, mut taken) = (favourites, RegSet::EMPTY);
        let mut places = wanted.places;
        let (mut never_here, mut taken_here) = (wanted.never, wanted.taken);
        while places != 0 {
            if places & 1 == 1 {
                never = never.with(never_here);
                taken = taken.with(taken_here);
            }
            places >>= 1;
            never_here = never_here.down(1);
            taken_here = taken_here.down(1);
        }
        let others = possible.without(never);
        Windows {
            favourites,
            clear: others.without(taken),
            crowded: others.common(taken),
            floor: wanted.floor,
        }
    }

    /// The base of the best one: that which costs least, of equals the first. `cost` gives nothing for a window that is
    /// impossible.
    pub(super) fn best(&self, cost: impl Fn(u8) -> Option<i32>) -> Option<u8> {
        let mut best: Option<(i32, u8)> = None;
        let evicted = self.floor.saturating_add(1 + MOVE);
        // Those that nobody has to leave come first: most often one of them is as good as can be.
        for (bases, least) in [
            (self.favourites, i32::MIN),
            (self.clear, self.floor),
            (self.crowded, evicted),
        ] {
            for base in bases.iter() {
                if best.is_some_and(|best| best < (least, base)) {
                    // Neither this one nor any behind it is better.
                    break;
                }
                if let Some(cost) = cost(base) {
                    let found = (cost, base);
                    best = Some(best.map_or(found, |best| best.min(found)));
                }
            }
        }
        best.map(|(_, base)| base)
    }
}
