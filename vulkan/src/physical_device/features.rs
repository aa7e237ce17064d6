// SPDX-License-Identifier: MIT
//! Features: what shaders and commands may use, and what the application turned on.
//!
//! Shaders' features are those of `SpirvOptions::apple9_compute` and `SpirvOptions::apple9_graphics`.

use std::ffi::c_void;
use std::fmt::Debug;
use std::mem::offset_of;

use arrayvec::ArrayVec;
use ash::vk::{self, StructureType as T};

use crate::debug;
use crate::entry;
use crate::error::VkResult;

/// Most features in a structure: those of version 1.0.
const MOST: usize = size_of::<vk::PhysicalDeviceFeatures>() / size_of::<vk::Bool32>();
/// Bytes before the features in a structure of a chain.
const HEADER: usize = size_of::<vk::BaseOutStructure<'_>>();

fn vulkan10() -> vk::PhysicalDeviceFeatures {
    vk::PhysicalDeviceFeatures {
        robust_buffer_access: vk::TRUE,
        occlusion_query_precise: vk::TRUE,
        shader_uniform_buffer_array_dynamic_indexing: vk::TRUE,
        shader_storage_buffer_array_dynamic_indexing: vk::TRUE,
        shader_int64: vk::TRUE,
        shader_int16: vk::TRUE,
        full_draw_index_uint32: vk::TRUE,
        image_cube_array: vk::TRUE,
        independent_blend: vk::TRUE,
        sample_rate_shading: vk::TRUE,
        dual_src_blend: vk::TRUE,
        logic_op: vk::TRUE,
        multi_draw_indirect: vk::TRUE,
        draw_indirect_first_instance: vk::TRUE,
        depth_clamp: vk::TRUE,
        depth_bias_clamp: vk::TRUE,
        fill_mode_non_solid: vk::TRUE,
        wide_lines: vk::TRUE,
        large_points: vk::TRUE,
        alpha_to_one: vk::TRUE,
        multi_viewport: vk::TRUE,
        vertex_pipeline_stores_and_atomics: vk::TRUE,
        fragment_stores_and_atomics: vk::TRUE,
        shader_clip_distance: vk::TRUE,
        sampler_anisotropy: vk::TRUE,
        texture_compression_etc2: vk::TRUE,
        texture_compression_astc_ldr: vk::TRUE,
        texture_compression_bc: vk::TRUE,
        shader_image_gather_extended: vk::TRUE,
        shader_storage_image_extended_formats: vk::TRUE,
        shader_storage_image_read_without_format: vk::TRUE,
        shader_sampled_image_array_dynamic_indexing: vk::TRUE,
        shader_storage_image_array_dynamic_indexing: vk::TRUE,
        ..Default::default()
    }
}

fn vulkan11() -> vk::PhysicalDeviceVulkan11Features<'static> {
    vk::PhysicalDeviceVulkan11Features {
        storage_buffer16_bit_access: vk::TRUE,
        uniform_and_storage_buffer16_bit_access: vk::TRUE,
        storage_push_constant16: vk::TRUE,
        variable_pointers_storage_buffer: vk::TRUE,
        variable_pointers: vk::TRUE,
        multiview: vk::TRUE,
        shader_draw_parameters: vk::TRUE,
        ..Default::default()
    }
}

