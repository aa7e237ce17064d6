// SPDX-License-Identifier: MIT
//! The driver's own shaders: copies of buffers and images, fills, results of queries.
//!
//! They reach memory through addresses in their push constants, so they need no descriptors. Each is
//! compiled when a device first uses it.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use agx_uapi::Chip;

use crate::debug;
use crate::error::VkResult;
use crate::gpu::Gpu;
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
}

impl Kind {
    const COUNT: usize = 11;

    const fn spirv(self) -> &'static [u8] {
        match self {
            Kind::Copy16 => include_bytes!(concat!(env!("OUT_DIR"), "/copy16.spv")),
            Kind::Copy4 => include_bytes!(concat!(env!("OUT_DIR"), "/copy4.spv")),
            Kind::Copy1 => include_bytes!(concat!(env!("OUT_DIR"), "/copy1.spv")),
            Kind::Fill16 => include_bytes!(concat!(env!("OUT_DIR"), "/fill16.spv")),
            Kind::Fill4 => include_bytes!(concat!(env!("OUT_DIR"), "/fill4.spv")),
            Kind::Query => include_bytes!(concat!(env!("OUT_DIR"), "/query.spv")),
            Kind::ImageCopy16 => include_bytes!(concat!(env!("OUT_DIR"), "/image_copy16.spv")),
            Kind::ImageCopy8 => include_bytes!(concat!(env!("OUT_DIR"), "/image_copy8.spv")),
            Kind::ImageCopy4 => include_bytes!(concat!(env!("OUT_DIR"), "/image_copy4.spv")),
            Kind::ImageCopy2 => include_bytes!(concat!(env!("OUT_DIR"), "/image_copy2.spv")),
            Kind::ImageCopy1 => include_bytes!(concat!(env!("OUT_DIR"), "/image_copy1.spv")),
        }
    }
}

/// Threads of a workgroup of the copying and filling shaders.
pub(crate) const WORKGROUP: u64 = 256;
/// Threads of a workgroup of the shaders that copy elements of images, along a row and across rows.
pub(crate) const IMAGE_WORKGROUP: [u32; 2] = [32, 8];
/// Threads of a workgroup of the query shader.
pub(crate) const QUERY_WORKGROUP: u32 = 64;

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

fn upload(chip: Chip, gpu: &Arc<Gpu>, arena: &Arc<Arena>, kind: Kind) -> VkResult<Program> {
    let (words, _) = kind.spirv().as_chunks::<4>();
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let binary = pipeline::own_shader(chip, &words).inspect_err(|_| {
        debug::error(&format_args!("that was the driver's own shader {kind:?}"));
    })?;
    Program::upload(gpu, arena, &binary)
}
