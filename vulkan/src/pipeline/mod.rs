// SPDX-License-Identifier: MIT
//! VkPipeline: compiled shaders, and the caches that keep them.
//!
//! ```text
//! compute     a pipeline: from create-info to a shader that can be launched
//! graphics    the same with two stages, and the state of draws
//!   └ find        the shader of a source, by its key
//!       └ store     shaders of a device that are alive
//!       └ cache     VkPipelineCache: binaries that the application keeps
//!       └ disk      binaries that the driver keeps for the user
//!       └ compile   SPIR-V to a binary
//! ```
//!
//! A [`Key`] is a hash of everything that a binary depends on, so binaries are never stale. What
//! comes in from outside, an application's cache data or a file, is not trusted: each binary has a
//! checksum, and is decoded with all limits checked that launching it relies on. (Its machine code
//! runs on the GPU and reaches what the application reaches.)
//!
//! # Modules are not trusted either
//!
//! Mesa relies on valid SPIR-V, and an invalid module could read or write any memory of the process.
//! Therefore every module goes through the SPIR-V validator before Mesa compiles it (mesa-nir,
//! "Safety"): once in the life of the process for each distinct module, and not at all when its
//! pipelines come out of a cache. So programs do not pay for it again and again, and
//! `CORTLAND_DEBUG=validate` only makes sure that it happens: no cache is asked.

use ash::vk;

use crate::object::Object;

mod binary;
mod cache;
mod compile;
mod compute;
mod create;
mod disk_cache;
mod executable;
mod find;
mod graphics;
mod graphics_state;
mod key;
mod own;
mod robustness;
mod source;
mod store;
#[cfg(test)]
mod tests;

pub(crate) use self::cache::{
    create_pipeline_cache, destroy_pipeline_cache, get_pipeline_cache_data, merge_pipeline_caches,
};
pub(crate) use self::compute::{ComputePipeline, create_compute_pipelines, destroy_pipeline};
use self::executable::Executable;
pub(crate) use self::executable::{
    get_pipeline_executable_internal_representations, get_pipeline_executable_properties,
    get_pipeline_executable_statistics,
};
pub(crate) use self::graphics::{GraphicsPipeline, Library, View, create_graphics_pipelines};
pub(crate) use self::graphics_state::{
    Dynamic, MAX_VERTEX_BUFFERS, MAX_VIEWPORTS, State, StencilFace, primitive,
};
pub(crate) use self::own::own_shader;
pub(crate) use self::store::Store;

/// A pipeline of some kind, or a library of parts of one.
#[allow(
    clippy::large_enum_variant,
    reason = "each is an allocation of its own, behind a handle"
)]
pub(crate) enum Pipeline {
    Compute(ComputePipeline),
    Graphics(GraphicsPipeline),
    Library(Library),
}

impl Object for Pipeline {
    type Handle = vk::Pipeline;
}

impl Pipeline {
    /// The compute pipeline, if it is one.
    pub(crate) fn compute(&self) -> Option<&ComputePipeline> {
        match self {
            Pipeline::Compute(pipeline) => Some(pipeline),
            Pipeline::Graphics(_) | Pipeline::Library(_) => None,
        }
    }

    /// The graphics pipeline, if it is one.
    pub(crate) fn graphics(&self) -> Option<&GraphicsPipeline> {
        match self {
            Pipeline::Graphics(pipeline) => Some(pipeline),
            Pipeline::Compute(_) | Pipeline::Library(_) => None,
        }
    }

    /// Its stages.
    fn executables(&self) -> &[Executable] {
        match self {
            Pipeline::Compute(pipeline) => std::slice::from_ref(&pipeline.executable),
            Pipeline::Graphics(pipeline) => &pipeline.executables,
            Pipeline::Library(_) => &[],
        }
    }
}
