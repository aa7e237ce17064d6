// SPDX-License-Identifier: MIT
//! Pixel formats: the codes that texture and store records carry, and the formats that Vulkan names.
//!
//! images, 5. Hardware knows two codes, [`Channels`] and [`Numeric`], the same in both records, and a
//! swizzle. A [`Format`] is a row of one table; everything that follows from the codes is computed.

mod capabilities;
mod codes;
mod swizzle;
mod table;
mod vertex;

pub use capabilities::{Capabilities, Planes};
pub use codes::{Channels, Element, Encoding, Numeric};
pub use swizzle::{Source, StoreSwizzle, Swizzle};
pub use table::Format;
pub use vertex::{Component, VertexFormat, VertexNumeric};

/// What is known of a format as an attachment (images, 5.2, column R). Better ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Attachment {
    /// It cannot be one.
    No,
    /// A depth or stencil attachment, written by the fixed-function unit (HW).
    DepthStencil,
    /// Should not be advertised (images, 5.3).
    Doubtful,
    /// Exportable by the general rule, not proven by itself (INFERRED).
    Unproven,
    /// A colour attachment of the proven driver (HW).
    Proven,
}

impl Attachment {
    /// Whether a store record can name it: all colour attachments.
    #[must_use]
    pub const fn is_colour(self) -> bool {
        matches!(
            self,
            Attachment::Doubtful | Attachment::Unproven | Attachment::Proven
        )
    }
}

/// Where a store's data comes from: its swizzle depends on it for packed formats (images, 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoreFrom {
    /// A block store of tile words (HW).
    Tile,
    /// A store of single texels by a shader (INFERRED for packed formats).
    Shader,
}

/// What an attachment's pixel looks like in the tile, per sample (images, 3.2; HW).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TileWord {
    /// Normalised bytes in the order R, G, B, A, in one word; sRGB already encoded.
    Bytes,
    /// Integer bytes in one word.
    ByteIntegers,
    /// So many 16-bit components; a lone one takes a whole word.
    Halves(u8),
    /// So many 32-bit components.
    Words(u8),
    /// One word, packed like memory.
    Packed,
}

impl TileWord {
    /// Bytes that it takes, a multiple of 4.
    #[must_use]
    pub const fn bytes(self) -> u8 {
        match self {
            TileWord::Bytes | TileWord::ByteIntegers | TileWord::Packed => 4,
            TileWord::Halves(n) => (2 * n).next_multiple_of(4),
            TileWord::Words(n) => 4 * n,
        }
    }

    /// The tile format operand of block loads and stores.
    #[must_use]
    pub const fn export_code(self) -> u8 {
        match self {
            TileWord::Bytes | TileWord::Packed => 7,
            TileWord::ByteIntegers => 5,
            TileWord::Halves(_) => 1,
            TileWord::Words(_) => 3,
        }
    }
}

impl Format {
    /// The name without `VK_FORMAT_` and without an extension's suffix.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The format with this [`Format::name`].
    #[must_use]
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.iter().copied().find(|f| f.name() == name)
    }

    /// The `VkFormat` number.
    #[must_use]
    pub const fn vulkan(self) -> u32 {
        self.row().number
    }

    /// The two codes.
    #[must_use]
    pub const fn encoding(self) -> Encoding {
        self.row().encoding
    }

    /// Whether R, G and B are decoded from sRGB on read: the texture record's bit.
    #[must_use]
    pub const fn is_srgb(self) -> bool {
        self.row().srgb
    }

    /// The texture record's swizzle, before a view's ([`Swizzle::view`]).
    #[must_use]
    pub const fn swizzle(self) -> Swizzle {
        self.row().swizzle
    }

    /// Whether the codes were seen on hardware (HW) rather than composed (INFERRED).
    #[must_use]
    pub const fn is_measured(self) -> bool {
        self.row().measured
    }

    /// The unit of memory.
    #[must_use]
    pub const fn element(self) -> Element {
        self.encoding().element()
    }

    /// Whether elements are compressed blocks: sampled only, tiled only.
    #[must_use]
    pub const fn is_compressed(self) -> bool {
        self.encoding().channels().is_compressed()
    }

    /// Whether linear filters work: all but integers, 32-bit floats and depth included
    /// (images, 5.3; HW, compressed ones INFERRED).
    #[must_use]
    pub const fn filters(self) -> bool {
        !self.encoding().numeric().is_integer()
    }

    /// What is known of it as an attachment.
    #[must_use]
    pub const fn attachment(self) -> Attachment {
        self.row().attachment
    }

    /// Whether attachments blend: in shader code, so all colour attachments but integers
    /// (images, 5.3; HW).
    #[must_use]
    pub const fn blends(self) -> bool {
        self.attachment().is_colour() && self.filters()
    }

    /// Whether it can be multisampled, 2 or 4 times, within the tile's budget: every colour attachment
    /// (images, 5.2; HW). Of depth and stencil this chapter does not speak.
    #[must_use]
    pub const fn multisamples(self) -> bool {
        self.attachment().is_colour()
    }

    /// Whether image atomics are possible, on the texel's address (images, 5.3; INFERRED).
    #[must_use]
    pub const fn atomics(self) -> bool {
        matches!(self, Format::R32Uint | Format::R32Sint)
    }

    /// The store record's swizzle; `None` when nothing stores this format through one.
    #[must_use]
    pub const fn store_swizzle(self, from: StoreFrom) -> Option<StoreSwizzle> {
        if !self.attachment().is_colour() {
            return None;
        }
        Some(match (from, self.tile_word()) {
            (StoreFrom::Tile, Some(TileWord::Packed)) => StoreSwizzle::IDENTITY,
            _ => self.swizzle().inverse(),
        })
    }

    /// What the tile holds of a colour attachment; `None` when the reference names no tile format.
    #[must_use]
    pub const fn tile_word(self) -> Option<TileWord> {
        if !self.attachment().is_colour() {
            return None;
        }
        let (channels, numeric) = (self.encoding().channels(), self.encoding().numeric());
        let element = channels.element();
        let integer = numeric.is_integer();
        Some(match channels {
            Channels::R8 | Channels::R8G8 | Channels::R8G8B8A8 if integer => TileWord::ByteIntegers,
            Channels::R8 | Channels::R8G8 | Channels::R8G8B8A8 => TileWord::Bytes,
            Channels::R16 | Channels::R16G16 | Channels::R16G16B16A16 => match numeric {
                Numeric::Unorm | Numeric::Snorm => TileWord::Words(element.bytes / 2),
                _ => TileWord::Halves(element.bytes / 2),
            },
            Channels::R32 | Channels::R32G32 | Channels::R32G32B32A32 => {
                TileWord::Words(element.bytes / 4)
            }
            Channels::R5G6B5 | Channels::R4G4B4A4 | Channels::A1R5G5B5 | Channels::R5G5B5A1 => {
                TileWord::Halves(4)
            }
            Channels::R10G10B10A2 if integer => TileWord::Halves(4),
            Channels::R10G10B10A2 | Channels::R11G11B10 => TileWord::Packed,
            _ => return None,
        })
    }
}
