// SPDX-License-Identifier: MIT
//! Tile by tile (images, 7): level and layer offsets, and the order inside a level.

use arrayvec::ArrayVec;

use super::{LINE, PAGE, Samples};
use crate::descriptor::{MAX_LAYERS, MAX_LEVELS, MAX_SIZE, MAX_SIZE_3D, check_count, last_level};
use crate::error::{Result, illegal};
use crate::format::Element;

const NAME: &str = "tiled image";

/// What an image's layers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stack {
    /// Array layers or faces of cubes (layer = cube × 6 + face): every level has all of them.
    Layers(u32),
    /// Slices of a 3D image: their number halves with the level.
    Slices(u32),
}

impl Stack {
    /// Layers in memory.
    #[must_use]
    pub const fn count(self) -> u32 {
        match self {
            Stack::Layers(n) | Stack::Slices(n) => n,
        }
    }
}

/// The description of a tiled image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Image {
    /// Texels in a row of level 0: 1..=16384, 3D 1..=2048. 1D images have height 1.
    pub width: u32,
    /// Rows of level 0, likewise.
    pub height: u32,
    /// Layers or slices, 1..=2048.
    pub stack: Stack,
    /// The unit of memory: 1, 2, 4, 8 or 16 bytes.
    pub element: Element,
    /// Samples of a pixel; with more than one neither levels nor blocks.
    pub samples: Samples,
    /// The image has more than one level. Memory then holds all of them, down to 1×1 (images, 7; HW).
    pub mipmapped: bool,
    /// Layers begin at multiples of [`PAGE`]; records must say the same.
    pub page_aligned: bool,
}

/// What an image is used for, as far as its layout depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Usage {
    /// Shaders store texels.
    pub storage: bool,
    /// Colour attachment.
    pub attachment: bool,
    /// A depth or stencil format.
    pub depth_stencil: bool,
}

/// A level of a tiled image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Level {
    /// Bytes from the layer's start.
    pub offset: u64,
    /// Bytes of memory, padding included.
    pub size: u64,
    /// Elements in a row.
    pub width: u32,
    /// Rows of elements.
    pub height: u32,
    /// Elements in a row of a tile: a power of two.
    pub tile_width: u32,
    /// Rows of a tile: a power of two.
    pub tile_height: u32,
    /// Tiles in a row.
    pub columns: u32,
}

/// A place in an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Elements from the left.
    pub x: u32,
    /// Elements from the top.
    pub y: u32,
    /// Layer, face or slice.
    pub layer: u32,
    /// Sample of the pixel.
    pub sample: u8,
    /// Level.
    pub level: u8,
}

/// A tiled image with everything that follows from its description (images, 7; HW, levels of blocks
/// INFERRED).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiled {
    image: Image,
    levels: ArrayVec<Level, MAX_LEVELS>,
    first_small: u8,
    tree_size: u64,
    layer_stride: u64,
}

impl Tiled {
    /// The layout of an image.
    ///
    /// # Errors
    /// When the description is not legal: see the fields of [`Image`].
    pub fn new(image: Image) -> Result<Tiled> {
        image.check()?;
        let first_small = image.first_small();
        let levels = image.levels(first_small);
        let tree_size = levels.last().map_or(0, |level| {
            (level.offset + level.size).next_multiple_of(LINE)
        });
        let layer_stride = if image.page_aligned {
            tree_size.next_multiple_of(PAGE)
        } else {
            tree_size
        };
        Ok(Tiled {
            image,
            levels,
            first_small,
            tree_size,
            layer_stride,
        })
    }

    /// The layout of an image, page-aligned as the proven driver does it for such use (images, 7.5;
    /// the driver's choice); `image.page_aligned` does not matter.
    ///
    /// # Errors
    /// As [`Tiled::new`].
    pub fn for_usage(image: Image, usage: Usage) -> Result<Tiled> {
        let packed = Tiled::new(Image {
            page_aligned: false,
            ..image
        })?;
        let stacked = image.stack.count() > 1;
        let tree = packed.levels.len() > 1 && packed.tree_size > PAGE;
        let page_aligned = tree && (stacked || usage.depth_stencil)
            || usage.storage
            || usage.attachment && stacked;
        if !page_aligned {
            return Ok(packed);
        }
        Ok(Tiled {
            image: Image {
                page_aligned,
                ..image
            },
            layer_stride: packed.tree_size.next_multiple_of(PAGE),
            ..packed
        })
    }

