// SPDX-License-Identifier: MIT
//! VkPipeline: compiled shaders, and the caches that keep them.
//!
//! ```text
//! compute     a pipeline: from create-info to a shader that can be launched
//!   └ store     shaders of a device that are alive, by key
//!   └ cache     VkPipelineCache: binaries that the application keeps
//!   └ disk      binaries that the driver keeps for the user
//!   └ compile   SPIR-V to a binary
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

use agx_compiler::binary::Statistics;
use arrayvec::ArrayVec;
use ash::vk;

use crate::object::Object;

mod binary;
mod cache;
mod compile;
mod compute;
mod disk_cache;
mod executable;
mod graphics;
mod graphics_state;
mod key;
mod own;
mod robustness;
mod store;
#[cfg(test)]
mod tests;

pub(crate) use self::cache::{
    create_pipeline_cache, destroy_pipeline_cache, get_pipeline_cache_data, merge_pipeline_caches,
};
pub(crate) use self::compute::{ComputePipeline, create_compute_pipelines, destroy_pipeline};
pub(crate) use self::executable::{
    get_pipeline_executable_internal_representations, get_pipeline_executable_properties,
    get_pipeline_executable_statistics,
};
pub(crate) use self::graphics::{GraphicsPipeline, View, create_graphics_pipelines};
pub(crate) use self::graphics_state::{
    MAX_VERTEX_BUFFERS, MAX_VIEWPORTS, State, StencilFace, primitive,
};
pub(crate) use self::own::own_shader;
pub(crate) use self::store::Store;

/// A pipeline of either kind.
#[allow(
    clippy::large_enum_variant,
    reason = "each is an allocation of its own, behind a handle"
)]
pub(crate) enum Pipeline {
    Compute(ComputePipeline),
    Graphics(GraphicsPipeline),
}

impl Object for Pipeline {
    type Handle = vk::Pipeline;
}

impl Pipeline {
    /// The compute pipeline, if it is one.
    pub(crate) fn compute(&self) -> Option<&ComputePipeline> {
        match self {
            Pipeline::Compute(pipeline) => Some(pipeline),
            Pipeline::Graphics(_) => None,
        }
    }

    /// The graphics pipeline, if it is one.
    pub(crate) fn graphics(&self) -> Option<&GraphicsPipeline> {
        match self {
            Pipeline::Graphics(pipeline) => Some(pipeline),
            Pipeline::Compute(_) => None,
        }
    }

    /// Its stages, with their statistics.
    fn executables(
        &self,
    ) -> impl ExactSizeIterator<Item = (vk::ShaderStageFlags, &Statistics)> + Clone {
        let all: ArrayVec<_, 2> = match self {
            Pipeline::Compute(pipeline) => {
                std::iter::once((vk::ShaderStageFlags::COMPUTE, pipeline.statistics())).collect()
            }
            Pipeline::Graphics(pipeline) => pipeline.statistics().into_iter().collect(),
        };
        all.into_iter()
    }

    /// Texts of the stages of a compilation, of those that were asked for.
    fn texts(&self) -> impl ExactSizeIterator<Item = (&'static str, &[u8])> {
        let all: ArrayVec<_, 4> = match self {
            Pipeline::Compute(pipeline) => pipeline.texts().collect(),
            Pipeline::Graphics(_) => ArrayVec::new(),
        };
        all.into_iter()
    }
}
