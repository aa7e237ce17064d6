// SPDX-License-Identifier: MIT
//! The extensions that are advertised, and which of them the application enabled.

use std::ffi::{CStr, c_char};

use ash::{ext, khr, vk};

use crate::debug;
use crate::entry;
use crate::error::VkResult;

/// An extension.
#[derive(Clone, Copy, Debug)]
pub struct Extension {
    /// Its name.
    pub name: &'static CStr,
    /// The revision of it that the driver follows.
    pub revision: u32,
}

const fn extension(name: &'static CStr, revision: u32) -> Extension {
    Extension { name, revision }
}

/// Extensions of instances.
#[rustfmt::skip]
pub static INSTANCE: &[Extension] = &[
    extension(ext::debug_utils::NAME, ext::debug_utils::SPEC_VERSION),
    extension(ext::headless_surface::NAME, ext::headless_surface::SPEC_VERSION),
    extension(khr::device_group_creation::NAME, khr::device_group_creation::SPEC_VERSION),
    extension(khr::external_fence_capabilities::NAME, khr::external_fence_capabilities::SPEC_VERSION),
    extension(khr::external_memory_capabilities::NAME, khr::external_memory_capabilities::SPEC_VERSION),
    extension(khr::external_semaphore_capabilities::NAME, khr::external_semaphore_capabilities::SPEC_VERSION),
    extension(khr::get_physical_device_properties2::NAME, khr::get_physical_device_properties2::SPEC_VERSION),
    extension(khr::get_surface_capabilities2::NAME, khr::get_surface_capabilities2::SPEC_VERSION),
    extension(khr::surface::NAME, khr::surface::SPEC_VERSION),
    extension(khr::wayland_surface::NAME, khr::wayland_surface::SPEC_VERSION),
    extension(khr::xcb_surface::NAME, khr::xcb_surface::SPEC_VERSION),
    extension(khr::xlib_surface::NAME, khr::xlib_surface::SPEC_VERSION),
];

