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

impl Wanted {
    /// The base of the best window in a file of so many registers: of that which costs least, of equals the first.
    /// `cost` gives nothing for a window that is impossible.
    pub(super) fn best(&self, file: u8, cost: impl Fn(u8) -> Option<i32>) -> Option<u8> {
        let possible = bases(self.shape, self.count, file);
        let mut search = Search { best: None, cost };
        search.among(self.favourites.common(possible), i32::MIN);
        if !search.is_over(self.floor, 0) {
            let (never, taken) = self.obstacles();
            let others = possible.without(self.favourites).without(never);
            // Those that nobody has to leave come first: most often one of them is as good as can be.
            search.among(others.without(taken), self.floor);
            let evicted = self.floor.saturating_add(1 + MOVE);
            search.among(others.common(taken), evicted);
        }
        search.best.map(|(_, base)| base)
    }

    /// The bases of windows that have one of the registers that none may have, and of those that somebody has to leave.
    fn obstacles(&self) -> (RegSet, RegSet) {
        let (mut never, mut taken) = (RegSet::EMPTY, RegSet::EMPTY);
        let (mut never_here, mut taken_here) = (self.never, self.taken);
        let mut places = self.places;
        while places != 0 {
            if places & 1 == 1 {
                never = never.with(never_here);
                taken = taken.with(taken_here);
            }
            places >>= 1;
            never_here = never_here.down(1);
            taken_here = taken_here.down(1);
        }
        (never, taken)
    }
}

struct Search<C> {
    /// What the best window so far costs, and its base.
    best: Option<(i32, u8)>,
    cost: C,
}

impl<C: Fn(u8) -> Option<i32>> Search<C> {
    /// Neither this window nor any behind it is better, if they cost so much at least.
    fn is_over(&self, least: i32, base: u8) -> bool {
        self.best.is_some_and(|best| best < (least, base))
    }

    /// Tries these windows.
    fn among(&mut self, bases: RegSet, least: i32) {
        for base in bases.iter() {
            if self.is_over(least, base) {
                break;
            }
            if let Some(cost) = (self.cost)(base) {
                let found = (cost, base);
                self.best = Some(self.best.map_or(found, |best| best.min(found)));
            }
        }
    }
}
