// SPDX-License-Identifier: MIT
//! Sets of general registers and of their halves.

use std::ops::{BitAnd, BitOr, BitOrAssign, Not};

use agx_isa::Half;

/// A set of the registers r0..r95, one bit each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct RegSet(u128);

/// Number of general registers (isa-1, 1.2; HW).
pub(crate) const COUNT: u32 = 96;

impl RegSet {
    /// None.
    pub(crate) const EMPTY: RegSet = RegSet(0);
    /// All of them.
    pub(crate) const ALL: RegSet = RegSet((1 << COUNT) - 1);

    /// One register. Numbers above r95 give nothing.
    #[must_use]
    #[inline]
    pub(crate) const fn of(reg: u8) -> RegSet {
        if reg as u32 >= COUNT {
            return RegSet::EMPTY;
        }
        RegSet(1 << reg)
    }

    /// `count` registers from `first` on, which are fewer than 64.
    #[must_use]
    #[inline]
    pub(crate) const fn range(first: u8, count: u8) -> RegSet {
        if first as u32 >= COUNT {
            return RegSet::EMPTY;
        }
        // Tuples are shorter than a word.
        let mask = (1u64 << (count & 63)) - 1;
        RegSet(((mask as u128) << first) & RegSet::ALL.0)
    }

    /// Is it in the set?
    #[must_use]
    #[inline]
    pub(crate) const fn contains(self, reg: u8) -> bool {
        (reg as u32) < COUNT && self.0 >> reg & 1 == 1
    }

    /// None in the set.
    #[must_use]
    #[inline]
    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Is all of this set in `other`?
    #[must_use]
    #[inline]
    pub(crate) const fn is_subset(self, other: RegSet) -> bool {
        self.0 & !other.0 == 0
    }

    /// Have both a register in common?
    #[must_use]
    #[inline]
    pub(crate) const fn meets(self, other: RegSet) -> bool {
        self.0 & other.0 != 0
    }

    /// What `other` does not contain.
    #[must_use]
    #[inline]
    pub(crate) const fn without(self, other: RegSet) -> RegSet {
        RegSet(self.0 & !other.0)
    }

    /// The lowest register.
    #[must_use]
    #[inline]
    pub(crate) const fn first(self) -> Option<u8> {
        if self.0 == 0 {
            None
        } else {
            Some(self.0.trailing_zeros() as u8)
        }
    }

    /// In ascending order.
    #[inline]
    pub(crate) fn iter(self) -> impl Iterator<Item = u8> {
        // A word at a time: most registers are in the lower one.
        let (mut low, mut high) = (self.0 as u64, (self.0 >> 64) as u64);
        std::iter::from_fn(move || {
            if low != 0 {
                let first = low.trailing_zeros() as u8;
                low &= low - 1;
                return Some(first);
            }
            let first = (high != 0).then(|| 64 + high.trailing_zeros() as u8)?;
            high &= high - 1;
            Some(first)
        })
    }

    /// One more than the highest register.
    #[must_use]
    pub(crate) const fn extent(self) -> u32 {
        u128::BITS - self.0.leading_zeros()
    }
}

/// A set of halves of registers. Nearly all sets are of whole registers; halves matter where two of them are under way to
/// one register.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct HalfSet {
    low: RegSet,
    high: RegSet,
}

impl HalfSet {
    /// None.
    pub(crate) const EMPTY: HalfSet = HalfSet::whole(RegSet::EMPTY);

    /// Both halves of some registers.
    #[must_use]
    #[inline]
    pub(crate) const fn whole(regs: RegSet) -> HalfSet {
        HalfSet {
            low: regs,
            high: regs,
        }
    }

    /// The same half of some registers, or both halves.
    #[must_use]
    #[inline]
    pub(crate) const fn of(regs: RegSet, half: Half) -> HalfSet {
        HalfSet {
            low: match half {
                Half::High => RegSet::EMPTY,
                Half::Low | Half::Whole => regs,
            },
            high: match half {
                Half::Low => RegSet::EMPTY,
                Half::High | Half::Whole => regs,
            },
        }
    }

    /// Registers of which both halves are in the set.
    #[must_use]
    #[inline]
    pub(crate) const fn complete(self) -> RegSet {
        RegSet(self.low.0 & self.high.0)
    }

    /// Registers of which a half is in the set.
    #[must_use]
    #[inline]
    pub(crate) const fn touched(self) -> RegSet {
        RegSet(self.low.0 | self.high.0)
    }

    /// Have both a half in common?
    #[must_use]
    #[inline]
    pub(crate) const fn meets(self, other: HalfSet) -> bool {
        self.low.0 & other.low.0 | self.high.0 & other.high.0 != 0
    }
}

impl BitOr for HalfSet {
    type Output = HalfSet;

    #[inline]
    fn bitor(self, other: HalfSet) -> HalfSet {
        HalfSet {
            low: self.low | other.low,
            high: self.high | other.high,
        }
    }
}

impl BitOrAssign for HalfSet {
    #[inline]
    fn bitor_assign(&mut self, other: HalfSet) {
        *self = *self | other;
    }
}

impl BitOr for RegSet {
    type Output = RegSet;

    #[inline]
    fn bitor(self, other: RegSet) -> RegSet {
        RegSet(self.0 | other.0)
    }
}

impl BitOrAssign for RegSet {
    #[inline]
    fn bitor_assign(&mut self, other: RegSet) {
        self.0 |= other.0;
    }
}

impl BitAnd for RegSet {
    type Output = RegSet;

    #[inline]
    fn bitand(self, other: RegSet) -> RegSet {
        RegSet(self.0 & other.0)
    }
}

impl Not for RegSet {
    type Output = RegSet;

    #[inline]
    fn not(self) -> RegSet {
        RegSet::ALL.without(self)
    }
}