    /// The description.
    #[must_use]
    pub const fn image(&self) -> &Image {
        &self.image
    }

    /// The levels, largest first: all of them, however few a view shows.
    #[must_use]
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The first level that no longer fills a big tile on both axes, also the first of the sparse
    /// mip tail (images, 7.4, step 1); the image need not have it.
    #[must_use]
    pub const fn first_small(&self) -> u8 {
        self.first_small
    }

    /// Bytes of a layer's levels.
    #[must_use]
    pub const fn tree_size(&self) -> u64 {
        self.tree_size
    }

    /// Bytes from layer to layer.
    #[must_use]
    pub const fn layer_stride(&self) -> u64 {
        self.layer_stride
    }

    /// Bytes of the image, a multiple of [`LINE`]. To share memory with nothing else, begin and end
    /// at multiples of [`PAGE`] (images, 7.8; INFERRED).
    #[must_use]
    pub fn size(&self) -> u64 {
        (self.layer_stride * u64::from(self.image.stack.count())).next_multiple_of(LINE)
    }

    /// Layers or slices of a level; 0 when the image has no such level.
    #[must_use]
    pub fn layers(&self, level: u8) -> u32 {
        if usize::from(level) >= self.levels.len() {
            return 0;
        }
        match self.image.stack {
            Stack::Layers(n) => n,
            Stack::Slices(n) => minify(n, level),
        }
    }

    /// Bytes from the image's address to an element's sample; `None` when the image has none there
    /// (images, 7.3, 7.5, 7.6).
    #[must_use]
    pub fn offset(&self, at: Position) -> Option<u64> {
        let level = self.levels.get(usize::from(at.level))?;
        if at.x >= level.width
            || at.y >= level.height
            || at.layer >= self.layers(at.level)
            || u32::from(at.sample) >= self.image.samples.count()
        {
            return None;
        }
        let layer = self.layer_stride * u64::from(at.layer) + level.offset;
        let element = level.index(at.x, at.y) * self.image.pixel_bytes();
        let sample = u64::from(at.sample) * u64::from(self.image.element.bytes);
        Some(layer + element + sample)
    }

    /// The element's sample whose bytes include the one at `offset`; `None` in padding and outside.
    #[must_use]
    pub fn locate(&self, offset: u64) -> Option<Position> {
        let layer = u32::try_from(offset / self.layer_stride).ok()?;
        let offset = offset % self.layer_stride;
        let number = self.levels.iter().rposition(|l| l.offset <= offset)?;
        let level = self.levels.get(number)?;
        let (index, byte) = (
            (offset - level.offset) / self.image.pixel_bytes(),
            (offset - level.offset) % self.image.pixel_bytes(),
        );
        let (x, y) = level.coordinates(index)?;
        let at = Position {
            x,
            y,
            layer,
            sample: (byte / u64::from(self.image.element.bytes)) as u8,
            level: number as u8,
        };
        (layer < self.layers(at.level)).then_some(at)
    }
}

impl Image {
    fn check(&self) -> Result<()> {
        let (field, limit) = match self.stack {
            Stack::Layers(_) => ("layers", MAX_SIZE),
            Stack::Slices(_) => ("depth", MAX_SIZE_3D),
        };
        check_count(NAME, "width", self.width, limit)?;
        check_count(NAME, "height", self.height, limit)?;
        check_count(NAME, field, self.stack.count(), MAX_LAYERS)?;
        let Element {
            width,
            height,
            bytes,
        } = self.element;
        if !matches!(bytes, 1 | 2 | 4 | 8 | 16) {
            let legal = "1, 2, 4, 8 or 16";
            return illegal(NAME, "bytes of an element", bytes.into(), legal);
        }
        if width == 0 || height == 0 {
            return illegal(NAME, "texels of an element", 0, "not 0");
        }
        if self.samples != Samples::One {
            if self.mipmapped {
                return illegal(NAME, "mipmapped", 1, "0 if multisampled");
            }
            if self.element.is_block() {
                let texels = u64::from(width) * u64::from(height);
                return illegal(NAME, "texels of an element", texels, "1 if multisampled");
            }
            if matches!(self.stack, Stack::Slices(_)) {
                let samples = self.samples.count().into();
                return illegal(NAME, "samples", samples, "1 if 3D");
            }
        }
        Ok(())
    }

