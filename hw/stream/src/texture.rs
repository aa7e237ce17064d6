// SPDX-License-Identifier: MIT
//! Texture records: what sampling, texel fetch and attachment reload read (images, 2).

use crate::bits::{Reader, Writer};
use crate::descriptor::{
    Head, MAX_CUBES, bit, check_address, check_count, last_level, put_words, stride_field,
    stride_of, words,
};
use crate::error::{Result, illegal};
use crate::format::{Encoding, Format, Numeric, Swizzle};
use crate::launcher::Samples;
use crate::layout::{self, Image, Linear, Stack, Tiled};

pub use crate::descriptor::{
    EMPTY, GRANULE, MAX_LAYERS, MAX_LEVELS, MAX_SIZE, MAX_SIZE_3D, MAX_STRIDE, Multisample,
    RECORD_SIZE,
};

/// Texels in a row of the linear image that a texel buffer is read as (images, 2.2; INFERRED).
pub const TEXEL_BUFFER_WIDTH: u32 = 1024;

const NAME: &str = "texture record";
const COMPRESSED: usize = 59;
const SRGB: usize = 108;
const PAGE_ALIGNED: usize = 126;

/// The dimensions of a tiled texture (images, 2.1; codes HW).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dimension {
    /// One row. The proven driver uses [`Dimension::D2`], which lies in memory alike.
    D1,
    /// Rows. The proven driver uses [`Dimension::D2Array`].
    D1Array {
        /// 1..=2048.
        layers: u32,
    },
    /// The usual one.
    D2,
    /// Layers.
    D2Array {
        /// 1..=2048.
        layers: u32,
    },
    /// Several samples of a pixel.
    D2Multisample {
        /// How many.
        samples: Multisample,
    },
    /// Slices; no axis above 2048.
    D3 {
        /// 1..=2048.
        depth: u32,
    },
    /// Six square faces.
    Cube,
    /// Cubes. The code is captured, the unit of the count INFERRED.
    CubeArray {
        /// 1..=341.
        cubes: u32,
    },
    /// Layers of several samples; the code is captured.
    D2MultisampleArray {
        /// How many samples.
        samples: Multisample,
        /// 1..=2048.
        layers: u32,
    },
}

impl Dimension {
    /// The code in a record.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Dimension::D1 => 0,
            Dimension::D1Array { .. } => 1,
            Dimension::D2 => 2,
            Dimension::D2Array { .. } => 3,
            Dimension::D2Multisample { .. } => 4,
            Dimension::D3 { .. } => 5,
            Dimension::Cube => 6,
            Dimension::CubeArray { .. } => 7,
            Dimension::D2MultisampleArray { .. } => 8,
        }
    }

    /// The count of the depth field, and the most it may be.
    const fn count(self) -> (&'static str, u32, u32) {
        match self {
            Dimension::D1Array { layers }
            | Dimension::D2Array { layers }
            | Dimension::D2MultisampleArray { layers, .. } => ("layers", layers, MAX_LAYERS),
            Dimension::D3 { depth } => ("depth", depth, MAX_SIZE_3D),
            Dimension::CubeArray { cubes } => ("cubes", cubes, MAX_CUBES),
            Dimension::D1 | Dimension::D2 | Dimension::D2Multisample { .. } | Dimension::Cube => {
                ("layers", 1, 1)
            }
        }
    }

    /// The value of the samples field, for the dimensions that have it.
    const fn multisample(self) -> Option<Multisample> {
        match self {
            Dimension::D2Multisample { samples }
            | Dimension::D2MultisampleArray { samples, .. } => Some(samples),
            _ => None,
        }
    }

    fn read(code: u8, bits: &mut Reader<4>) -> Result<Dimension> {
        let mut count = || bits.take(110, 123) as u32 + 1;
        Ok(match code {
            0 => Dimension::D1,
            1 => Dimension::D1Array { layers: count() },
            2 => Dimension::D2,
            3 => Dimension::D2Array { layers: count() },
            5 => Dimension::D3 { depth: count() },
            6 => Dimension::Cube,
            7 => Dimension::CubeArray { cubes: count() },
            4 | 8 => {
                let layers = if code == 8 { count() } else { 1 };
                let samples = Multisample::of_bit(bits.flag(bit::SAMPLES));
                match code {
                    4 => Dimension::D2Multisample { samples },
                    _ => Dimension::D2MultisampleArray { samples, layers },
                }
            }
            _ => return illegal(NAME, "dimension", code.into(), "0..=8"),
        })
    }

    /// Layers or slices in memory.
    const fn stack(self) -> Stack {
        match self {
            Dimension::D3 { depth } => Stack::Slices(depth),
            Dimension::Cube => Stack::Layers(6),
            Dimension::CubeArray { cubes } => Stack::Layers(cubes.saturating_mul(6)),
            other => Stack::Layers(other.count().1),
        }
    }
}

