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

mod binary;
mod cache;
mod compile;
mod compute;
mod disk_cache;
mod executable;
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
pub(crate) use self::own::own_shader;
pub(crate) use self::store::Store;