    /// Bytes of an element with all its samples: what tiles are sized by (images, 7).
    const fn pixel_bytes(&self) -> u64 {
        self.element.bytes as u64 * self.samples.count() as u64
    }

    /// Width and height of a big tile in elements (images, 7.1; HW up to 16 bytes, INFERRED above).
    const fn big_tile(&self) -> (u32, u32) {
        // The tile's elements, a power of two; the odd bit goes to the width.
        let bits = (PAGE / self.pixel_bytes()).ilog2();
        (1 << bits.div_ceil(2), 1 << (bits / 2))
    }

    /// Elements of a level's row and column.
    fn level_size(&self, level: u8) -> (u32, u32) {
        (
            minify(self.width, level).div_ceil(self.element.width.into()),
            minify(self.height, level).div_ceil(self.element.height.into()),
        )
    }

    /// Step 1 of images, 7.4.
    fn first_small(&self) -> u8 {
        let (tile_width, tile_height) = self.big_tile();
        let (block_width, block_height) = (
            u32::from(self.element.width),
            u32::from(self.element.height),
        );
        let (width, height) = self.level_size(0);
        // Whole blocks.
        let (width, height) = (width * block_width, height * block_height);
        let mut level = 0;
        while minify(width, level).div_ceil(block_width) >= tile_width
            && minify(height, level).div_ceil(block_height) >= tile_height
        {
            level += 1;
        }
        level
    }

    /// Steps 2 to 4 of images, 7.4.
    fn levels(&self, first_small: u8) -> ArrayVec<Level, MAX_LEVELS> {
        let depth = match self.stack {
            Stack::Layers(_) => 1,
            Stack::Slices(n) => n,
        };
        let last = if self.mipmapped {
            last_level(self.width.max(self.height).max(depth))
        } else {
            0
        };
        let mut levels = ArrayVec::new();
        let mut offset = 0u64;
        for number in 0..=last {
            let mut level = if number < first_small {
                self.big_level(number)
            } else {
                self.small_level(number, first_small)
            };
            level.offset = offset;
            offset = (offset + level.size).next_multiple_of(LINE);
            // At most 15: the axes have at most 15 bits.
            if levels.try_push(level).is_err() {
                break;
            }
        }
        levels
    }

    /// Step 2: big tiles.
    fn big_level(&self, number: u8) -> Level {
        let (tile_width, tile_height) = self.big_tile();
        let (width, height) = self.level_size(0);
        let (tiles_x, tiles_y) = (
            u64::from(width.div_ceil(tile_width)),
            u64::from(height.div_ceil(tile_height)),
        );
        // What halving the number of columns or rows leaves over.
        let rest = |tiles: u64| u64::from(tiles & ((1 << number) - 1) != 0);
        let (rest_x, rest_y) = (rest(tiles_x), rest(tiles_y));
        let tiles = ((tiles_x * tiles_y) >> (2 * number))
            + rest_x * (tiles_y >> number)
            + rest_y * (tiles_x >> number)
            + rest_x * rest_y;
        let (width, height) = self.level_size(number);
        // The exception of images, 7.3 (INFERRED).
        let padding = u32::from(self.element.is_block() && rest_x != 0);
        Level {
            offset: 0,
            size: tiles * PAGE,
            width,
            height,
            tile_width,
            tile_height,
            columns: (width + padding).div_ceil(tile_width),
        }
    }

