// SPDX-License-Identifier: MIT
//! Swapchains of device groups: a group has one device, which shows what it has drawn itself.

use ash::vk;

use crate::entry;

const LOCAL: vk::DeviceGroupPresentModeFlagsKHR = vk::DeviceGroupPresentModeFlagsKHR::LOCAL;

/// vkGetDeviceGroupPresentCapabilitiesKHR.
pub(crate) unsafe extern "system" fn get_device_group_present_capabilities(
    _device: vk::Device,
    to: *mut vk::DeviceGroupPresentCapabilitiesKHR<'_>,
) -> vk::Result {
    entry::try_guard("vkGetDeviceGroupPresentCapabilitiesKHR", || {
        // SAFETY: valid by the specification.
        unsafe {
            (*to).present_mask.fill(0);
            (*to).present_mask[0] = 1;
            (*to).modes = LOCAL;
        }
        Ok(())
    })
}

/// vkGetDeviceGroupSurfacePresentModesKHR.
pub(crate) unsafe extern "system" fn get_device_group_surface_present_modes(
    _device: vk::Device,
    _surface: vk::SurfaceKHR,
    modes: *mut vk::DeviceGroupPresentModeFlagsKHR,
) -> vk::Result {
    entry::try_guard("vkGetDeviceGroupSurfacePresentModesKHR", || {
        // SAFETY: valid by the specification.
        unsafe { *modes = LOCAL };
        Ok(())
    })
}
