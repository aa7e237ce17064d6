// SPDX-License-Identifier: MIT
//! Compressed blocks.
//!
//! Filters visit every block many times. A thread remembers the blocks that it decoded last, by their
//! bytes: what a block means depends on nothing else, so rewritten memory is never served stale.

pub mod astc;
pub mod bc;
pub mod etc;

use std::cell::RefCell;

use agx_hw::format::{Channels, Numeric};

use super::format::Codec;
use super::srgb;

/// Texels of the largest block.
pub const MAX_TEXELS: usize = 144;
/// Blocks that a thread remembers.
const REMEMBERED: usize = 512;

/// Components of a texel: fp32 bits.
pub type Texel = [u32; 4];

struct Entry {
    block: [u32; 4],
    codec: Codec,
    texels: Vec<Texel>,
}

thread_local! {
    static BLOCKS: RefCell<Vec<Option<Entry>>> = const { RefCell::new(Vec::new()) };
}

/// Texel number `index` of a block, row by row: components of memory.
pub(super) fn texel(codec: &Codec, block: [u32; 4], index: u32) -> Texel {
    let mut hash = 0u32;
    for word in block {
        hash = (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9);
    }
    BLOCKS.with_borrow_mut(|blocks| {
        if blocks.is_empty() {
            blocks.resize_with(REMEMBERED, || None);
        }
        let slot = &mut blocks[hash as usize >> 16 & (REMEMBERED - 1)];
        let entry = match slot {
            Some(entry) if entry.block == block && entry.codec == *codec => entry,
            _ => {
                let mut texels = slot.take().map(|entry| entry.texels).unwrap_or_default();
                decode(codec, block, &mut texels);
                slot.insert(Entry {
                    block,
                    codec: *codec,
                    texels,
                })
            }
        };
        entry.texels.get(index as usize).copied().unwrap_or([0; 4])
    })
}

/// All texels of a block, row by row.
pub fn decode(codec: &Codec, block: [u32; 4], texels: &mut Vec<Texel>) {
    let mut bytes = [0; 16];
    for (word, bytes) in block.iter().zip(bytes.as_chunks_mut::<4>().0) {
        *bytes = word.to_le_bytes();
    }
    let element = codec.channels.element();
    texels.clear();
    texels.resize(
        usize::from(element.width) * usize::from(element.height),
        [0; 4],
    );
    let signed = codec.numeric == Numeric::Snorm;
    match codec.channels {
        Channels::Bc1 => bc::bc1(&bytes, texels),
        Channels::Bc2 => bc::bc2(&bytes, texels),
        Channels::Bc3 => bc::bc3(&bytes, texels),
        Channels::Bc4 => bc::bc4(&bytes[..8], signed, 0, texels),
        Channels::Bc5 => {
            bc::bc4(&bytes[..8], signed, 0, texels);
            bc::bc4(&bytes[8..], signed, 1, texels);
        }
        Channels::Bc6H => bc::bc6h(&bytes, true, texels),
        Channels::Bc6HU => bc::bc6h(&bytes, false, texels),
        Channels::Bc7 => bc::bc7(&bytes, texels),
        Channels::Etc2Rgb8 => etc::rgb(&bytes[..8], false, texels),
        Channels::Etc2Rgb8A1 => etc::rgb(&bytes[..8], true, texels),
        Channels::Etc2Rgba8 => {
            etc::rgb(&bytes[8..], false, texels);
            etc::alpha(&bytes[..8], texels);
        }
        Channels::EacR11 => etc::eleven(&bytes[..8], signed, 0, texels),
        Channels::EacRg11 => {
            etc::eleven(&bytes[..8], signed, 0, texels);
            etc::eleven(&bytes[8..], signed, 1, texels);
        }
        _ => {
            let hdr = codec.numeric == Numeric::Float;
            let size = [element.width.into(), element.height.into()];
            astc::decode(u128::from_le_bytes(bytes), size, hdr, codec.srgb, texels);
        }
    }
    if codec.srgb {
        for texel in texels.iter_mut() {
            for component in &mut texel[..3] {
                *component = srgb::decode(f32::from_bits(*component)).to_bits();
            }
        }
    }
}

/// `code / 255` as fp32 bits.
fn unorm8(code: u8) -> u32 {
    (f32::from(code) / 255.0).to_bits()
}