/// Extensions of devices.
#[rustfmt::skip]
pub static DEVICE: &[Extension] = &[
    extension(khr::_16bit_storage::NAME, khr::_16bit_storage::SPEC_VERSION),
    extension(khr::_8bit_storage::NAME, khr::_8bit_storage::SPEC_VERSION),
    extension(khr::bind_memory2::NAME, khr::bind_memory2::SPEC_VERSION),
    extension(khr::buffer_device_address::NAME, khr::buffer_device_address::SPEC_VERSION),
    extension(khr::calibrated_timestamps::NAME, khr::calibrated_timestamps::SPEC_VERSION),
    extension(khr::copy_commands2::NAME, khr::copy_commands2::SPEC_VERSION),
    extension(khr::create_renderpass2::NAME, khr::create_renderpass2::SPEC_VERSION),
    extension(khr::dedicated_allocation::NAME, khr::dedicated_allocation::SPEC_VERSION),
    extension(khr::depth_stencil_resolve::NAME, khr::depth_stencil_resolve::SPEC_VERSION),
    extension(khr::descriptor_update_template::NAME, khr::descriptor_update_template::SPEC_VERSION),
    extension(khr::device_group::NAME, khr::device_group::SPEC_VERSION),
    extension(khr::draw_indirect_count::NAME, khr::draw_indirect_count::SPEC_VERSION),
    extension(khr::driver_properties::NAME, khr::driver_properties::SPEC_VERSION),
    extension(khr::dynamic_rendering::NAME, khr::dynamic_rendering::SPEC_VERSION),
    extension(khr::dynamic_rendering_local_read::NAME, khr::dynamic_rendering_local_read::SPEC_VERSION),
    extension(khr::external_fence::NAME, khr::external_fence::SPEC_VERSION),
    extension(khr::external_fence_fd::NAME, khr::external_fence_fd::SPEC_VERSION),
    extension(khr::external_memory::NAME, khr::external_memory::SPEC_VERSION),
    extension(khr::external_memory_fd::NAME, khr::external_memory_fd::SPEC_VERSION),
    extension(khr::external_semaphore::NAME, khr::external_semaphore::SPEC_VERSION),
    extension(khr::external_semaphore_fd::NAME, khr::external_semaphore_fd::SPEC_VERSION),
    extension(khr::format_feature_flags2::NAME, khr::format_feature_flags2::SPEC_VERSION),
    extension(khr::get_memory_requirements2::NAME, khr::get_memory_requirements2::SPEC_VERSION),
    extension(khr::image_format_list::NAME, khr::image_format_list::SPEC_VERSION),
    extension(khr::imageless_framebuffer::NAME, khr::imageless_framebuffer::SPEC_VERSION),
    extension(khr::incremental_present::NAME, khr::incremental_present::SPEC_VERSION),
    extension(khr::index_type_uint8::NAME, khr::index_type_uint8::SPEC_VERSION),
    extension(khr::load_store_op_none::NAME, khr::load_store_op_none::SPEC_VERSION),
    extension(khr::maintenance1::NAME, khr::maintenance1::SPEC_VERSION),
    extension(khr::maintenance2::NAME, khr::maintenance2::SPEC_VERSION),
    extension(khr::maintenance3::NAME, khr::maintenance3::SPEC_VERSION),
    extension(khr::maintenance4::NAME, khr::maintenance4::SPEC_VERSION),
    extension(khr::multiview::NAME, khr::multiview::SPEC_VERSION),
    extension(khr::pipeline_executable_properties::NAME, khr::pipeline_executable_properties::SPEC_VERSION),
    extension(khr::pipeline_library::NAME, khr::pipeline_library::SPEC_VERSION),
    extension(khr::push_descriptor::NAME, khr::push_descriptor::SPEC_VERSION),
    extension(khr::relaxed_block_layout::NAME, khr::relaxed_block_layout::SPEC_VERSION),
    extension(khr::sampler_mirror_clamp_to_edge::NAME, khr::sampler_mirror_clamp_to_edge::SPEC_VERSION),
    extension(khr::separate_depth_stencil_layouts::NAME, khr::separate_depth_stencil_layouts::SPEC_VERSION),
    extension(khr::shader_draw_parameters::NAME, khr::shader_draw_parameters::SPEC_VERSION),
    extension(khr::shader_float16_int8::NAME, khr::shader_float16_int8::SPEC_VERSION),
    extension(khr::shader_float_controls::NAME, khr::shader_float_controls::SPEC_VERSION),
    extension(khr::shader_integer_dot_product::NAME, khr::shader_integer_dot_product::SPEC_VERSION),
    extension(khr::shader_non_semantic_info::NAME, khr::shader_non_semantic_info::SPEC_VERSION),
    extension(khr::shader_subgroup_extended_types::NAME, khr::shader_subgroup_extended_types::SPEC_VERSION),
    extension(khr::shader_subgroup_rotate::NAME, khr::shader_subgroup_rotate::SPEC_VERSION),
    extension(khr::shader_terminate_invocation::NAME, khr::shader_terminate_invocation::SPEC_VERSION),
    extension(khr::spirv_1_4::NAME, khr::spirv_1_4::SPEC_VERSION),
    extension(khr::storage_buffer_storage_class::NAME, khr::storage_buffer_storage_class::SPEC_VERSION),
    extension(khr::swapchain::NAME, khr::swapchain::SPEC_VERSION),
    extension(khr::swapchain_mutable_format::NAME, khr::swapchain_mutable_format::SPEC_VERSION),
    extension(khr::synchronization2::NAME, khr::synchronization2::SPEC_VERSION),
    extension(khr::timeline_semaphore::NAME, khr::timeline_semaphore::SPEC_VERSION),
    extension(khr::uniform_buffer_standard_layout::NAME, khr::uniform_buffer_standard_layout::SPEC_VERSION),
    extension(khr::variable_pointers::NAME, khr::variable_pointers::SPEC_VERSION),
    extension(khr::vertex_attribute_divisor::NAME, khr::vertex_attribute_divisor::SPEC_VERSION),
    extension(khr::vulkan_memory_model::NAME, khr::vulkan_memory_model::SPEC_VERSION),
    extension(khr::workgroup_memory_explicit_layout::NAME, khr::workgroup_memory_explicit_layout::SPEC_VERSION),
    extension(khr::zero_initialize_workgroup_memory::NAME, khr::zero_initialize_workgroup_memory::SPEC_VERSION),
    extension(ext::attachment_feedback_loop_layout::NAME, ext::attachment_feedback_loop_layout::SPEC_VERSION),
    extension(ext::border_color_swizzle::NAME, ext::border_color_swizzle::SPEC_VERSION),
    extension(ext::calibrated_timestamps::NAME, ext::calibrated_timestamps::SPEC_VERSION),
    extension(ext::custom_border_color::NAME, ext::custom_border_color::SPEC_VERSION),
    extension(ext::depth_clip_enable::NAME, ext::depth_clip_enable::SPEC_VERSION),
    extension(ext::extended_dynamic_state::NAME, ext::extended_dynamic_state::SPEC_VERSION),
    extension(ext::extended_dynamic_state2::NAME, ext::extended_dynamic_state2::SPEC_VERSION),
    extension(ext::external_memory_dma_buf::NAME, ext::external_memory_dma_buf::SPEC_VERSION),
    extension(ext::graphics_pipeline_library::NAME, ext::graphics_pipeline_library::SPEC_VERSION),
    extension(ext::host_query_reset::NAME, ext::host_query_reset::SPEC_VERSION),
    extension(ext::image_drm_format_modifier::NAME, ext::image_drm_format_modifier::SPEC_VERSION),
    extension(ext::image_robustness::NAME, ext::image_robustness::SPEC_VERSION),
    extension(ext::index_type_uint8::NAME, ext::index_type_uint8::SPEC_VERSION),
    extension(ext::inline_uniform_block::NAME, ext::inline_uniform_block::SPEC_VERSION),
    extension(ext::load_store_op_none::NAME, ext::load_store_op_none::SPEC_VERSION),
    extension(ext::memory_budget::NAME, ext::memory_budget::SPEC_VERSION),
    extension(ext::line_rasterization::NAME, ext::line_rasterization::SPEC_VERSION),
    extension(ext::multi_draw::NAME, ext::multi_draw::SPEC_VERSION),
    extension(ext::non_seamless_cube_map::NAME, ext::non_seamless_cube_map::SPEC_VERSION),
    extension(ext::pipeline_creation_cache_control::NAME, ext::pipeline_creation_cache_control::SPEC_VERSION),
    extension(ext::pipeline_creation_feedback::NAME, ext::pipeline_creation_feedback::SPEC_VERSION),
    extension(ext::pipeline_robustness::NAME, ext::pipeline_robustness::SPEC_VERSION),
    extension(ext::private_data::NAME, ext::private_data::SPEC_VERSION),
    extension(ext::provoking_vertex::NAME, ext::provoking_vertex::SPEC_VERSION),
    extension(ext::queue_family_foreign::NAME, ext::queue_family_foreign::SPEC_VERSION),
    extension(ext::robustness2::NAME, ext::robustness2::SPEC_VERSION),
    extension(ext::scalar_block_layout::NAME, ext::scalar_block_layout::SPEC_VERSION),
    extension(ext::separate_stencil_usage::NAME, ext::separate_stencil_usage::SPEC_VERSION),
    extension(ext::shader_atomic_float::NAME, ext::shader_atomic_float::SPEC_VERSION),
    extension(ext::shader_atomic_float2::NAME, ext::shader_atomic_float2::SPEC_VERSION),
    extension(ext::shader_demote_to_helper_invocation::NAME, ext::shader_demote_to_helper_invocation::SPEC_VERSION),
    extension(ext::shader_module_identifier::NAME, ext::shader_module_identifier::SPEC_VERSION),
    extension(ext::shader_viewport_index_layer::NAME, ext::shader_viewport_index_layer::SPEC_VERSION),
    extension(ext::subgroup_size_control::NAME, ext::subgroup_size_control::SPEC_VERSION),
    extension(ext::texel_buffer_alignment::NAME, ext::texel_buffer_alignment::SPEC_VERSION),
    extension(ext::tooling_info::NAME, ext::tooling_info::SPEC_VERSION),
    extension(ext::vertex_attribute_divisor::NAME, ext::vertex_attribute_divisor::SPEC_VERSION),
];

