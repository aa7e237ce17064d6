// SPDX-License-Identifier: MIT
//! What shaders find in a descriptor set of images, samplers and texel buffers.
//!
//! The first 32 bytes of an image's are its texture record, which the texture unit reads once it has
//! been copied into a binding table; the rest is for shader code, because hardware answers no queries and
//! has no per-texel stores that are known well enough (isa-3, 3; isa-4, 2). mesa-nir's `BindingKind`
//! says the same to the compiler.

use agx_hw::format::Swizzle;

/// Bytes of a sampled image's descriptor.
pub(crate) const TEXTURE_SIZE: usize = 64;
/// Bytes of a sampler's.
pub(crate) const SAMPLER_SIZE: usize = 64;
/// Bytes of a storage image's.
pub(crate) const STORAGE_SIZE: usize = 128;
/// Bytes of a texel buffer's.
pub(crate) const TEXEL_BUFFER_SIZE: usize = 64;

/// What queries of an image answer: all at the view's first level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extents {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Depth, or layers of arrays, or cubes of arrays of cubes; else 1.
    pub(crate) depth: u32,
    pub(crate) levels: u32,
    pub(crate) samples: u32,
}

impl Extents {
    fn words(self) -> [u32; 5] {
        [
            self.width,
            self.height,
            self.depth,
            self.levels,
            self.samples,
        ]
    }
}

/// Where the elements of a level lie, for shaders that compute their addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Addressing {
    /// Of element (0, 0) of the level in the first layer.
    pub(crate) address: u64,
    /// From layer to layer, in units of 16 bytes.
    pub(crate) layer_stride: u32,
    pub(crate) order: Order,
}

/// The order of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Row by row.
    Linear {
        /// Bytes.
        row_stride: u32,
        /// Logarithm of an element's bytes.
        log2_bytes: u32,
    },
    /// Tile by tile.
    Tiled {
        log2_width: u32,
        log2_height: u32,
        /// Logarithm of a pixel's bytes, all samples together.
        log2_bytes: u32,
        log2_samples: u32,
        /// Tiles in a row.
        columns: u32,
    },
}

impl Addressing {
    fn words(self) -> [u32; 5] {
        let (order, pitch) = match self.order {
            Order::Linear {
                row_stride,
                log2_bytes,
            } => (log2_bytes << 16 | 1 << 31, row_stride),
            Order::Tiled {
                log2_width,
                log2_height,
                log2_bytes,
                log2_samples,
                columns,
            } => (
                log2_width | log2_height << 8 | log2_bytes << 16 | log2_samples << 24,
                columns,
            ),
        };
        [
            self.address as u32,
            (self.address >> 32) as u32,
            self.layer_stride,
            order,
            pitch,
        ]
    }
}

/// A texture record.
pub(crate) type Record = [u8; agx_hw::texture::RECORD_SIZE];

/// A sampled image's descriptor, with where the components of a border's colour go.
pub(crate) fn texture(record: &Record, extents: Extents, border: Swizzle) -> [u8; TEXTURE_SIZE] {
    let mut bytes = [0; TEXTURE_SIZE];
    bytes[..32].copy_from_slice(record);
    put(&mut bytes[32..], &extents.words());
    put(&mut bytes[52..], &[u32::from(border.code())]);
    bytes
}

/// A storage image's descriptor, with the record for fetches and that for stores.
pub(crate) fn storage(
    record: &Record,
    extents: Extents,
    store: &Record,
    addressing: Addressing,
) -> [u8; STORAGE_SIZE] {
    let mut bytes = [0; STORAGE_SIZE];
    bytes[..32].copy_from_slice(record);
    put(&mut bytes[32..], &extents.words());
    bytes[64..96].copy_from_slice(store);
    put(&mut bytes[96..], &addressing.words());
    bytes
}

/// What sampling needs that the record cannot say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SamplerState {
    /// The record.
    pub(crate) record: u64,
    /// The same with an opaque white border; the difference tells where a custom border is
    /// (images, 4.3; HW). Equal to the record if there is none.
    pub(crate) white: u64,
    pub(crate) lod_bias: f32,
    /// A border that is none of the three.
    pub(crate) border: Option<[u32; 4]>,
    pub(crate) unnormalised: bool,
    /// 0 none, 1 nearest, 2 linear.
    pub(crate) mip_filter: u8,
}

/// A sampler's descriptor.
pub(crate) fn sampler(state: &SamplerState) -> [u8; SAMPLER_SIZE] {
    let mut bytes = [0; SAMPLER_SIZE];
    bytes[..8].copy_from_slice(&state.record.to_le_bytes());
    bytes[32..40].copy_from_slice(&state.white.to_le_bytes());
    let flags = u32::from(state.border.is_some())
        | u32::from(state.unnormalised) << 1
        | u32::from(state.mip_filter) << 2;
    put(&mut bytes[40..], &[state.lod_bias.to_bits(), flags]);
    put(&mut bytes[48..], &state.border.unwrap_or_default());
    bytes
}

/// A texel buffer's descriptor.
pub(crate) fn texel_buffer(
    record: &Record,
    elements: u32,
    address: u64,
    element_bytes: u32,
) -> [u8; TEXEL_BUFFER_SIZE] {
    let mut bytes = [0; TEXEL_BUFFER_SIZE];
    bytes[..32].copy_from_slice(record);
    put(&mut bytes[32..], &[elements, 0]);
    bytes[40..48].copy_from_slice(&address.to_le_bytes());
    put(&mut bytes[48..], &[element_bytes]);
    bytes
}

fn put(to: &mut [u8], words: &[u32]) {
    for (to, word) in to.chunks_exact_mut(4).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
}
