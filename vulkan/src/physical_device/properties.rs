// SPDX-License-Identifier: MIT
//! Properties: limits, identity, and what the numbers of shaders are like.

use std::ffi::c_char;

use ash::vk::{self, StructureType as T};

use super::{PhysicalDevice, identity, limits};
use crate::entry;
use crate::object;

/// How depth and stencil are resolved, either of them.
const RESOLVES: vk::ResolveModeFlags = vk::ResolveModeFlags::from_raw(
    vk::ResolveModeFlags::SAMPLE_ZERO.as_raw()
        | vk::ResolveModeFlags::MIN.as_raw()
        | vk::ResolveModeFlags::MAX.as_raw(),
);

fn vulkan10(this: &PhysicalDevice) -> vk::PhysicalDeviceProperties {
    let mut properties = vk::PhysicalDeviceProperties {
        limits: limits::limits(),
        ..Default::default()
    };
    this.identify(&mut properties);
    properties
}

fn vulkan11(this: &PhysicalDevice) -> vk::PhysicalDeviceVulkan11Properties<'static> {
    vk::PhysicalDeviceVulkan11Properties {
        device_uuid: this.uuid(),
        driver_uuid: identity::driver_uuid(),
        subgroup_size: limits::SUBGROUP_SIZE,
        subgroup_supported_stages: vk::ShaderStageFlags::COMPUTE,
        subgroup_supported_operations: vk::SubgroupFeatureFlags::BASIC
            | vk::SubgroupFeatureFlags::VOTE
            | vk::SubgroupFeatureFlags::ARITHMETIC
            | vk::SubgroupFeatureFlags::BALLOT
            | vk::SubgroupFeatureFlags::SHUFFLE
            | vk::SubgroupFeatureFlags::SHUFFLE_RELATIVE
            | vk::SubgroupFeatureFlags::CLUSTERED
            | vk::SubgroupFeatureFlags::QUAD
            | vk::SubgroupFeatureFlags::ROTATE_KHR
            | vk::SubgroupFeatureFlags::ROTATE_CLUSTERED_KHR,
        // Compute shaders have them; this is about the other stages.
        subgroup_quad_operations_in_all_stages: vk::FALSE,
        point_clipping_behavior: vk::PointClippingBehavior::ALL_CLIP_PLANES,
        // The least: each view is a variant of the programs.
        max_multiview_view_count: 6,
        max_multiview_instance_index: (1 << 27) - 1,
        max_per_set_descriptors: limits::DESCRIPTORS,
        max_memory_allocation_size: limits::largest_allocation(),
        ..Default::default()
    }
}

