// SPDX-License-Identifier: MIT
//! Compute pipelines.

use std::sync::Arc;

use agx_compiler::binary::Pointer;
use ash::vk;
use mesa_nir::ComputeLowering;

use super::Pipeline;
use super::cache::PipelineCache;
use super::create::{Feedback, create_each};
use super::executable::Executable;
use super::find::Search;
use super::source::{Lowering, Module, Source};
use crate::debug;
use crate::device::{self, Device};
use crate::entry;
use crate::error::VkResult;
use crate::host::HostAllocator;
use crate::object;
use crate::pipeline_layout::PipelineLayout;
use crate::program::Program;

/// A compute pipeline.
pub(crate) struct ComputePipeline {
    /// To launch its shader.
    pub(crate) program: Arc<Program>,
    /// What it has to tell, and what keeps the shader where equal ones find it.
    pub(super) executable: Executable,
}

impl ComputePipeline {
    /// # Safety
    /// The structure is valid.
    unsafe fn new(
        search: Search<'_>,
        host: HostAllocator,
        info: &vk::ComputePipelineCreateInfo<'_>,
        flags: vk::PipelineCreateFlags,
        feedback: &mut Feedback,
    ) -> VkResult<ComputePipeline> {
        // SAFETY: the caller's promise.
        let (module, layout) = unsafe {
            (
                Module::of(search.device, &info.stage, info.p_next)?,
                object::get::<PipelineLayout>(info.layout),
            )
        };
        let source = Source {
            module: &module,
            lowering: Lowering::Compute(ComputeLowering {
                bindings: layout.describe(),
                robust: module.robust,
                has_base_workgroup: flags.contains(vk::PipelineCreateFlags::DISPATCH_BASE),
                custom_border_colors: module.custom_border_colors,
            }),
        };
        let (shader, texts) = search.shader(&source, feedback)?;
        let reaches = |pointer: &Pointer| match pointer {
            Pointer::DescriptorSet(set) => usize::from(*set) < layout.sets.len(),
            _ => true,
        };
        if !shader.program.pointers.iter().all(reaches) {
            debug::error(&"a shader reaches a descriptor set that its layout does not have");
            return Err(vk::Result::ERROR_UNKNOWN);
        }
        Ok(ComputePipeline {
            program: shader.program.clone(),
            executable: Executable::new(host, vk::ShaderStageFlags::COMPUTE, shader, texts)?,
        })
    }
}

/// vkCreateComputePipelines.
pub(crate) unsafe extern "system" fn create_compute_pipelines(
    device: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::ComputePipelineCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    entry::try_guard("vkCreateComputePipelines", || {
        // SAFETY: valid by the specification.
        unsafe {
            let device = object::get::<Device>(device);
            let cache = object::get_optional::<PipelineCache>(cache);
            let host = device.allocator(allocator);
            let infos = entry::slice(infos, count);
            create_each(host, infos, pipelines, |info, flags, feedback| {
                let search = Search::new(device, cache, flags);
                ComputePipeline::new(search, host, info, flags, feedback).map(Pipeline::Compute)
            })
        }
    })
}

/// vkDestroyPipeline.
pub(crate) unsafe extern "system" fn destroy_pipeline(
    device: vk::Device,
    pipeline: vk::Pipeline,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: null or a live handle that no one else uses, by the specification.
    unsafe { device::destroy_object::<Pipeline>("vkDestroyPipeline", device, pipeline, allocator) };
}