fn vulkan12() -> vk::PhysicalDeviceVulkan12Features<'static> {
    vk::PhysicalDeviceVulkan12Features {
        draw_indirect_count: vk::TRUE,
        storage_buffer8_bit_access: vk::TRUE,
        uniform_and_storage_buffer8_bit_access: vk::TRUE,
        storage_push_constant8: vk::TRUE,
        sampler_mirror_clamp_to_edge: vk::TRUE,
        shader_output_viewport_index: vk::TRUE,
        shader_output_layer: vk::TRUE,
        shader_float16: vk::TRUE,
        shader_int8: vk::TRUE,
        // `descriptor_indexing` promises 500000 images of a stage, of which a table holds 128 at most,
        // and is off, and with it the extension.
        shader_uniform_texel_buffer_array_dynamic_indexing: vk::TRUE,
        shader_storage_texel_buffer_array_dynamic_indexing: vk::TRUE,
        shader_sampled_image_array_non_uniform_indexing: vk::TRUE,
        shader_storage_image_array_non_uniform_indexing: vk::TRUE,
        shader_uniform_texel_buffer_array_non_uniform_indexing: vk::TRUE,
        shader_storage_texel_buffer_array_non_uniform_indexing: vk::TRUE,
        descriptor_binding_sampled_image_update_after_bind: vk::TRUE,
        descriptor_binding_storage_image_update_after_bind: vk::TRUE,
        descriptor_binding_uniform_texel_buffer_update_after_bind: vk::TRUE,
        descriptor_binding_storage_texel_buffer_update_after_bind: vk::TRUE,
        shader_uniform_buffer_array_non_uniform_indexing: vk::TRUE,
        shader_storage_buffer_array_non_uniform_indexing: vk::TRUE,
        descriptor_binding_uniform_buffer_update_after_bind: vk::TRUE,
        descriptor_binding_storage_buffer_update_after_bind: vk::TRUE,
        descriptor_binding_update_unused_while_pending: vk::TRUE,
        descriptor_binding_partially_bound: vk::TRUE,
        descriptor_binding_variable_descriptor_count: vk::TRUE,
        runtime_descriptor_array: vk::TRUE,
        scalar_block_layout: vk::TRUE,
        uniform_buffer_standard_layout: vk::TRUE,
        imageless_framebuffer: vk::TRUE,
        separate_depth_stencil_layouts: vk::TRUE,
        shader_subgroup_extended_types: vk::TRUE,
        host_query_reset: vk::TRUE,
        timeline_semaphore: vk::TRUE,
        buffer_device_address: vk::TRUE,
        vulkan_memory_model: vk::TRUE,
        vulkan_memory_model_device_scope: vk::TRUE,
        subgroup_broadcast_dynamic_id: vk::TRUE,
        ..Default::default()
    }
}

fn vulkan13() -> vk::PhysicalDeviceVulkan13Features<'static> {
    vk::PhysicalDeviceVulkan13Features {
        robust_image_access: vk::TRUE,
        dynamic_rendering: vk::TRUE,
        shader_demote_to_helper_invocation: vk::TRUE,
        shader_terminate_invocation: vk::TRUE,
        inline_uniform_block: vk::TRUE,
        descriptor_binding_inline_uniform_block_update_after_bind: vk::TRUE,
        pipeline_creation_cache_control: vk::TRUE,
        private_data: vk::TRUE,
        subgroup_size_control: vk::TRUE,
        compute_full_subgroups: vk::TRUE,
        synchronization2: vk::TRUE,
        shader_zero_initialize_workgroup_memory: vk::TRUE,
        shader_integer_dot_product: vk::TRUE,
        maintenance4: vk::TRUE,
        ..Default::default()
    }
}

/// The features of a structure, in its order.
struct Flags {
    words: ArrayVec<vk::Bool32, MOST>,
    /// The structure as text, in which features have their names.
    text: fn() -> String,
}

impl Flags {
    /// Those of a structure whose last one ends `end` bytes behind its start: padding may follow.
    fn of<S: vk::TaggedStructure + Default + Debug>(structure: S, end: usize) -> Flags {
        // SAFETY: structures of features are a header and Booleans, as the test `structures` checks
        // for all that there are here.
        unsafe {
            Flags::read(
                (&raw const structure).byte_add(HEADER).cast(),
                (end - HEADER) / size_of::<vk::Bool32>(),
                || format!("{:#?}", S::default()),
            )
        }
    }

    fn of_version_10() -> Flags {
        let features = vulkan10();
        // SAFETY: the structure consists of so many Booleans.
        unsafe {
            Flags::read((&raw const features).cast(), MOST, || {
                format!("{:#?}", vk::PhysicalDeviceFeatures::default())
            })
        }
    }

    /// # Safety
    /// `from` is valid for so many Booleans.
    unsafe fn read(from: *const vk::Bool32, count: usize, text: fn() -> String) -> Flags {
        // SAFETY: the caller's promise.
        let words = unsafe { std::slice::from_raw_parts(from, count) };
        Flags {
            words: words.iter().copied().take(MOST).collect(),
            text,
        }
    }

    /// The names of a structure and of a feature in it.
    fn name(&self, index: usize) -> (String, String) {
        let text = (self.text)();
        let structure = text.split([' ', '{']).next().unwrap_or_default();
        let features = text
            .lines()
            .filter_map(|line| line.trim().strip_suffix(": 0,"));
        let feature = features.into_iter().nth(index).unwrap_or("a feature");
        (structure.to_owned(), feature.to_owned())
    }