/// The levels of a texture (images, 2; HW). Absolute numbers, level 0 being the largest of the image;
/// a shader's LOD 0 is the first level of the view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Levels {
    /// The image has one level.
    #[default]
    Single,
    /// The image has more than one; every level down to 1×1 is in memory.
    View {
        /// The largest level that the view shows.
        first: u8,
        /// The smallest, not below `first`.
        last: u8,
    },
}

/// How a tiled texture lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tiling {
    /// Dimensions and counts.
    pub dimension: Dimension,
    /// Levels.
    pub levels: Levels,
    /// Layers begin at multiples of 16 KiB (images, 7.5; HW).
    pub page_aligned: bool,
    /// The address of lossless compression's metadata. Drivers leave it out; the coding of compressed
    /// blocks is not known (images, 9; captured).
    pub compression: Option<u64>,
}

/// Where the texels are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// Row by row: two dimensions, one level, one sample, no blocks (images, 2.2; HW).
    Linear {
        /// Bytes from row to row: a multiple of 16, at most [`MAX_STRIDE`].
        stride: u32,
    },
    /// Tile by tile.
    Tiled(Tiling),
}

/// A texture record (images, 2; HW).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Texture {
    /// Codes of the format.
    pub encoding: Encoding,
    /// Where the components of the result come from.
    pub swizzle: Swizzle,
    /// Decode R, G and B from sRGB; only with [`Numeric::Unorm`].
    pub srgb: bool,
    /// Texels in a row of level 0, 1..=16384.
    pub width: u32,
    /// Rows of level 0, 1..=16384.
    pub height: u32,
    /// The first byte of level 0 of the first layer: a multiple of 16, below 2^42. Views of
    /// levels keep it; only views of layers move it (images, 2.2).
    pub address: u64,
    /// Where the texels are.
    pub memory: Memory,
}

impl Texture {
    /// A linear texture.
    #[must_use]
    pub const fn linear(
        format: Format,
        width: u32,
        height: u32,
        address: u64,
        stride: u32,
    ) -> Texture {
        let memory = Memory::Linear { stride };
        Texture::new(format, width, height, address, memory)
    }

    /// A texel buffer of `count` elements: rows of [`TEXEL_BUFFER_WIDTH`], the last of which may reach
    /// behind the buffer. The shader splits the index and checks it (images, 2.2; form HW, width INFERRED).
    ///
    /// # Errors
    /// When there are no elements or more than fill 16384 rows.
    pub fn texel_buffer(format: Format, count: u32, address: u64) -> Result<Texture> {
        let height = count.div_ceil(TEXEL_BUFFER_WIDTH);
        if !(1..=MAX_SIZE).contains(&height) {
            return illegal(NAME, "texels of a buffer", count.into(), "1..=16777216");
        }
        let stride = TEXEL_BUFFER_WIDTH * u32::from(format.element().bytes);
        let width = TEXEL_BUFFER_WIDTH;
        Ok(Texture::linear(format, width, height, address, stride))
    }

    /// A tiled texture of one level, without page-aligned layers.
    #[must_use]
    pub const fn tiled(
        format: Format,
        dimension: Dimension,
        width: u32,
        height: u32,
        address: u64,
    ) -> Texture {
        let tiling = Tiling {
            dimension,
            levels: Levels::Single,
            page_aligned: false,
            compression: None,
        };
        Texture::new(format, width, height, address, Memory::Tiled(tiling))
    }

