// SPDX-License-Identifier: MIT
//! Every command that the driver has: its name, who may ask for it, and what brings it.
//!
//! The test `commands` compares the table with the registry of the Khronos Group: for the version
//! and the extensions that are advertised it must be complete.

use ash::vk;

use super::lookup;
use crate::command::entries as command_buffer;
use crate::physical_device::memory as memory_properties;
use crate::physical_device::{
    self, external, features, formats, group, properties, queue_families, tools,
};
use crate::wsi::entries as wsi;
use crate::{
    buffer, buffer_view, calibration, debug_utils, descriptor, device, event, fence, framebuffer,
    graphics, image, instance, memory, pipeline, pipeline_layout, private_data, query_pool, queue,
    render_pass, sampler, semaphore, shader_module,
};

/// A command.
#[derive(Clone, Copy)]
pub struct Command {
    /// As the specification writes it.
    pub name: &'static str,
    /// What it is called on.
    pub level: Level,
    /// What brings it: any of these.
    pub from: &'static [Provider],
    /// The function.
    pub(crate) function: unsafe extern "system" fn(),
}

/// What a command is called on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// On nothing: before there is an instance.
    Global,
    /// On an instance.
    Instance,
    /// On a physical device.
    PhysicalDevice,
    /// On a device or what it owns.
    Device,
}

/// What brings a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// A version of the core.
    Core(u32),
    /// An extension.
    Extension(&'static str),
}

const V1_0: &[Provider] = &[Provider::Core(vk::API_VERSION_1_0)];

const V1_1: &[Provider] = &[Provider::Core(vk::API_VERSION_1_1)];
const V1_2: &[Provider] = &[Provider::Core(vk::API_VERSION_1_2)];
const V1_3: &[Provider] = &[Provider::Core(vk::API_VERSION_1_3)];
const EXTERNAL_FENCE_FD: &[Provider] = &[Provider::Extension("VK_KHR_external_fence_fd")];
const EXTERNAL_SEMAPHORE_FD: &[Provider] = &[Provider::Extension("VK_KHR_external_semaphore_fd")];
const EXT_CALIBRATED_TIMESTAMPS: &[Provider] =
    &[Provider::Extension("VK_EXT_calibrated_timestamps")];
const HOST_QUERY_RESET: &[Provider] = &[Provider::Extension("VK_EXT_host_query_reset")];
const KHR_CALIBRATED_TIMESTAMPS: &[Provider] =
    &[Provider::Extension("VK_KHR_calibrated_timestamps")];
const SYNCHRONIZATION2: &[Provider] = &[Provider::Extension("VK_KHR_synchronization2")];
const TIMELINE_SEMAPHORE: &[Provider] = &[Provider::Extension("VK_KHR_timeline_semaphore")];

/// An extension alone.
const fn extension(name: &'static str) -> Provider {
    Provider::Extension(name)
}

const BIND_MEMORY2: &[Provider] = &[extension("VK_KHR_bind_memory2")];
const CREATE_RENDERPASS2: &[Provider] = &[extension("VK_KHR_create_renderpass2")];
const DYNAMIC_RENDERING: &[Provider] = &[extension("VK_KHR_dynamic_rendering")];
const EXTENDED_DYNAMIC_STATE: &[Provider] = &[extension("VK_EXT_extended_dynamic_state")];
const EXTENDED_DYNAMIC_STATE2: &[Provider] = &[extension("VK_EXT_extended_dynamic_state2")];
const COPY_COMMANDS2: &[Provider] = &[extension("VK_KHR_copy_commands2")];
const DRAW_INDIRECT_COUNT: &[Provider] = &[extension("VK_KHR_draw_indirect_count")];
const LOCAL_READ: &[Provider] = &[extension("VK_KHR_dynamic_rendering_local_read")];
const MULTI_DRAW: &[Provider] = &[extension("VK_EXT_multi_draw")];
const DEBUG_UTILS: &[Provider] = &[extension("VK_EXT_debug_utils")];
const DEVICE_GROUP: &[Provider] = &[extension("VK_KHR_device_group")];
const DEVICE_GROUP_CREATION: &[Provider] = &[extension("VK_KHR_device_group_creation")];
const EXTERNAL_FENCE_CAPABILITIES: &[Provider] = &[extension("VK_KHR_external_fence_capabilities")];
const EXTERNAL_MEMORY_CAPABILITIES: &[Provider] =
    &[extension("VK_KHR_external_memory_capabilities")];
const EXTERNAL_SEMAPHORE_CAPABILITIES: &[Provider] =
    &[extension("VK_KHR_external_semaphore_capabilities")];
const GET_PHYSICAL_DEVICE_PROPERTIES2: &[Provider] =
    &[extension("VK_KHR_get_physical_device_properties2")];
const GET_MEMORY_REQUIREMENTS2: &[Provider] = &[extension("VK_KHR_get_memory_requirements2")];
const MAINTENANCE4: &[Provider] = &[extension("VK_KHR_maintenance4")];
const GET_SURFACE_CAPABILITIES2: &[Provider] = &[extension("VK_KHR_get_surface_capabilities2")];
const GROUP_SWAPCHAIN: &[Provider] = &[
    extension("VK_KHR_swapchain"),
    extension("VK_KHR_device_group"),
];
const SURFACE: &[Provider] = &[extension("VK_KHR_surface")];
const SWAPCHAIN: &[Provider] = &[extension("VK_KHR_swapchain")];
const WAYLAND_SURFACE: &[Provider] = &[extension("VK_KHR_wayland_surface")];
const XCB_SURFACE: &[Provider] = &[extension("VK_KHR_xcb_surface")];
const XLIB_SURFACE: &[Provider] = &[extension("VK_KHR_xlib_surface")];
const PRIVATE_DATA: &[Provider] = &[extension("VK_EXT_private_data")];
const TOOLING_INFO: &[Provider] = &[extension("VK_EXT_tooling_info")];

/// Forgets a function's type.
pub(super) const fn erase<F: Copy>(function: F) -> unsafe extern "system" fn() {
    const { assert!(size_of::<F>() == size_of::<unsafe extern "system" fn()>()) };
    // SAFETY: F is a function pointer of the specification; callers get it under the name that
    // tells its type.
    unsafe { std::mem::transmute_copy(&function) }
}

const fn command(
    name: &'static str,
    level: Level,
    from: &'static [Provider],
    function: unsafe extern "system" fn(),
) -> Command {
    Command {
        name,
        level,
        from,
        function,
    }
}

