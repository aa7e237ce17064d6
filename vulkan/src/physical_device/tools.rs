// SPDX-License-Identifier: MIT
//! vkGetPhysicalDeviceToolProperties. The driver is no tool; layers that are add themselves.

use ash::vk;

use crate::entry;

/// vkGetPhysicalDeviceToolProperties.
pub(crate) unsafe extern "system" fn get_tools(
    _physical: vk::PhysicalDevice,
    count: *mut u32,
    properties: *mut vk::PhysicalDeviceToolProperties<'_>,
) -> vk::Result {
    entry::try_guard("vkGetPhysicalDeviceToolProperties", || {
        // SAFETY: valid by the specification.
        unsafe { entry::enumerate(std::iter::empty(), count, properties) }
    })
}