    const fn new(format: Format, width: u32, height: u32, address: u64, memory: Memory) -> Texture {
        Texture {
            encoding: format.encoding(),
            swizzle: format.swizzle(),
            srgb: format.is_srgb(),
            width,
            height,
            address,
            memory,
        }
    }

    /// Writes the record into the first 32 bytes of `buffer`.
    ///
    /// # Errors
    /// When `buffer` is too small or a field is not legal.
    pub fn pack(&self, buffer: &mut [u8]) -> Result<()> {
        self.check()?;
        let mut out = Writer::new();
        let (dimension, tiled) = match self.memory {
            Memory::Linear { .. } => (Dimension::D2, false),
            Memory::Tiled(tiling) => (tiling.dimension, true),
        };
        let head = Head {
            dimension: dimension.code(),
            tiled,
            encoding: self.encoding,
            address: self.address,
        };
        head.write(NAME, &mut out)?;
        out.set(16, 27, self.swizzle.code().into());
        out.set(28, 41, u64::from(self.width) - 1);
        out.set(42, 55, u64::from(self.height) - 1);
        out.flag(SRGB, self.srgb);
        match self.memory {
            Memory::Linear { stride } => out.set(110, 125, stride_field(NAME, stride)?),
            Memory::Tiled(tiling) => {
                if let Some(samples) = tiling.dimension.multisample() {
                    out.flag(bit::SAMPLES, samples.is_four());
                }
                out.set(110, 123, u64::from(tiling.dimension.count().1) - 1);
                out.flag(PAGE_ALIGNED, tiling.page_aligned);
                if let Levels::View { first, last } = tiling.levels {
                    out.flag(bit::MIPMAPPED, true);
                    out.set(172, 175, first.into());
                    out.set(176, 179, last.into());
                }
                if let Some(metadata) = tiling.compression {
                    out.flag(COMPRESSED, true);
                    out.set(128, 171, metadata / GRANULE);
                }
                out.flag(bit::EXTENDED, tiling.is_extended());
            }
        }
        put_words(NAME, buffer, out.words())
    }

    /// The record in the first 32 bytes.
    ///
    /// # Errors
    /// When the bytes are too few, a field is not legal, or a bit is set that [`Texture::pack`] does not
    /// set: sparse layouts, swizzles that fault, levels that the image has not.
    pub fn unpack(bytes: &[u8]) -> Result<Texture> {
        let mut bits = Reader::new(NAME, words(NAME, bytes)?);
        let head = Head::read(NAME, &mut bits)?;
        let swizzle = Swizzle::from_code(bits.take(16, 27) as u16)?;
        let width = bits.take(28, 41) as u32 + 1;
        let height = bits.take(42, 55) as u32 + 1;
        let memory = if head.tiled {
            let dimension = Dimension::read(head.dimension, &mut bits)?;
            let tiling = Tiling {
                dimension,
                levels: if bits.flag(bit::MIPMAPPED) {
                    Levels::View {
                        first: bits.take(172, 175) as u8,
                        last: bits.take(176, 179) as u8,
                    }
                } else {
                    Levels::Single
                },
                page_aligned: bits.flag(PAGE_ALIGNED),
                compression: bits.flag(COMPRESSED).then(|| bits.take(128, 171) * GRANULE),
            };
            if bits.flag(bit::EXTENDED) != tiling.is_extended() {
                let legal = "1 exactly if mipmapped or compressed";
                return illegal(NAME, "extended", (!tiling.is_extended()).into(), legal);
            }
            Memory::Tiled(tiling)
        } else {
            if head.dimension != Dimension::D2.code() {
                return illegal(NAME, "dimension", head.dimension.into(), "2 if linear");
            }
            Memory::Linear {
                stride: stride_of(bits.take(110, 125)),
            }
        };
        let texture = Texture {
            encoding: head.encoding,
            swizzle,
            srgb: bits.flag(SRGB),
            width,
            height,
            address: head.address,
            memory,
        };
        bits.finish()?;
        texture.check()?;
        Ok(texture)
    }