    /// # Safety
    /// `to` is valid for the structure's Booleans.
    unsafe fn write(&self, to: *mut vk::Bool32) {
        // SAFETY: the caller's promise.
        unsafe { to.copy_from_nonoverlapping(self.words.as_ptr(), self.words.len()) };
    }

    /// Refuses what is asked for and not there.
    ///
    /// # Safety
    /// `asked` is valid for the structure's Booleans.
    unsafe fn check(&self, asked: *const vk::Bool32) -> VkResult {
        // SAFETY: the caller's promise.
        let asked = unsafe { std::slice::from_raw_parts(asked, self.words.len()) };
        let mut both = asked.iter().zip(&self.words);
        let Some(missing) = both.position(|(asked, there)| *asked != 0 && *there == 0) else {
            return Ok(());
        };
        let (structure, feature) = self.name(missing);
        debug::error(&format_args!("there is no feature {feature} ({structure})"));
        Err(vk::Result::ERROR_FEATURE_NOT_PRESENT)
    }
}

/// The features of a structure, given by name.
macro_rules! flags {
    ($structure:ident { $($field:ident: $value:expr),* }) => {
        Flags::of(
            vk::$structure { $($field: $value,)* ..Default::default() },
            offset_of!(vk::$structure<'static>, _marker),
        )
    };
}

/// The features of a structure that repeats some of another.
macro_rules! copied {
    ($from:ident => $structure:ident { $($field:ident),* }) => {
        flags!($structure { $($field: $from.$field),* })
    };
}

/// The features of a structure that may be in a chain.
#[rustfmt::skip]
fn supported(structure: vk::StructureType) -> Option<Flags> {
    let (v11, v12, v13) = (vulkan11(), vulkan12(), vulkan13());
    Some(match structure {
        T::PHYSICAL_DEVICE_FEATURES_2 => Flags::of_version_10(),
        T::PHYSICAL_DEVICE_VULKAN_1_1_FEATURES => {
            Flags::of(v11, offset_of!(vk::PhysicalDeviceVulkan11Features<'static>, _marker))
        }
        T::PHYSICAL_DEVICE_VULKAN_1_2_FEATURES => {
            Flags::of(v12, offset_of!(vk::PhysicalDeviceVulkan12Features<'static>, _marker))
        }
        T::PHYSICAL_DEVICE_VULKAN_1_3_FEATURES => {
            Flags::of(v13, offset_of!(vk::PhysicalDeviceVulkan13Features<'static>, _marker))
        }

        // Parts of version 1.1.
        T::PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES => {
            copied!(v11 => PhysicalDevice16BitStorageFeatures { storage_buffer16_bit_access, uniform_and_storage_buffer16_bit_access, storage_push_constant16, storage_input_output16 })
        }
        T::PHYSICAL_DEVICE_MULTIVIEW_FEATURES => {
            copied!(v11 => PhysicalDeviceMultiviewFeatures { multiview, multiview_geometry_shader, multiview_tessellation_shader })
        }
        T::PHYSICAL_DEVICE_VARIABLE_POINTERS_FEATURES => {
            copied!(v11 => PhysicalDeviceVariablePointersFeatures { variable_pointers_storage_buffer, variable_pointers })
        }
        T::PHYSICAL_DEVICE_PROTECTED_MEMORY_FEATURES => {
            copied!(v11 => PhysicalDeviceProtectedMemoryFeatures { protected_memory })
        }
        T::PHYSICAL_DEVICE_SAMPLER_YCBCR_CONVERSION_FEATURES => {
            copied!(v11 => PhysicalDeviceSamplerYcbcrConversionFeatures { sampler_ycbcr_conversion })
        }
        T::PHYSICAL_DEVICE_SHADER_DRAW_PARAMETERS_FEATURES => {
            copied!(v11 => PhysicalDeviceShaderDrawParametersFeatures { shader_draw_parameters })
        }

        // Parts of version 1.2.
        T::PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES => {
            copied!(v12 => PhysicalDevice8BitStorageFeatures { storage_buffer8_bit_access, uniform_and_storage_buffer8_bit_access, storage_push_constant8 })
        }
        T::PHYSICAL_DEVICE_SHADER_ATOMIC_INT64_FEATURES => {
            copied!(v12 => PhysicalDeviceShaderAtomicInt64Features { shader_buffer_int64_atomics, shader_shared_int64_atomics })
        }
        T::PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES => {
            copied!(v12 => PhysicalDeviceShaderFloat16Int8Features { shader_float16, shader_int8 })
        }
        T::PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_FEATURES => {
            copied!(v12 => PhysicalDeviceDescriptorIndexingFeatures { shader_input_attachment_array_dynamic_indexing, shader_uniform_texel_buffer_array_dynamic_indexing, shader_storage_texel_buffer_array_dynamic_indexing, shader_uniform_buffer_array_non_uniform_indexing, shader_sampled_image_array_non_uniform_indexing, shader_storage_buffer_array_non_uniform_indexing, shader_storage_image_array_non_uniform_indexing, shader_input_attachment_array_non_uniform_indexing, shader_uniform_texel_buffer_array_non_uniform_indexing, shader_storage_texel_buffer_array_non_uniform_indexing, descriptor_binding_uniform_buffer_update_after_bind, descriptor_binding_sampled_image_update_after_bind, descriptor_binding_storage_image_update_after_bind, descriptor_binding_storage_buffer_update_after_bind, descriptor_binding_uniform_texel_buffer_update_after_bind, descriptor_binding_storage_texel_buffer_update_after_bind, descriptor_binding_update_unused_while_pending, descriptor_binding_partially_bound, descriptor_binding_variable_descriptor_count, runtime_descriptor_array })
        }
        T::PHYSICAL_DEVICE_SCALAR_BLOCK_LAYOUT_FEATURES => {
            copied!(v12 => PhysicalDeviceScalarBlockLayoutFeatures { scalar_block_layout })
        }
        T::PHYSICAL_DEVICE_IMAGELESS_FRAMEBUFFER_FEATURES => {
            copied!(v12 => PhysicalDeviceImagelessFramebufferFeatures { imageless_framebuffer })
        }
        T::PHYSICAL_DEVICE_UNIFORM_BUFFER_STANDARD_LAYOUT_FEATURES => {
            copied!(v12 => PhysicalDeviceUniformBufferStandardLayoutFeatures { uniform_buffer_standard_layout })
        }
        T::PHYSICAL_DEVICE_SHADER_SUBGROUP_EXTENDED_TYPES_FEATURES => {
            copied!(v12 => PhysicalDeviceShaderSubgroupExtendedTypesFeatures { shader_subgroup_extended_types })
        }
        T::PHYSICAL_DEVICE_SEPARATE_DEPTH_STENCIL_LAYOUTS_FEATURES => {
            copied!(v12 => PhysicalDeviceSeparateDepthStencilLayoutsFeatures { separate_depth_stencil_layouts })
        }
        T::PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES => {
            copied!(v12 => PhysicalDeviceHostQueryResetFeatures { host_query_reset })
        }
        T::PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES => {
            copied!(v12 => PhysicalDeviceTimelineSemaphoreFeatures { timeline_semaphore })
        }
        T::PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES => {
            copied!(v12 => PhysicalDeviceBufferDeviceAddressFeatures { buffer_device_address, buffer_device_address_capture_replay, buffer_device_address_multi_device })
        }
        T::PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES => {
            copied!(v12 => PhysicalDeviceVulkanMemoryModelFeatures { vulkan_memory_model, vulkan_memory_model_device_scope, vulkan_memory_model_availability_visibility_chains })
        }

        // Parts of version 1.3.
        T::PHYSICAL_DEVICE_IMAGE_ROBUSTNESS_FEATURES => {
            copied!(v13 => PhysicalDeviceImageRobustnessFeatures { robust_image_access })
        }
        T::PHYSICAL_DEVICE_INLINE_UNIFORM_BLOCK_FEATURES => {
            copied!(v13 => PhysicalDeviceInlineUniformBlockFeatures { inline_uniform_block, descriptor_binding_inline_uniform_block_update_after_bind })
        }
        T::PHYSICAL_DEVICE_PIPELINE_CREATION_CACHE_CONTROL_FEATURES => {
            copied!(v13 => PhysicalDevicePipelineCreationCacheControlFeatures { pipeline_creation_cache_control })
        }
        T::PHYSICAL_DEVICE_PRIVATE_DATA_FEATURES => {
            copied!(v13 => PhysicalDevicePrivateDataFeatures { private_data })
        }
        T::PHYSICAL_DEVICE_SHADER_DEMOTE_TO_HELPER_INVOCATION_FEATURES => {
            copied!(v13 => PhysicalDeviceShaderDemoteToHelperInvocationFeatures { shader_demote_to_helper_invocation })
        }
        T::PHYSICAL_DEVICE_SHADER_TERMINATE_INVOCATION_FEATURES => {
            copied!(v13 => PhysicalDeviceShaderTerminateInvocationFeatures { shader_terminate_invocation })
        }
        T::PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES => {
            copied!(v13 => PhysicalDeviceSubgroupSizeControlFeatures { subgroup_size_control, compute_full_subgroups })
        }
        T::PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES => {
            copied!(v13 => PhysicalDeviceSynchronization2Features { synchronization2 })
        }
        T::PHYSICAL_DEVICE_TEXTURE_COMPRESSION_ASTC_HDR_FEATURES => {
            copied!(v13 => PhysicalDeviceTextureCompressionASTCHDRFeatures { texture_compression_astc_hdr })
        }
        T::PHYSICAL_DEVICE_ZERO_INITIALIZE_WORKGROUP_MEMORY_FEATURES => {
            copied!(v13 => PhysicalDeviceZeroInitializeWorkgroupMemoryFeatures { shader_zero_initialize_workgroup_memory })
        }
        T::PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES => {
            copied!(v13 => PhysicalDeviceDynamicRenderingFeatures { dynamic_rendering })
        }
        T::PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES => {
            copied!(v13 => PhysicalDeviceShaderIntegerDotProductFeatures { shader_integer_dot_product })
        }
        T::PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES => {
            copied!(v13 => PhysicalDeviceMaintenance4Features { maintenance4 })
        }

        // Extensions.
        T::PHYSICAL_DEVICE_GRAPHICS_PIPELINE_LIBRARY_FEATURES_EXT => {
            flags!(PhysicalDeviceGraphicsPipelineLibraryFeaturesEXT { graphics_pipeline_library: vk::TRUE })
        }
        T::PHYSICAL_DEVICE_ATTACHMENT_FEEDBACK_LOOP_LAYOUT_FEATURES_EXT => {
            flags!(PhysicalDeviceAttachmentFeedbackLoopLayoutFeaturesEXT { attachment_feedback_loop_layout: vk::TRUE })
        }
        T::PHYSICAL_DEVICE_BORDER_COLOR_SWIZZLE_FEATURES_EXT => {
            flags!(PhysicalDeviceBorderColorSwizzleFeaturesEXT { border_color_swizzle: vk::TRUE, border_color_swizzle_from_image: vk::TRUE })
        }
        T::PHYSICAL_DEVICE_CUSTOM_BORDER_COLOR_FEATURES_EXT => {
            flags!(PhysicalDeviceCustomBorderColorFeaturesEXT { custom_border_colors: vk::TRUE, custom_border_color_without_format: vk::TRUE })
        }
        T::PHYSICAL_DEVICE_DEPTH_CLIP_ENABLE_FEATURES_EXT => {
            flags!(PhysicalDeviceDepthClipEnableFeaturesEXT { depth_clip_enable: vk::TRUE })
        }
        T::PHYSICAL_DEVICE_DYNAMIC_RENDERING_LOCAL_READ_FEATURES_KHR => {
            flags!(PhysicalDeviceDynamicRenderingLocalReadFeaturesKHR { dynamic_rendering_local_read: vk::TRUE })
        }
        T::PHYSICAL_DEVICE_EXTENDED_DYNAMIC_STATE_FEATURES_EXT => {
            flags!(PhysicalDeviceExtendedDynamicStateFeaturesEXT { extended_dynamic_state: vk::TRUE })
        }
        // Logic operations are in shader code, and there is no tessellation: those two stay off.
        T::PHYSICAL_DEVICE_EXTENDED_DYNAMIC_STATE_2_FEATURES_EXT => {
            flags!(PhysicalDeviceExtendedDynamicState2FeaturesEXT { extended_dynamic_state2: vk::TRUE })
        }
        T::PHYSICAL_DEVICE_INDEX_TYPE_UINT8_FEATURES_KHR => {
            flags!(PhysicalDeviceIndexTypeUint8FeaturesKHR { index_type_uint8: vk::TRUE })
        }
        // Rectangles are what lines of several samples are, but not those of one; there are no stipples.
        T::PHYSICAL_DEVICE_LINE_RASTERIZATION_FEATURES_KHR => {
            flags!(PhysicalDeviceLineRasterizationFeaturesKHR { bresenham_lines: vk::TRUE })
        }
        T::PHYSICAL_DEVICE_MULTI_DRAW_FEATURES_EXT => {
            flags!(PhysicalDeviceMultiDrawFeaturesEXT { multi_draw: vk::TRUE })
        }
        T::PHYSICAL_DEVICE_NON_SEAMLESS_CUBE_MAP_FEATURES_EXT => {
            flags!(PhysicalDeviceNonSeamlessCubeMapFeaturesEXT { non_seamless_cube_map: vk::TRUE })
        }
        T::PHYSICAL_DEVICE_PROVOKING_VERTEX_FEATURES_EXT => {
            flags!(PhysicalDeviceProvokingVertexFeaturesEXT { provoking_vertex_last: vk::TRUE })
        }
        T::PHYSICAL_DEVICE_TEXEL_BUFFER_ALIGNMENT_FEATURES_EXT => {
            flags!(PhysicalDeviceTexelBufferAlignmentFeaturesEXT { texel_buffer_alignment: vk::TRUE })
        }
        T::PHYSICAL_DEVICE_VERTEX_ATTRIBUTE_DIVISOR_FEATURES_KHR => {
            flags!(PhysicalDeviceVertexAttributeDivisorFeaturesKHR { vertex_attribute_instance_rate_divisor: vk::TRUE, vertex_attribute_instance_rate_zero_divisor: vk::TRUE })
        }
        T::PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR => {
            flags!(PhysicalDevicePipelineExecutablePropertiesFeaturesKHR { pipeline_executable_info: vk::TRUE })
        }
        T::PHYSICAL_DEVICE_PIPELINE_ROBUSTNESS_FEATURES_EXT => {
            flags!(PhysicalDevicePipelineRobustnessFeaturesEXT { pipeline_robustness: vk::TRUE })
        }
        T::PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT => {
            flags!(PhysicalDeviceRobustness2FeaturesEXT { robust_buffer_access2: vk::TRUE, null_descriptor: vk::TRUE })
        }
        T::PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT => {
            flags!(PhysicalDeviceShaderAtomicFloatFeaturesEXT { shader_buffer_float32_atomics: vk::TRUE, shader_buffer_float32_atomic_add: vk::TRUE, shader_shared_float32_atomics: vk::TRUE, shader_shared_float32_atomic_add: vk::TRUE })
        }
        T::PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_2_FEATURES_EXT => {
            flags!(PhysicalDeviceShaderAtomicFloat2FeaturesEXT { shader_buffer_float32_atomic_min_max: vk::TRUE, shader_shared_float32_atomic_min_max: vk::TRUE })
        }
        T::PHYSICAL_DEVICE_SHADER_MODULE_IDENTIFIER_FEATURES_EXT => {
            flags!(PhysicalDeviceShaderModuleIdentifierFeaturesEXT { shader_module_identifier: vk::TRUE })
        }
        T::PHYSICAL_DEVICE_SHADER_SUBGROUP_ROTATE_FEATURES_KHR => {
            flags!(PhysicalDeviceShaderSubgroupRotateFeaturesKHR { shader_subgroup_rotate: vk::TRUE, shader_subgroup_rotate_clustered: vk::TRUE })
        }
        T::PHYSICAL_DEVICE_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_FEATURES_KHR => {
            flags!(PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR { workgroup_memory_explicit_layout: vk::TRUE, workgroup_memory_explicit_layout_scalar_block_layout: vk::TRUE, workgroup_memory_explicit_layout8_bit_access: vk::TRUE, workgroup_memory_explicit_layout16_bit_access: vk::TRUE })
        }
        _ => return None,
    })
}

/// Features that a device was created with, as far as the driver does anything differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Enabled {
    /// Accesses out of a buffer's bounds stay harmless.
    pub(crate) robust_buffer_access: bool,
    /// They read zeros, write nothing, and the bounds are exact.
    pub(crate) robust_buffer_access2: bool,
    /// Descriptors may be of no buffer.
    pub(crate) null_descriptor: bool,
    /// Pipelines may have a robustness of their own.
    pub(crate) pipeline_robustness: bool,
    /// Samplers may have border colours that hardware has not: shaders are made for them.
    pub(crate) custom_border_colors: bool,
}

impl Enabled {
    /// The features of a device that is to be created.
    ///
    /// # Errors
    /// [`vk::Result::ERROR_FEATURE_NOT_PRESENT`] when one is not there.
    ///
    /// # Safety
    /// `info` is valid.
    pub(crate) unsafe fn from_create_info(info: &vk::DeviceCreateInfo<'_>) -> VkResult<Enabled> {
        let mut enabled = Enabled::default();
        // SAFETY: null or valid by the specification.
        if let Some(asked) = unsafe { info.p_enabled_features.as_ref() } {
            // SAFETY: of this structure.
            unsafe {
                Flags::of_version_10().check(std::ptr::from_ref(asked).cast())?;
            }
            enabled.robust_buffer_access = asked.robust_buffer_access != 0;
        }
        // SAFETY: the caller's promise.
        for link in unsafe { entry::chain(info.p_next) } {
            let Some(flags) = supported(link.s_type) else {
                continue;
            };
            let link: *const c_void = std::ptr::from_ref(link).cast();
            // SAFETY: links have the type that they name.
            unsafe { flags.check(link.byte_add(HEADER).cast())? };
        }
        // SAFETY: the caller's promise.
        unsafe {
            let next = info.p_next;
            if let Some(asked) = entry::find::<vk::PhysicalDeviceFeatures2<'_>>(next) {
                enabled.robust_buffer_access = asked.features.robust_buffer_access != 0;
            }
            if let Some(asked) = entry::find::<vk::PhysicalDeviceRobustness2FeaturesEXT<'_>>(next) {
                enabled.robust_buffer_access2 = asked.robust_buffer_access2 != 0;
                enabled.null_descriptor = asked.null_descriptor != 0;
            }
            if let Some(asked) =
                entry::find::<vk::PhysicalDevicePipelineRobustnessFeaturesEXT<'_>>(next)
            {
                enabled.pipeline_robustness = asked.pipeline_robustness != 0;
            }
            if let Some(asked) =
                entry::find::<vk::PhysicalDeviceCustomBorderColorFeaturesEXT<'_>>(next)
            {
                enabled.custom_border_colors = asked.custom_border_colors != 0;
            }
        }
        Ok(enabled)
    }
}

/// vkGetPhysicalDeviceFeatures.
pub(crate) unsafe extern "system" fn get_features(
    _physical: vk::PhysicalDevice,
    features: *mut vk::PhysicalDeviceFeatures,
) {
    entry::guard("vkGetPhysicalDeviceFeatures", || {
        // SAFETY: valid by the specification.
        unsafe { *features = vulkan10() };
    });
}

/// vkGetPhysicalDeviceFeatures2.
pub(crate) unsafe extern "system" fn get_features2(
    _physical: vk::PhysicalDevice,
    features: *mut vk::PhysicalDeviceFeatures2<'_>,
) {
    entry::guard("vkGetPhysicalDeviceFeatures2", || {
        // SAFETY: valid by the specification.
        for link in unsafe { entry::chain_mut(features.cast()) } {
            // SAFETY: links have the type that they name.
            unsafe {
                if let Some(flags) = supported((*link).s_type) {
                    flags.write(link.byte_add(HEADER).cast());
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_have_names() {
        let name = |flags: &Flags, index| {
            let (structure, feature) = flags.name(index);
            format!("{structure}.{feature}")
        };
        let v10 = Flags::of_version_10();
        assert_eq!(name(&v10, 0), "PhysicalDeviceFeatures.robust_buffer_access");
        assert_eq!(
            name(&v10, MOST - 1),
            "PhysicalDeviceFeatures.inherited_queries"
        );
        let v12 = supported(T::PHYSICAL_DEVICE_VULKAN_1_2_FEATURES).expect("is there");
        assert_eq!(
            name(&v12, 46),
            "PhysicalDeviceVulkan12Features.subgroup_broadcast_dynamic_id"
        );
    }

    #[test]
    fn what_is_there_may_be_asked_for_and_nothing_else() {
        let v13 = supported(T::PHYSICAL_DEVICE_VULKAN_1_3_FEATURES).expect("is there");
        let mut asked = vulkan13();
        let check = |asked: &vk::PhysicalDeviceVulkan13Features<'_>| {
            // SAFETY: the structure of these flags.
            unsafe { v13.check(std::ptr::from_ref(asked).byte_add(HEADER).cast()) }
        };
        assert_eq!(check(&asked), Ok(()));
        asked.texture_compression_astc_hdr = vk::TRUE;
        assert_eq!(check(&asked), Err(vk::Result::ERROR_FEATURE_NOT_PRESENT));
    }
}
