// SPDX-License-Identifier: MIT
//! Device groups: one GPU makes a group, alone (Vulkan 1.3, 5.2.1 "Physical Device Groups").

use ash::vk;

use crate::entry;
use crate::instance::Instance;
use crate::object;

/// vkEnumeratePhysicalDeviceGroups.
pub(crate) unsafe extern "system" fn enumerate(
    instance: vk::Instance,
    count: *mut u32,
    groups: *mut vk::PhysicalDeviceGroupProperties<'_>,
) -> vk::Result {
    entry::try_guard("vkEnumeratePhysicalDeviceGroups", || {
        // SAFETY: valid by the specification.
        unsafe {
            let devices = object::get::<Instance>(instance).physical_devices();
            let devices = devices.iter().copied();
            entry::enumerate_with(devices, count, groups, |group, device| {
                group.physical_device_count = 1;
                group.physical_devices.fill(vk::PhysicalDevice::null());
                group.physical_devices[0] = device;
                group.subset_allocation = vk::FALSE;
            })
        }
    })
}

/// vkGetDeviceGroupPeerMemoryFeatures: the only device copies within itself.
pub(crate) unsafe extern "system" fn peer_memory_features(
    _device: vk::Device,
    _heap: u32,
    _local: u32,
    _remote: u32,
    features: *mut vk::PeerMemoryFeatureFlags,
) {
    entry::guard("vkGetDeviceGroupPeerMemoryFeatures", || {
        // SAFETY: valid by the specification.
        unsafe {
            *features = vk::PeerMemoryFeatureFlags::COPY_SRC
                | vk::PeerMemoryFeatureFlags::COPY_DST
                | vk::PeerMemoryFeatureFlags::GENERIC_SRC
                | vk::PeerMemoryFeatureFlags::GENERIC_DST;
        }
    });
}
