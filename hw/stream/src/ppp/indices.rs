// SPDX-License-Identifier: MIT
//! Piece 9: which entries of the pass's arrays a draw uses.

use super::piece;
use crate::error::Result;

/// Indices into the arrays of [`scissor`](crate::scissor) and [`depth_bias`](crate::depth_bias) entries
/// that a submit names (graphics, 6.2, 7.4, 7.5; HW).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Indices {
    /// The scissor entry of viewport 0; that of viewport i is i entries behind (INFERRED).
    pub scissor: u16,
    /// The depth-bias entry.
    pub depth_bias: u16,
}

piece!(Indices, "PPP indices", 2);

impl Indices {
    fn payload(&self) -> Result<[u32; 1]> {
        Ok([u32::from(self.scissor) | u32::from(self.depth_bias) << 16])
    }

    fn of_payload([word]: [u32; 1]) -> Result<Indices> {
        Ok(Indices {
            scissor: word as u16,
            depth_bias: (word >> 16) as u16,
        })
    }
}