/// Some of a list of extensions.
#[derive(Clone, Copy)]
pub(crate) struct Set {
    of: &'static [Extension],
    members: u128,
}

impl Set {
    /// None.
    pub(crate) const fn none(of: &'static [Extension]) -> Set {
        assert!(of.len() <= u128::BITS as usize);
        Set { of, members: 0 }
    }

    /// Those that the application names.
    ///
    /// # Errors
    /// [`vk::Result::ERROR_EXTENSION_NOT_PRESENT`] when one is not in the list.
    ///
    /// # Safety
    /// `names` is valid for so many valid strings.
    pub(crate) unsafe fn named(
        of: &'static [Extension],
        names: *const *const c_char,
        count: u32,
    ) -> VkResult<Set> {
        let mut set = Set::none(of);
        // SAFETY: the caller's promise.
        for name in unsafe { entry::slice(names, count) } {
            // SAFETY: the caller's promise.
            let name = unsafe { CStr::from_ptr(*name) };
            let Some(index) = of.iter().position(|extension| extension.name == name) else {
                debug::error(&format_args!(
                    "there is no extension {}",
                    name.to_string_lossy()
                ));
                return Err(vk::Result::ERROR_EXTENSION_NOT_PRESENT);
            };
            set.members |= 1 << index;
        }
        Ok(set)
    }

