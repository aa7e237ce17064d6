// SPDX-License-Identifier: MIT
//! Images and graphics, which are not there yet: every command that version 1.3 has for them exists
//! and refuses.
//!
//! Programs that respect what the driver advertises call none of these with effect: there are no
//! formats, no queue does graphics, and the features are off. Nothing can be created, so there is
//! nothing that destruction or a query could be about.

use std::sync::atomic::{AtomicBool, Ordering};

use ash::vk;

use crate::debug;
use crate::entry;
use crate::error::VkResult;

fn refuse(command: &str) {
    debug::error(&format_args!(
        "{command}: images and graphics are not there yet"
    ));
}

/// Refuses to create something.
fn refuse_creation(command: &str) -> VkResult {
    refuse(command);
    Err(vk::Result::ERROR_FEATURE_NOT_PRESENT)
}

/// Says once that commands for graphics do nothing: they have no result to say it with, and frames
/// have many of them.
fn ignore(command: &str) {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if !TOLD.swap(true, Ordering::Relaxed) {
        refuse(command);
    }
}

/// Functions that create nothing, and those that destroy it.
macro_rules! never_created {
    ($($create:ident $create_name:literal, $destroy:ident $destroy_name:literal ($info:ty, $handle:ty);)*) => {$(
        #[doc = concat!($create_name, ".")]
        pub(crate) unsafe extern "system" fn $create(
            _device: vk::Device,
            _info: *const $info,
            _allocator: *const vk::AllocationCallbacks<'_>,
            handle: *mut $handle,
        ) -> vk::Result {
            entry::try_guard($create_name, || {
                // SAFETY: valid by the specification.
                unsafe { *handle = <$handle>::null() };
                refuse_creation($create_name)
            })
        }

        #[doc = concat!($destroy_name, ".")]
        pub(crate) unsafe extern "system" fn $destroy(
            _device: vk::Device,
            handle: $handle,
            _allocator: *const vk::AllocationCallbacks<'_>,
        ) {
            entry::guard($destroy_name, || {
                if handle != <$handle>::null() {
                    ignore($destroy_name);
                }
            });
        }
    )*};
}

