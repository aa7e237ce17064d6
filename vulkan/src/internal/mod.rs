// SPDX-License-Identifier: MIT
//! The driver's own shaders: copies, fills, results of queries.
//!
//! They reach memory through addresses in their push constants, so they need no descriptors. Each is
//! compiled when a device first uses it.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use agx_compiler::CompileKey;
use ash::vk;
use mesa_nir::{CompilerOptions, SpirvOptions, Stage, spirv_to_nir};

use crate::debug;
use crate::error::VkResult;
use crate::gpu::Gpu;
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
}

impl Kind {
    const COUNT: usize = 6;

    const fn spirv(self) -> &'static [u8] {
        match self {
            Kind::Copy16 => include_bytes!(concat!(env!("OUT_DIR"), "/copy16.spv")),
            Kind::Copy4 => include_bytes!(concat!(env!("OUT_DIR"), "/copy4.spv")),
            Kind::Copy1 => include_bytes!(concat!(env!("OUT_DIR"), "/copy1.spv")),
            Kind::Fill16 => include_bytes!(concat!(env!("OUT_DIR"), "/fill16.spv")),
            Kind::Fill4 => include_bytes!(concat!(env!("OUT_DIR"), "/fill4.spv")),
            Kind::Query => include_bytes!(concat!(env!("OUT_DIR"), "/query.spv")),
        }
    }
}

/// Threads of a workgroup of the copying and filling shaders.
pub(crate) const WORKGROUP: u64 = 256;
/// Threads of a workgroup of the query shader.
pub(crate) const QUERY_WORKGROUP: u32 = 64;

/// The shaders of a device.
#[derive(Default)]
pub(crate) struct Internal {
    programs: [OnceLock<Arc<Program>>; Kind::COUNT],
    compiling: Mutex<()>,
}

impl Internal {
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
        let program = compile(gpu, arena, kind)?;
        Ok(cell.get_or_init(|| Arc::new(program)))
    }
}

fn compile(gpu: &Arc<Gpu>, arena: &Arc<Arena>, kind: Kind) -> VkResult<Program> {
    let failed = |error: &dyn std::fmt::Display| {
        debug::error(&format_args!("the driver's own shader {kind:?}: {error}"));
        vk::Result::ERROR_UNKNOWN
    };
    let (words, _) = kind.spirv().as_chunks::<4>();
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let options = Arc::new(CompilerOptions::apple9());
    let spirv = SpirvOptions::apple9_compute();
    let shader = spirv_to_nir(&words, Stage::Compute, "main", &[], &spirv, &options)
        .map_err(|error| failed(&error))?;
    let binary =
        agx_compiler::compile(shader, &CompileKey::default()).map_err(|error| failed(&error))?;
    Program::upload(gpu, arena, &binary)
}
