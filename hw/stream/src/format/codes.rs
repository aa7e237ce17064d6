// SPDX-License-Identifier: MIT
//! The two codes of a format, and what follows from them (images, 5.1).

use super::{Attachment, Format};
use crate::error::{Result, illegal};

crate::codes::codes! {
    /// How components lie in an element, component 0 in the lowest bits (images, 5.1; HW).
    ///
    /// The two PVRTC codes 0x50 and 0x51 exist and are not to be used.
    Channels, "format", "a channel code of images, 5.1";
    /// 8 bits.
    R8 = 0x00,
    /// 16 bits.
    R16 = 0x09,
    /// 2 × 8 bits.
    R8G8 = 0x0a,
    /// Bits 0..4, 5..10, 11..15.
    R5G6B5 = 0x0b,
    /// 4 × 4 bits.
    R4G4B4A4 = 0x0c,
    /// Bit 0, then three 5-bit fields (their order INFERRED).
    A1R5G5B5 = 0x0d,
    /// Bits 0..4, 5..9, 10..14, 15.
    R5G5B5A1 = 0x0e,
    /// 32 bits.
    R32 = 0x21,
    /// 2 × 16 bits.
    R16G16 = 0x23,
    /// Unsigned floats: bits 0..10, 11..21, 22..31.
    R11G11B10 = 0x25,
    /// Bits 0..9, 10..19, 20..29, 30..31; with [`Numeric::Xr`] three 10-bit components.
    R10G10B10A2 = 0x26,
    /// Mantissas 0..8, 9..17, 18..26, shared exponent 27..31.
    R9G9B9E5 = 0x27,
    /// 4 × 8 bits.
    R8G8B8A8 = 0x28,
    /// 2 × 32 bits.
    R32G32 = 0x31,
    /// 4 × 16 bits.
    R16G16B16A16 = 0x32,
    /// Four 10-bit extended-range components in 64 bits.
    R10G10B10A10Xr = 0x33,
    /// 4 × 32 bits.
    R32G32B32A32 = 0x38,
    /// 4:2:2 subsampled, captured with linear layout only.
    Gbgr422 = 0x40,
    /// 4:2:2 subsampled, captured with linear layout only.
    Bgrg422 = 0x41,
    /// Blocks.
    Etc2Rgb8 = 0x58,
    /// Blocks.
    Etc2Rgba8 = 0x59,
    /// Blocks.
    Etc2Rgb8A1 = 0x5a,
    /// Blocks.
    EacR11 = 0x5b,
    /// Blocks.
    EacRg11 = 0x5c,
    /// Blocks.
    Astc4x4 = 0x60,
    /// Blocks.
    Astc5x4 = 0x61,
    /// Blocks.
    Astc5x5 = 0x62,
    /// Blocks.
    Astc6x5 = 0x63,
    /// Blocks.
    Astc6x6 = 0x64,
    /// Blocks.
    Astc8x5 = 0x65,
    /// Blocks.
    Astc8x6 = 0x66,
    /// Blocks.
    Astc8x8 = 0x67,
    /// Blocks.
    Astc10x5 = 0x68,
    /// Blocks.
    Astc10x6 = 0x69,
    /// Blocks.
    Astc10x8 = 0x6a,
    /// Blocks.
    Astc10x10 = 0x6b,
    /// Blocks.
    Astc12x10 = 0x6c,
    /// Blocks.
    Astc12x12 = 0x6d,
    /// Blocks.
    Bc1 = 0x74,
    /// Blocks.
    Bc2 = 0x75,
    /// Blocks.
    Bc3 = 0x76,
    /// Blocks.
    Bc4 = 0x77,
    /// Blocks.
    Bc5 = 0x78,
    /// Blocks, signed floats.
    Bc6H = 0x79,
    /// Blocks, unsigned floats.
    Bc6HU = 0x7a,
    /// Blocks.
    Bc7 = 0x7b,
}

crate::codes::codes! {
    /// How components are to be read (images, 2, "Type"; HW).
    Numeric, "format", "0..=5";
    /// 0..1.
    Unorm = 0,
    /// -1..1.
    Snorm = 1,
    /// Unsigned integers.
    Uint = 2,
    /// Signed integers.
    Sint = 3,
    /// Floating point.
    Float = 4,
    /// Extended range; captured only.
    Xr = 5,
}

impl Numeric {
    /// Whether components are integers: such formats neither filter nor blend (images, 5.3; HW).
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(self, Numeric::Uint | Numeric::Sint)
    }
}

/// The unit that an image's memory consists of: a texel, or a block of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Element {
    /// Texels in a row of a block.
    pub width: u8,
    /// Rows in a block.
    pub height: u8,
    /// Bytes, of one sample.
    pub bytes: u8,
}

impl Element {
    /// A single texel of so many bytes.
    #[must_use]
    pub const fn texel(bytes: u8) -> Element {
        Element {
            width: 1,
            height: 1,
            bytes,
        }
    }

    /// A block of texels.
    #[must_use]
    pub const fn block(width: u8, height: u8, bytes: u8) -> Element {
        Element {
            width,
            height,
            bytes,
        }
    }

