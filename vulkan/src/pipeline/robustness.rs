// SPDX-License-Identifier: MIT
//! Whether a shader checks its accesses to buffers.
//!
//! There is one kind of checks: those of `robustBufferAccess2`, which do for the weaker kind too.
//! Null descriptors rely on them: an access is out of the bounds of a buffer without bytes.

use std::ffi::c_void;

use ash::vk;

use crate::device::Device;
use crate::entry;

/// Whether a device's features ask for checks where a pipeline does not say.
fn device_is_robust(device: &Device) -> bool {
    let features = &device.features;
    features.robust_buffer_access || features.robust_buffer_access2 || features.null_descriptor
}

/// Whether a stage asks for checks: it says so itself, its pipeline says so, or the device decides.
///
/// # Safety
/// The chains are valid.
pub(super) unsafe fn stage_is_robust(
    device: &Device,
    pipeline: *const c_void,
    stage: *const c_void,
) -> bool {
    type Info<'a> = vk::PipelineRobustnessCreateInfoEXT<'a>;
    // SAFETY: the caller's promise.
    let info = unsafe { entry::find::<Info<'_>>(stage).or_else(|| entry::find(pipeline)) };
    let Some(info) = info else {
        return device_is_robust(device);
    };
    [info.storage_buffers, info.uniform_buffers]
        .iter()
        .any(|behavior| match *behavior {
            vk::PipelineRobustnessBufferBehaviorEXT::DISABLED => device.features.null_descriptor,
            vk::PipelineRobustnessBufferBehaviorEXT::DEVICE_DEFAULT => device_is_robust(device),
            _ => true,
        })
}
