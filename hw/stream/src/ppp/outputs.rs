// SPDX-License-Identifier: MIT
//! Piece 3: what the vertex shader writes, and what the fragment shader gets from the rasteriser.

use super::{piece, zero};
use crate::bits::{Word, flag};
use crate::error::{Result, illegal};
use crate::uvs::{self, MAX_CLIP_DISTANCES, MAX_WORDS, POSITION_WORDS};

/// Bit 16 of the select word: always 1 (graphics, 6.4; HW).
const PRESENT: u32 = 1 << 16;

/// Output select and size (graphics, 6.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Outputs {
    /// Clip distances, 0..=8, the first ones (TRACE).
    pub clip_distances: u8,
    /// The vertex shader writes a point size (HW).
    pub point_size: bool,
    /// It writes the word of layer and viewport: both bits (viewport TRACE, layer INFERRED).
    pub layer_viewport: bool,
    /// The fragment shader reads its depth: source slot 1 of the coefficients (HW).
    pub fragment_z: bool,
    /// It reads barycentric coordinates (INFERRED).
    pub barycentrics: bool,
    /// Output words, position included: 4..=145. Vertex state says the same (HW).
    pub words: u8,
}

piece!(Outputs, "PPP outputs", 5);

impl Outputs {
    /// Outputs of a vertex shader.
    ///
    /// # Errors
    /// When the layout has too many words.
    pub fn new(layout: &uvs::Layout, fragment_z: bool) -> Result<Outputs> {
        Ok(Outputs {
            clip_distances: layout.clip_distances,
            point_size: layout.point_size,
            layer_viewport: layout.layer_viewport,
            fragment_z,
            barycentrics: false,
            words: layout.words()?,
        })
    }

    /// The layout of the words; `None` when they are fewer than what is selected, or more than any
    /// shader writes.
    #[must_use]
    pub fn layout(&self) -> Option<uvs::Layout> {
        let rest = u8::from(self.point_size) + u8::from(self.layer_viewport);
        let fixed = POSITION_WORDS + rest + self.clip_distances;
        let layout = uvs::Layout {
            scalars: self.words.checked_sub(fixed)?,
            point_size: self.point_size,
            layer_viewport: self.layer_viewport,
            clip_distances: self.clip_distances,
        };
        layout.words().is_ok().then_some(layout)
    }

    fn check(&self) -> Result<()> {
        if self.clip_distances > MAX_CLIP_DISTANCES {
            let distances = self.clip_distances.into();
            return illegal(Self::NAME, "clip distances", distances, "0..=8");
        }
        if !(POSITION_WORDS..=MAX_WORDS).contains(&self.words) || self.layout().is_none() {
            let legal = "4..=145, what is selected included";
            return illegal(Self::NAME, "output words", self.words.into(), legal);
        }
        Ok(())
    }

    fn payload(&self) -> Result<[u32; 4]> {
        self.check()?;
        let select = ((1 << self.clip_distances) - 1)
            | PRESENT
            | flag(18, self.point_size)
            | flag(19, self.layer_viewport)
            | flag(20, self.layer_viewport)
            | flag(21, self.fragment_z)
            | flag(22, self.barycentrics);
        Ok([select, 0, 0, self.words.into()])
    }

    fn of_payload([select, counts, zeros, words]: [u32; 4]) -> Result<Outputs> {
        let mut select = Word::new("PPP output select", select);
        select.ones(PRESENT, "0x10000")?;
        let planes = select.take(0, 7);
        if !(planes + 1).is_power_of_two() {
            let legal = "the lowest bits: the first distances";
            return illegal(Self::NAME, "clip planes", planes.into(), legal);
        }
        let point_size = select.flag(18);
        let (viewport, layer) = (select.flag(19), select.flag(20));
        if viewport != layer {
            let legal = "bits 19 and 20 alike";
            return illegal(Self::NAME, "viewport and layer", viewport.into(), legal);
        }
        let outputs = Outputs {
            clip_distances: planes.count_ones() as u8,
            point_size,
            layer_viewport: layer,
            fragment_z: select.flag(21),
            barycentrics: select.flag(22),
            words: match u8::try_from(words) {
                Ok(words) => words,
                Err(_) => return illegal(Self::NAME, "output words", words.into(), "4..=145"),
            },
        };
        select.finish()?;
        zero(Self::NAME, "16-bit counts", counts)?;
        zero(Self::NAME, "word 3", zeros)?;
        outputs.check()?;
        Ok(outputs)
    }
}
