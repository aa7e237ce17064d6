// SPDX-License-Identifier: MIT
//! Tile memory: where colour attachments lie in it (graphics, 8; images, 3.1).
//!
//! Every sample of a pixel owns so many bytes of it; attachments follow each other in the order of the
//! API, in whole words.

use arrayvec::ArrayVec;

use crate::error::{Result, illegal};
use crate::format::{Format, TileWord};
use crate::launcher::{Samples, Storage};

const NAME: &str = "tile memory";

/// Most colour attachments (images, 3.1; HW).
pub const MAX_ATTACHMENTS: usize = 8;
/// Bytes of a block, the unit in which kernels give tile memory away (graphics, 11.2; HW).
pub const BLOCK_SIZE: u32 = 2048;
/// Most blocks that the hardware has: 128 KiB (graphics, 11.2; HW).
pub const MAX_BLOCKS: u32 = 64;
/// Most blocks that the first M4 kernels accept: 64 KiB (graphics, 11.2; uapi, 12; HW).
pub const MAX_BLOCKS_FIRST_KERNEL: u32 = 32;

/// Pixels of a tile on either axis: 32×32, with four samples 32×16, whatever the formats (graphics, 8;
/// HW).
#[must_use]
pub const fn size(samples: Samples) -> [u16; 2] {
    match samples {
        Samples::One | Samples::Two => [32, 32],
        Samples::Four => [32, 16],
    }
}

/// Most bytes of a sample (graphics, 8; HW).
#[must_use]
pub const fn max_bytes(samples: Samples) -> u8 {
    match samples {
        Samples::One => 128,
        Samples::Two | Samples::Four => 64,
    }
}

/// Blocks of [`BLOCK_SIZE`] bytes that a tile takes with so many bytes of each sample (graphics, 11.2;
/// HW).
#[must_use]
pub const fn blocks(samples: Samples, sample_size: u8) -> u32 {
    let [width, height] = size(samples);
    let pixels = width as u32 * height as u32;
    (sample_size as u32 * pixels * samples.count()).div_ceil(BLOCK_SIZE)
}

/// A colour attachment in tile memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Attachment {
    /// Bytes from the start of a sample, a multiple of 4.
    pub offset: u8,
    /// What a sample holds.
    pub word: TileWord,
}

/// The attachments of a pass in tile memory (graphics, 8; HW).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    samples: Samples,
    attachments: ArrayVec<Option<Attachment>, MAX_ATTACHMENTS>,
    bytes: u8,
}

impl Layout {
    /// The layout of attachments with these formats; absent ones in front of others take a word.
    ///
    /// # Errors
    /// When there are more than 8, a format is no colour attachment, or they take more than 128 bytes with
    /// one sample or 64 with two or four.
    pub fn new(formats: &[Option<Format>], samples: Samples) -> Result<Layout> {
        if formats.len() > MAX_ATTACHMENTS {
            let attachments = formats.len() as u64;
            return illegal(NAME, "attachments", attachments, "0..=8");
        }
        let used = formats.iter().rposition(Option::is_some);
        let mut attachments = ArrayVec::new();
        let mut bytes = 0u8;
        for format in &formats[..used.map_or(0, |last| last + 1)] {
            let (attachment, size) = match format {
                None => (None, 4),
                Some(format) => {
                    let Some(word) = format.tile_word() else {
                        let code = format.encoding().channels().code();
                        let legal = "channels and type of a colour attachment";
                        return illegal(NAME, "channels", code.into(), legal);
                    };
                    let offset = bytes;
                    (Some(Attachment { offset, word }), word.bytes())
                }
            };
            attachments.push(attachment);
            // At most 8 times 16.
            bytes += size;
        }
        if bytes > max_bytes(samples) {
            let legal = "0..=128 with one sample, 0..=64 with two or four";
            return illegal(NAME, "bytes of a sample", bytes.into(), legal);
        }
        Ok(Layout {
            samples,
            attachments,
            bytes,
        })
    }

    /// Samples of a pixel.
    #[must_use]
    pub const fn samples(&self) -> Samples {
        self.samples
    }

    /// The attachments up to the last that is there.
    #[must_use]
    pub fn attachments(&self) -> &[Option<Attachment>] {
        &self.attachments
    }

    /// Bytes of a sample that attachments take.
    #[must_use]
    pub const fn bytes(&self) -> u8 {
        self.bytes
    }

    /// Bytes of a sample as a submit states them: a multiple of 8, with several samples not 0
    /// (graphics, 8; INFERRED).
    #[must_use]
    pub const fn sample_size(&self) -> u8 {
        match (self.samples, self.bytes) {
            (Samples::Two | Samples::Four, 0) => 8,
            // At most 128.
            (_, bytes) => bytes.next_multiple_of(8),
        }
    }

    /// What the pass's launchers allocate: as much as the submit states (graphics, 4.4; HW).
    #[must_use]
    pub const fn storage(&self) -> Storage {
        Storage::Tile {
            samples: self.samples,
            units: self.sample_size() / 8,
        }
    }

    /// Blocks of a tile (graphics, 11.2; HW).
    #[must_use]
    pub const fn blocks(&self) -> u32 {
        blocks(self.samples, self.sample_size())
    }
}