fn vulkan12() -> vk::PhysicalDeviceVulkan12Properties<'static> {
    let (driver_name, driver_info) = driver();
    vk::PhysicalDeviceVulkan12Properties {
        // Numbers of drivers come from the registry of the Khronos Group, in which this driver is
        // not. 0 is no one's; another driver's would make programs work around its faults.
        driver_id: vk::DriverId::from_raw(0),
        driver_name,
        driver_info,
        // No conformance submission was made.
        conformance_version: vk::ConformanceVersion::default(),
        // Each width has the one behaviour below whatever the others are told: fp16 keeps
        // denormals, fp32 flushes them, both round to the nearest.
        denorm_behavior_independence: vk::ShaderFloatControlsIndependence::ALL,
        rounding_mode_independence: vk::ShaderFloatControlsIndependence::ALL,
        shader_signed_zero_inf_nan_preserve_float16: vk::TRUE,
        shader_signed_zero_inf_nan_preserve_float32: vk::TRUE,
        shader_denorm_preserve_float16: vk::TRUE,
        shader_denorm_flush_to_zero_float32: vk::TRUE,
        shader_rounding_mode_rte_float16: vk::TRUE,
        shader_rounding_mode_rte_float32: vk::TRUE,
        max_update_after_bind_descriptors_in_all_pools: u32::MAX,
        shader_uniform_buffer_array_non_uniform_indexing_native: vk::TRUE,
        shader_storage_buffer_array_non_uniform_indexing_native: vk::TRUE,
        robust_buffer_access_update_after_bind: vk::TRUE,
        // Images and samplers are in tables whenever they are written: as many as others.
        max_per_stage_descriptor_update_after_bind_samplers: limits::SAMPLERS.0,
        max_per_stage_descriptor_update_after_bind_uniform_buffers: limits::DESCRIPTORS,
        max_per_stage_descriptor_update_after_bind_storage_buffers: limits::DESCRIPTORS,
        max_per_stage_descriptor_update_after_bind_sampled_images: limits::SAMPLED_IMAGES.0,
        max_per_stage_descriptor_update_after_bind_storage_images: limits::STORAGE_IMAGES.0,
        max_per_stage_descriptor_update_after_bind_input_attachments: limits::INPUT_ATTACHMENTS.0,
        max_per_stage_update_after_bind_resources: limits::DESCRIPTORS,
        max_descriptor_set_update_after_bind_samplers: limits::SAMPLERS.1,
        max_descriptor_set_update_after_bind_uniform_buffers: limits::DESCRIPTORS,
        max_descriptor_set_update_after_bind_uniform_buffers_dynamic:
            limits::DYNAMIC_UNIFORM_BUFFERS,
        max_descriptor_set_update_after_bind_storage_buffers: limits::DESCRIPTORS,
        max_descriptor_set_update_after_bind_storage_buffers_dynamic:
            limits::DYNAMIC_STORAGE_BUFFERS,
        max_descriptor_set_update_after_bind_sampled_images: limits::SAMPLED_IMAGES.1,
        max_descriptor_set_update_after_bind_storage_images: limits::STORAGE_IMAGES.1,
        max_descriptor_set_update_after_bind_input_attachments: limits::INPUT_ATTACHMENTS.1,
        // The driver's own shader resolves, each aspect by itself; integers have no average.
        supported_depth_resolve_modes: RESOLVES | vk::ResolveModeFlags::AVERAGE,
        supported_stencil_resolve_modes: RESOLVES,
        independent_resolve_none: vk::TRUE,
        independent_resolve: vk::TRUE,
        max_timeline_semaphore_value_difference: u64::MAX,
        framebuffer_integer_color_sample_counts: vk::SampleCountFlags::TYPE_1,
        ..Default::default()
    }
}

fn vulkan13() -> vk::PhysicalDeviceVulkan13Properties<'static> {
    vk::PhysicalDeviceVulkan13Properties {
        min_subgroup_size: limits::SUBGROUP_SIZE,
        max_subgroup_size: limits::SUBGROUP_SIZE,
        max_compute_workgroup_subgroups: limits::WORKGROUP_SUBGROUPS,
        required_subgroup_size_stages: vk::ShaderStageFlags::COMPUTE,
        max_inline_uniform_block_size: limits::INLINE_UNIFORM_BYTES,
        max_per_stage_descriptor_inline_uniform_blocks: limits::INLINE_UNIFORM_BLOCKS,
        max_per_stage_descriptor_update_after_bind_inline_uniform_blocks:
            limits::INLINE_UNIFORM_BLOCKS,
        max_descriptor_set_inline_uniform_blocks: limits::INLINE_UNIFORM_BLOCKS,
        max_descriptor_set_update_after_bind_inline_uniform_blocks: limits::INLINE_UNIFORM_BLOCKS,
        max_inline_uniform_total_size: limits::INLINE_UNIFORM_BYTES * limits::INLINE_UNIFORM_BLOCKS,
        // Dot products of integers are made of multiplications: none is accelerated.
        storage_texel_buffer_offset_alignment_bytes: limits::TEXEL_BUFFER_ALIGN,
        uniform_texel_buffer_offset_alignment_bytes: limits::TEXEL_BUFFER_ALIGN,
        max_buffer_size: limits::largest_allocation(),
        ..Default::default()
    }
}

