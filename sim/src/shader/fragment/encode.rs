// SPDX-License-Identifier: MIT
//! Tile words to texels: what a block store converts (images, 3.2 and 11).
//!
//! Components come out of the tile words as the tile format says, go where the record's swizzle says,
//! and are packed as its channels say. Rounding is to nearest even; what is not in range is clamped,
//! NaN becomes 0 (images, 11; INFERRED for stores of tiles).

use agx_hw::format::{Channels, Encoding, Numeric, StoreSwizzle, TileWord};

use super::super::alu::half::widen;

/// A texel: its bytes, and how many they are.
pub type Texel = ([u8; 16], usize);

/// A conversion, chosen once for a store.
#[derive(Clone, Copy, Debug)]
pub struct Encoder {
    tile: TileWord,
    channels: Channels,
    numeric: Numeric,
    swizzle: StoreSwizzle,
}

/// Components and bits of each, of formats whose components have one size.
fn even(channels: Channels) -> Option<(usize, u32)> {
    Some(match channels {
        Channels::R8 => (1, 8),
        Channels::R8G8 => (2, 8),
        Channels::R8G8B8A8 => (4, 8),
        Channels::R16 => (1, 16),
        Channels::R16G16 => (2, 16),
        Channels::R16G16B16A16 => (4, 16),
        Channels::R32 => (1, 32),
        Channels::R32G32 => (2, 32),
        Channels::R32G32B32A32 => (4, 32),
        _ => return None,
    })
}

/// Bits of the components of packed formats, component 0 lowest.
fn packed(channels: Channels) -> Option<&'static [u32]> {
    Some(match channels {
        Channels::R5G6B5 => &[5, 6, 5],
        Channels::R4G4B4A4 => &[4, 4, 4, 4],
        Channels::A1R5G5B5 => &[1, 5, 5, 5],
        Channels::R5G5B5A1 => &[5, 5, 5, 1],
        Channels::R10G10B10A2 => &[10, 10, 10, 2],
        _ => return None,
    })
}

impl Encoder {
    /// The conversion of tile words in the format of a block store's code.
    ///
    /// # Errors
    /// When the code does not belong to the record's format, or nothing is known of it.
    pub fn new(encoding: Encoding, swizzle: StoreSwizzle, code: u32) -> Result<Encoder, String> {
        let words = encoding.formats().filter_map(|format| format.tile_word());
        let Some(tile) = words
            .into_iter()
            .find(|tile| u32::from(tile.export_code()) == code)
        else {
            return Err(format!(
                "tile format {code} does not belong to {:?} {:?}",
                encoding.channels(),
                encoding.numeric()
            ));
        };
        let encoder = Encoder {
            tile,
            channels: encoding.channels(),
            numeric: encoding.numeric(),
            swizzle,
        };
        let converts = matches!(tile, TileWord::Packed)
            || even(encoder.channels).is_some()
            || packed(encoder.channels).is_some();
        if converts {
            Ok(encoder)
        } else {
            Err(format!(
                "block stores of {:?} are not known",
                encoder.channels
            ))
        }
    }

    /// Tile words of a sample.
    #[must_use]
    pub fn words(&self) -> usize {
        usize::from(self.tile.bytes()) / 4
    }

    /// The texel of a sample's tile words.
    #[inline]
    #[must_use]
    pub fn texel(&self, words: [u32; 4]) -> Texel {
        let mut bytes = [0; 16];
        if self.tile == TileWord::Packed {
            bytes[..4].copy_from_slice(&words[0].to_le_bytes());
            return (bytes, 4);
        }
        let component = |index: usize| match self.tile {
            TileWord::Halves(_) => words[index / 2] >> (16 * (index % 2)) & 0xffff,
            TileWord::Words(_) => words[index],
            _ => words[0] >> (8 * index) & 0xff,
        };
        let source = |index: usize| component(usize::from(self.swizzle.0 >> (2 * index) & 3));
        if let Some((count, bits)) = even(self.channels) {
            let size = bits as usize / 8;
            for index in 0..count {
                let value = match (self.tile, bits) {
                    // The tile holds fp32 for these (images, 3.2).
                    (TileWord::Words(_), 16) => normalise(source(index), 16, self.numeric),
                    _ => source(index),
                };
                let at = index * size;
                bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
            }
            return (bytes, count * size);
        }
        let mut texel = 0u32;
        let mut shift = 0;
        for (index, &bits) in packed(self.channels).unwrap_or(&[]).iter().enumerate() {
            let value = match self.numeric {
                Numeric::Uint => source(index).min((1 << bits) - 1),
                _ => normalise(widen(source(index)), bits, self.numeric),
            };
            texel |= value << shift;
            shift += bits;
        }
        bytes[..4].copy_from_slice(&texel.to_le_bytes());
        (bytes, shift as usize / 8)
    }
}

/// An fp32 as a normalised integer of so many bits.
fn normalise(value: u32, bits: u32, numeric: Numeric) -> u32 {
    let value = f32::from_bits(value);
    let value = if value.is_nan() {
        0.0
    } else {
        f64::from(value)
    };
    if numeric == Numeric::Snorm {
        let most = f64::from((1u32 << (bits - 1)) - 1);
        let signed = (value.clamp(-1.0, 1.0) * most).round_ties_even() as i32;
        signed as u32 & (u32::MAX >> (32 - bits))
    } else {
        let most = f64::from(u32::MAX >> (32 - bits));
        (value.clamp(0.0, 1.0) * most).round_ties_even() as u32
    }
}