    /// What [`Texture::pack`] refuses.
    fn check(&self) -> Result<()> {
        check_count(NAME, "width", self.width, MAX_SIZE)?;
        check_count(NAME, "height", self.height, MAX_SIZE)?;
        check_address(NAME, "address", self.address)?;
        if self.srgb && self.encoding.numeric() != Numeric::Unorm {
            return illegal(NAME, "sRGB", 1, "0 if the type is not UNORM");
        }
        let channels = self.encoding.channels();
        match self.memory {
            Memory::Linear { stride } => {
                if channels.is_compressed() {
                    let legal = "no compressed blocks if linear";
                    return illegal(NAME, "channels", channels.code().into(), legal);
                }
                stride_field(NAME, stride).map(drop)
            }
            Memory::Tiled(_) if channels.is_subsampled() => {
                let legal = "not subsampled if tiled";
                illegal(NAME, "channels", channels.code().into(), legal)
            }
            Memory::Tiled(tiling) => self.check_tiling(tiling),
        }
    }

    fn check_tiling(&self, tiling: Tiling) -> Result<()> {
        let (field, count, limit) = tiling.dimension.count();
        check_count(NAME, field, count, limit)?;
        match tiling.dimension {
            Dimension::D1 | Dimension::D1Array { .. } => {
                check_count(NAME, "height of a 1D image", self.height, 1)?;
            }
            Dimension::D3 { .. } => {
                check_count(NAME, "width", self.width, MAX_SIZE_3D)?;
                check_count(NAME, "height", self.height, MAX_SIZE_3D)?;
            }
            Dimension::Cube | Dimension::CubeArray { .. } if self.width != self.height => {
                let legal = "the width, if a cube";
                return illegal(NAME, "height", self.height.into(), legal);
            }
            _ => {}
        }
        if tiling.dimension.multisample().is_some() && self.encoding.element().is_block() {
            let legal = "no blocks if multisampled";
            let code = self.encoding.channels().code();
            return illegal(NAME, "channels", code.into(), legal);
        }
        if let Levels::View { first, last } = tiling.levels {
            if tiling.dimension.multisample().is_some() {
                return illegal(NAME, "mipmapped", 1, "0 if multisampled");
            }
            let depth = match tiling.dimension {
                Dimension::D3 { depth } => depth,
                _ => 1,
            };
            if last > last_level(self.width.max(self.height).max(depth)) {
                let legal = "at most log2 of the largest axis";
                return illegal(NAME, "last level", last.into(), legal);
            }
            if first > last {
                return illegal(NAME, "first level", first.into(), "at most the last");
            }
        }
        if let Some(metadata) = tiling.compression {
            check_address(NAME, "compression metadata", metadata)?;
            if !layout::is_compressible(self.width, self.height) {
                let legal = "0 if an axis is shorter than 16";
                return illegal(NAME, "compressed", 1, legal);
            }
        }
        Ok(())
    }

    /// Where its texels lie, counted from [`Texture::address`]: what hardware computes from the record
    /// (images, 0.1 and 10.1).
    ///
    /// # Errors
    /// When the record is not legal, or it is compressed or subsampled, whose memory is not known.
    pub fn layout(&self) -> Result<layout::Memory> {
        self.check()?;
        let element = self.encoding.element();
        match self.memory {
            Memory::Linear { stride } => {
                Linear::new(self.width, self.height, element, stride).map(layout::Memory::Linear)
            }
            Memory::Tiled(tiling) if tiling.compression.is_some() => {
                illegal(NAME, "compressed", 1, "0: the coding is not known")
            }
            Memory::Tiled(tiling) => Tiled::new(Image {
                width: self.width,
                height: self.height,
                stack: tiling.dimension.stack(),
                element,
                samples: tiling
                    .dimension
                    .multisample()
                    .map_or(Samples::One, Samples::from),
                mipmapped: tiling.levels != Levels::Single,
                page_aligned: tiling.page_aligned,
            })
            .map(layout::Memory::Tiled),
        }
    }
}

impl Tiling {
    /// Whether words behind bit 127 say something (images, 2; HW).
    fn is_extended(self) -> bool {
        self.levels != Levels::Single || self.compression.is_some()
    }
}
