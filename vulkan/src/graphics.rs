// SPDX-License-Identifier: MIT
//! What the driver does not offer of images and graphics: YCbCr conversions, draws whose count is in a buffer,
//! sparse images. The commands that version 1.3 has for them exist and refuse; programs that respect what the
//! driver advertises call none of them with effect.

use std::sync::atomic::{AtomicBool, Ordering};

use ash::vk;

use crate::debug;
use crate::entry;
use crate::error::VkResult;

fn refuse(command: &str) {
    debug::error(&format_args!("{command} is not offered"));
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
    /// vkCmdSetLogicOpEXT: its feature is off, logic operations are in shader code.
    cmd_set_logic_op = "vkCmdSetLogicOpEXT" (vk::CommandBuffer, vk::LogicOp);
    /// vkCmdSetLineStippleEXT: no line is stippled.
    cmd_set_line_stipple = "vkCmdSetLineStippleEXT" (vk::CommandBuffer, u32, u16);
    /// vkCmdSetPatchControlPointsEXT: there is no tessellation.
    cmd_set_patch_control_points = "vkCmdSetPatchControlPointsEXT" (vk::CommandBuffer, u32);
}