    /// The extensions in it.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static Extension> {
        let members = self.members;
        let all = self.of.iter().enumerate();
        all.filter_map(move |(index, extension)| (members & 1 << index != 0).then_some(extension))
    }

    /// Whether one of this name is among them.
    #[cfg(test)]
    pub(crate) fn has(&self, name: &CStr) -> bool {
        self.iter().any(|extension| extension.name == name)
    }
}

/// What an enumeration says of them.
pub(crate) fn properties(
    list: &'static [Extension],
) -> impl ExactSizeIterator<Item = vk::ExtensionProperties> {
    list.iter().map(|extension| {
        let mut properties = vk::ExtensionProperties::default().spec_version(extension.revision);
        entry::text(extension.name, &mut properties.extension_name);
        properties
    })
}

/// The extensions of a device that is to be created.
///
/// # Errors
/// [`vk::Result::ERROR_EXTENSION_NOT_PRESENT`] when one is unknown.
///
/// # Safety
/// `info` is valid.
pub(crate) unsafe fn device_enabled(info: &vk::DeviceCreateInfo<'_>) -> VkResult<Set> {
    let names = info.pp_enabled_extension_names;
    // SAFETY: the caller's promise.
    unsafe { Set::named(DEVICE, names, info.enabled_extension_count) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_unknown_ones_refused() {
        let known = [khr::synchronization2::NAME.as_ptr()];
        // SAFETY: one valid string.
        let set = unsafe { Set::named(DEVICE, known.as_ptr(), 1) }.expect("is there");
        assert!(set.has(khr::synchronization2::NAME));
        assert!(!set.has(khr::timeline_semaphore::NAME));
        assert!(!set.has(khr::acceleration_structure::NAME));
        let unknown = [khr::acceleration_structure::NAME.as_ptr()];
        // SAFETY: one valid string.
        let refused = unsafe { Set::named(DEVICE, unknown.as_ptr(), 1) };
        assert_eq!(refused.err(), Some(vk::Result::ERROR_EXTENSION_NOT_PRESENT));
    }

    #[test]
    fn no_extension_is_there_twice() {
        for list in [INSTANCE, DEVICE] {
            let names: std::collections::HashSet<_> = list.iter().map(|e| e.name).collect();
            assert_eq!(names.len(), list.len());
        }
    }
}
