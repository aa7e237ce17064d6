// SPDX-License-Identifier: MIT
//! Store records ("PBE"): what image stores and attachment exports write through (images, 3).
//!
//! They look like texture records, but width and height begin at other bits, and they say one level.

use crate::bits::{Reader, Writer};
use crate::descriptor::{
    Head, bit, check_address, check_count, put_words, stride_field, stride_of, words,
};
use crate::error::{Result, illegal};
use crate::format::{Encoding, Format, StoreFrom, StoreSwizzle};
use crate::launcher::Samples;
use crate::layout::{self, Image, Linear, Stack, Tiled};

pub use crate::descriptor::{
    EMPTY, GRANULE, MAX_LAYERS, MAX_LEVELS, MAX_SIZE, MAX_SIZE_3D, MAX_STRIDE, Multisample,
    RECORD_SIZE,
};

const NAME: &str = "store record";
const PAGE_ALIGNED: usize = 124;

/// The dimensions of a tiled store (codes as in images, 2.1; HW for 2D, 2D array and 2D multisample,
/// INFERRED for the others). Cubes are written as 2D arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dimension {
    /// One row. The proven driver uses [`Dimension::D2`].
    D1,
    /// Rows.
    D1Array {
        /// 1..=2048.
        layers: u32,
    },
    /// One layer, face or slice.
    D2,
    /// Layers, faces of cubes.
    D2Array {
        /// 1..=2048.
        layers: u32,
    },
    /// Several samples of a pixel. Only block stores write it (images, 3).
    D2Multisample {
        /// How many.
        samples: Multisample,
    },
    /// Slices; no axis above 2048. Not proven (images, 15.6).
    D3 {
        /// 1..=2048.
        depth: u32,
    },
    /// Layers of several samples.
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
            Dimension::D2MultisampleArray { .. } => 8,
        }
    }

    /// Layers or slices.
    const fn count(self) -> (&'static str, u32) {
        match self {
            Dimension::D1Array { layers }
            | Dimension::D2Array { layers }
            | Dimension::D2MultisampleArray { layers, .. } => ("layers", layers),
            Dimension::D3 { depth } => ("depth", depth),
            Dimension::D1 | Dimension::D2 | Dimension::D2Multisample { .. } => ("layers", 1),
        }
    }

    const fn multisample(self) -> Option<Multisample> {
        match self {
            Dimension::D2Multisample { samples }
            | Dimension::D2MultisampleArray { samples, .. } => Some(samples),
            _ => None,
        }
    }

    /// Whether layers begin at multiples of 16 KiB: always, when there is more than one. The flag says
    /// so (HW); that it must be so is INFERRED (images, 3).
    #[must_use]
    pub const fn is_page_aligned(self) -> bool {
        self.count().1 > 1
    }

    fn read(code: u8, bits: &mut Reader<4>) -> Result<Dimension> {
        let mut count = || bits.take(108, 121) as u32 + 1;
        Ok(match code {
            0 => Dimension::D1,
            1 => Dimension::D1Array { layers: count() },
            2 => Dimension::D2,
            3 => Dimension::D2Array { layers: count() },
            5 => Dimension::D3 { depth: count() },
            4 | 8 => {
                let layers = if code == 8 { count() } else { 1 };
                let samples = Multisample::of_bit(bits.flag(bit::SAMPLES));
                match code {
                    4 => Dimension::D2Multisample { samples },
                    _ => Dimension::D2MultisampleArray { samples, layers },
                }
            }
            _ => return illegal(NAME, "dimension", code.into(), "0..=5 or 8"),
        })
    }
}

/// The level that is written (images, 3; HW).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Levels {
    /// The image has one level.
    #[default]
    Single,
    /// The image has more than one.
    Level {
        /// The level that is written.
        level: u8,
        /// The image's last level: 1..=14, not below `level`.
        last: u8,
    },
}