    /// Step 3: square tiles that are powers of two.
    fn small_level(&self, number: u8, first_small: u8) -> Level {
        let (width, height) = self.level_size(0);
        let pot = u32::next_power_of_two;
        let since = number - first_small;
        let (padded_width, padded_height) = if self.element.is_block() {
            (minify(pot(width), number), minify(pot(height), number))
        } else {
            (
                minify(pot(minify(width, first_small)), since),
                minify(pot(minify(height, first_small)), since),
            )
        };
        let edge = if self.element.is_block() {
            padded_width.min(padded_height)
        } else {
            pot(minify(width.min(height), number))
        };
        let bytes = u64::from(padded_width) * u64::from(padded_height) * self.pixel_bytes();
        let (width, height) = self.level_size(number);
        Level {
            offset: 0,
            size: bytes.next_multiple_of(LINE),
            width,
            height,
            tile_width: edge,
            tile_height: edge,
            columns: width.div_ceil(edge),
        }
    }
}

impl Level {
    /// The number of an element in the order of memory (images, 7.3).
    #[must_use]
    #[inline]
    pub fn index(&self, x: u32, y: u32) -> u64 {
        // Both are powers of two (images, 7.1), which a division would not know.
        let (width_bits, height_bits) = (self.tile_width.ilog2(), self.tile_height.ilog2());
        let column = u64::from(x >> width_bits);
        let row = u64::from(y >> height_bits);
        let tile = row * u64::from(self.columns) + column;
        let (x, y) = (x & (self.tile_width - 1), y & (self.tile_height - 1));
        (tile << (width_bits + height_bits)) + u64::from(self.interleave(x, y))
    }

    /// The element with this number; `None` in padding.
    #[must_use]
    pub fn coordinates(&self, index: u64) -> Option<(u32, u32)> {
        let tile = index / self.tile_elements();
        let (x, y) = self.separate((index % self.tile_elements()) as u32);
        let column = (tile % u64::from(self.columns)) as u32;
        let row = u32::try_from(tile / u64::from(self.columns)).ok()?;
        let x = column * self.tile_width + x;
        let y = row.checked_mul(self.tile_height)?.checked_add(y)?;
        (x < self.width && y < self.height).then_some((x, y))
    }

    fn tile_elements(&self) -> u64 {
        u64::from(self.tile_width) * u64::from(self.tile_height)
    }

    /// Bits of either axis that alternate: those of the shorter one (images, 7.2).
    fn shared_bits(&self) -> u32 {
        self.tile_width.min(self.tile_height).ilog2()
    }

    /// The number of an element in its tile (images, 7.2): x in the even bits, y in the odd, and on top
    /// what the longer axis has left.
    fn interleave(&self, x: u32, y: u32) -> u32 {
        let shared = self.shared_bits();
        let low = (1 << shared) - 1;
        spread(x & low) | spread(y & low) << 1 | (x >> shared | y >> shared) << (2 * shared)
    }

    /// The inverse of [`Level::interleave`].
    fn separate(&self, index: u32) -> (u32, u32) {
        let shared = self.shared_bits();
        let low = (1 << (2 * shared)) - 1;
        let rest = index >> (2 * shared) << shared;
        let (x, y) = (gather(index & low), gather((index & low) >> 1));
        if self.tile_width > self.tile_height {
            (x | rest, y)
        } else {
            (x, y | rest)
        }
    }
}

/// Halves a size `level` times, not below 1 (images, 0).
const fn minify(size: u32, level: u8) -> u32 {
    match size.checked_shr(level as u32) {
        None | Some(0) => 1,
        Some(size) => size,
    }
}

/// Moves bit i to bit 2i; for numbers of at most 16 bits.
const fn spread(n: u32) -> u32 {
    let n = (n | n << 8) & 0x00ff_00ff;
    let n = (n | n << 4) & 0x0f0f_0f0f;
    let n = (n | n << 2) & 0x3333_3333;
    (n | n << 1) & 0x5555_5555
}

/// Moves bit 2i to bit i and drops the odd ones.
const fn gather(n: u32) -> u32 {
    let n = n & 0x5555_5555;
    let n = (n | n >> 1) & 0x3333_3333;
    let n = (n | n >> 2) & 0x0f0f_0f0f;
    let n = (n | n >> 4) & 0x00ff_00ff;
    (n | n >> 8) & 0x0000_ffff
}
