// SPDX-License-Identifier: MIT
//! From pixel formats to what fragment shaders make of them.

use agx_hw::format::{Channels, Format, Numeric};
use mesa_nir::{ColourEncoding, ColourFormat};

/// What a fragment shader stores of a colour attachment of this format; `None` for what is none.
#[must_use]
pub fn colour_format(format: Format) -> Option<ColourFormat> {
    use ColourEncoding::*;
    format.tile_word()?;
    let channels = format.encoding().channels();
    let numeric = format.encoding().numeric();
    let components = match channels {
        Channels::R8 | Channels::R16 | Channels::R32 => 1,
        Channels::R8G8 | Channels::R16G16 | Channels::R32G32 => 2,
        Channels::R5G6B5 | Channels::R11G11B10 => 3,
        _ => 4,
    };
    // The only component in memory is alpha, which the store's swizzle picks.
    let components = if format == Format::A8Unorm {
        4
    } else {
        components
    };
    let encoding = match (channels, numeric) {
        (Channels::R8 | Channels::R8G8 | Channels::R8G8B8A8, numeric) => match numeric {
            Numeric::Unorm if format.is_srgb() => Srgb8,
            Numeric::Unorm => Unorm8,
            Numeric::Snorm => Snorm8,
            Numeric::Uint => Uint8,
            Numeric::Sint => Sint8,
            _ => return None,
        },
        (Channels::R16 | Channels::R16G16 | Channels::R16G16B16A16, numeric) => match numeric {
            Numeric::Unorm => Unorm16,
            Numeric::Snorm => Snorm16,
            Numeric::Uint => Uint16,
            Numeric::Sint => Sint16,
            Numeric::Float => Float16,
            Numeric::Xr => return None,
        },
        (Channels::R32 | Channels::R32G32 | Channels::R32G32B32A32, numeric) => match numeric {
            Numeric::Uint => Uint32,
            Numeric::Sint => Sint32,
            Numeric::Float => Float32,
            _ => return None,
        },
        (Channels::R5G6B5, Numeric::Unorm) => Unorm565,
        (Channels::R4G4B4A4, Numeric::Unorm) => Unorm4444,
        (Channels::A1R5G5B5 | Channels::R5G5B5A1, Numeric::Unorm) => Unorm5551,
        (Channels::R10G10B10A2, Numeric::Uint) => Uint10A2,
        (Channels::R10G10B10A2, Numeric::Unorm) => {
            if format.name().starts_with("A2R10") {
                A2R10G10B10Unorm
            } else {
                A2B10G10R10Unorm
            }
        }
        (Channels::R11G11B10, Numeric::Float) => B10G11R11Float,
        _ => return None,
    };
    Some(ColourFormat {
        encoding,
        components,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use agx_hw::format::TileWord;

    #[test]
    fn every_colour_attachment_has_one_of_the_size_that_the_tile_has() {
        use ColourEncoding::*;
        for &format in Format::ALL {
            let (colour, tile) = (colour_format(format), format.tile_word());
            assert_eq!(colour.is_some(), tile.is_some(), "{}", format.name());
            let (Some(colour), Some(tile)) = (colour, tile) else {
                continue;
            };
            let count = u16::from(colour.components);
            let bytes = match colour.encoding {
                Unorm8 | Snorm8 | Srgb8 | Uint8 | Sint8 => 4,
                Uint16 | Sint16 | Float16 => (2 * count).next_multiple_of(4),
                Unorm565 | Unorm5551 | Unorm4444 | Uint10A2 => 8,
                A2B10G10R10Unorm | A2R10G10B10Unorm | B10G11R11Float => 4,
                Uint32 | Sint32 | Float32 | Unorm16 | Snorm16 => 4 * count,
            };
            assert_eq!(bytes, u16::from(tile.bytes()), "{}", format.name());
            let code = match colour.encoding {
                Uint8 | Sint8 => TileWord::ByteIntegers.export_code(),
                Unorm8 | Snorm8 | Srgb8 | A2B10G10R10Unorm | A2R10G10B10Unorm | B10G11R11Float => 7,
                Uint16 | Sint16 | Float16 | Unorm565 | Unorm5551 | Unorm4444 | Uint10A2 => 1,
                Uint32 | Sint32 | Float32 | Unorm16 | Snorm16 => 3,
            };
            assert_eq!(code, tile.export_code(), "{}", format.name());
        }
    }
}
