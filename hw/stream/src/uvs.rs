// SPDX-License-Identifier: MIT
//! Vertex outputs: which word lies where, and how many there are ("UVS").
//!
//! graphics, 5.1 and ISA part 3, 5.2. Words have a fixed order: position, user varyings, point size,
//! layer and viewport, clip distances. Vertex state and the outputs piece count them.

use crate::coefficient::MAX_SCALARS;
use crate::error::{Result, illegal};

const NAME: &str = "vertex outputs";

/// Words of the position: clip-space x, y, z, w, which every vertex shader writes (graphics, 5.1; HW).
pub const POSITION_WORDS: u8 = 4;
/// Most clip distances (graphics, 5.1; mask TRACE).
pub const MAX_CLIP_DISTANCES: u8 = 8;
/// Most words: position, as many scalars as coefficients have room for, and the rest.
pub const MAX_WORDS: u8 = POSITION_WORDS + MAX_SCALARS + 1 + 1 + MAX_CLIP_DISTANCES;

/// The words that a vertex shader writes, in hardware's order (graphics, 5.1; HW up to the user varyings,
/// the order of what follows INFERRED).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Scalars of user varyings, 0..=131, compacted: by location, then component; if they are counted
    /// by kind, smooth ones first, then flat, then linear.
    pub scalars: u8,
    /// A point size follows: `f32`.
    pub point_size: bool,
    /// A word follows with the layer in bits 15:0 and the viewport's index in 31:16 (INFERRED).
    pub layer_viewport: bool,
    /// Clip distances that follow, 0..=8, `f32` each.
    pub clip_distances: u8,
}

impl Layout {
    /// Words in all: 4..=145.
    ///
    /// # Errors
    /// When there are too many scalars or clip distances.
    pub fn words(&self) -> Result<u8> {
        if self.scalars > MAX_SCALARS {
            return illegal(NAME, "user scalars", self.scalars.into(), "0..=131");
        }
        if self.clip_distances > MAX_CLIP_DISTANCES {
            let distances = self.clip_distances.into();
            return illegal(NAME, "clip distances", distances, "0..=8");
        }
        Ok(self.first_clip_distance() as u8 + self.clip_distances)
    }

    /// The word of a user scalar; `None` when there is none.
    #[must_use]
    pub fn scalar(&self, index: u8) -> Option<u16> {
        (index < self.scalars).then_some(u16::from(POSITION_WORDS) + u16::from(index))
    }

    /// The word of the point size.
    #[must_use]
    pub fn point_size(&self) -> Option<u16> {
        self.point_size.then_some(self.behind_scalars())
    }

    /// The word of layer and viewport.
    #[must_use]
    pub fn layer_viewport(&self) -> Option<u16> {
        let at = self.behind_scalars() + u16::from(self.point_size);
        self.layer_viewport.then_some(at)
    }

    /// The word of a clip distance; `None` when there is none.
    #[must_use]
    pub fn clip_distance(&self, index: u8) -> Option<u16> {
        (index < self.clip_distances).then_some(self.first_clip_distance() + u16::from(index))
    }

    fn behind_scalars(&self) -> u16 {
        u16::from(POSITION_WORDS) + u16::from(self.scalars)
    }

    fn first_clip_distance(&self) -> u16 {
        self.behind_scalars() + u16::from(self.point_size) + u16::from(self.layer_viewport)
    }
}

/// The word of layer and viewport index (graphics, 5.1; INFERRED).
#[must_use]
pub const fn layer_viewport_word(layer: u16, viewport: u16) -> u32 {
    layer as u32 | (viewport as u32) << 16
}

/// Layer and viewport index of such a word.
#[must_use]
pub const fn layer_and_viewport(word: u32) -> (u16, u16) {
    (word as u16, (word >> 16) as u16)
}
