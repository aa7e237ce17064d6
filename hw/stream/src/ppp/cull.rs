// SPDX-License-Identifier: MIT
//! Piece 8: culling, winding, depth clip.

use super::piece;
use crate::bits::{Word, flag};
use crate::error::Result;
use crate::provoking::Provoking;

/// The cull word (graphics, 6.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cull {
    /// Front faces are not drawn (HW).
    pub front: bool,
    /// Back faces are not drawn (HW).
    pub back: bool,
    /// The vertex that flat shading takes its values from; also in vertex state and coefficients.
    pub provoking: Provoking,
    /// Clip at the near and far planes (HW with, TRACE without).
    pub depth_clip: bool,
    /// Clamp depth to the range of the scissor entry (TRACE).
    pub depth_clamp: bool,
    /// Of unknown use (INFERRED).
    pub primitive_msaa: bool,
    /// Counter-clockwise triangles are front faces, in Vulkan's sense (bit HW, sense INFERRED).
    pub front_counter_clockwise: bool,
    /// Draw nothing (INFERRED).
    pub discard: bool,
}

piece!(Cull, "PPP cull", 2);

impl Default for Cull {
    /// 0x480: nothing culled, first vertex, clip at the planes, clockwise.
    fn default() -> Cull {
        Cull {
            front: false,
            back: false,
            provoking: Provoking::First,
            depth_clip: true,
            depth_clamp: false,
            primitive_msaa: false,
            front_counter_clockwise: false,
            discard: false,
        }
    }
}

impl Cull {
    fn payload(&self) -> Result<[u32; 1]> {
        Ok([flag(0, self.front)
            | flag(1, self.back)
            | (u32::from(self.provoking.code()) + 1) << 7
            | flag(10, self.depth_clip)
            | flag(11, self.depth_clamp)
            | flag(15, self.primitive_msaa)
            | flag(16, self.front_counter_clockwise)
            | flag(17, self.discard)])
    }

    fn of_payload([word]: [u32; 1]) -> Result<Cull> {
        let mut word = Word::new(Self::NAME, word);
        let cull = Cull {
            front: word.flag(0),
            back: word.flag(1),
            // 0 becomes 255, which no vertex has.
            provoking: Provoking::from_code((word.take(7, 8) as u8).wrapping_sub(1))?,
            depth_clip: word.flag(10),
            depth_clamp: word.flag(11),
            primitive_msaa: word.flag(15),
            front_counter_clockwise: word.flag(16),
            discard: word.flag(17),
        };
        word.finish()?;
        Ok(cull)
    }
}
