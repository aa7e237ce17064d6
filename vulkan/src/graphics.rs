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
    create_framebuffer "vkCreateFramebuffer", destroy_framebuffer "vkDestroyFramebuffer" (vk::FramebufferCreateInfo<'_>, vk::Framebuffer);
    create_render_pass "vkCreateRenderPass", destroy_render_pass "vkDestroyRenderPass" (vk::RenderPassCreateInfo<'_>, vk::RenderPass);
    create_sampler_ycbcr_conversion "vkCreateSamplerYcbcrConversion", destroy_sampler_ycbcr_conversion "vkDestroySamplerYcbcrConversion" (vk::SamplerYcbcrConversionCreateInfo<'_>, vk::SamplerYcbcrConversion);
}

/// vkCreateRenderPass2.
pub(crate) unsafe extern "system" fn create_render_pass2(
    _device: vk::Device,
    _info: *const vk::RenderPassCreateInfo2<'_>,
    _allocator: *const vk::AllocationCallbacks<'_>,
    handle: *mut vk::RenderPass,
) -> vk::Result {
    entry::try_guard("vkCreateRenderPass2", || {
        // SAFETY: valid by the specification.
        unsafe { *handle = vk::RenderPass::null() };
        refuse_creation("vkCreateRenderPass2")
    })
}

/// vkGetRenderAreaGranularity.
pub(crate) unsafe extern "system" fn get_render_area_granularity(
    _device: vk::Device,
    _pass: vk::RenderPass,
    granularity: *mut vk::Extent2D,
) {
    entry::guard("vkGetRenderAreaGranularity", || {
        ignore("vkGetRenderAreaGranularity");
        // SAFETY: valid by the specification.
        unsafe {
            *granularity = vk::Extent2D {
                width: 1,
                height: 1,
            }
        };
    });
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
    /// vkCmdBlitImage.
    cmd_blit_image = "vkCmdBlitImage" (vk::CommandBuffer, vk::Image, vk::ImageLayout, vk::Image, vk::ImageLayout, u32, *const vk::ImageBlit, vk::Filter);
    /// vkCmdClearAttachments.
    cmd_clear_attachments = "vkCmdClearAttachments" (vk::CommandBuffer, u32, *const vk::ClearAttachment, u32, *const vk::ClearRect);
    /// vkCmdResolveImage.
    cmd_resolve_image = "vkCmdResolveImage" (vk::CommandBuffer, vk::Image, vk::ImageLayout, vk::Image, vk::ImageLayout, u32, *const vk::ImageResolve);
    /// vkCmdBeginRenderPass.
    cmd_begin_render_pass = "vkCmdBeginRenderPass" (vk::CommandBuffer, *const vk::RenderPassBeginInfo<'_>, vk::SubpassContents);
    /// vkCmdNextSubpass.
    cmd_next_subpass = "vkCmdNextSubpass" (vk::CommandBuffer, vk::SubpassContents);
    /// vkCmdEndRenderPass.
    cmd_end_render_pass = "vkCmdEndRenderPass" (vk::CommandBuffer);
    /// vkCmdDrawIndirectCount.
    cmd_draw_indirect_count = "vkCmdDrawIndirectCount" (vk::CommandBuffer, vk::Buffer, vk::DeviceSize, vk::Buffer, vk::DeviceSize, u32, u32);
    /// vkCmdDrawIndexedIndirectCount.
    cmd_draw_indexed_indirect_count = "vkCmdDrawIndexedIndirectCount" (vk::CommandBuffer, vk::Buffer, vk::DeviceSize, vk::Buffer, vk::DeviceSize, u32, u32);
    /// vkCmdBeginRenderPass2.
    cmd_begin_render_pass2 = "vkCmdBeginRenderPass2" (vk::CommandBuffer, *const vk::RenderPassBeginInfo<'_>, *const vk::SubpassBeginInfo<'_>);
    /// vkCmdNextSubpass2.
    cmd_next_subpass2 = "vkCmdNextSubpass2" (vk::CommandBuffer, *const vk::SubpassBeginInfo<'_>, *const vk::SubpassEndInfo<'_>);
    /// vkCmdEndRenderPass2.
    cmd_end_render_pass2 = "vkCmdEndRenderPass2" (vk::CommandBuffer, *const vk::SubpassEndInfo<'_>);
    /// vkCmdBlitImage2.
    cmd_blit_image2 = "vkCmdBlitImage2" (vk::CommandBuffer, *const vk::BlitImageInfo2<'_>);
    /// vkCmdResolveImage2.
    cmd_resolve_image2 = "vkCmdResolveImage2" (vk::CommandBuffer, *const vk::ResolveImageInfo2<'_>);
    /// vkCmdBeginRendering.
    cmd_begin_rendering = "vkCmdBeginRendering" (vk::CommandBuffer, *const vk::RenderingInfo<'_>);
    /// vkCmdEndRendering.
    cmd_end_rendering = "vkCmdEndRendering" (vk::CommandBuffer);
}
