// SPDX-License-Identifier: MIT
//! Where the texels of an image lie in memory (images, 6 and 7).
//!
//! Tiled images follow from their description alone: hardware computes the same offsets from a
//! record, so nothing here can be chosen but whether layers are page-aligned. Coordinates count
//! *elements*: texels, or blocks of a compressed format.

mod linear;
mod tiled;

pub use crate::launcher::Samples;
pub use linear::Linear;
pub use tiled::{Image, Level, Position, Stack, Tiled, Usage};

/// Bytes that levels, and layers that are not page-aligned, begin at multiples of (images, 7.4; HW).
pub const LINE: u64 = 0x80;
/// Bytes in a big tile, and what page-aligned layers begin at multiples of (images, 7.1, 7.5; HW).
pub const PAGE: u64 = crate::window::PAGE_SIZE;
/// Shortest axis of a compressed image (images, 9; HW).
pub const MIN_COMPRESSED: u32 = 16;

/// Where texels lie, whichever way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(
    clippy::large_enum_variant,
    reason = "the large one is the usual one, and it is not kept in numbers"
)]
pub enum Memory {
    /// Row by row.
    Linear(Linear),
    /// Tile by tile.
    Tiled(Tiled),
}

impl Memory {
    /// Bytes from the image's address to behind its last layer.
    #[must_use]
    pub fn size(&self) -> u64 {
        match self {
            Memory::Linear(linear) => linear.size(),
            Memory::Tiled(tiled) => tiled.size(),
        }
    }

    /// Bytes from the image's address to an element's sample; `None` when the image has none there.
    #[must_use]
    pub fn offset(&self, at: Position) -> Option<u64> {
        match self {
            Memory::Linear(linear) if at.layer == 0 && at.level == 0 && at.sample == 0 => {
                linear.offset(at.x, at.y)
            }
            Memory::Linear(_) => None,
            Memory::Tiled(tiled) => tiled.offset(at),
        }
    }

    /// The element's sample whose bytes include the one at `offset`; `None` in padding and outside.
    #[must_use]
    pub fn locate(&self, offset: u64) -> Option<Position> {
        match self {
            Memory::Linear(linear) => linear.locate(offset),
            Memory::Tiled(tiled) => tiled.locate(offset),
        }
    }
}

/// Whether hardware's lossless compression covers images of this size. It also needs that nothing stores
/// single texels into the image or views it in another format (images, 9; HW).
#[must_use]
pub const fn is_compressible(width: u32, height: u32) -> bool {
    width >= MIN_COMPRESSED && height >= MIN_COMPRESSED
}