    /// Whether it covers more than one texel.
    #[must_use]
    pub const fn is_block(self) -> bool {
        self.width != 1 || self.height != 1
    }
}

impl Channels {
    /// The unit of memory (images, 5.1; HW). The 2 × 1 texels of the subsampled formats are INFERRED
    /// from their names.
    #[must_use]
    pub const fn element(self) -> Element {
        use Channels::*;
        match self {
            R8 => Element::texel(1),
            R16 | R8G8 | R5G6B5 | R4G4B4A4 | A1R5G5B5 | R5G5B5A1 => Element::texel(2),
            R32 | R16G16 | R11G11B10 | R10G10B10A2 | R9G9B9E5 | R8G8B8A8 => Element::texel(4),
            R32G32 | R16G16B16A16 | R10G10B10A10Xr => Element::texel(8),
            R32G32B32A32 => Element::texel(16),
            Gbgr422 | Bgrg422 => Element::block(2, 1, 4),
            Etc2Rgb8 | Etc2Rgb8A1 | EacR11 | Bc1 | Bc4 => Element::block(4, 4, 8),
            Etc2Rgba8 | EacRg11 | Bc2 | Bc3 | Bc5 | Bc6H | Bc6HU | Bc7 | Astc4x4 => {
                Element::block(4, 4, 16)
            }
            Astc5x4 => Element::block(5, 4, 16),
            Astc5x5 => Element::block(5, 5, 16),
            Astc6x5 => Element::block(6, 5, 16),
            Astc6x6 => Element::block(6, 6, 16),
            Astc8x5 => Element::block(8, 5, 16),
            Astc8x6 => Element::block(8, 6, 16),
            Astc8x8 => Element::block(8, 8, 16),
            Astc10x5 => Element::block(10, 5, 16),
            Astc10x6 => Element::block(10, 6, 16),
            Astc10x8 => Element::block(10, 8, 16),
            Astc10x10 => Element::block(10, 10, 16),
            Astc12x10 => Element::block(12, 10, 16),
            Astc12x12 => Element::block(12, 12, 16),
        }
    }

    /// Whether elements are subsampled pairs (images, 5.1; captured).
    #[must_use]
    pub const fn is_subsampled(self) -> bool {
        matches!(self, Channels::Gbgr422 | Channels::Bgrg422)
    }

    /// Whether elements are compressed blocks: sampled only, tiled only (images, 5.3; HW, INFERRED).
    #[must_use]
    pub const fn is_compressed(self) -> bool {
        self.element().is_block() && !self.is_subsampled()
    }
}

/// A pair of codes that occurs: a row of the format table, or one of the four captured pairs without
/// a row (extended range and subsampled).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Encoding {
    channels: Channels,
    numeric: Numeric,
}

impl Encoding {
    const LEGAL: &'static str = "a type that images, 5 gives these channels";

    /// Captured, not in the table of Vulkan's formats (images, 5.1; HW).
    const CAPTURED: &'static [Encoding] = &[
        Encoding::of(Channels::R10G10B10A2, Numeric::Xr),
        Encoding::of(Channels::R10G10B10A10Xr, Numeric::Xr),
        Encoding::of(Channels::Gbgr422, Numeric::Unorm),
        Encoding::of(Channels::Bgrg422, Numeric::Unorm),
    ];

    pub(super) const fn of(channels: Channels, numeric: Numeric) -> Encoding {
        Encoding { channels, numeric }
    }

    /// The pair.
    ///
    /// # Errors
    /// When it was not seen.
    pub fn new(channels: Channels, numeric: Numeric) -> Result<Encoding> {
        let encoding = Encoding::of(channels, numeric);
        if encoding.formats().next().is_some() || Self::CAPTURED.contains(&encoding) {
            Ok(encoding)
        } else {
            illegal("format", "type", numeric.code().into(), Self::LEGAL)
        }
    }

    /// The pair of the codes in a record.
    ///
    /// # Errors
    /// When one is not known or the pair was not seen.
    pub(crate) fn from_codes(channels: u64, numeric: u64) -> Result<Encoding> {
        // Both come out of fields of at most 7 bits.
        Encoding::new(
            Channels::from_code(channels as u8)?,
            Numeric::from_code(numeric as u8)?,
        )
    }

    /// The component layout.
    #[must_use]
    pub const fn channels(self) -> Channels {
        self.channels
    }

    /// The reading of components.
    #[must_use]
    pub const fn numeric(self) -> Numeric {
        self.numeric
    }

    /// The unit of memory.
    #[must_use]
    pub const fn element(self) -> Element {
        self.channels.element()
    }

    /// The formats with these codes; none for the pairs that were only captured.
    pub fn formats(self) -> impl Iterator<Item = Format> {
        Format::ALL
            .iter()
            .copied()
            .filter(move |format| format.encoding() == self)
    }

    /// What is known of its use as the memory format of a store: the best of its formats.
    #[must_use]
    pub fn attachment(self) -> Attachment {
        let colour = |format: Format| format.attachment();
        self.formats().map(colour).max().unwrap_or(Attachment::No)
    }
}

impl std::fmt::Debug for Encoding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Encoding({:?}, {:?})", self.channels, self.numeric)
    }
}
