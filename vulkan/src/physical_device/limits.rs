// SPDX-License-Identifier: MIT
//! Limits, and where each comes from.
//!
//! Of what is not there the limits are the least that the specification
//! allows (Vulkan 1.3, "Limit Requirements").

use agx_hw::cdm::{MAX_GROUPS, MAX_THREADS, SIMD_WIDTH};
use agx_hw::launcher::{MAX_POINTERS, MAX_THREADGROUP_BYTES};
use agx_hw::texture::{MAX_LAYERS, MAX_SIZE, MAX_SIZE_3D};
use ash::vk;

use super::memory;
use crate::pipeline::{MAX_VERTEX_BUFFERS, MAX_VIEWPORTS};
use crate::rendering::MAX_COLOUR;
use crate::{buffer, buffer_view};

/// Invocations of a subgroup.
pub(crate) const SUBGROUP_SIZE: u32 = SIMD_WIDTH;
/// Subgroups of a workgroup.
pub(crate) const WORKGROUP_SUBGROUPS: u32 = MAX_THREADS / SIMD_WIDTH;

/// Descriptor sets of a pipeline layout. Each one that a shader uses takes one of the pointers that
/// a launch gives (agx-hw, `MAX_POINTERS`), of which six may be something else.
pub(crate) const SETS: u32 = 8;
const _: () = assert!(SETS + 6 <= MAX_POINTERS as u32);
/// Descriptors of a kind in a pipeline layout, and all descriptors of a set. A buffer descriptor has
/// 16 bytes and an offset of 32 bits in its set, so this is far from any bound.
pub(crate) const DESCRIPTORS: u32 = 1 << 20;
/// Dynamic uniform buffers in a pipeline layout.
pub(crate) const DYNAMIC_UNIFORM_BUFFERS: u32 = 16;
/// Dynamic storage buffers in a pipeline layout.
pub(crate) const DYNAMIC_STORAGE_BUFFERS: u32 = 16;
/// Descriptors of a set that is pushed.
pub(crate) const PUSH_DESCRIPTORS: u32 = 32;
/// Bytes of push constants.
pub(crate) const PUSH_CONSTANT_BYTES: u32 = 256;
/// Bytes of an inline uniform block.
pub(crate) const INLINE_UNIFORM_BYTES: u32 = 4096;
/// Inline uniform blocks in a pipeline layout.
pub(crate) const INLINE_UNIFORM_BLOCKS: u32 = 64;

/// Bytes of a storage buffer's range: what the shader compiler takes for granted (mesa-nir, README,
/// "The form").
pub(crate) const STORAGE_BUFFER_RANGE: u32 = u32::MAX - 0xffff;
/// Bytes of a uniform buffer's range.
pub(crate) const UNIFORM_BUFFER_RANGE: u32 = 1 << 16;
/// What addresses of buffers in descriptors are multiples of (`SpirvOptions::apple9_compute`).
pub(crate) const BUFFER_ALIGN: u64 = 16;
/// What addresses of texel buffers are multiples of (images, 5.6; HW).
pub(crate) const TEXEL_BUFFER_ALIGN: u64 = 16;
/// What addresses of buffers and pointers that `vkMapMemory` gives are multiples of at least: a
/// cache line.
pub(crate) const MEMORY_ALIGN: u64 = 64;

/// Descriptors in a stage and in a pipeline layout. Images share a table of 128 (isa-4, 1.2; HW), and there
/// are samplers for 16 and for fetches (HW).
pub(super) const SAMPLERS: (u32, u32) = (16, 96);
pub(super) const SAMPLED_IMAGES: (u32, u32) = (96, 576);
pub(super) const STORAGE_IMAGES: (u32, u32) = (32, 192);
pub(super) const INPUT_ATTACHMENTS: (u32, u32) = (4, 4);

/// Bytes of the largest buffer and piece of memory.
pub(crate) fn largest_allocation() -> u64 {
    const LEAST: u64 = 1 << 30;
    memory::heap_size().clamp(LEAST, buffer::MAX_SIZE)
}