/// The driver's name and version.
fn driver() -> (
    [c_char; vk::MAX_DRIVER_NAME_SIZE],
    [c_char; vk::MAX_DRIVER_INFO_SIZE],
) {
    let mut name = [0; vk::MAX_DRIVER_NAME_SIZE];
    entry::text(c"Cortland", &mut name);
    let mut info = [0; vk::MAX_DRIVER_INFO_SIZE];
    if let Ok(text) = std::ffi::CString::new(env!("CARGO_PKG_VERSION")) {
        entry::text(&text, &mut info);
    }
    (name, info)
}

/// Writes a structure that repeats some of another.
macro_rules! copied {
    ($link:expr, $from:ident => $structure:ident { $($field:ident),* $(,)? }) => {
        entry::put($link, vk::$structure { $($field: $from.$field,)* ..Default::default() })
    };
}

/// Writes a structure of a chain, if it is one of the driver's.
///
/// # Safety
/// `link` is a structure of the type that it names, which no one else uses.
#[rustfmt::skip]
unsafe fn write(this: &PhysicalDevice, link: *mut vk::BaseOutStructure<'static>) {
    let (v10, v11, v12, v13) = (vulkan10(this), vulkan11(this), vulkan12(), vulkan13());
    // SAFETY: the caller's promise.
    unsafe {
        match (*link).s_type {
            T::PHYSICAL_DEVICE_PROPERTIES_2 => {
                entry::put(link, vk::PhysicalDeviceProperties2 { properties: v10, ..Default::default() });
            }
            T::PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES => entry::put(link, v11),
            T::PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES => entry::put(link, v12),
            T::PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES => entry::put(link, v13),

            // Parts of version 1.1.
            T::PHYSICAL_DEVICE_ID_PROPERTIES => {
                copied!(link, v11 => PhysicalDeviceIDProperties {
                    device_uuid,
                    driver_uuid,
                    device_luid,
                    device_node_mask,
                    device_luid_valid,
                });
            }
            T::PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES => {
                copied!(link, v11 => PhysicalDeviceMaintenance3Properties {
                    max_per_set_descriptors,
                    max_memory_allocation_size,
                });
            }
            T::PHYSICAL_DEVICE_MULTIVIEW_PROPERTIES => {
                copied!(link, v11 => PhysicalDeviceMultiviewProperties {
                    max_multiview_view_count,
                    max_multiview_instance_index,
                });
            }
            T::PHYSICAL_DEVICE_POINT_CLIPPING_PROPERTIES => {
                copied!(link, v11 => PhysicalDevicePointClippingProperties {
                    point_clipping_behavior,
                });
            }
            T::PHYSICAL_DEVICE_PROTECTED_MEMORY_PROPERTIES => {
                copied!(link, v11 => PhysicalDeviceProtectedMemoryProperties {
                    protected_no_fault,
                });
            }
            T::PHYSICAL_DEVICE_SUBGROUP_PROPERTIES => {
                entry::put(link, vk::PhysicalDeviceSubgroupProperties {
                    subgroup_size: v11.subgroup_size,
                    supported_stages: v11.subgroup_supported_stages,
                    supported_operations: v11.subgroup_supported_operations,
                    quad_operations_in_all_stages: v11.subgroup_quad_operations_in_all_stages,
                    ..Default::default()
                });
            }

            // Parts of version 1.2.
            T::PHYSICAL_DEVICE_DRIVER_PROPERTIES => {
                copied!(link, v12 => PhysicalDeviceDriverProperties {
                    driver_id,
                    driver_name,
                    driver_info,
                    conformance_version,
                });
            }
            T::PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES => {
                copied!(link, v12 => PhysicalDeviceFloatControlsProperties {
                    denorm_behavior_independence,
                    rounding_mode_independence,
                    shader_signed_zero_inf_nan_preserve_float16,
                    shader_signed_zero_inf_nan_preserve_float32,
                    shader_signed_zero_inf_nan_preserve_float64,
                    shader_denorm_preserve_float16,
                    shader_denorm_preserve_float32,
                    shader_denorm_preserve_float64,
                    shader_denorm_flush_to_zero_float16,
                    shader_denorm_flush_to_zero_float32,
                    shader_denorm_flush_to_zero_float64,
                    shader_rounding_mode_rte_float16,
                    shader_rounding_mode_rte_float32,
                    shader_rounding_mode_rte_float64,
                    shader_rounding_mode_rtz_float16,
                    shader_rounding_mode_rtz_float32,
                    shader_rounding_mode_rtz_float64,
                });
            }
            T::PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_PROPERTIES => {
                copied!(link, v12 => PhysicalDeviceDescriptorIndexingProperties {
                    max_update_after_bind_descriptors_in_all_pools,
                    shader_uniform_buffer_array_non_uniform_indexing_native,
                    shader_sampled_image_array_non_uniform_indexing_native,
                    shader_storage_buffer_array_non_uniform_indexing_native,
                    shader_storage_image_array_non_uniform_indexing_native,
                    shader_input_attachment_array_non_uniform_indexing_native,
                    robust_buffer_access_update_after_bind,
                    quad_divergent_implicit_lod,
                    max_per_stage_descriptor_update_after_bind_samplers,
                    max_per_stage_descriptor_update_after_bind_uniform_buffers,
                    max_per_stage_descriptor_update_after_bind_storage_buffers,
                    max_per_stage_descriptor_update_after_bind_sampled_images,
                    max_per_stage_descriptor_update_after_bind_storage_images,
                    max_per_stage_descriptor_update_after_bind_input_attachments,
                    max_per_stage_update_after_bind_resources,
                    max_descriptor_set_update_after_bind_samplers,
                    max_descriptor_set_update_after_bind_uniform_buffers,
                    max_descriptor_set_update_after_bind_uniform_buffers_dynamic,
                    max_descriptor_set_update_after_bind_storage_buffers,
                    max_descriptor_set_update_after_bind_storage_buffers_dynamic,
                    max_descriptor_set_update_after_bind_sampled_images,
                    max_descriptor_set_update_after_bind_storage_images,
                    max_descriptor_set_update_after_bind_input_attachments,
                });
            }
            T::PHYSICAL_DEVICE_DEPTH_STENCIL_RESOLVE_PROPERTIES => {
                copied!(link, v12 => PhysicalDeviceDepthStencilResolveProperties {
                    supported_depth_resolve_modes,
                    supported_stencil_resolve_modes,
                    independent_resolve_none,
                    independent_resolve,
                });
            }
            T::PHYSICAL_DEVICE_SAMPLER_FILTER_MINMAX_PROPERTIES => {
                copied!(link, v12 => PhysicalDeviceSamplerFilterMinmaxProperties {
                    filter_minmax_single_component_formats,
                    filter_minmax_image_component_mapping,
                });
            }
            T::PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_PROPERTIES => {
                copied!(link, v12 => PhysicalDeviceTimelineSemaphoreProperties {
                    max_timeline_semaphore_value_difference,
                });
            }

            // Parts of version 1.3.
            T::PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES => {
                copied!(link, v13 => PhysicalDeviceSubgroupSizeControlProperties {
                    min_subgroup_size,
                    max_subgroup_size,
                    max_compute_workgroup_subgroups,
                    required_subgroup_size_stages,
                });
            }
            T::PHYSICAL_DEVICE_INLINE_UNIFORM_BLOCK_PROPERTIES => {
                copied!(link, v13 => PhysicalDeviceInlineUniformBlockProperties {
                    max_inline_uniform_block_size,
                    max_per_stage_descriptor_inline_uniform_blocks,
                    max_per_stage_descriptor_update_after_bind_inline_uniform_blocks,
                    max_descriptor_set_inline_uniform_blocks,
                    max_descriptor_set_update_after_bind_inline_uniform_blocks,
                });
            }
            T::PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES => {
                copied!(link, v13 => PhysicalDeviceShaderIntegerDotProductProperties {
                    integer_dot_product8_bit_unsigned_accelerated,
                    integer_dot_product8_bit_signed_accelerated,
                    integer_dot_product8_bit_mixed_signedness_accelerated,
                    integer_dot_product4x8_bit_packed_unsigned_accelerated,
                    integer_dot_product4x8_bit_packed_signed_accelerated,
                    integer_dot_product4x8_bit_packed_mixed_signedness_accelerated,
                    integer_dot_product16_bit_unsigned_accelerated,
                    integer_dot_product16_bit_signed_accelerated,
                    integer_dot_product16_bit_mixed_signedness_accelerated,
                    integer_dot_product32_bit_unsigned_accelerated,
                    integer_dot_product32_bit_signed_accelerated,
                    integer_dot_product32_bit_mixed_signedness_accelerated,
                    integer_dot_product64_bit_unsigned_accelerated,
                    integer_dot_product64_bit_signed_accelerated,
                    integer_dot_product64_bit_mixed_signedness_accelerated,
                    integer_dot_product_accumulating_saturating8_bit_unsigned_accelerated,
                    integer_dot_product_accumulating_saturating8_bit_signed_accelerated,
                    integer_dot_product_accumulating_saturating8_bit_mixed_signedness_accelerated,
                    integer_dot_product_accumulating_saturating4x8_bit_packed_unsigned_accelerated,
                    integer_dot_product_accumulating_saturating4x8_bit_packed_signed_accelerated,
                    integer_dot_product_accumulating_saturating4x8_bit_packed_mixed_signedness_accelerated,
                    integer_dot_product_accumulating_saturating16_bit_unsigned_accelerated,
                    integer_dot_product_accumulating_saturating16_bit_signed_accelerated,
                    integer_dot_product_accumulating_saturating16_bit_mixed_signedness_accelerated,
                    integer_dot_product_accumulating_saturating32_bit_unsigned_accelerated,
                    integer_dot_product_accumulating_saturating32_bit_signed_accelerated,
                    integer_dot_product_accumulating_saturating32_bit_mixed_signedness_accelerated,
                    integer_dot_product_accumulating_saturating64_bit_unsigned_accelerated,
                    integer_dot_product_accumulating_saturating64_bit_signed_accelerated,
                    integer_dot_product_accumulating_saturating64_bit_mixed_signedness_accelerated,
                });
            }
            T::PHYSICAL_DEVICE_TEXEL_BUFFER_ALIGNMENT_PROPERTIES => {
                copied!(link, v13 => PhysicalDeviceTexelBufferAlignmentProperties {
                    storage_texel_buffer_offset_alignment_bytes,
                    storage_texel_buffer_offset_single_texel_alignment,
                    uniform_texel_buffer_offset_alignment_bytes,
                    uniform_texel_buffer_offset_single_texel_alignment,
                });
            }
            T::PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES => {
                copied!(link, v13 => PhysicalDeviceMaintenance4Properties {
                    max_buffer_size,
                });
            }

            // Extensions.
            T::PHYSICAL_DEVICE_GRAPHICS_PIPELINE_LIBRARY_PROPERTIES_EXT => {
                // Linking compiles (`pipeline::graphics`); and the fragment shader alone says how its inputs
                // are interpolated (graphics, 5.3).
                entry::put(link, vk::PhysicalDeviceGraphicsPipelineLibraryPropertiesEXT {
                    graphics_pipeline_library_fast_linking: vk::FALSE,
                    graphics_pipeline_library_independent_interpolation_decoration: vk::TRUE,
                    ..Default::default()
                });
            }
            T::PHYSICAL_DEVICE_CUSTOM_BORDER_COLOR_PROPERTIES_EXT => {
                // The colour is part of a descriptor: there may be as many as there are samplers.
                entry::put(link, vk::PhysicalDeviceCustomBorderColorPropertiesEXT {
                    max_custom_border_color_samplers: u32::MAX,
                    ..Default::default()
                });
            }
            T::PHYSICAL_DEVICE_LINE_RASTERIZATION_PROPERTIES_KHR => {
                entry::put(link, vk::PhysicalDeviceLineRasterizationPropertiesKHR {
                    line_sub_pixel_precision_bits: v10.limits.sub_pixel_precision_bits,
                    ..Default::default()
                });
            }
            T::PHYSICAL_DEVICE_MULTI_DRAW_PROPERTIES_EXT => {
                // Each draw is a record of its own.
                entry::put(link, vk::PhysicalDeviceMultiDrawPropertiesEXT {
                    max_multi_draw_count: 1 << 16,
                    ..Default::default()
                });
            }
            T::PHYSICAL_DEVICE_PROVOKING_VERTEX_PROPERTIES_EXT => {
                // It is part of each draw's state.
                entry::put(link, vk::PhysicalDeviceProvokingVertexPropertiesEXT {
                    provoking_vertex_mode_per_pipeline: vk::TRUE,
                    ..Default::default()
                });
            }
            T::PHYSICAL_DEVICE_VERTEX_ATTRIBUTE_DIVISOR_PROPERTIES_EXT => {
                entry::put(link, vk::PhysicalDeviceVertexAttributeDivisorPropertiesEXT {
                    max_vertex_attrib_divisor: u32::MAX,
                    ..Default::default()
                });
            }
            T::PHYSICAL_DEVICE_VERTEX_ATTRIBUTE_DIVISOR_PROPERTIES_KHR => {
                entry::put(link, vk::PhysicalDeviceVertexAttributeDivisorPropertiesKHR {
                    max_vertex_attrib_divisor: u32::MAX,
                    supports_non_zero_first_instance: vk::TRUE,
                    ..Default::default()
                });
            }
            T::PHYSICAL_DEVICE_PIPELINE_ROBUSTNESS_PROPERTIES_EXT => {
                // What is there without `robustBufferAccess`: nothing is checked.
                let (buffer, image) = (
                    vk::PipelineRobustnessBufferBehaviorEXT::DISABLED,
                    vk::PipelineRobustnessImageBehaviorEXT::DISABLED,
                );
                entry::put(link, vk::PhysicalDevicePipelineRobustnessPropertiesEXT {
                    default_robustness_storage_buffers: buffer,
                    default_robustness_uniform_buffers: buffer,
                    default_robustness_vertex_inputs: buffer,
                    default_robustness_images: image,
                    ..Default::default()
                });
            }
            T::PHYSICAL_DEVICE_PUSH_DESCRIPTOR_PROPERTIES_KHR => {
                entry::put(link, vk::PhysicalDevicePushDescriptorPropertiesKHR {
                    max_push_descriptors: limits::PUSH_DESCRIPTORS,
                    ..Default::default()
                });
            }
            T::PHYSICAL_DEVICE_ROBUSTNESS_2_PROPERTIES_EXT => {
                // Accesses are checked to the byte (mesa-nir, README, "Numbers").
                entry::put(link, vk::PhysicalDeviceRobustness2PropertiesEXT {
                    robust_storage_buffer_access_size_alignment: 1,
                    robust_uniform_buffer_access_size_alignment: 1,
                    ..Default::default()
                });
            }
            T::PHYSICAL_DEVICE_SHADER_MODULE_IDENTIFIER_PROPERTIES_EXT => {
                entry::put(link, vk::PhysicalDeviceShaderModuleIdentifierPropertiesEXT {
                    shader_module_identifier_algorithm_uuid: identity::module_identifier_uuid(),
                    ..Default::default()
                });
            }
            _ => {}
        }
    }
}

/// vkGetPhysicalDeviceProperties.
pub(crate) unsafe extern "system" fn get_properties(
    physical: vk::PhysicalDevice,
    properties: *mut vk::PhysicalDeviceProperties,
) {
    entry::guard("vkGetPhysicalDeviceProperties", || {
        // SAFETY: valid by the specification.
        unsafe { *properties = vulkan10(object::get::<PhysicalDevice>(physical)) };
    });
}

/// vkGetPhysicalDeviceProperties2.
pub(crate) unsafe extern "system" fn get_properties2(
    physical: vk::PhysicalDevice,
    properties: *mut vk::PhysicalDeviceProperties2<'_>,
) {
    entry::guard("vkGetPhysicalDeviceProperties2", || {
        // SAFETY: valid by the specification; links have the type that they name.
        unsafe {
            let this = object::get::<PhysicalDevice>(physical);
            for link in entry::chain_mut(properties.cast()) {
                write(this, link);
            }
        }
    });
}
