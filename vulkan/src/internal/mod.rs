// SPDX-License-Identifier: MIT
//! The driver's own shaders: copies of buffers and images, blits, resolves, fills, results of queries.
//!
//! They reach memory through addresses in their push constants. Those that sample an image have it as the
//! only descriptor of set 0. Each is compiled when a device first uses it.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use agx_uapi::Chip;
use mesa_nir::{BindingKind, BindingLayout, Place};

use crate::debug;
use crate::error::VkResult;
use crate::gpu::Gpu;
use crate::image::descriptor::{SAMPLER_SIZE, TEXTURE_SIZE};
use crate::pipeline;
use crate::program::{Arena, Program};

/// A shader of the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Copies 16-byte units.
    Copy16,
    /// Copies 4-byte units.
    Copy4,
    /// Copies bytes.
    Copy1,
    /// Fills 16-byte units with a word.
    Fill16,
    /// Fills words.
    Fill4,
    /// Copies results of queries.
    Query,
    /// Copies arguments of draws, as many as memory says.
    DrawCount,
    /// Copies 16-byte elements of images.
    ImageCopy16,
    /// Copies 8-byte elements of images.
    ImageCopy8,
    /// Copies 4-byte elements of images.
    ImageCopy4,
    /// Copies 2-byte elements of images.
    ImageCopy2,
    /// Copies 1-byte elements of images.
    ImageCopy1,
    /// Scales images of one or two dimensions.
    Blit,
    /// Scales images of three dimensions.
    BlitSolid,
    /// The same for integers.
    BlitInteger,
    /// The same for integers.
    BlitSolidInteger,
    /// Makes one sample of several.
    Resolve,
    /// The same for integers.
    ResolveInteger,
}

/// The image that shaders sample, with a sampler.
pub(crate) const SAMPLED: BindingLayout = BindingLayout {
    set: 0,
    binding: 0,
    place: Place::Set(0),
    offset: 0,
    stride: (TEXTURE_SIZE + SAMPLER_SIZE) as u32,
    count: 1,
    kind: BindingKind::CombinedImageSampler,
};

impl Kind {
    const COUNT: usize = 18;

    const fn spirv(self) -> &'static [u8] {
        match self {
            Kind::Copy16 => include_bytes!(concat!(env!("OUT_DIR"), "/copy16.spv")),
            Kind::Copy4 => include_bytes!(concat!(env!("OUT_DIR"), "/copy4.spv")),
            Kind::Copy1 => include_bytes!(concat!(env!("OUT_DIR"), "/copy1.spv")),
            Kind::Fill16 => include_bytes!(concat!(env!("OUT_DIR"), "/fill16.spv")),
            Kind::Fill4 => include_bytes!(concat!(env!("OUT_DIR"), "/fill4.spv")),
            Kind::Query => include_bytes!(concat!(env!("OUT_DIR"), "/query.spv")),
            Kind::DrawCount => include_bytes!(concat!(env!("OUT_DIR"), "/draw_count.spv")),
            Kind::ImageCopy16 => include_bytes!(concat!(env!("OUT_DIR"), "/image_copy16.spv")),
            Kind::ImageCopy8 => include_bytes!(concat!(env!("OUT_DIR"), "/image_copy8.spv")),
            Kind::ImageCopy4 => include_bytes!(concat!(env!("OUT_DIR"), "/image_copy4.spv")),
            Kind::ImageCopy2 => include_bytes!(concat!(env!("OUT_DIR"), "/image_copy2.spv")),
            Kind::ImageCopy1 => include_bytes!(concat!(env!("OUT_DIR"), "/image_copy1.spv")),
            Kind::Blit => include_bytes!(concat!(env!("OUT_DIR"), "/blit.spv")),
            Kind::BlitSolid => include_bytes!(concat!(env!("OUT_DIR"), "/blit_solid.spv")),
            Kind::BlitInteger => include_bytes!(concat!(env!("OUT_DIR"), "/blit_integer.spv")),
            Kind::BlitSolidInteger => {
                include_bytes!(concat!(env!("OUT_DIR"), "/blit_solid_integer.spv"))
            }
            Kind::Resolve => include_bytes!(concat!(env!("OUT_DIR"), "/resolve.spv")),
            Kind::ResolveInteger => {
                include_bytes!(concat!(env!("OUT_DIR"), "/resolve_integer.spv"))
            }
        }
    }

    /// What is bound to it.
    const fn bindings(self) -> &'static [BindingLayout] {
        match self {
            Kind::Blit
            | Kind::BlitSolid
            | Kind::BlitInteger
            | Kind::BlitSolidInteger
            | Kind::Resolve
            | Kind::ResolveInteger => &[SAMPLED],
            _ => &[],
        }
    }
}

/// Threads of a workgroup of the copying and filling shaders.
pub(crate) const WORKGROUP: u64 = 256;
/// Threads of a workgroup of the shaders that copy elements of images, along a row and across rows.
pub(crate) const IMAGE_WORKGROUP: [u32; 2] = [32, 8];
/// Threads of a workgroup of the query shader.
pub(crate) const QUERY_WORKGROUP: u32 = 64;

/// Threads of a workgroup of the shader that counts draws.
pub(crate) const COUNT_WORKGROUP: u32 = 64;

/// The shaders of a device.
pub(crate) struct Internal {
    chip: Chip,
    programs: [OnceLock<Arc<Program>>; Kind::COUNT],
    compiling: Mutex<()>,
}

impl Internal {
    /// None compiled yet.
    pub(crate) fn new(chip: Chip) -> Internal {
        Internal {
            chip,
            programs: Default::default(),
            compiling: Mutex::default(),
        }
    }

    /// A shader, compiled if need be.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub(crate) fn get(
        &self,
        gpu: &Arc<Gpu>,
        arena: &Arc<Arena>,
        kind: Kind,
    ) -> VkResult<&Arc<Program>> {
        let cell = &self.programs[kind as usize];
        if let Some(program) = cell.get() {
            return Ok(program);
        }
        let _one_at_a_time = self
            .compiling
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = cell.get() {
            return Ok(program);
        }
        let program = upload(self.chip, gpu, arena, kind)?;
        Ok(cell.get_or_init(|| Arc::new(program)))
    }
}

/// The words of a module that the build compiled.
pub(crate) fn spirv_words(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

fn upload(chip: Chip, gpu: &Arc<Gpu>, arena: &Arc<Arena>, kind: Kind) -> VkResult<Program> {
    let words = spirv_words(kind.spirv());
    let binary = pipeline::own_shader(chip, &words, kind.bindings()).inspect_err(|_| {
        debug::error(&format_args!("that was the driver's own shader {kind:?}"));
    })?;
    Program::upload(gpu, arena, &binary)
}
