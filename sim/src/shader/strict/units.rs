// SPDX-License-Identifier: MIT
//! Sets of register units: what the checks keep track of, one by one.
//!
//! A unit is half a general register, a publication word, or a predicate bank.

use agx_isa::{File, Half, Reg};

use crate::shader::wave::{BANKS, GPRS, PUBLICATIONS};

const HALVES: usize = 2 * GPRS;
const FIRST_BANK: usize = HALVES + PUBLICATIONS;
/// Number of units.
pub(super) const UNITS: usize = FIRST_BANK + BANKS;
const WORDS: usize = UNITS.div_ceil(64);

/// A set of units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Units([u64; WORDS]);

impl Units {
    /// None.
    pub(super) const EMPTY: Units = Units([0; WORDS]);

    /// The units of `count` registers from `reg` on; none for files that are not tracked.
    pub(super) fn of(reg: Reg, count: u8) -> Units {
        let mut units = Units::EMPTY;
        for index in (usize::from(reg.index)..).take(usize::from(count)) {
            match reg.file {
                File::Gpr if index < GPRS => {
                    if reg.half != Half::High {
                        units.insert(2 * index);
                    }
                    if reg.half != Half::Low {
                        units.insert(2 * index + 1);
                    }
                }
                File::Publication if index < PUBLICATIONS => units.insert(HALVES + index),
                File::Predicate if index < BANKS => units.insert(FIRST_BANK + index),
                _ => {}
            }
        }
        units
    }

    /// All of them.
    pub(super) fn all() -> Units {
        let mut units = Units::EMPTY;
        (0..UNITS).for_each(|unit| units.insert(unit));
        units
    }

    pub(super) fn insert(&mut self, unit: usize) {
        self.0[unit / 64] |= 1 << (unit % 64);
    }

    pub(super) fn remove(&mut self, unit: usize) {
        self.0[unit / 64] &= !(1 << (unit % 64));
    }

    pub(super) fn contains(&self, unit: usize) -> bool {
        self.0[unit / 64] >> (unit % 64) & 1 == 1
    }

    pub(super) fn is_empty(&self) -> bool {
        // Not a call of memcmp.
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    #[inline(always)]
    pub(super) fn meets(&self, other: &Units) -> bool {
        let mut common = 0;
        for word in 0..WORDS {
            common |= self.0[word] & other.0[word];
        }
        common != 0
    }

    #[inline(always)]
    pub(super) fn add(&mut self, other: &Units) {
        for word in 0..WORDS {
            self.0[word] |= other.0[word];
        }
    }

    /// What both contain.
    #[inline(always)]
    pub(super) fn both(&self, other: &Units) -> Units {
        let mut units = *self;
        for word in 0..WORDS {
            units.0[word] &= other.0[word];
        }
        units
    }

    /// What `other` does not contain.
    #[inline(always)]
    pub(super) fn without(&self, other: &Units) -> Units {
        let mut units = *self;
        for word in 0..WORDS {
            units.0[word] &= !other.0[word];
        }
        units
    }

    /// Their numbers, lowest first.
    #[inline]
    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        (0..WORDS).flat_map(move |word| {
            let mut left = self.0[word];
            std::iter::from_fn(move || {
                let lowest = left.trailing_zeros() as usize;
                // None when no bit is left.
                left &= left.checked_sub(1)?;
                Some(64 * word + lowest)
            })
        })
    }

    /// The lowest register in the set as assembly text: the half alone only when its other half is
    /// not in the set.
    pub(super) fn name(&self) -> String {
        let Some(unit) = self.iter().next() else {
            return "nothing".to_owned();
        };
        match unit {
            0..HALVES if unit % 2 == 1 => format!("r{}.h", unit / 2),
            0..HALVES if self.contains(unit + 1) => format!("r{}", unit / 2),
            0..HALVES => format!("r{}.l", unit / 2),
            HALVES..FIRST_BANK => format!("p{}", unit - HALVES),
            _ => format!("P{}", unit - FIRST_BANK),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_order() {
        let half = |index, half| Reg {
            file: File::Gpr,
            index,
            half,
        };
        assert_eq!(Units::of(Reg::new(File::Gpr, 95), 1).name(), "r95");
        assert_eq!(Units::of(half(0, Half::Low), 1).name(), "r0.l");
        assert_eq!(Units::of(half(64, Half::High), 1).name(), "r64.h");
        assert_eq!(
            Units::of(Reg::new(File::Publication, 127), 1).name(),
            "p127"
        );
        assert_eq!(Units::of(Reg::new(File::Predicate, 5), 1).name(), "P5");
        // Past the end of the file, and files that are not tracked.
        assert_eq!(Units::of(Reg::new(File::Gpr, 94), 4).iter().count(), 4);
        assert!(Units::of(Reg::new(File::Uniform, 3), 2).is_empty());
        let numbers: Vec<usize> = Units::all().iter().collect();
        assert_eq!(numbers, (0..UNITS).collect::<Vec<_>>());
    }
}
