// SPDX-License-Identifier: MIT
//! Sets of general registers.

use std::ops::{BitAnd, BitOr, BitOrAssign, Not};

/// Registers r0..r95, one bit each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct RegSet(u128);

/// Number of general registers (isa-1, 1.2; HW).
const COUNT: u32 = 96;

impl RegSet {
    /// None.
    pub(crate) const EMPTY: RegSet = RegSet(0);
    /// All of them.
    pub(crate) const ALL: RegSet = RegSet((1 << COUNT) - 1);

    /// One register. Numbers above r95 give nothing.
    #[must_use]
    pub(crate) const fn of(reg: u8) -> RegSet {
        RegSet::range(reg, 1)
    }

    /// `count` registers from `first` on.
    #[must_use]
    pub(crate) const fn range(first: u8, count: u8) -> RegSet {
        let mut bits = 0u128;
        let mut i = 0;
        while i < count as u32 && first as u32 + i < COUNT {
            bits |= 1 << (first as u32 + i);
            i += 1;
        }
        RegSet(bits)
    }

    /// Is it in the set?
    #[must_use]
    pub(crate) const fn contains(self, reg: u8) -> bool {
        (reg as u32) < COUNT && self.0 >> reg & 1 == 1
    }

    /// None in the set.
    #[must_use]
    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Is every register of this set in `other`?
    #[must_use]
    pub(crate) const fn is_subset(self, other: RegSet) -> bool {
        self.0 & !other.0 == 0
    }

    /// Have both a register in common?
    #[must_use]
    pub(crate) const fn meets(self, other: RegSet) -> bool {
        self.0 & other.0 != 0
    }

    /// What `other` does not contain.
    #[must_use]
    pub(crate) const fn without(self, other: RegSet) -> RegSet {
        RegSet(self.0 & !other.0)
    }

    /// The lowest register.
    #[must_use]
    pub(crate) const fn first(self) -> Option<u8> {
        if self.0 == 0 {
            None
        } else {
            Some(self.0.trailing_zeros() as u8)
        }
    }

    /// One more than the highest register.
    #[must_use]
    pub(crate) const fn extent(self) -> u32 {
        u128::BITS - self.0.leading_zeros()
    }
}

impl BitOr for RegSet {
    type Output = RegSet;

    fn bitor(self, other: RegSet) -> RegSet {
        RegSet(self.0 | other.0)
    }
}

impl BitOrAssign for RegSet {
    fn bitor_assign(&mut self, other: RegSet) {
        self.0 |= other.0;
    }
}

impl BitAnd for RegSet {
    type Output = RegSet;

    fn bitand(self, other: RegSet) -> RegSet {
        RegSet(self.0 & other.0)
    }
}

impl Not for RegSet {
    type Output = RegSet;

    fn not(self) -> RegSet {
        RegSet::ALL.without(self)
    }
}
