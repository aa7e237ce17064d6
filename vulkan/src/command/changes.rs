// SPDX-License-Identifier: MIT
//! When what draws and dispatches depend on changed last.
//!
//! Each change gets a number, one more than that of the change before it. What was written for some state,
//! such as a launch program, remembers the number that was the last at the time; it holds as long as
//! nothing that it was made of has a later one. So a change costs a count, and finding out what a draw
//! must write again costs a comparison for each kind of thing that its shaders use.

use crate::physical_device::limits;
use crate::program::Uses;

/// The number of a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Time(u64);

/// The last changes of what is bound.
#[derive(Default)]
pub(super) struct Changes {
    now: Time,
    /// Of any of the kinds below.
    bound: Time,
    constants: Time,
    dynamic: Time,
    sets: [Time; limits::SETS as usize],
}

impl Changes {
    /// The last change.
    #[inline]
    pub(super) fn now(&self) -> Time {
        self.now
    }

    /// Something changed.
    #[inline]
    pub(super) fn change(&mut self) -> Time {
        self.now.0 += 1;
        self.now
    }

    /// The last change of constants, dynamic buffers or sets.
    #[inline]
    pub(super) fn bound(&self) -> Time {
        self.bound
    }

    #[inline]
    fn change_bound(&mut self) -> Time {
        self.bound = self.change();
        self.bound
    }

    /// Push constants changed.
    #[inline]
    pub(super) fn constants(&mut self) {
        self.constants = self.change_bound();
    }

    /// Buffers with dynamic offsets, or the offsets, changed.
    #[inline]
    pub(super) fn dynamic(&mut self) {
        self.dynamic = self.change_bound();
    }

    /// A descriptor set changed.
    #[inline]
    pub(super) fn set(&mut self, number: usize) {
        let now = self.change_bound();
        if let Some(set) = self.sets.get_mut(number) {
            *set = now;
        }
    }

    /// The last change of what a root record of a program holds.
    #[inline]
    pub(super) fn of_record(&self, uses: &Uses) -> Time {
        let mut last = self.of_sets(uses.sets);
        if uses.push_constants {
            last = last.max(self.constants);
        }
        if uses.dynamic_buffers {
            last = last.max(self.dynamic);
        }
        last
    }

    /// The last change of sets, whose numbers are bits.
    #[inline]
    pub(super) fn of_sets(&self, mut sets: u32) -> Time {
        let mut last = Time::default();
        while sets != 0 {
            if let Some(set) = self.sets.get(sets.trailing_zeros() as usize) {
                last = last.max(*set);
            }
            sets &= sets - 1;
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(constants: bool, dynamic: bool, sets: u32) -> Uses {
        Uses {
            push_constants: constants,
            dynamic_buffers: dynamic,
            sets,
            ..Uses::default()
        }
    }

    #[test]
    fn a_record_depends_on_what_its_program_uses_alone() {
        let mut changes = Changes::default();
        let everything = uses(true, true, 0xff);
        let written = changes.change();
        changes.constants();
        assert!(changes.of_record(&everything) > written && changes.bound() > written);
        assert!(changes.of_record(&uses(true, false, 0)) > written);
        assert!(changes.of_record(&uses(false, true, 0xff)) <= written);
        let written = changes.now();
        changes.set(3);
        assert!(changes.of_record(&uses(false, false, 1 << 3)) > written);
        assert!(changes.of_record(&uses(true, true, !(1 << 3))) <= written);
        let written = changes.now();
        changes.dynamic();
        assert!(changes.of_record(&uses(false, true, 0)) > written);
        assert!(changes.of_record(&uses(true, false, 0xff)) <= written);
        let written = changes.now();
        // What is none of these is a change, but not of records.
        assert!(changes.change() > written);
        assert!(changes.bound() <= written);
        assert!(changes.of_record(&everything) <= written);
    }

    #[test]
    fn sets_that_there_are_not_change_nothing() {
        let mut changes = Changes::default();
        let written = changes.now();
        changes.set(limits::SETS as usize);
        assert!(changes.of_sets(u32::MAX) <= written);
    }
}