/// All commands, one a line.
#[rustfmt::skip]
pub static COMMANDS: &[Command] = {
    use Level::{Device, Global, Instance, PhysicalDevice};
    &[
        // instance.rs
        command("vkCreateInstance", Global, V1_0, erase::<vk::PFN_vkCreateInstance>(instance::create_instance)),
        command("vkEnumerateInstanceExtensionProperties", Global, V1_0, erase::<vk::PFN_vkEnumerateInstanceExtensionProperties>(instance::enumerate_extensions)),
        command("vkEnumerateInstanceLayerProperties", Global, V1_0, erase::<vk::PFN_vkEnumerateInstanceLayerProperties>(instance::enumerate_layers)),
        command("vkEnumerateInstanceVersion", Global, V1_1, erase::<vk::PFN_vkEnumerateInstanceVersion>(instance::enumerate_version)),
        command("vkDestroyInstance", Instance, V1_0, erase::<vk::PFN_vkDestroyInstance>(instance::destroy_instance)),
        command("vkEnumeratePhysicalDevices", Instance, V1_0, erase::<vk::PFN_vkEnumeratePhysicalDevices>(instance::enumerate_physical_devices)),
        // entry/lookup.rs
        command("vkGetInstanceProcAddr", Instance, V1_0, erase::<vk::PFN_vkGetInstanceProcAddr>(lookup::get_instance_proc_addr)),
        command("vkGetDeviceProcAddr", Device, V1_0, erase::<vk::PFN_vkGetDeviceProcAddr>(lookup::get_device_proc_addr)),
        // physical_device/
        command("vkEnumerateDeviceExtensionProperties", PhysicalDevice, V1_0, erase::<vk::PFN_vkEnumerateDeviceExtensionProperties>(physical_device::enumerate_extensions)),
        command("vkEnumerateDeviceLayerProperties", PhysicalDevice, V1_0, erase::<vk::PFN_vkEnumerateDeviceLayerProperties>(physical_device::enumerate_layers)),
        command("vkGetPhysicalDeviceFeatures", PhysicalDevice, V1_0, erase::<vk::PFN_vkGetPhysicalDeviceFeatures>(features::get_features)),
        command("vkGetPhysicalDeviceFeatures2", PhysicalDevice, V1_1, erase::<vk::PFN_vkGetPhysicalDeviceFeatures2>(features::get_features2)),
        command("vkGetPhysicalDeviceFeatures2KHR", PhysicalDevice, GET_PHYSICAL_DEVICE_PROPERTIES2, erase::<vk::PFN_vkGetPhysicalDeviceFeatures2>(features::get_features2)),
        command("vkGetPhysicalDeviceProperties", PhysicalDevice, V1_0, erase::<vk::PFN_vkGetPhysicalDeviceProperties>(properties::get_properties)),
        command("vkGetPhysicalDeviceProperties2", PhysicalDevice, V1_1, erase::<vk::PFN_vkGetPhysicalDeviceProperties2>(properties::get_properties2)),
        command("vkGetPhysicalDeviceProperties2KHR", PhysicalDevice, GET_PHYSICAL_DEVICE_PROPERTIES2, erase::<vk::PFN_vkGetPhysicalDeviceProperties2>(properties::get_properties2)),
        command("vkGetPhysicalDeviceMemoryProperties", PhysicalDevice, V1_0, erase::<vk::PFN_vkGetPhysicalDeviceMemoryProperties>(memory_properties::get_memory)),
        command("vkGetPhysicalDeviceMemoryProperties2", PhysicalDevice, V1_1, erase::<vk::PFN_vkGetPhysicalDeviceMemoryProperties2>(memory_properties::get_memory2)),
        command("vkGetPhysicalDeviceMemoryProperties2KHR", PhysicalDevice, GET_PHYSICAL_DEVICE_PROPERTIES2, erase::<vk::PFN_vkGetPhysicalDeviceMemoryProperties2>(memory_properties::get_memory2)),
        command("vkGetPhysicalDeviceQueueFamilyProperties", PhysicalDevice, V1_0, erase::<vk::PFN_vkGetPhysicalDeviceQueueFamilyProperties>(queue_families::get_families)),
        command("vkGetPhysicalDeviceQueueFamilyProperties2", PhysicalDevice, V1_1, erase::<vk::PFN_vkGetPhysicalDeviceQueueFamilyProperties2>(queue_families::get_families2)),
        command("vkGetPhysicalDeviceQueueFamilyProperties2KHR", PhysicalDevice, GET_PHYSICAL_DEVICE_PROPERTIES2, erase::<vk::PFN_vkGetPhysicalDeviceQueueFamilyProperties2>(queue_families::get_families2)),
        command("vkGetPhysicalDeviceFormatProperties", PhysicalDevice, V1_0, erase::<vk::PFN_vkGetPhysicalDeviceFormatProperties>(formats::get_format)),
        command("vkGetPhysicalDeviceFormatProperties2", PhysicalDevice, V1_1, erase::<vk::PFN_vkGetPhysicalDeviceFormatProperties2>(formats::get_format2)),
        command("vkGetPhysicalDeviceFormatProperties2KHR", PhysicalDevice, GET_PHYSICAL_DEVICE_PROPERTIES2, erase::<vk::PFN_vkGetPhysicalDeviceFormatProperties2>(formats::get_format2)),
        command("vkGetPhysicalDeviceImageFormatProperties", PhysicalDevice, V1_0, erase::<vk::PFN_vkGetPhysicalDeviceImageFormatProperties>(formats::get_image_format)),
        command("vkGetPhysicalDeviceImageFormatProperties2", PhysicalDevice, V1_1, erase::<vk::PFN_vkGetPhysicalDeviceImageFormatProperties2>(formats::get_image_format2)),
        command("vkGetPhysicalDeviceImageFormatProperties2KHR", PhysicalDevice, GET_PHYSICAL_DEVICE_PROPERTIES2, erase::<vk::PFN_vkGetPhysicalDeviceImageFormatProperties2>(formats::get_image_format2)),
        command("vkGetPhysicalDeviceSparseImageFormatProperties", PhysicalDevice, V1_0, erase::<vk::PFN_vkGetPhysicalDeviceSparseImageFormatProperties>(formats::get_sparse_image_formats)),
        command("vkGetPhysicalDeviceSparseImageFormatProperties2", PhysicalDevice, V1_1, erase::<vk::PFN_vkGetPhysicalDeviceSparseImageFormatProperties2>(formats::get_sparse_image_formats2)),
        command("vkGetPhysicalDeviceSparseImageFormatProperties2KHR", PhysicalDevice, GET_PHYSICAL_DEVICE_PROPERTIES2, erase::<vk::PFN_vkGetPhysicalDeviceSparseImageFormatProperties2>(formats::get_sparse_image_formats2)),
        command("vkGetPhysicalDeviceExternalBufferProperties", PhysicalDevice, V1_1, erase::<vk::PFN_vkGetPhysicalDeviceExternalBufferProperties>(external::get_buffer_properties)),
        command("vkGetPhysicalDeviceExternalBufferPropertiesKHR", PhysicalDevice, EXTERNAL_MEMORY_CAPABILITIES, erase::<vk::PFN_vkGetPhysicalDeviceExternalBufferProperties>(external::get_buffer_properties)),
        command("vkGetPhysicalDeviceExternalFenceProperties", PhysicalDevice, V1_1, erase::<vk::PFN_vkGetPhysicalDeviceExternalFenceProperties>(external::get_fence_properties)),
        command("vkGetPhysicalDeviceExternalFencePropertiesKHR", PhysicalDevice, EXTERNAL_FENCE_CAPABILITIES, erase::<vk::PFN_vkGetPhysicalDeviceExternalFenceProperties>(external::get_fence_properties)),
        command("vkGetPhysicalDeviceExternalSemaphoreProperties", PhysicalDevice, V1_1, erase::<vk::PFN_vkGetPhysicalDeviceExternalSemaphoreProperties>(external::get_semaphore_properties)),
        command("vkGetPhysicalDeviceExternalSemaphorePropertiesKHR", PhysicalDevice, EXTERNAL_SEMAPHORE_CAPABILITIES, erase::<vk::PFN_vkGetPhysicalDeviceExternalSemaphoreProperties>(external::get_semaphore_properties)),
        command("vkGetPhysicalDeviceToolProperties", PhysicalDevice, V1_3, erase::<vk::PFN_vkGetPhysicalDeviceToolProperties>(tools::get_tools)),
        command("vkGetPhysicalDeviceToolPropertiesEXT", PhysicalDevice, TOOLING_INFO, erase::<vk::PFN_vkGetPhysicalDeviceToolProperties>(tools::get_tools)),
        command("vkEnumeratePhysicalDeviceGroups", Instance, V1_1, erase::<vk::PFN_vkEnumeratePhysicalDeviceGroups>(group::enumerate)),
        command("vkEnumeratePhysicalDeviceGroupsKHR", Instance, DEVICE_GROUP_CREATION, erase::<vk::PFN_vkEnumeratePhysicalDeviceGroups>(group::enumerate)),
        command("vkGetDeviceGroupPeerMemoryFeatures", Device, V1_1, erase::<vk::PFN_vkGetDeviceGroupPeerMemoryFeatures>(group::peer_memory_features)),
        command("vkGetDeviceGroupPeerMemoryFeaturesKHR", Device, DEVICE_GROUP, erase::<vk::PFN_vkGetDeviceGroupPeerMemoryFeatures>(group::peer_memory_features)),
        // render_pass.rs
        command("vkCreateRenderPass", Device, V1_0, erase::<vk::PFN_vkCreateRenderPass>(render_pass::create_render_pass)),
        command("vkCreateRenderPass2", Device, V1_2, erase::<vk::PFN_vkCreateRenderPass2>(render_pass::create_render_pass2)),
        command("vkCreateRenderPass2KHR", Device, CREATE_RENDERPASS2, erase::<vk::PFN_vkCreateRenderPass2>(render_pass::create_render_pass2)),
        command("vkDestroyRenderPass", Device, V1_0, erase::<vk::PFN_vkDestroyRenderPass>(render_pass::destroy_render_pass)),
        command("vkGetRenderAreaGranularity", Device, V1_0, erase::<vk::PFN_vkGetRenderAreaGranularity>(render_pass::get_render_area_granularity)),
        // framebuffer.rs
        command("vkCreateFramebuffer", Device, V1_0, erase::<vk::PFN_vkCreateFramebuffer>(framebuffer::create_framebuffer)),
        command("vkDestroyFramebuffer", Device, V1_0, erase::<vk::PFN_vkDestroyFramebuffer>(framebuffer::destroy_framebuffer)),
        // command/render_pass.rs
        command("vkCmdBeginRenderPass", Device, V1_0, erase::<vk::PFN_vkCmdBeginRenderPass>(command_buffer::cmd_begin_render_pass)),
        command("vkCmdBeginRenderPass2", Device, V1_2, erase::<vk::PFN_vkCmdBeginRenderPass2>(command_buffer::cmd_begin_render_pass2)),
        command("vkCmdBeginRenderPass2KHR", Device, CREATE_RENDERPASS2, erase::<vk::PFN_vkCmdBeginRenderPass2>(command_buffer::cmd_begin_render_pass2)),
        command("vkCmdNextSubpass", Device, V1_0, erase::<vk::PFN_vkCmdNextSubpass>(command_buffer::cmd_next_subpass)),
        command("vkCmdNextSubpass2", Device, V1_2, erase::<vk::PFN_vkCmdNextSubpass2>(command_buffer::cmd_next_subpass2)),
        command("vkCmdNextSubpass2KHR", Device, CREATE_RENDERPASS2, erase::<vk::PFN_vkCmdNextSubpass2>(command_buffer::cmd_next_subpass2)),
        command("vkCmdEndRenderPass", Device, V1_0, erase::<vk::PFN_vkCmdEndRenderPass>(command_buffer::cmd_end_render_pass)),
        command("vkCmdEndRenderPass2", Device, V1_2, erase::<vk::PFN_vkCmdEndRenderPass2>(command_buffer::cmd_end_render_pass2)),
        command("vkCmdEndRenderPass2KHR", Device, CREATE_RENDERPASS2, erase::<vk::PFN_vkCmdEndRenderPass2>(command_buffer::cmd_end_render_pass2)),
        command("vkCmdBeginRendering", Device, V1_3, erase::<vk::PFN_vkCmdBeginRendering>(command_buffer::cmd_begin_rendering)),
        command("vkCmdBeginRenderingKHR", Device, DYNAMIC_RENDERING, erase::<vk::PFN_vkCmdBeginRendering>(command_buffer::cmd_begin_rendering)),
        command("vkCmdEndRendering", Device, V1_3, erase::<vk::PFN_vkCmdEndRendering>(command_buffer::cmd_end_rendering)),
        command("vkCmdSetRenderingAttachmentLocationsKHR", Device, LOCAL_READ, erase::<vk::PFN_vkCmdSetRenderingAttachmentLocationsKHR>(command_buffer::cmd_set_rendering_attachment_locations)),
        command("vkCmdSetRenderingInputAttachmentIndicesKHR", Device, LOCAL_READ, erase::<vk::PFN_vkCmdSetRenderingInputAttachmentIndicesKHR>(command_buffer::cmd_set_rendering_input_attachment_indices)),
        command("vkCmdEndRenderingKHR", Device, DYNAMIC_RENDERING, erase::<vk::PFN_vkCmdEndRendering>(command_buffer::cmd_end_rendering)),
        // command/blit.rs
        command("vkCmdBlitImage", Device, V1_0, erase::<vk::PFN_vkCmdBlitImage>(command_buffer::cmd_blit_image)),
        command("vkCmdBlitImage2", Device, V1_3, erase::<vk::PFN_vkCmdBlitImage2>(command_buffer::cmd_blit_image2)),
        command("vkCmdBlitImage2KHR", Device, COPY_COMMANDS2, erase::<vk::PFN_vkCmdBlitImage2>(command_buffer::cmd_blit_image2)),
        // command/resolve.rs
        command("vkCmdResolveImage", Device, V1_0, erase::<vk::PFN_vkCmdResolveImage>(command_buffer::cmd_resolve_image)),
        command("vkCmdResolveImage2", Device, V1_3, erase::<vk::PFN_vkCmdResolveImage2>(command_buffer::cmd_resolve_image2)),
        command("vkCmdResolveImage2KHR", Device, COPY_COMMANDS2, erase::<vk::PFN_vkCmdResolveImage2>(command_buffer::cmd_resolve_image2)),
        // graphics.rs
        command("vkCreateBufferView", Device, V1_0, erase::<vk::PFN_vkCreateBufferView>(buffer_view::create_buffer_view)),
        command("vkDestroyBufferView", Device, V1_0, erase::<vk::PFN_vkDestroyBufferView>(buffer_view::destroy_buffer_view)),
        command("vkCreateImage", Device, V1_0, erase::<vk::PFN_vkCreateImage>(image::create_image)),
        command("vkDestroyImage", Device, V1_0, erase::<vk::PFN_vkDestroyImage>(image::destroy_image)),
        command("vkCreateImageView", Device, V1_0, erase::<vk::PFN_vkCreateImageView>(image::create_image_view)),
        command("vkDestroyImageView", Device, V1_0, erase::<vk::PFN_vkDestroyImageView>(image::destroy_image_view)),
        command("vkCreateSampler", Device, V1_0, erase::<vk::PFN_vkCreateSampler>(sampler::create_sampler)),
        command("vkDestroySampler", Device, V1_0, erase::<vk::PFN_vkDestroySampler>(sampler::destroy_sampler)),
        command("vkCreateSamplerYcbcrConversion", Device, V1_1, erase::<vk::PFN_vkCreateSamplerYcbcrConversion>(graphics::create_sampler_ycbcr_conversion)),
        command("vkDestroySamplerYcbcrConversion", Device, V1_1, erase::<vk::PFN_vkDestroySamplerYcbcrConversion>(graphics::destroy_sampler_ycbcr_conversion)),
        command("vkCreateGraphicsPipelines", Device, V1_0, erase::<vk::PFN_vkCreateGraphicsPipelines>(pipeline::create_graphics_pipelines)),
        command("vkBindImageMemory", Device, V1_0, erase::<vk::PFN_vkBindImageMemory>(image::bind_image_memory)),
        command("vkBindImageMemory2", Device, V1_1, erase::<vk::PFN_vkBindImageMemory2>(image::bind_image_memory2)),
        command("vkGetImageMemoryRequirements", Device, V1_0, erase::<vk::PFN_vkGetImageMemoryRequirements>(image::get_image_memory_requirements)),
        command("vkGetImageMemoryRequirements2", Device, V1_1, erase::<vk::PFN_vkGetImageMemoryRequirements2>(image::get_image_memory_requirements2)),
        command("vkGetImageSparseMemoryRequirements", Device, V1_0, erase::<vk::PFN_vkGetImageSparseMemoryRequirements>(graphics::get_image_sparse_memory_requirements)),
        command("vkGetImageSparseMemoryRequirements2", Device, V1_1, erase::<vk::PFN_vkGetImageSparseMemoryRequirements2>(graphics::get_image_sparse_memory_requirements2)),
        command("vkGetImageDrmFormatModifierPropertiesEXT", Device, &[extension("VK_EXT_image_drm_format_modifier")], erase::<vk::PFN_vkGetImageDrmFormatModifierPropertiesEXT>(image::modifier::get_image_drm_format_modifier_properties)),
        command("vkGetImageSubresourceLayout", Device, V1_0, erase::<vk::PFN_vkGetImageSubresourceLayout>(image::get_image_subresource_layout)),
        command("vkGetDeviceImageMemoryRequirements", Device, V1_3, erase::<vk::PFN_vkGetDeviceImageMemoryRequirements>(image::get_device_image_memory_requirements)),
        command("vkGetDeviceImageSparseMemoryRequirements", Device, V1_3, erase::<vk::PFN_vkGetDeviceImageSparseMemoryRequirements>(graphics::get_device_image_sparse_memory_requirements)),
        command("vkBindImageMemory2KHR", Device, BIND_MEMORY2, erase::<vk::PFN_vkBindImageMemory2>(image::bind_image_memory2)),
        command("vkGetImageMemoryRequirements2KHR", Device, GET_MEMORY_REQUIREMENTS2, erase::<vk::PFN_vkGetImageMemoryRequirements2>(image::get_image_memory_requirements2)),
        command("vkGetImageSparseMemoryRequirements2KHR", Device, GET_MEMORY_REQUIREMENTS2, erase::<vk::PFN_vkGetImageSparseMemoryRequirements2>(graphics::get_image_sparse_memory_requirements2)),
        command("vkGetDeviceImageMemoryRequirementsKHR", Device, MAINTENANCE4, erase::<vk::PFN_vkGetDeviceImageMemoryRequirements>(image::get_device_image_memory_requirements)),
        command("vkGetDeviceImageSparseMemoryRequirementsKHR", Device, MAINTENANCE4, erase::<vk::PFN_vkGetDeviceImageSparseMemoryRequirements>(graphics::get_device_image_sparse_memory_requirements)),
        command("vkCmdCopyImage2KHR", Device, COPY_COMMANDS2, erase::<vk::PFN_vkCmdCopyImage2>(command_buffer::cmd_copy_image2)),
        command("vkCmdCopyBufferToImage2KHR", Device, COPY_COMMANDS2, erase::<vk::PFN_vkCmdCopyBufferToImage2>(command_buffer::cmd_copy_buffer_to_image2)),
        command("vkCmdCopyImageToBuffer2KHR", Device, COPY_COMMANDS2, erase::<vk::PFN_vkCmdCopyImageToBuffer2>(command_buffer::cmd_copy_image_to_buffer2)),
        command("vkCmdSetViewport", Device, V1_0, erase::<vk::PFN_vkCmdSetViewport>(command_buffer::cmd_set_viewport)),
        command("vkCmdSetScissor", Device, V1_0, erase::<vk::PFN_vkCmdSetScissor>(command_buffer::cmd_set_scissor)),
        command("vkCmdSetLineWidth", Device, V1_0, erase::<vk::PFN_vkCmdSetLineWidth>(command_buffer::cmd_set_line_width)),
        command("vkCmdSetDepthBias", Device, V1_0, erase::<vk::PFN_vkCmdSetDepthBias>(command_buffer::cmd_set_depth_bias)),
        command("vkCmdSetBlendConstants", Device, V1_0, erase::<vk::PFN_vkCmdSetBlendConstants>(command_buffer::cmd_set_blend_constants)),
        command("vkCmdSetDepthBounds", Device, V1_0, erase::<vk::PFN_vkCmdSetDepthBounds>(command_buffer::cmd_set_depth_bounds)),
        command("vkCmdSetStencilCompareMask", Device, V1_0, erase::<vk::PFN_vkCmdSetStencilCompareMask>(command_buffer::cmd_set_stencil_compare_mask)),
        command("vkCmdSetStencilWriteMask", Device, V1_0, erase::<vk::PFN_vkCmdSetStencilWriteMask>(command_buffer::cmd_set_stencil_write_mask)),
        command("vkCmdSetStencilReference", Device, V1_0, erase::<vk::PFN_vkCmdSetStencilReference>(command_buffer::cmd_set_stencil_reference)),
        command("vkCmdBindIndexBuffer", Device, V1_0, erase::<vk::PFN_vkCmdBindIndexBuffer>(command_buffer::cmd_bind_index_buffer)),
        command("vkCmdBindVertexBuffers", Device, V1_0, erase::<vk::PFN_vkCmdBindVertexBuffers>(command_buffer::cmd_bind_vertex_buffers)),
        command("vkCmdDraw", Device, V1_0, erase::<vk::PFN_vkCmdDraw>(command_buffer::cmd_draw)),
        command("vkCmdDrawIndexed", Device, V1_0, erase::<vk::PFN_vkCmdDrawIndexed>(command_buffer::cmd_draw_indexed)),
        command("vkCmdDrawIndirect", Device, V1_0, erase::<vk::PFN_vkCmdDrawIndirect>(command_buffer::cmd_draw_indirect)),
        command("vkCmdDrawIndexedIndirect", Device, V1_0, erase::<vk::PFN_vkCmdDrawIndexedIndirect>(command_buffer::cmd_draw_indexed_indirect)),
        command("vkCmdDrawMultiEXT", Device, MULTI_DRAW, erase::<vk::PFN_vkCmdDrawMultiEXT>(command_buffer::cmd_draw_multi)),
        command("vkCmdDrawMultiIndexedEXT", Device, MULTI_DRAW, erase::<vk::PFN_vkCmdDrawMultiIndexedEXT>(command_buffer::cmd_draw_multi_indexed)),
        command("vkCmdCopyImage", Device, V1_0, erase::<vk::PFN_vkCmdCopyImage>(command_buffer::cmd_copy_image)),
        command("vkCmdCopyBufferToImage", Device, V1_0, erase::<vk::PFN_vkCmdCopyBufferToImage>(command_buffer::cmd_copy_buffer_to_image)),
        command("vkCmdCopyImageToBuffer", Device, V1_0, erase::<vk::PFN_vkCmdCopyImageToBuffer>(command_buffer::cmd_copy_image_to_buffer)),
        command("vkCmdClearColorImage", Device, V1_0, erase::<vk::PFN_vkCmdClearColorImage>(command_buffer::cmd_clear_color_image)),
        command("vkCmdClearDepthStencilImage", Device, V1_0, erase::<vk::PFN_vkCmdClearDepthStencilImage>(command_buffer::cmd_clear_depth_stencil_image)),
        command("vkCmdClearAttachments", Device, V1_0, erase::<vk::PFN_vkCmdClearAttachments>(command_buffer::cmd_clear_attachments)),
        command("vkCmdDrawIndirectCount", Device, V1_2, erase::<vk::PFN_vkCmdDrawIndirectCount>(command_buffer::cmd_draw_indirect_count)),
        command("vkCmdDrawIndexedIndirectCount", Device, V1_2, erase::<vk::PFN_vkCmdDrawIndexedIndirectCount>(command_buffer::cmd_draw_indexed_indirect_count)),
        command("vkCmdDrawIndirectCountKHR", Device, DRAW_INDIRECT_COUNT, erase::<vk::PFN_vkCmdDrawIndirectCount>(command_buffer::cmd_draw_indirect_count)),
        command("vkCmdDrawIndexedIndirectCountKHR", Device, DRAW_INDIRECT_COUNT, erase::<vk::PFN_vkCmdDrawIndexedIndirectCount>(command_buffer::cmd_draw_indexed_indirect_count)),
        command("vkCmdCopyImage2", Device, V1_3, erase::<vk::PFN_vkCmdCopyImage2>(command_buffer::cmd_copy_image2)),
        command("vkCmdCopyBufferToImage2", Device, V1_3, erase::<vk::PFN_vkCmdCopyBufferToImage2>(command_buffer::cmd_copy_buffer_to_image2)),
        command("vkCmdCopyImageToBuffer2", Device, V1_3, erase::<vk::PFN_vkCmdCopyImageToBuffer2>(command_buffer::cmd_copy_image_to_buffer2)),
        command("vkCmdSetCullMode", Device, V1_3, erase::<vk::PFN_vkCmdSetCullMode>(command_buffer::cmd_set_cull_mode)),
        command("vkCmdSetCullModeEXT", Device, EXTENDED_DYNAMIC_STATE, erase::<vk::PFN_vkCmdSetCullMode>(command_buffer::cmd_set_cull_mode)),
        command("vkCmdSetFrontFace", Device, V1_3, erase::<vk::PFN_vkCmdSetFrontFace>(command_buffer::cmd_set_front_face)),
        command("vkCmdSetFrontFaceEXT", Device, EXTENDED_DYNAMIC_STATE, erase::<vk::PFN_vkCmdSetFrontFace>(command_buffer::cmd_set_front_face)),
        command("vkCmdSetPrimitiveTopology", Device, V1_3, erase::<vk::PFN_vkCmdSetPrimitiveTopology>(command_buffer::cmd_set_primitive_topology)),
        command("vkCmdSetPrimitiveTopologyEXT", Device, EXTENDED_DYNAMIC_STATE, erase::<vk::PFN_vkCmdSetPrimitiveTopology>(command_buffer::cmd_set_primitive_topology)),
        command("vkCmdSetViewportWithCount", Device, V1_3, erase::<vk::PFN_vkCmdSetViewportWithCount>(command_buffer::cmd_set_viewport_with_count)),
        command("vkCmdSetViewportWithCountEXT", Device, EXTENDED_DYNAMIC_STATE, erase::<vk::PFN_vkCmdSetViewportWithCount>(command_buffer::cmd_set_viewport_with_count)),
        command("vkCmdSetScissorWithCount", Device, V1_3, erase::<vk::PFN_vkCmdSetScissorWithCount>(command_buffer::cmd_set_scissor_with_count)),
        command("vkCmdSetScissorWithCountEXT", Device, EXTENDED_DYNAMIC_STATE, erase::<vk::PFN_vkCmdSetScissorWithCount>(command_buffer::cmd_set_scissor_with_count)),
        command("vkCmdBindVertexBuffers2", Device, V1_3, erase::<vk::PFN_vkCmdBindVertexBuffers2>(command_buffer::cmd_bind_vertex_buffers2)),
        command("vkCmdBindVertexBuffers2EXT", Device, EXTENDED_DYNAMIC_STATE, erase::<vk::PFN_vkCmdBindVertexBuffers2>(command_buffer::cmd_bind_vertex_buffers2)),
        command("vkCmdSetDepthTestEnable", Device, V1_3, erase::<vk::PFN_vkCmdSetDepthTestEnable>(command_buffer::cmd_set_depth_test_enable)),
        command("vkCmdSetDepthTestEnableEXT", Device, EXTENDED_DYNAMIC_STATE, erase::<vk::PFN_vkCmdSetDepthTestEnable>(command_buffer::cmd_set_depth_test_enable)),
        command("vkCmdSetDepthWriteEnable", Device, V1_3, erase::<vk::PFN_vkCmdSetDepthWriteEnable>(command_buffer::cmd_set_depth_write_enable)),
        command("vkCmdSetDepthWriteEnableEXT", Device, EXTENDED_DYNAMIC_STATE, erase::<vk::PFN_vkCmdSetDepthWriteEnable>(command_buffer::cmd_set_depth_write_enable)),
        command("vkCmdSetDepthCompareOp", Device, V1_3, erase::<vk::PFN_vkCmdSetDepthCompareOp>(command_buffer::cmd_set_depth_compare_op)),
        command("vkCmdSetDepthCompareOpEXT", Device, EXTENDED_DYNAMIC_STATE, erase::<vk::PFN_vkCmdSetDepthCompareOp>(command_buffer::cmd_set_depth_compare_op)),
        command("vkCmdSetDepthBoundsTestEnable", Device, V1_3, erase::<vk::PFN_vkCmdSetDepthBoundsTestEnable>(command_buffer::cmd_set_depth_bounds_test_enable)),
        command("vkCmdSetDepthBoundsTestEnableEXT", Device, EXTENDED_DYNAMIC_STATE, erase::<vk::PFN_vkCmdSetDepthBoundsTestEnable>(command_buffer::cmd_set_depth_bounds_test_enable)),
        command("vkCmdSetStencilTestEnable", Device, V1_3, erase::<vk::PFN_vkCmdSetStencilTestEnable>(command_buffer::cmd_set_stencil_test_enable)),
        command("vkCmdSetStencilTestEnableEXT", Device, EXTENDED_DYNAMIC_STATE, erase::<vk::PFN_vkCmdSetStencilTestEnable>(command_buffer::cmd_set_stencil_test_enable)),
        command("vkCmdSetStencilOp", Device, V1_3, erase::<vk::PFN_vkCmdSetStencilOp>(command_buffer::cmd_set_stencil_op)),
        command("vkCmdSetStencilOpEXT", Device, EXTENDED_DYNAMIC_STATE, erase::<vk::PFN_vkCmdSetStencilOp>(command_buffer::cmd_set_stencil_op)),
        command("vkCmdSetRasterizerDiscardEnable", Device, V1_3, erase::<vk::PFN_vkCmdSetRasterizerDiscardEnable>(command_buffer::cmd_set_rasterizer_discard_enable)),
        command("vkCmdSetRasterizerDiscardEnableEXT", Device, EXTENDED_DYNAMIC_STATE2, erase::<vk::PFN_vkCmdSetRasterizerDiscardEnable>(command_buffer::cmd_set_rasterizer_discard_enable)),
        command("vkCmdSetDepthBiasEnable", Device, V1_3, erase::<vk::PFN_vkCmdSetDepthBiasEnable>(command_buffer::cmd_set_depth_bias_enable)),
        command("vkCmdSetDepthBiasEnableEXT", Device, EXTENDED_DYNAMIC_STATE2, erase::<vk::PFN_vkCmdSetDepthBiasEnable>(command_buffer::cmd_set_depth_bias_enable)),
        command("vkCmdSetPrimitiveRestartEnable", Device, V1_3, erase::<vk::PFN_vkCmdSetPrimitiveRestartEnable>(command_buffer::cmd_set_primitive_restart_enable)),
        command("vkCmdSetLineStippleEXT", Device, &[extension("VK_EXT_line_rasterization")], erase::<vk::PFN_vkCmdSetLineStippleKHR>(graphics::cmd_set_line_stipple)),
        command("vkCmdSetLogicOpEXT", Device, EXTENDED_DYNAMIC_STATE2, erase::<vk::PFN_vkCmdSetLogicOpEXT>(graphics::cmd_set_logic_op)),
        command("vkCmdSetPatchControlPointsEXT", Device, EXTENDED_DYNAMIC_STATE2, erase::<vk::PFN_vkCmdSetPatchControlPointsEXT>(graphics::cmd_set_patch_control_points)),
        command("vkCmdSetPrimitiveRestartEnableEXT", Device, EXTENDED_DYNAMIC_STATE2, erase::<vk::PFN_vkCmdSetPrimitiveRestartEnable>(command_buffer::cmd_set_primitive_restart_enable)),
        // private_data.rs
        command("vkCreatePrivateDataSlot", Device, V1_3, erase::<vk::PFN_vkCreatePrivateDataSlot>(private_data::create_slot)),
        command("vkDestroyPrivateDataSlot", Device, V1_3, erase::<vk::PFN_vkDestroyPrivateDataSlot>(private_data::destroy_slot)),
        command("vkSetPrivateData", Device, V1_3, erase::<vk::PFN_vkSetPrivateData>(private_data::set)),
        command("vkGetPrivateData", Device, V1_3, erase::<vk::PFN_vkGetPrivateData>(private_data::get)),
        command("vkCreatePrivateDataSlotEXT", Device, PRIVATE_DATA, erase::<vk::PFN_vkCreatePrivateDataSlot>(private_data::create_slot)),
        command("vkDestroyPrivateDataSlotEXT", Device, PRIVATE_DATA, erase::<vk::PFN_vkDestroyPrivateDataSlot>(private_data::destroy_slot)),
        command("vkSetPrivateDataEXT", Device, PRIVATE_DATA, erase::<vk::PFN_vkSetPrivateData>(private_data::set)),
        command("vkGetPrivateDataEXT", Device, PRIVATE_DATA, erase::<vk::PFN_vkGetPrivateData>(private_data::get)),
        // debug_utils.rs
        command("vkCreateDebugUtilsMessengerEXT", Instance, DEBUG_UTILS, erase::<vk::PFN_vkCreateDebugUtilsMessengerEXT>(debug_utils::create_messenger)),
        command("vkDestroyDebugUtilsMessengerEXT", Instance, DEBUG_UTILS, erase::<vk::PFN_vkDestroyDebugUtilsMessengerEXT>(debug_utils::destroy_messenger)),
        command("vkSubmitDebugUtilsMessageEXT", Instance, DEBUG_UTILS, erase::<vk::PFN_vkSubmitDebugUtilsMessageEXT>(debug_utils::submit_message)),
        command("vkSetDebugUtilsObjectNameEXT", Device, DEBUG_UTILS, erase::<vk::PFN_vkSetDebugUtilsObjectNameEXT>(debug_utils::set_object_name)),
        command("vkSetDebugUtilsObjectTagEXT", Device, DEBUG_UTILS, erase::<vk::PFN_vkSetDebugUtilsObjectTagEXT>(debug_utils::set_object_tag)),
        command("vkQueueBeginDebugUtilsLabelEXT", Device, DEBUG_UTILS, erase::<vk::PFN_vkQueueBeginDebugUtilsLabelEXT>(debug_utils::queue_begin_label)),
        command("vkQueueEndDebugUtilsLabelEXT", Device, DEBUG_UTILS, erase::<vk::PFN_vkQueueEndDebugUtilsLabelEXT>(debug_utils::queue_end_label)),
        command("vkQueueInsertDebugUtilsLabelEXT", Device, DEBUG_UTILS, erase::<vk::PFN_vkQueueInsertDebugUtilsLabelEXT>(debug_utils::queue_insert_label)),
        command("vkCmdBeginDebugUtilsLabelEXT", Device, DEBUG_UTILS, erase::<vk::PFN_vkCmdBeginDebugUtilsLabelEXT>(debug_utils::cmd_begin_label)),
        command("vkCmdEndDebugUtilsLabelEXT", Device, DEBUG_UTILS, erase::<vk::PFN_vkCmdEndDebugUtilsLabelEXT>(debug_utils::cmd_end_label)),
        command("vkCmdInsertDebugUtilsLabelEXT", Device, DEBUG_UTILS, erase::<vk::PFN_vkCmdInsertDebugUtilsLabelEXT>(debug_utils::cmd_insert_label)),
        // device.rs
        command("vkCreateDevice", PhysicalDevice, V1_0, erase::<vk::PFN_vkCreateDevice>(device::create_device)),
        command("vkDestroyDevice", Device, V1_0, erase::<vk::PFN_vkDestroyDevice>(device::destroy_device)),
        // queue/
        command("vkGetDeviceQueue", Device, V1_0, erase::<vk::PFN_vkGetDeviceQueue>(queue::get_device_queue)),
        command("vkQueueSubmit", Device, V1_0, erase::<vk::PFN_vkQueueSubmit>(queue::queue_submit)),
        command("vkQueueWaitIdle", Device, V1_0, erase::<vk::PFN_vkQueueWaitIdle>(queue::queue_wait_idle)),
        command("vkDeviceWaitIdle", Device, V1_0, erase::<vk::PFN_vkDeviceWaitIdle>(queue::device_wait_idle)),
        command("vkQueueBindSparse", Device, V1_0, erase::<vk::PFN_vkQueueBindSparse>(queue::queue_bind_sparse)),
        command("vkGetDeviceQueue2", Device, V1_1, erase::<vk::PFN_vkGetDeviceQueue2>(queue::get_device_queue2)),
        command("vkQueueSubmit2", Device, V1_3, erase::<vk::PFN_vkQueueSubmit2>(queue::queue_submit2)),
        command("vkQueueSubmit2KHR", Device, SYNCHRONIZATION2, erase::<vk::PFN_vkQueueSubmit2>(queue::queue_submit2)),
        // fence.rs
        command("vkCreateFence", Device, V1_0, erase::<vk::PFN_vkCreateFence>(fence::create_fence)),
        command("vkDestroyFence", Device, V1_0, erase::<vk::PFN_vkDestroyFence>(fence::destroy_fence)),
        command("vkResetFences", Device, V1_0, erase::<vk::PFN_vkResetFences>(fence::reset_fences)),
        command("vkGetFenceStatus", Device, V1_0, erase::<vk::PFN_vkGetFenceStatus>(fence::get_fence_status)),
        command("vkWaitForFences", Device, V1_0, erase::<vk::PFN_vkWaitForFences>(fence::wait_for_fences)),
        command("vkImportFenceFdKHR", Device, EXTERNAL_FENCE_FD, erase::<vk::PFN_vkImportFenceFdKHR>(fence::import_fence_fd)),
        command("vkGetFenceFdKHR", Device, EXTERNAL_FENCE_FD, erase::<vk::PFN_vkGetFenceFdKHR>(fence::get_fence_fd)),
        // semaphore.rs
        command("vkCreateSemaphore", Device, V1_0, erase::<vk::PFN_vkCreateSemaphore>(semaphore::create_semaphore)),
        command("vkDestroySemaphore", Device, V1_0, erase::<vk::PFN_vkDestroySemaphore>(semaphore::destroy_semaphore)),
        command("vkGetSemaphoreCounterValue", Device, V1_2, erase::<vk::PFN_vkGetSemaphoreCounterValue>(semaphore::get_semaphore_counter_value)),
        command("vkGetSemaphoreCounterValueKHR", Device, TIMELINE_SEMAPHORE, erase::<vk::PFN_vkGetSemaphoreCounterValue>(semaphore::get_semaphore_counter_value)),
        command("vkWaitSemaphores", Device, V1_2, erase::<vk::PFN_vkWaitSemaphores>(semaphore::wait_semaphores)),
        command("vkWaitSemaphoresKHR", Device, TIMELINE_SEMAPHORE, erase::<vk::PFN_vkWaitSemaphores>(semaphore::wait_semaphores)),
        command("vkSignalSemaphore", Device, V1_2, erase::<vk::PFN_vkSignalSemaphore>(semaphore::signal_semaphore)),
        command("vkSignalSemaphoreKHR", Device, TIMELINE_SEMAPHORE, erase::<vk::PFN_vkSignalSemaphore>(semaphore::signal_semaphore)),
        command("vkImportSemaphoreFdKHR", Device, EXTERNAL_SEMAPHORE_FD, erase::<vk::PFN_vkImportSemaphoreFdKHR>(semaphore::import_semaphore_fd)),
        command("vkGetSemaphoreFdKHR", Device, EXTERNAL_SEMAPHORE_FD, erase::<vk::PFN_vkGetSemaphoreFdKHR>(semaphore::get_semaphore_fd)),
        // memory
        command("vkAllocateMemory", Device, V1_0, erase::<vk::PFN_vkAllocateMemory>(memory::allocate_memory)),
        command("vkFreeMemory", Device, V1_0, erase::<vk::PFN_vkFreeMemory>(memory::free_memory)),
        command("vkMapMemory", Device, V1_0, erase::<vk::PFN_vkMapMemory>(memory::map_memory)),
        command("vkUnmapMemory", Device, V1_0, erase::<vk::PFN_vkUnmapMemory>(memory::unmap_memory)),
        command("vkFlushMappedMemoryRanges", Device, V1_0, erase::<vk::PFN_vkFlushMappedMemoryRanges>(memory::flush_mapped_memory_ranges)),
        command("vkInvalidateMappedMemoryRanges", Device, V1_0, erase::<vk::PFN_vkInvalidateMappedMemoryRanges>(memory::invalidate_mapped_memory_ranges)),
        command("vkGetDeviceMemoryCommitment", Device, V1_0, erase::<vk::PFN_vkGetDeviceMemoryCommitment>(memory::get_device_memory_commitment)),
        command("vkGetDeviceMemoryOpaqueCaptureAddress", Device, V1_2, erase::<vk::PFN_vkGetDeviceMemoryOpaqueCaptureAddress>(memory::get_device_memory_opaque_capture_address)),
        command("vkGetDeviceMemoryOpaqueCaptureAddressKHR", Device, &[Provider::Extension("VK_KHR_buffer_device_address")], erase::<vk::PFN_vkGetDeviceMemoryOpaqueCaptureAddress>(memory::get_device_memory_opaque_capture_address)),
        command("vkGetMemoryFdKHR", Device, &[Provider::Extension("VK_KHR_external_memory_fd")], erase::<vk::PFN_vkGetMemoryFdKHR>(memory::get_memory_fd)),
        command("vkGetMemoryFdPropertiesKHR", Device, &[Provider::Extension("VK_KHR_external_memory_fd")], erase::<vk::PFN_vkGetMemoryFdPropertiesKHR>(memory::get_memory_fd_properties)),
        // buffer
        command("vkCreateBuffer", Device, V1_0, erase::<vk::PFN_vkCreateBuffer>(buffer::create_buffer)),
        command("vkDestroyBuffer", Device, V1_0, erase::<vk::PFN_vkDestroyBuffer>(buffer::destroy_buffer)),
        command("vkGetBufferMemoryRequirements", Device, V1_0, erase::<vk::PFN_vkGetBufferMemoryRequirements>(buffer::get_buffer_memory_requirements)),
        command("vkGetBufferMemoryRequirements2", Device, V1_1, erase::<vk::PFN_vkGetBufferMemoryRequirements2>(buffer::get_buffer_memory_requirements2)),
        command("vkGetBufferMemoryRequirements2KHR", Device, &[Provider::Extension("VK_KHR_get_memory_requirements2")], erase::<vk::PFN_vkGetBufferMemoryRequirements2>(buffer::get_buffer_memory_requirements2)),
        command("vkGetDeviceBufferMemoryRequirements", Device, V1_3, erase::<vk::PFN_vkGetDeviceBufferMemoryRequirements>(buffer::get_device_buffer_memory_requirements)),
        command("vkGetDeviceBufferMemoryRequirementsKHR", Device, &[Provider::Extension("VK_KHR_maintenance4")], erase::<vk::PFN_vkGetDeviceBufferMemoryRequirements>(buffer::get_device_buffer_memory_requirements)),
        command("vkBindBufferMemory", Device, V1_0, erase::<vk::PFN_vkBindBufferMemory>(buffer::bind_buffer_memory)),
        command("vkBindBufferMemory2", Device, V1_1, erase::<vk::PFN_vkBindBufferMemory2>(buffer::bind_buffer_memory2)),
        command("vkBindBufferMemory2KHR", Device, &[Provider::Extension("VK_KHR_bind_memory2")], erase::<vk::PFN_vkBindBufferMemory2>(buffer::bind_buffer_memory2)),
        command("vkGetBufferDeviceAddress", Device, V1_2, erase::<vk::PFN_vkGetBufferDeviceAddress>(buffer::get_buffer_device_address)),
        command("vkGetBufferDeviceAddressKHR", Device, &[Provider::Extension("VK_KHR_buffer_device_address")], erase::<vk::PFN_vkGetBufferDeviceAddress>(buffer::get_buffer_device_address)),
        command("vkGetBufferOpaqueCaptureAddress", Device, V1_2, erase::<vk::PFN_vkGetBufferOpaqueCaptureAddress>(buffer::get_buffer_opaque_capture_address)),
        command("vkGetBufferOpaqueCaptureAddressKHR", Device, &[Provider::Extension("VK_KHR_buffer_device_address")], erase::<vk::PFN_vkGetBufferOpaqueCaptureAddress>(buffer::get_buffer_opaque_capture_address)),
        // command
        command("vkCreateCommandPool", Device, V1_0, erase::<vk::PFN_vkCreateCommandPool>(command_buffer::create_command_pool)),
        command("vkDestroyCommandPool", Device, V1_0, erase::<vk::PFN_vkDestroyCommandPool>(command_buffer::destroy_command_pool)),
        command("vkResetCommandPool", Device, V1_0, erase::<vk::PFN_vkResetCommandPool>(command_buffer::reset_command_pool)),
        command("vkTrimCommandPool", Device, V1_1, erase::<vk::PFN_vkTrimCommandPool>(command_buffer::trim_command_pool)),
        command("vkTrimCommandPoolKHR", Device, &[Provider::Extension("VK_KHR_maintenance1")], erase::<vk::PFN_vkTrimCommandPool>(command_buffer::trim_command_pool)),
        command("vkAllocateCommandBuffers", Device, V1_0, erase::<vk::PFN_vkAllocateCommandBuffers>(command_buffer::allocate_command_buffers)),
        command("vkFreeCommandBuffers", Device, V1_0, erase::<vk::PFN_vkFreeCommandBuffers>(command_buffer::free_command_buffers)),
        command("vkBeginCommandBuffer", Device, V1_0, erase::<vk::PFN_vkBeginCommandBuffer>(command_buffer::begin_command_buffer)),
        command("vkEndCommandBuffer", Device, V1_0, erase::<vk::PFN_vkEndCommandBuffer>(command_buffer::end_command_buffer)),
        command("vkResetCommandBuffer", Device, V1_0, erase::<vk::PFN_vkResetCommandBuffer>(command_buffer::reset_command_buffer)),
        command("vkCmdSetDeviceMask", Device, V1_1, erase::<vk::PFN_vkCmdSetDeviceMask>(command_buffer::cmd_set_device_mask)),
        command("vkCmdSetDeviceMaskKHR", Device, &[Provider::Extension("VK_KHR_device_group")], erase::<vk::PFN_vkCmdSetDeviceMask>(command_buffer::cmd_set_device_mask)),
        command("vkCmdBindPipeline", Device, V1_0, erase::<vk::PFN_vkCmdBindPipeline>(command_buffer::cmd_bind_pipeline)),
        command("vkCmdBindDescriptorSets", Device, V1_0, erase::<vk::PFN_vkCmdBindDescriptorSets>(command_buffer::cmd_bind_descriptor_sets)),
        command("vkCmdPushConstants", Device, V1_0, erase::<vk::PFN_vkCmdPushConstants>(command_buffer::cmd_push_constants)),
        command("vkCmdPushDescriptorSetKHR", Device, &[Provider::Extension("VK_KHR_push_descriptor")], erase::<vk::PFN_vkCmdPushDescriptorSetKHR>(command_buffer::cmd_push_descriptor_set)),
        command("vkCmdPushDescriptorSetWithTemplateKHR", Device, &[extension("VK_KHR_push_descriptor"), extension("VK_KHR_descriptor_update_template")], erase::<vk::PFN_vkCmdPushDescriptorSetWithTemplateKHR>(command_buffer::cmd_push_descriptor_set_with_template)),
        command("vkCmdDispatch", Device, V1_0, erase::<vk::PFN_vkCmdDispatch>(command_buffer::cmd_dispatch)),
        command("vkCmdDispatchBase", Device, V1_1, erase::<vk::PFN_vkCmdDispatchBase>(command_buffer::cmd_dispatch_base)),
        command("vkCmdDispatchBaseKHR", Device, &[Provider::Extension("VK_KHR_device_group")], erase::<vk::PFN_vkCmdDispatchBase>(command_buffer::cmd_dispatch_base)),
        command("vkCmdDispatchIndirect", Device, V1_0, erase::<vk::PFN_vkCmdDispatchIndirect>(command_buffer::cmd_dispatch_indirect)),
        command("vkCmdCopyBuffer", Device, V1_0, erase::<vk::PFN_vkCmdCopyBuffer>(command_buffer::cmd_copy_buffer)),
        command("vkCmdCopyBuffer2", Device, V1_3, erase::<vk::PFN_vkCmdCopyBuffer2>(command_buffer::cmd_copy_buffer2)),
        command("vkCmdCopyBuffer2KHR", Device, &[Provider::Extension("VK_KHR_copy_commands2")], erase::<vk::PFN_vkCmdCopyBuffer2>(command_buffer::cmd_copy_buffer2)),
        command("vkCmdFillBuffer", Device, V1_0, erase::<vk::PFN_vkCmdFillBuffer>(command_buffer::cmd_fill_buffer)),
        command("vkCmdUpdateBuffer", Device, V1_0, erase::<vk::PFN_vkCmdUpdateBuffer>(command_buffer::cmd_update_buffer)),
        command("vkCmdWriteTimestamp", Device, V1_0, erase::<vk::PFN_vkCmdWriteTimestamp>(command_buffer::cmd_write_timestamp)),
        command("vkCmdWriteTimestamp2", Device, V1_3, erase::<vk::PFN_vkCmdWriteTimestamp2>(command_buffer::cmd_write_timestamp2)),
        command("vkCmdWriteTimestamp2KHR", Device, &[Provider::Extension("VK_KHR_synchronization2")], erase::<vk::PFN_vkCmdWriteTimestamp2>(command_buffer::cmd_write_timestamp2)),
        command("vkCmdResetQueryPool", Device, V1_0, erase::<vk::PFN_vkCmdResetQueryPool>(command_buffer::cmd_reset_query_pool)),
        command("vkCmdCopyQueryPoolResults", Device, V1_0, erase::<vk::PFN_vkCmdCopyQueryPoolResults>(command_buffer::cmd_copy_query_pool_results)),
        command("vkCmdBeginQuery", Device, V1_0, erase::<vk::PFN_vkCmdBeginQuery>(command_buffer::cmd_begin_query)),
        command("vkCmdEndQuery", Device, V1_0, erase::<vk::PFN_vkCmdEndQuery>(command_buffer::cmd_end_query)),
        command("vkCmdPipelineBarrier", Device, V1_0, erase::<vk::PFN_vkCmdPipelineBarrier>(command_buffer::cmd_pipeline_barrier)),
        command("vkCmdPipelineBarrier2", Device, V1_3, erase::<vk::PFN_vkCmdPipelineBarrier2>(command_buffer::cmd_pipeline_barrier2)),
        command("vkCmdPipelineBarrier2KHR", Device, &[Provider::Extension("VK_KHR_synchronization2")], erase::<vk::PFN_vkCmdPipelineBarrier2>(command_buffer::cmd_pipeline_barrier2)),
        command("vkCmdSetEvent", Device, V1_0, erase::<vk::PFN_vkCmdSetEvent>(command_buffer::cmd_set_event)),
        command("vkCmdSetEvent2", Device, V1_3, erase::<vk::PFN_vkCmdSetEvent2>(command_buffer::cmd_set_event2)),
        command("vkCmdSetEvent2KHR", Device, &[Provider::Extension("VK_KHR_synchronization2")], erase::<vk::PFN_vkCmdSetEvent2>(command_buffer::cmd_set_event2)),
        command("vkCmdResetEvent", Device, V1_0, erase::<vk::PFN_vkCmdResetEvent>(command_buffer::cmd_reset_event)),
        command("vkCmdResetEvent2", Device, V1_3, erase::<vk::PFN_vkCmdResetEvent2>(command_buffer::cmd_reset_event2)),
        command("vkCmdResetEvent2KHR", Device, &[Provider::Extension("VK_KHR_synchronization2")], erase::<vk::PFN_vkCmdResetEvent2>(command_buffer::cmd_reset_event2)),
        command("vkCmdWaitEvents", Device, V1_0, erase::<vk::PFN_vkCmdWaitEvents>(command_buffer::cmd_wait_events)),
        command("vkCmdWaitEvents2", Device, V1_3, erase::<vk::PFN_vkCmdWaitEvents2>(command_buffer::cmd_wait_events2)),
        command("vkCmdWaitEvents2KHR", Device, &[Provider::Extension("VK_KHR_synchronization2")], erase::<vk::PFN_vkCmdWaitEvents2>(command_buffer::cmd_wait_events2)),
        command("vkCmdExecuteCommands", Device, V1_0, erase::<vk::PFN_vkCmdExecuteCommands>(command_buffer::cmd_execute_commands)),
        // descriptor
        command("vkCreateDescriptorSetLayout", Device, V1_0, erase::<vk::PFN_vkCreateDescriptorSetLayout>(descriptor::create_descriptor_set_layout)),
        command("vkDestroyDescriptorSetLayout", Device, V1_0, erase::<vk::PFN_vkDestroyDescriptorSetLayout>(descriptor::destroy_descriptor_set_layout)),
        command("vkGetDescriptorSetLayoutSupport", Device, V1_1, erase::<vk::PFN_vkGetDescriptorSetLayoutSupport>(descriptor::get_descriptor_set_layout_support)),
        command("vkGetDescriptorSetLayoutSupportKHR", Device, &[Provider::Extension("VK_KHR_maintenance3")], erase::<vk::PFN_vkGetDescriptorSetLayoutSupport>(descriptor::get_descriptor_set_layout_support)),
        command("vkCreateDescriptorPool", Device, V1_0, erase::<vk::PFN_vkCreateDescriptorPool>(descriptor::create_descriptor_pool)),
        command("vkDestroyDescriptorPool", Device, V1_0, erase::<vk::PFN_vkDestroyDescriptorPool>(descriptor::destroy_descriptor_pool)),
        command("vkResetDescriptorPool", Device, V1_0, erase::<vk::PFN_vkResetDescriptorPool>(descriptor::reset_descriptor_pool)),
        command("vkAllocateDescriptorSets", Device, V1_0, erase::<vk::PFN_vkAllocateDescriptorSets>(descriptor::allocate_descriptor_sets)),
        command("vkFreeDescriptorSets", Device, V1_0, erase::<vk::PFN_vkFreeDescriptorSets>(descriptor::free_descriptor_sets)),
        command("vkUpdateDescriptorSets", Device, V1_0, erase::<vk::PFN_vkUpdateDescriptorSets>(descriptor::update_descriptor_sets)),
        command("vkCreateDescriptorUpdateTemplate", Device, V1_1, erase::<vk::PFN_vkCreateDescriptorUpdateTemplate>(descriptor::create_descriptor_update_template)),
        command("vkCreateDescriptorUpdateTemplateKHR", Device, &[Provider::Extension("VK_KHR_descriptor_update_template")], erase::<vk::PFN_vkCreateDescriptorUpdateTemplate>(descriptor::create_descriptor_update_template)),
        command("vkDestroyDescriptorUpdateTemplate", Device, V1_1, erase::<vk::PFN_vkDestroyDescriptorUpdateTemplate>(descriptor::destroy_descriptor_update_template)),
        command("vkDestroyDescriptorUpdateTemplateKHR", Device, &[Provider::Extension("VK_KHR_descriptor_update_template")], erase::<vk::PFN_vkDestroyDescriptorUpdateTemplate>(descriptor::destroy_descriptor_update_template)),
        command("vkUpdateDescriptorSetWithTemplate", Device, V1_1, erase::<vk::PFN_vkUpdateDescriptorSetWithTemplate>(descriptor::update_descriptor_set_with_template)),
        command("vkUpdateDescriptorSetWithTemplateKHR", Device, &[Provider::Extension("VK_KHR_descriptor_update_template")], erase::<vk::PFN_vkUpdateDescriptorSetWithTemplate>(descriptor::update_descriptor_set_with_template)),
        // pipeline_layout
        command("vkCreatePipelineLayout", Device, V1_0, erase::<vk::PFN_vkCreatePipelineLayout>(pipeline_layout::create_pipeline_layout)),
        command("vkDestroyPipelineLayout", Device, V1_0, erase::<vk::PFN_vkDestroyPipelineLayout>(pipeline_layout::destroy_pipeline_layout)),
        // shader_module
        command("vkCreateShaderModule", Device, V1_0, erase::<vk::PFN_vkCreateShaderModule>(shader_module::create_shader_module)),
        command("vkDestroyShaderModule", Device, V1_0, erase::<vk::PFN_vkDestroyShaderModule>(shader_module::destroy_shader_module)),
        command("vkGetShaderModuleIdentifierEXT", Device, &[Provider::Extension("VK_EXT_shader_module_identifier")], erase::<vk::PFN_vkGetShaderModuleIdentifierEXT>(shader_module::get_shader_module_identifier)),
        command("vkGetShaderModuleCreateInfoIdentifierEXT", Device, &[Provider::Extension("VK_EXT_shader_module_identifier")], erase::<vk::PFN_vkGetShaderModuleCreateInfoIdentifierEXT>(shader_module::get_shader_module_create_info_identifier)),
        // pipeline
        command("vkCreateComputePipelines", Device, V1_0, erase::<vk::PFN_vkCreateComputePipelines>(pipeline::create_compute_pipelines)),
        command("vkDestroyPipeline", Device, V1_0, erase::<vk::PFN_vkDestroyPipeline>(pipeline::destroy_pipeline)),
        command("vkCreatePipelineCache", Device, V1_0, erase::<vk::PFN_vkCreatePipelineCache>(pipeline::create_pipeline_cache)),
        command("vkDestroyPipelineCache", Device, V1_0, erase::<vk::PFN_vkDestroyPipelineCache>(pipeline::destroy_pipeline_cache)),
        command("vkGetPipelineCacheData", Device, V1_0, erase::<vk::PFN_vkGetPipelineCacheData>(pipeline::get_pipeline_cache_data)),
        command("vkMergePipelineCaches", Device, V1_0, erase::<vk::PFN_vkMergePipelineCaches>(pipeline::merge_pipeline_caches)),
        command("vkGetPipelineExecutablePropertiesKHR", Device, &[Provider::Extension("VK_KHR_pipeline_executable_properties")], erase::<vk::PFN_vkGetPipelineExecutablePropertiesKHR>(pipeline::get_pipeline_executable_properties)),
        command("vkGetPipelineExecutableStatisticsKHR", Device, &[Provider::Extension("VK_KHR_pipeline_executable_properties")], erase::<vk::PFN_vkGetPipelineExecutableStatisticsKHR>(pipeline::get_pipeline_executable_statistics)),
        command("vkGetPipelineExecutableInternalRepresentationsKHR", Device, &[Provider::Extension("VK_KHR_pipeline_executable_properties")], erase::<vk::PFN_vkGetPipelineExecutableInternalRepresentationsKHR>(pipeline::get_pipeline_executable_internal_representations)),
        // event.rs
        command("vkCreateEvent", Device, V1_0, erase::<vk::PFN_vkCreateEvent>(event::create_event)),
        command("vkDestroyEvent", Device, V1_0, erase::<vk::PFN_vkDestroyEvent>(event::destroy_event)),
        command("vkGetEventStatus", Device, V1_0, erase::<vk::PFN_vkGetEventStatus>(event::get_event_status)),
        command("vkSetEvent", Device, V1_0, erase::<vk::PFN_vkSetEvent>(event::set_event)),
        command("vkResetEvent", Device, V1_0, erase::<vk::PFN_vkResetEvent>(event::reset_event)),
        // query_pool.rs
        command("vkCreateQueryPool", Device, V1_0, erase::<vk::PFN_vkCreateQueryPool>(query_pool::create_query_pool)),
        command("vkDestroyQueryPool", Device, V1_0, erase::<vk::PFN_vkDestroyQueryPool>(query_pool::destroy_query_pool)),
        command("vkGetQueryPoolResults", Device, V1_0, erase::<vk::PFN_vkGetQueryPoolResults>(query_pool::get_query_pool_results)),
        command("vkResetQueryPool", Device, V1_2, erase::<vk::PFN_vkResetQueryPool>(query_pool::reset_query_pool)),
        command("vkResetQueryPoolEXT", Device, HOST_QUERY_RESET, erase::<vk::PFN_vkResetQueryPool>(query_pool::reset_query_pool)),
        // calibration.rs
        command("vkGetPhysicalDeviceCalibrateableTimeDomainsKHR", PhysicalDevice, KHR_CALIBRATED_TIMESTAMPS, erase::<vk::PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsKHR>(calibration::get_physical_device_calibrateable_time_domains)),
        command("vkGetCalibratedTimestampsKHR", Device, KHR_CALIBRATED_TIMESTAMPS, erase::<vk::PFN_vkGetCalibratedTimestampsKHR>(calibration::get_calibrated_timestamps)),
        command("vkGetPhysicalDeviceCalibrateableTimeDomainsEXT", PhysicalDevice, EXT_CALIBRATED_TIMESTAMPS, erase::<vk::PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsKHR>(calibration::get_physical_device_calibrateable_time_domains)),
        command("vkGetCalibratedTimestampsEXT", Device, EXT_CALIBRATED_TIMESTAMPS, erase::<vk::PFN_vkGetCalibratedTimestampsKHR>(calibration::get_calibrated_timestamps)),
        // wsi/
        command("vkDestroySurfaceKHR", Instance, SURFACE, erase::<vk::PFN_vkDestroySurfaceKHR>(wsi::destroy_surface)),
        command("vkGetPhysicalDeviceSurfaceSupportKHR", PhysicalDevice, SURFACE, erase::<vk::PFN_vkGetPhysicalDeviceSurfaceSupportKHR>(wsi::get_surface_support)),
        command("vkGetPhysicalDeviceSurfaceCapabilitiesKHR", PhysicalDevice, SURFACE, erase::<vk::PFN_vkGetPhysicalDeviceSurfaceCapabilitiesKHR>(wsi::get_surface_capabilities)),
        command("vkGetPhysicalDeviceSurfaceFormatsKHR", PhysicalDevice, SURFACE, erase::<vk::PFN_vkGetPhysicalDeviceSurfaceFormatsKHR>(wsi::get_surface_formats)),
        command("vkGetPhysicalDeviceSurfacePresentModesKHR", PhysicalDevice, SURFACE, erase::<vk::PFN_vkGetPhysicalDeviceSurfacePresentModesKHR>(wsi::get_surface_present_modes)),
        command("vkGetPhysicalDeviceSurfaceCapabilities2KHR", PhysicalDevice, GET_SURFACE_CAPABILITIES2, erase::<vk::PFN_vkGetPhysicalDeviceSurfaceCapabilities2KHR>(wsi::get_surface_capabilities2)),
        command("vkGetPhysicalDeviceSurfaceFormats2KHR", PhysicalDevice, GET_SURFACE_CAPABILITIES2, erase::<vk::PFN_vkGetPhysicalDeviceSurfaceFormats2KHR>(wsi::get_surface_formats2)),
        command("vkGetPhysicalDevicePresentRectanglesKHR", PhysicalDevice, GROUP_SWAPCHAIN, erase::<vk::PFN_vkGetPhysicalDevicePresentRectanglesKHR>(wsi::get_present_rectangles)),
        command("vkGetDeviceGroupPresentCapabilitiesKHR", Device, GROUP_SWAPCHAIN, erase::<vk::PFN_vkGetDeviceGroupPresentCapabilitiesKHR>(wsi::get_device_group_present_capabilities)),
        command("vkGetDeviceGroupSurfacePresentModesKHR", Device, GROUP_SWAPCHAIN, erase::<vk::PFN_vkGetDeviceGroupSurfacePresentModesKHR>(wsi::get_device_group_surface_present_modes)),
        command("vkCreateHeadlessSurfaceEXT", Instance, &[extension("VK_EXT_headless_surface")], erase::<vk::PFN_vkCreateHeadlessSurfaceEXT>(wsi::create_headless_surface)),
        command("vkCreateXcbSurfaceKHR", Instance, XCB_SURFACE, erase::<vk::PFN_vkCreateXcbSurfaceKHR>(wsi::create_xcb_surface)),
        command("vkGetPhysicalDeviceXcbPresentationSupportKHR", PhysicalDevice, XCB_SURFACE, erase::<vk::PFN_vkGetPhysicalDeviceXcbPresentationSupportKHR>(wsi::get_xcb_presentation_support)),
        command("vkCreateXlibSurfaceKHR", Instance, XLIB_SURFACE, erase::<vk::PFN_vkCreateXlibSurfaceKHR>(wsi::create_xlib_surface)),
        command("vkGetPhysicalDeviceXlibPresentationSupportKHR", PhysicalDevice, XLIB_SURFACE, erase::<vk::PFN_vkGetPhysicalDeviceXlibPresentationSupportKHR>(wsi::get_xlib_presentation_support)),
        command("vkCreateWaylandSurfaceKHR", Instance, WAYLAND_SURFACE, erase::<vk::PFN_vkCreateWaylandSurfaceKHR>(wsi::create_wayland_surface)),
        command("vkGetPhysicalDeviceWaylandPresentationSupportKHR", PhysicalDevice, WAYLAND_SURFACE, erase::<vk::PFN_vkGetPhysicalDeviceWaylandPresentationSupportKHR>(wsi::get_wayland_presentation_support)),
        command("vkCreateSwapchainKHR", Device, SWAPCHAIN, erase::<vk::PFN_vkCreateSwapchainKHR>(wsi::create_swapchain)),
        command("vkDestroySwapchainKHR", Device, SWAPCHAIN, erase::<vk::PFN_vkDestroySwapchainKHR>(wsi::destroy_swapchain)),
        command("vkGetSwapchainImagesKHR", Device, SWAPCHAIN, erase::<vk::PFN_vkGetSwapchainImagesKHR>(wsi::get_swapchain_images)),
        command("vkAcquireNextImageKHR", Device, SWAPCHAIN, erase::<vk::PFN_vkAcquireNextImageKHR>(wsi::acquire_next_image)),
        command("vkAcquireNextImage2KHR", Device, GROUP_SWAPCHAIN, erase::<vk::PFN_vkAcquireNextImage2KHR>(wsi::acquire_next_image2)),
        command("vkQueuePresentKHR", Device, SWAPCHAIN, erase::<vk::PFN_vkQueuePresentKHR>(wsi::queue_present)),
    ]
};

/// The command of a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Command> {
    use std::collections::HashMap;
    use std::sync::LazyLock;
    static INDEX: LazyLock<HashMap<&'static str, &'static Command>> = LazyLock::new(|| {
        COMMANDS
            .iter()
            .map(|command| (command.name, command))
            .collect()
    });
    INDEX.get(name).copied()
}
