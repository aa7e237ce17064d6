// SPDX-License-Identifier: MIT
//! Scissor entries: the rectangles and depth ranges of a pass's array (graphics, 7.4).

use crate::bytes::{head, head_mut, put_words, word};
use crate::descriptor::MAX_SIZE;
use crate::error::{Result, illegal};

/// Bytes in an entry, and from one to the next (graphics, 7.4; HW).
pub const ENTRY_SIZE: usize = 16;
/// Most entries of a pass (graphics, 7.4; HW).
pub const MAX_ENTRIES: usize = 65535;

const NAME: &str = "scissor entry";

/// An entry (graphics, 7.4; HW). Every draw uses one: the intersection of viewport, framebuffer and the
/// application's scissor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scissor {
    min: [u16; 2],
    max: [u16; 2],
    /// The depths that draws with depth clamp are kept to.
    pub depth: [f32; 2],
}

impl Scissor {
    /// The pixels from `min` up to `max`, which is not included. An empty rectangle draws nothing.
    ///
    /// # Errors
    /// When an end lies behind the largest framebuffer: above 16384.
    pub fn new(min: [u16; 2], max: [u16; 2], depth: [f32; 2]) -> Result<Scissor> {
        if let Some(end) = max.into_iter().find(|end| u32::from(*end) > MAX_SIZE) {
            return illegal(NAME, "end", end.into(), "0..=16384");
        }
        if min[0] >= max[0] || min[1] >= max[1] {
            let (min, max) = ([0; 2], [0; 2]);
            return Ok(Scissor { min, max, depth });
        }
        Ok(Scissor { min, max, depth })
    }

    /// The first pixel, x and y.
    #[must_use]
    pub const fn min(&self) -> [u16; 2] {
        self.min
    }

    /// One behind the last pixel, x and y: 0 where there is none.
    #[must_use]
    pub const fn max(&self) -> [u16; 2] {
        self.max
    }

    /// Whether there is no pixel.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.max[0] == 0
    }

    /// Whether a pixel is inside.
    #[must_use]
    pub fn contains(&self, x: u16, y: u16) -> bool {
        (self.min[0]..self.max[0]).contains(&x) && (self.min[1]..self.max[1]).contains(&y)
    }

    /// Writes the entry into the first bytes of `buffer`.
    ///
    /// # Errors
    /// When `buffer` is too small.
    pub fn pack(&self, buffer: &mut [u8]) -> Result<()> {
        let out = head_mut(NAME, buffer, ENTRY_SIZE)?;
        let axis = |i: usize| u32::from(self.max[i]) | u32::from(self.min[i]) << 16;
        let [near, far] = self.depth.map(f32::to_bits);
        put_words(out, 0, &[axis(0), axis(1), near, far]);
        Ok(())
    }

    /// The entry in the first bytes.
    ///
    /// # Errors
    /// When the bytes are too few, an end is above 16384, or an empty rectangle is not all 0.
    pub fn unpack(bytes: &[u8]) -> Result<Scissor> {
        let bytes = head(NAME, bytes, ENTRY_SIZE)?;
        let axes = [word(bytes, 0), word(bytes, 4)];
        let (min, max) = (axes.map(|n| (n >> 16) as u16), axes.map(|n| n as u16));
        let depth = [8, 12].map(|at| f32::from_bits(word(bytes, at)));
        let scissor = Scissor::new(min, max, depth)?;
        if (scissor.min, scissor.max) != (min, max) {
            let legal = "all coordinates 0 if there is no pixel";
            return illegal(NAME, "coordinates", axes[0].into(), legal);
        }
        Ok(scissor)
    }
}