/// VkPhysicalDeviceLimits.
pub(super) fn limits() -> vk::PhysicalDeviceLimits {
    let few_samples =
        vk::SampleCountFlags::TYPE_1 | vk::SampleCountFlags::TYPE_2 | vk::SampleCountFlags::TYPE_4;
    vk::PhysicalDeviceLimits {
        // Compute shaders.
        max_compute_shared_memory_size: MAX_THREADGROUP_BYTES,
        max_compute_work_group_count: [MAX_GROUPS; 3],
        max_compute_work_group_invocations: MAX_THREADS,
        max_compute_work_group_size: [MAX_THREADS; 3],

        // Descriptors.
        max_bound_descriptor_sets: SETS,
        max_per_stage_descriptor_uniform_buffers: DESCRIPTORS,
        max_per_stage_descriptor_storage_buffers: DESCRIPTORS,
        max_per_stage_descriptor_samplers: SAMPLERS.0,
        max_per_stage_descriptor_sampled_images: SAMPLED_IMAGES.0,
        max_per_stage_descriptor_storage_images: STORAGE_IMAGES.0,
        max_per_stage_descriptor_input_attachments: INPUT_ATTACHMENTS.0,
        max_per_stage_resources: DESCRIPTORS,
        max_descriptor_set_uniform_buffers: DESCRIPTORS,
        max_descriptor_set_uniform_buffers_dynamic: DYNAMIC_UNIFORM_BUFFERS,
        max_descriptor_set_storage_buffers: DESCRIPTORS,
        max_descriptor_set_storage_buffers_dynamic: DYNAMIC_STORAGE_BUFFERS,
        max_descriptor_set_samplers: SAMPLERS.1,
        max_descriptor_set_sampled_images: SAMPLED_IMAGES.1,
        max_descriptor_set_storage_images: STORAGE_IMAGES.1,
        max_descriptor_set_input_attachments: INPUT_ATTACHMENTS.1,
        max_push_constants_size: PUSH_CONSTANT_BYTES,
        max_uniform_buffer_range: UNIFORM_BUFFER_RANGE,
        max_storage_buffer_range: STORAGE_BUFFER_RANGE,
        min_uniform_buffer_offset_alignment: BUFFER_ALIGN,
        min_storage_buffer_offset_alignment: BUFFER_ALIGN,

        // Memory. Pieces of large buffers are not bounded in number, and the CPU is coherent.
        max_memory_allocation_count: u32::MAX,
        min_memory_map_alignment: MEMORY_ALIGN as usize,
        non_coherent_atom_size: MEMORY_ALIGN,
        buffer_image_granularity: MEMORY_ALIGN,
        sparse_address_space_size: 0,
        optimal_buffer_copy_offset_alignment: BUFFER_ALIGN,
        optimal_buffer_copy_row_pitch_alignment: BUFFER_ALIGN,

        // Queues. Timestamps are nanoseconds (kernel-uapi, 5.1 and 6).
        timestamp_compute_and_graphics: vk::TRUE,
        timestamp_period: 1.0,
        discrete_queue_priorities: 2,

        // Images, samplers and texel buffers (images, 5.6). Samplers are memory of the host.
        max_image_dimension1_d: MAX_SIZE,
        max_image_dimension2_d: MAX_SIZE,
        max_image_dimension3_d: MAX_SIZE_3D,
        max_image_dimension_cube: MAX_SIZE,
        max_image_array_layers: MAX_LAYERS,
        max_texel_buffer_elements: buffer_view::MAX_TEXELS,
        min_texel_buffer_offset_alignment: TEXEL_BUFFER_ALIGN,
        max_sampler_allocation_count: u32::MAX,
        max_sampler_lod_bias: 16.0,
        max_sampler_anisotropy: 16.0,
        min_texel_offset: -8,
        max_texel_offset: 7,
        min_texel_gather_offset: -8,
        max_texel_gather_offset: 7,
        sub_texel_precision_bits: 8,
        mipmap_precision_bits: 6,
        sampled_image_color_sample_counts: few_samples,
        sampled_image_integer_sample_counts: few_samples,
        sampled_image_depth_sample_counts: few_samples,
        sampled_image_stencil_sample_counts: few_samples,
        storage_image_sample_counts: vk::SampleCountFlags::TYPE_1,
        max_sample_mask_words: 1,

        // Graphics. Attributes are fetched by shaders, which have offsets of 16 bits. Scalars between the
        // stages: 96 have run (graphics, 5.2; HW).
        max_vertex_input_attributes: 32,
        max_vertex_input_bindings: MAX_VERTEX_BUFFERS as u32,
        max_vertex_input_attribute_offset: 65535,
        max_vertex_input_binding_stride: 1 << 20,
        max_vertex_output_components: 96,
        max_fragment_input_components: 96,
        max_fragment_output_attachments: MAX_COLOUR as u32,
        max_fragment_dual_src_attachments: 1,
        // Storage buffers count here, and wgpu derives what compute shaders may have from it.
        max_fragment_combined_output_resources: DESCRIPTORS,
        sub_pixel_precision_bits: 8,
        sub_pixel_interpolation_offset_bits: 4,
        min_interpolation_offset: -0.5,
        max_interpolation_offset: 0.4375,
        max_draw_indexed_index_value: u32::MAX,
        // Each draw is a record of its own.
        max_draw_indirect_count: 1 << 16,
        max_viewports: MAX_VIEWPORTS as u32,
        max_viewport_dimensions: [MAX_SIZE; 2],
        viewport_bounds_range: [-32768.0, 32767.0],
        viewport_sub_pixel_bits: 8,
        max_framebuffer_width: MAX_SIZE,
        max_framebuffer_height: MAX_SIZE,
        max_framebuffer_layers: MAX_LAYERS,
        framebuffer_color_sample_counts: few_samples,
        framebuffer_depth_sample_counts: few_samples,
        framebuffer_stencil_sample_counts: few_samples,
        framebuffer_no_attachments_sample_counts: few_samples,
        max_color_attachments: MAX_COLOUR as u32,
        max_clip_distances: 8,
        max_cull_distances: 0,
        max_combined_clip_and_cull_distances: 8,
        // graphics, 6.6: lines of 1/16 to 16 pixels.
        point_size_range: [1.0, 511.0],
        line_width_range: [1.0, 16.0],
        point_size_granularity: 0.125,
        line_width_granularity: 1.0 / 16.0,
        strict_lines: vk::FALSE,
        standard_sample_locations: vk::TRUE,

        // Tessellation and geometry shaders are optional.
        max_tessellation_generation_level: 0,
        max_tessellation_patch_size: 0,
        max_tessellation_control_per_vertex_input_components: 0,
        max_tessellation_control_per_vertex_output_components: 0,
        max_tessellation_control_per_patch_output_components: 0,
        max_tessellation_control_total_output_components: 0,
        max_tessellation_evaluation_input_components: 0,
        max_tessellation_evaluation_output_components: 0,
        max_geometry_shader_invocations: 0,
        max_geometry_input_components: 0,
        max_geometry_output_components: 0,
        max_geometry_output_vertices: 0,
        max_geometry_total_output_components: 0,
    }
}