#[rustfmt::skip]
never_created! {
    create_sampler_ycbcr_conversion "vkCreateSamplerYcbcrConversion", destroy_sampler_ycbcr_conversion "vkDestroySamplerYcbcrConversion" (vk::SamplerYcbcrConversionCreateInfo<'_>, vk::SamplerYcbcrConversion);
}

/// vkCreateGraphicsPipelines.
pub(crate) unsafe extern "system" fn create_graphics_pipelines(
    _device: vk::Device,
    _cache: vk::PipelineCache,
    count: u32,
    _infos: *const vk::GraphicsPipelineCreateInfo<'_>,
    _allocator: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    entry::try_guard("vkCreateGraphicsPipelines", || {
        for index in 0..count as usize {
            // SAFETY: valid by the specification for so many.
            unsafe { *pipelines.add(index) = vk::Pipeline::null() };
        }
        refuse_creation("vkCreateGraphicsPipelines")
    })
}

/// vkGetImageSparseMemoryRequirements: no image is sparse.
pub(crate) unsafe extern "system" fn get_image_sparse_memory_requirements(
    _device: vk::Device,
    _image: vk::Image,
    count: *mut u32,
    _requirements: *mut vk::SparseImageMemoryRequirements,
) {
    entry::guard("vkGetImageSparseMemoryRequirements", || {
        // SAFETY: valid by the specification.
        unsafe { *count = 0 };
    });
}

/// vkGetImageSparseMemoryRequirements2: no image is sparse.
pub(crate) unsafe extern "system" fn get_image_sparse_memory_requirements2(
    _device: vk::Device,
    _info: *const vk::ImageSparseMemoryRequirementsInfo2<'_>,
    count: *mut u32,
    _requirements: *mut vk::SparseImageMemoryRequirements2<'_>,
) {
    entry::guard("vkGetImageSparseMemoryRequirements2", || {
        // SAFETY: valid by the specification.
        unsafe { *count = 0 };
    });
}

/// vkGetDeviceImageSparseMemoryRequirements: no image is sparse.
pub(crate) unsafe extern "system" fn get_device_image_sparse_memory_requirements(
    _device: vk::Device,
    _info: *const vk::DeviceImageMemoryRequirements<'_>,
    count: *mut u32,
    _requirements: *mut vk::SparseImageMemoryRequirements2<'_>,
) {
    entry::guard("vkGetDeviceImageSparseMemoryRequirements", || {
        // SAFETY: valid by the specification.
        unsafe { *count = 0 };
    });
}

/// Commands in command buffers. No queue takes them, so they record nothing.
macro_rules! ignored {
    ($($(#[$doc:meta])* $function:ident = $name:literal ($($kind:ty),*);)*) => {$(
        $(#[$doc])*
        pub(crate) unsafe extern "system" fn $function($(_: $kind),*) {
            entry::guard($name, || ignore($name));
        }
    )*};
}

#[rustfmt::skip]
ignored! {
    /// vkCmdSetViewport.
    cmd_set_viewport = "vkCmdSetViewport" (vk::CommandBuffer, u32, u32, *const vk::Viewport);
    /// vkCmdSetScissor.
    cmd_set_scissor = "vkCmdSetScissor" (vk::CommandBuffer, u32, u32, *const vk::Rect2D);
    /// vkCmdSetLineWidth.
    cmd_set_line_width = "vkCmdSetLineWidth" (vk::CommandBuffer, f32);
    /// vkCmdSetDepthBias.
    cmd_set_depth_bias = "vkCmdSetDepthBias" (vk::CommandBuffer, f32, f32, f32);
    /// vkCmdSetBlendConstants.
    cmd_set_blend_constants = "vkCmdSetBlendConstants" (vk::CommandBuffer, *const [f32; 4usize]);
    /// vkCmdSetDepthBounds.
    cmd_set_depth_bounds = "vkCmdSetDepthBounds" (vk::CommandBuffer, f32, f32);
    /// vkCmdSetStencilCompareMask.
    cmd_set_stencil_compare_mask = "vkCmdSetStencilCompareMask" (vk::CommandBuffer, vk::StencilFaceFlags, u32);
    /// vkCmdSetStencilWriteMask.
    cmd_set_stencil_write_mask = "vkCmdSetStencilWriteMask" (vk::CommandBuffer, vk::StencilFaceFlags, u32);
    /// vkCmdSetStencilReference.
    cmd_set_stencil_reference = "vkCmdSetStencilReference" (vk::CommandBuffer, vk::StencilFaceFlags, u32);
    /// vkCmdBindIndexBuffer.
    cmd_bind_index_buffer = "vkCmdBindIndexBuffer" (vk::CommandBuffer, vk::Buffer, vk::DeviceSize, vk::IndexType);
    /// vkCmdBindVertexBuffers.
    cmd_bind_vertex_buffers = "vkCmdBindVertexBuffers" (vk::CommandBuffer, u32, u32, *const vk::Buffer, *const vk::DeviceSize);
    /// vkCmdDraw.
    cmd_draw = "vkCmdDraw" (vk::CommandBuffer, u32, u32, u32, u32);
    /// vkCmdDrawIndexed.
    cmd_draw_indexed = "vkCmdDrawIndexed" (vk::CommandBuffer, u32, u32, u32, i32, u32);
    /// vkCmdDrawIndirect.
    cmd_draw_indirect = "vkCmdDrawIndirect" (vk::CommandBuffer, vk::Buffer, vk::DeviceSize, u32, u32);
    /// vkCmdDrawIndexedIndirect.
    cmd_draw_indexed_indirect = "vkCmdDrawIndexedIndirect" (vk::CommandBuffer, vk::Buffer, vk::DeviceSize, u32, u32);
    /// vkCmdClearAttachments.
    cmd_clear_attachments = "vkCmdClearAttachments" (vk::CommandBuffer, u32, *const vk::ClearAttachment, u32, *const vk::ClearRect);
    /// vkCmdDrawIndirectCount.
    cmd_draw_indirect_count = "vkCmdDrawIndirectCount" (vk::CommandBuffer, vk::Buffer, vk::DeviceSize, vk::Buffer, vk::DeviceSize, u32, u32);
    /// vkCmdDrawIndexedIndirectCount.
    cmd_draw_indexed_indirect_count = "vkCmdDrawIndexedIndirectCount" (vk::CommandBuffer, vk::Buffer, vk::DeviceSize, vk::Buffer, vk::DeviceSize, u32, u32);
    /// vkCmdSetCullMode.
    cmd_set_cull_mode = "vkCmdSetCullMode" (vk::CommandBuffer, vk::CullModeFlags);
    /// vkCmdSetFrontFace.
    cmd_set_front_face = "vkCmdSetFrontFace" (vk::CommandBuffer, vk::FrontFace);
    /// vkCmdSetPrimitiveTopology.
    cmd_set_primitive_topology = "vkCmdSetPrimitiveTopology" (vk::CommandBuffer, vk::PrimitiveTopology);
    /// vkCmdSetViewportWithCount.
    cmd_set_viewport_with_count = "vkCmdSetViewportWithCount" (vk::CommandBuffer, u32, *const vk::Viewport);
    /// vkCmdSetScissorWithCount.
    cmd_set_scissor_with_count = "vkCmdSetScissorWithCount" (vk::CommandBuffer, u32, *const vk::Rect2D);
    /// vkCmdBindVertexBuffers2.
    cmd_bind_vertex_buffers2 = "vkCmdBindVertexBuffers2" (vk::CommandBuffer, u32, u32, *const vk::Buffer, *const vk::DeviceSize, *const vk::DeviceSize, *const vk::DeviceSize);
    /// vkCmdSetDepthTestEnable.
    cmd_set_depth_test_enable = "vkCmdSetDepthTestEnable" (vk::CommandBuffer, vk::Bool32);
    /// vkCmdSetDepthWriteEnable.
    cmd_set_depth_write_enable = "vkCmdSetDepthWriteEnable" (vk::CommandBuffer, vk::Bool32);
    /// vkCmdSetDepthCompareOp.
    cmd_set_depth_compare_op = "vkCmdSetDepthCompareOp" (vk::CommandBuffer, vk::CompareOp);
    /// vkCmdSetDepthBoundsTestEnable.
    cmd_set_depth_bounds_test_enable = "vkCmdSetDepthBoundsTestEnable" (vk::CommandBuffer, vk::Bool32);
    /// vkCmdSetStencilTestEnable.
    cmd_set_stencil_test_enable = "vkCmdSetStencilTestEnable" (vk::CommandBuffer, vk::Bool32);
    /// vkCmdSetStencilOp.
    cmd_set_stencil_op = "vkCmdSetStencilOp" (vk::CommandBuffer, vk::StencilFaceFlags, vk::StencilOp, vk::StencilOp, vk::StencilOp, vk::CompareOp);
    /// vkCmdSetRasterizerDiscardEnable.
    cmd_set_rasterizer_discard_enable = "vkCmdSetRasterizerDiscardEnable" (vk::CommandBuffer, vk::Bool32);
    /// vkCmdSetDepthBiasEnable.
    cmd_set_depth_bias_enable = "vkCmdSetDepthBiasEnable" (vk::CommandBuffer, vk::Bool32);
    /// vkCmdSetPrimitiveRestartEnable.
    cmd_set_primitive_restart_enable = "vkCmdSetPrimitiveRestartEnable" (vk::CommandBuffer, vk::Bool32);
}
