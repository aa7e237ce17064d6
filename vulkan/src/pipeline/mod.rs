// SPDX-License-Identifier: MIT
//! VkPipeline: compiled shaders, and the caches that keep them.

mod compute;

pub(crate) use self::compute::{ComputePipeline, create_compute_pipelines, destroy_pipeline};
