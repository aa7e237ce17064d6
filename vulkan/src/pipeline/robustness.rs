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
///
/// # Safety
/// The structure is valid.
pub(crate) unsafe fn device_is_robust(info: &vk::DeviceCreateInfo<'_>) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let features = entry::find::<vk::PhysicalDeviceFeatures2<'_>>(info.p_next);
        let features = features.map(|features| &features.features);
        let features = features.or(info.p_enabled_features.as_ref());
        let more = entry::find::<vk::PhysicalDeviceRobustness2FeaturesEXT<'_>>(info.p_next);
        features.is_some_and(|features| features.robust_buffer_access != 0)
            || more.is_some_and(|more| more.robust_buffer_access2 != 0)
            || device_has_null_descriptors(info)
    }
}

/// Whether a device's features allow null descriptors.
///
/// # Safety
/// The structure is valid.
pub(crate) unsafe fn device_has_null_descriptors(info: &vk::DeviceCreateInfo<'_>) -> bool {
    // SAFETY: the caller's promise.
    let more = unsafe { entry::find::<vk::PhysicalDeviceRobustness2FeaturesEXT<'_>>(info.p_next) };
    more.is_some_and(|more| more.null_descriptor != 0)
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
        return device.robust;
    };
    [info.storage_buffers, info.uniform_buffers]
        .iter()
        .any(|behavior| match *behavior {
            vk::PipelineRobustnessBufferBehaviorEXT::DISABLED => device.null_descriptors,
            vk::PipelineRobustnessBufferBehaviorEXT::DEVICE_DEFAULT => device.robust,
            _ => true,
        })
}
