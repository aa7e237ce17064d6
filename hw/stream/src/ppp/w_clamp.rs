// SPDX-License-Identifier: MIT
//! Piece 7: clamping of w, and what goes with clipping.

use super::piece;
use crate::bits::{Word, flag};
use crate::error::Result;

/// Bit 7 of the second cull word (graphics, 6.9; OPAQUE).
const ALWAYS: u32 = 1 << 7;

/// The clamp value of w and the second cull word (graphics, 6.9). The default is what the proven driver
/// writes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WClamp {
    /// The least w, if the pass enables the clamp; 0 is the only value that ran (HW).
    pub least: f32,
    /// Clamp w (INFERRED).
    pub clamp_w: bool,
    /// Draw the edges that clipping makes (INFERRED).
    pub clipped_edges: bool,
    /// Number the primitives for the fragment shader (INFERRED).
    pub primitive_id: bool,
    /// Draw nothing (INFERRED).
    pub discard: bool,
}

piece!(WClamp, "PPP w clamp", 3);

impl WClamp {
    fn payload(&self) -> Result<[u32; 2]> {
        let cull = ALWAYS
            | flag(5, self.clamp_w)
            | flag(9, self.clipped_edges)
            | flag(12, self.primitive_id)
            | flag(17, self.discard);
        Ok([self.least.to_bits(), cull])
    }

    fn of_payload([least, cull]: [u32; 2]) -> Result<WClamp> {
        let mut cull = Word::new("PPP cull 2", cull);
        cull.ones(ALWAYS, "0x80")?;
        let clamp = WClamp {
            least: f32::from_bits(least),
            clamp_w: cull.flag(5),
            clipped_edges: cull.flag(9),
            primitive_id: cull.flag(12),
            discard: cull.flag(17),
        };
        cull.finish()?;
        Ok(clamp)
    }
}
