// SPDX-License-Identifier: MIT
//! Sets of general registers and of their halves.

use std::ops::{BitAnd, BitOr, BitOrAssign, Not};

use agx_isa::Half;

/// Halves of the registers r0..r95, one bit for each register in either word. Nearly all sets are of whole registers; halves
/// matter where two of them are under way to one register.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct RegSet {
    low: u128,
    high: u128,
}

/// Number of general registers (isa-1, 1.2; HW).
pub(crate) const COUNT: u32 = 96;

impl RegSet {
    /// None.
    pub(crate) const EMPTY: RegSet = RegSet::whole(0);
    /// All of them.
    pub(crate) const ALL: RegSet = RegSet::whole((1 << COUNT) - 1);

    const fn whole(bits: u128) -> RegSet {
        RegSet {
            low: bits,
            high: bits,
        }
    }

    /// One register. Numbers above r95 give nothing.
    #[must_use]
    pub(crate) const fn of(reg: u8) -> RegSet {
        RegSet::range(reg, 1)
    }

    /// `count` registers from `first` on.
    #[must_use]
    pub(crate) const fn range(first: u8, count: u8) -> RegSet {
        if first as u32 >= COUNT || count as u32 >= COUNT {
            // Nothing, or too much for the shift below.
            let all = if (first as u32) < COUNT {
                u128::MAX << first
            } else {
                0
            };
            return RegSet::whole(all & RegSet::ALL.low);
        }
        RegSet::whole((((1 << count) - 1) << first) & RegSet::ALL.low)
    }

    /// The same halves of all its registers.
    #[must_use]
    pub(crate) const fn only(self, half: Half) -> RegSet {
        match half {
            Half::Low => RegSet { high: 0, ..self },
            Half::High => RegSet { low: 0, ..self },
            Half::Whole => self,
        }
    }

    /// Registers of which both halves are in the set.
    #[must_use]
    pub(crate) const fn complete(self) -> RegSet {
        RegSet::whole(self.low & self.high)
    }

    /// Registers of which a half is in the set.
    #[must_use]
    pub(crate) const fn touched(self) -> RegSet {
        RegSet::whole(self.low | self.high)
    }

    /// Is it, or a half of it, in the set?
    #[must_use]
    pub(crate) const fn contains(self, reg: u8) -> bool {
        (reg as u32) < COUNT && (self.low | self.high) >> reg & 1 == 1
    }

    /// None in the set.
    #[must_use]
    pub(crate) const fn is_empty(self) -> bool {
        self.low | self.high == 0
    }

    /// Is every half of this set in `other`?
    #[must_use]
    pub(crate) const fn is_subset(self, other: RegSet) -> bool {
        self.without(other).is_empty()
    }

    /// Have both a half in common?
    #[must_use]
    pub(crate) const fn meets(self, other: RegSet) -> bool {
        self.low & other.low | self.high & other.high != 0
    }

    /// What `other` does not contain.
    #[must_use]
    pub(crate) const fn without(self, other: RegSet) -> RegSet {
        RegSet {
            low: self.low & !other.low,
            high: self.high & !other.high,
        }
    }

    /// The lowest register.
    #[must_use]
    pub(crate) const fn first(self) -> Option<u8> {
        let any = self.low | self.high;
        if any == 0 {
            None
        } else {
            Some(any.trailing_zeros() as u8)
        }
    }

    /// In ascending order.
    pub(crate) fn iter(self) -> impl Iterator<Item = u8> {
        let mut rest = self.low | self.high;
        std::iter::from_fn(move || {
            let first = (rest != 0).then(|| rest.trailing_zeros() as u8)?;
            rest &= rest - 1;
            Some(first)
        })
    }

    /// One more than the highest register.
    #[must_use]
    pub(crate) const fn extent(self) -> u32 {
        u128::BITS - (self.low | self.high).leading_zeros()
    }
}

impl BitOr for RegSet {
    type Output = RegSet;

    fn bitor(self, other: RegSet) -> RegSet {
        RegSet {
            low: self.low | other.low,
            high: self.high | other.high,
        }
    }
}

impl BitOrAssign for RegSet {
    fn bitor_assign(&mut self, other: RegSet) {
        *self = *self | other;
    }
}

impl BitAnd for RegSet {
    type Output = RegSet;

    fn bitand(self, other: RegSet) -> RegSet {
        RegSet {
            low: self.low & other.low,
            high: self.high & other.high,
        }
    }
}

impl Not for RegSet {
    type Output = RegSet;

    fn not(self) -> RegSet {
        RegSet::ALL.without(self)
    }
}