/// Where the texels go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// Row by row: two dimensions, one sample. The record's size and address are those of the level.
    Linear {
        /// Bytes from row to row: a multiple of 16, at most [`MAX_STRIDE`].
        stride: u32,
    },
    /// Tile by tile. The record's size and address are those of level 0.
    Tiled {
        /// Dimensions and counts.
        dimension: Dimension,
        /// The level.
        levels: Levels,
    },
}

/// A store record (images, 3; HW).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Store {
    /// Codes of the format: one that attachments can have.
    pub encoding: Encoding,
    /// Where the components of memory come from.
    pub swizzle: StoreSwizzle,
    /// Texels in a row, 1..=16384: of level 0 if tiled, of the level if linear.
    pub width: u32,
    /// Rows, likewise.
    pub height: u32,
    /// The first byte of the first layer that is written: a multiple of 16, below 2^42.
    pub address: u64,
    /// Where the texels go.
    pub memory: Memory,
}

impl Store {
    /// A store to a linear image.
    ///
    /// # Errors
    /// When nothing stores this format.
    pub fn linear(
        format: Format,
        from: StoreFrom,
        width: u32,
        height: u32,
        address: u64,
        stride: u32,
    ) -> Result<Store> {
        let memory = Memory::Linear { stride };
        Store::new(format, from, width, height, address, memory)
    }

    /// A store to a tiled image of one level.
    ///
    /// # Errors
    /// When nothing stores this format.
    pub fn tiled(
        format: Format,
        from: StoreFrom,
        dimension: Dimension,
        width: u32,
        height: u32,
        address: u64,
    ) -> Result<Store> {
        let memory = Memory::Tiled {
            dimension,
            levels: Levels::Single,
        };
        Store::new(format, from, width, height, address, memory)
    }

