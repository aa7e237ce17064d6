// SPDX-License-Identifier: MIT
//! Piece 6: viewports, and the tiles that they cover.

use arrayvec::ArrayVec;

use super::zero;
use crate::bits::{Word, flag};
use crate::bytes::{head, head_mut, put_words, word};
use crate::error::{Result, illegal};

const NAME: &str = "PPP viewports";
/// Most viewports (graphics, 7.2; TRACE).
pub const MAX_VIEWPORTS: usize = 16;
/// Pixels on either axis of a tile of the region clip (graphics, 7.4; HW).
pub const TILE: u16 = 32;
/// Tiles on an axis that the nine bits hold.
const TILES: u16 = 512;
const HEADER: u32 = super::Kind::Viewports.header();
const COUNT: u32 = 0xf000;

/// Words with so many viewports (graphics, 7.2; HW for 1).
pub(super) const fn words(count: usize) -> usize {
    2 + 8 * count
}

/// The viewports that a header announces; `None` for other pieces.
pub(super) const fn count(header: u32) -> Option<usize> {
    if header & !COUNT == HEADER {
        Some((header >> 12) as usize + 1)
    } else {
        None
    }
}

/// The 32×32-pixel tiles that draws are kept to (graphics, 7.4; HW). They must cover the scissor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegionClip {
    min: [u16; 2],
    max: [u16; 2],
}

impl RegionClip {
    /// Tiles from `min` to `max`, both included, x and y.
    ///
    /// # Errors
    /// When one is above 511 or they are in the wrong order.
    pub fn new(min: [u16; 2], max: [u16; 2]) -> Result<RegionClip> {
        for (min, max) in min.into_iter().zip(max) {
            if max >= TILES {
                return illegal("PPP region clip", "last tile", max.into(), "0..=511");
            }
            if min > max {
                let legal = "at most the last";
                return illegal("PPP region clip", "first tile", min.into(), legal);
            }
        }
        Ok(RegionClip { min, max })
    }

    /// The tiles of the pixels from `min` up to `max`, which is not included: the one of `min` where
    /// there are none (graphics, 7.4; HW).
    ///
    /// # Errors
    /// When a tile is above 511.
    pub fn of_pixels(min: [u16; 2], max: [u16; 2]) -> Result<RegionClip> {
        let first = min.map(|pixel| pixel / TILE);
        let last = [0, 1].map(|axis| (max[axis].max(1).div_ceil(TILE) - 1).max(first[axis]));
        RegionClip::new(first, last)
    }

    /// The first tile on each axis.
    #[must_use]
    pub const fn min(self) -> [u16; 2] {
        self.min
    }

    /// The last tile on each axis.
    #[must_use]
    pub const fn max(self) -> [u16; 2] {
        self.max
    }

    fn words(self) -> [u32; 2] {
        let axis = |i: usize| u32::from(self.min[i]) << 16 | u32::from(self.max[i]);
        [flag(31, true) | axis(0), axis(1)]
    }

    fn of_words(x: u32, y: u32) -> Result<RegionClip> {
        let mut words = [x, y].map(|word| Word::new("PPP region clip", word));
        words[0].ones(1 << 31, "0x80000000: enabled")?;
        let mut axis = |i: usize| (words[i].take(16, 24) as u16, words[i].take(0, 8) as u16);
        let ((min_x, max_x), (min_y, max_y)) = (axis(0), axis(1));
        for word in words {
            word.finish()?;
        }
        RegionClip::new([min_x, min_y], [max_x, max_y])
    }
}

/// A viewport (graphics, 7.1; HW): a point of the clip volume, divided by w, comes to
/// `translate + scale * point`, x and y in pixels from the upper left corner, z in depth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    /// Tiles that draws are kept to.
    pub region: RegionClip,
    /// Where the middle of the clip volume comes to (depth: its near plane); x, y, z.
    pub translate: [f32; 3],
    /// How far its sides are from there (depth: the far plane); negative ones mirror.
    pub scale: [f32; 3],
}

impl Viewport {
    /// A rectangle of pixels and a range of depth, as Vulkan's viewports state them (graphics, 7.1; HW).
    #[must_use]
    pub fn new(origin: [f32; 2], size: [f32; 2], depth: [f32; 2], region: RegionClip) -> Viewport {
        let [width, height] = size.map(|n| n / 2.0);
        Viewport {
            region,
            translate: [origin[0] + width, origin[1] + height, depth[0]],
            scale: [width, height, depth[1] - depth[0]],
        }
    }

    pub(super) fn words(&self) -> ([u32; 2], [u32; 6]) {
        let [tx, ty, tz] = self.translate.map(f32::to_bits);
        let [sx, sy, sz] = self.scale.map(f32::to_bits);
        (self.region.words(), [tx, sx, ty, sy, tz, sz])
    }
}

/// 1 to 16 viewports (graphics, 7.2): one HW, more TRACE for the header and INFERRED for the order of
/// what follows. The vertex shader chooses one.
#[derive(Clone, Debug, PartialEq)]
pub struct Viewports(pub ArrayVec<Viewport, MAX_VIEWPORTS>);

impl Viewports {
    /// One viewport.
    #[must_use]
    pub fn one(viewport: Viewport) -> Viewports {
        let mut viewports = ArrayVec::new();
        viewports.push(viewport);
        Viewports(viewports)
    }

    /// Words, header included.
    #[must_use]
    pub fn words(&self) -> usize {
        words(self.0.len())
    }

    /// Writes the piece into the first bytes of `buffer` and returns its size.
    ///
    /// # Errors
    /// When `buffer` is too small or there is no viewport.
    pub fn pack(&self, buffer: &mut [u8]) -> Result<usize> {
        let count = self.0.len();
        if count == 0 {
            return illegal(NAME, "viewports", 0, "1..=16");
        }
        let size = 4 * words(count);
        let out = head_mut(NAME, buffer, size)?;
        let control = 4 * (1 + 2 * count);
        put_words(out, 0, &[HEADER | ((count - 1) as u32) << 12]);
        put_words(out, control, &[0]);
        for (i, viewport) in self.0.iter().enumerate() {
            let (region, transform) = viewport.words();
            put_words(out, 4 + 8 * i, &region);
            put_words(out, control + 4 + 24 * i, &transform);
        }
        Ok(size)
    }

    /// The piece that begins `bytes`.
    ///
    /// # Errors
    /// When the bytes are too few, the header is another, or a field has a value that
    /// [`Viewports::pack`] does not write.
    pub fn unpack(bytes: &[u8]) -> Result<Viewports> {
        head(NAME, bytes, 4)?;
        let Some(count) = count(word(bytes, 0)) else {
            let legal = "that of graphics, 7.2";
            return illegal(NAME, "header", word(bytes, 0).into(), legal);
        };
        let bytes = head(NAME, bytes, 4 * words(count))?;
        let control = 4 * (1 + 2 * count);
        zero(NAME, "viewport control", word(bytes, control))?;
        let mut viewports = ArrayVec::new();
        for i in 0..count {
            let region = 4 + 8 * i;
            let transform = |n: usize| f32::from_bits(word(bytes, control + 4 + 24 * i + 4 * n));
            viewports.push(Viewport {
                region: RegionClip::of_words(word(bytes, region), word(bytes, region + 4))?,
                translate: [transform(0), transform(2), transform(4)],
                scale: [transform(1), transform(3), transform(5)],
            });
        }
        Ok(Viewports(viewports))
    }
}
