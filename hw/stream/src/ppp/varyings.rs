// SPDX-License-Identifier: MIT
//! Piece 1: how many varyings there are.

use super::{piece, zero};
use crate::bits::Word;
use crate::coefficient::MAX_SCALARS;
use crate::error::{Result, illegal};

/// Counts of the 32-bit scalars of user varyings (graphics, 5.1, 6.2; HW).
///
/// The total as `smooth` and 0 elsewhere renders correctly for any mix (HW); counting by kind, with the
/// scalars in that order, is INFERRED.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct VaryingCounts {
    /// Smooth ones, or all.
    pub smooth: u8,
    /// Flat ones.
    pub flat: u8,
    /// Linear ones: without perspective.
    pub linear: u8,
}

piece!(VaryingCounts, "PPP varying counts", 5);

impl VaryingCounts {
    /// All scalars in the first count (HW).
    #[must_use]
    pub const fn all(scalars: u8) -> VaryingCounts {
        VaryingCounts {
            smooth: scalars,
            flat: 0,
            linear: 0,
        }
    }

    /// Scalars in all.
    #[must_use]
    pub const fn total(&self) -> u16 {
        self.smooth as u16 + self.flat as u16 + self.linear as u16
    }

    fn check(&self) -> Result<()> {
        if self.total() > MAX_SCALARS.into() {
            return illegal(Self::NAME, "user scalars", self.total().into(), "0..=131");
        }
        Ok(())
    }

    fn payload(&self) -> Result<[u32; 4]> {
        self.check()?;
        let counts = [self.smooth, self.flat, self.linear, 0];
        Ok([u32::from_le_bytes(counts), 0, 0, 0])
    }

    fn of_payload([counts, rest @ ..]: [u32; 4]) -> Result<VaryingCounts> {
        let mut word = Word::new(Self::NAME, counts);
        let counts = VaryingCounts {
            smooth: word.take(0, 7) as u8,
            flat: word.take(8, 15) as u8,
            linear: word.take(16, 23) as u8,
        };
        word.finish()?;
        for word in rest {
            zero(Self::NAME, "16-bit counts", word)?;
        }
        counts.check()?;
        Ok(counts)
    }
}