    fn new(
        format: Format,
        from: StoreFrom,
        width: u32,
        height: u32,
        address: u64,
        memory: Memory,
    ) -> Result<Store> {
        let Some(swizzle) = format.store_swizzle(from) else {
            let code = format.encoding().channels().code();
            return illegal(NAME, "channels", code.into(), LEGAL_FORMAT);
        };
        Ok(Store {
            encoding: format.encoding(),
            swizzle,
            width,
            height,
            address,
            memory,
        })
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
            Memory::Tiled { dimension, .. } => (dimension, true),
        };
        let head = Head {
            dimension: dimension.code(),
            tiled,
            encoding: self.encoding,
            address: self.address,
        };
        head.write(NAME, &mut out)?;
        out.set(16, 23, self.swizzle.0.into());
        out.set(24, 37, u64::from(self.width) - 1);
        out.set(38, 51, u64::from(self.height) - 1);
        match self.memory {
            Memory::Linear { stride } => out.set(108, 123, stride_field(NAME, stride)?),
            Memory::Tiled { dimension, levels } => {
                if let Some(samples) = dimension.multisample() {
                    out.flag(bit::SAMPLES, samples.is_four());
                }
                out.set(108, 121, u64::from(dimension.count().1) - 1);
                out.flag(PAGE_ALIGNED, dimension.is_page_aligned());
                if let Levels::Level { level, last } = levels {
                    out.flag(bit::MIPMAPPED, true);
                    out.flag(bit::EXTENDED, true);
                    out.set(172, 175, level.into());
                    out.set(176, 179, last.into());
                }
            }
        }
        put_words(NAME, buffer, out.words())
    }

    /// The record in the first 32 bytes.
    ///
    /// # Errors
    /// When the bytes are too few, a field is not legal, or a bit is set that [`Store::pack`] does not
    /// set: sRGB, rotation, compression, several layers that are not page-aligned.
    pub fn unpack(bytes: &[u8]) -> Result<Store> {
        let mut bits = Reader::new(NAME, words(NAME, bytes)?);
        let head = Head::read(NAME, &mut bits)?;
        let swizzle = StoreSwizzle(bits.take(16, 23) as u8);
        let width = bits.take(24, 37) as u32 + 1;
        let height = bits.take(38, 51) as u32 + 1;
        let memory = if head.tiled {
            let dimension = Dimension::read(head.dimension, &mut bits)?;
            let mipmapped = bits.flag(bit::MIPMAPPED);
            if bits.flag(bit::EXTENDED) != mipmapped {
                let legal = "1 exactly if mipmapped";
                return illegal(NAME, "extended", (!mipmapped).into(), legal);
            }
            if bits.flag(PAGE_ALIGNED) != dimension.is_page_aligned() {
                let legal = "1 exactly if there are several layers";
                let value = !dimension.is_page_aligned();
                return illegal(NAME, "page-aligned layers", value.into(), legal);
            }
            let levels = if mipmapped {
                Levels::Level {
                    level: bits.take(172, 175) as u8,
                    last: bits.take(176, 179) as u8,
                }
            } else {
                Levels::Single
            };
            Memory::Tiled { dimension, levels }
        } else {
            if head.dimension != Dimension::D2.code() {
                return illegal(NAME, "dimension", head.dimension.into(), "2 if linear");
            }
            Memory::Linear {
                stride: stride_of(bits.take(108, 123)),
            }
        };
        bits.finish()?;
        let store = Store {
            encoding: head.encoding,
            swizzle,
            width,
            height,
            address: head.address,
            memory,
        };
        store.check()?;
        Ok(store)
    }

    /// What [`Store::pack`] refuses.
    fn check(&self) -> Result<()> {
        check_count(NAME, "width", self.width, MAX_SIZE)?;
        check_count(NAME, "height", self.height, MAX_SIZE)?;
        check_address(NAME, "address", self.address)?;
        if !self.encoding.attachment().is_colour() {
            let code = self.encoding.channels().code();
            return illegal(NAME, "channels", code.into(), LEGAL_FORMAT);
        }
        let (dimension, levels) = match self.memory {
            Memory::Linear { stride } => return stride_field(NAME, stride).map(drop),
            Memory::Tiled { dimension, levels } => (dimension, levels),
        };
        let (field, count) = dimension.count();
        check_count(NAME, field, count, MAX_LAYERS)?;
        match dimension {
            Dimension::D1 | Dimension::D1Array { .. } => {
                check_count(NAME, "height of a 1D image", self.height, 1)?;
            }
            Dimension::D3 { .. } => {
                check_count(NAME, "width", self.width, MAX_SIZE_3D)?;
                check_count(NAME, "height", self.height, MAX_SIZE_3D)?;
            }
            _ => {}
        }
        if let Levels::Level { level, last } = levels {
            if dimension.multisample().is_some() {
                return illegal(NAME, "mipmapped", 1, "0 if multisampled");
            }
            if !(1..MAX_LEVELS).contains(&usize::from(last)) {
                return illegal(NAME, "last level", last.into(), "1..=14");
            }
            if level > last {
                return illegal(NAME, "level", level.into(), "at most the last");
            }
        }
        Ok(())
    }

    /// Where its texels lie, counted from [`Store::address`]. All levels of the image are there; the
    /// record writes one.
    ///
    /// # Errors
    /// When the record is not legal.
    pub fn layout(&self) -> Result<layout::Memory> {
        self.check()?;
        let element = self.encoding.element();
        match self.memory {
            Memory::Linear { stride } => {
                Linear::new(self.width, self.height, element, stride).map(layout::Memory::Linear)
            }
            Memory::Tiled { dimension, levels } => Tiled::new(Image {
                width: self.width,
                height: self.height,
                stack: match dimension {
                    Dimension::D3 { depth } => Stack::Slices(depth),
                    other => Stack::Layers(other.count().1),
                },
                element,
                samples: dimension.multisample().map_or(Samples::One, Samples::from),
                mipmapped: levels != Levels::Single,
                page_aligned: dimension.is_page_aligned(),
            })
            .map(layout::Memory::Tiled),
        }
    }
}

const LEGAL_FORMAT: &str = "channels and type of a colour attachment";
