// SPDX-License-Identifier: MIT
//! Queue families: one, for everything.

use ash::vk;

use crate::entry;

/// Queues of the family.
pub(crate) const QUEUES: u32 = 1;

const FAMILY: vk::QueueFamilyProperties = vk::QueueFamilyProperties {
    queue_flags: vk::QueueFlags::from_raw(
        vk::QueueFlags::GRAPHICS.as_raw()
            | vk::QueueFlags::COMPUTE.as_raw()
            | vk::QueueFlags::TRANSFER.as_raw(),
    ),
    queue_count: QUEUES,
    // The kernel writes nanoseconds, 64 bits of them (kernel-uapi, 6 and 9).
    timestamp_valid_bits: 64,
    min_image_transfer_granularity: vk::Extent3D {
        width: 1,
        height: 1,
        depth: 1,
    },
};

/// The families of a physical device.
fn families() -> impl ExactSizeIterator<Item = vk::QueueFamilyProperties> {
    std::iter::once(FAMILY)
}

/// vkGetPhysicalDeviceQueueFamilyProperties.
pub(crate) unsafe extern "system" fn get_families(
    _physical: vk::PhysicalDevice,
    count: *mut u32,
    families: *mut vk::QueueFamilyProperties,
) {
    entry::guard("vkGetPhysicalDeviceQueueFamilyProperties", || {
        // SAFETY: valid by the specification. It has no way to say that not all fitted.
        let _ = unsafe { entry::enumerate(self::families(), count, families) };
    });
}

/// vkGetPhysicalDeviceQueueFamilyProperties2.
pub(crate) unsafe extern "system" fn get_families2(
    _physical: vk::PhysicalDevice,
    count: *mut u32,
    families: *mut vk::QueueFamilyProperties2<'_>,
) {
    entry::guard("vkGetPhysicalDeviceQueueFamilyProperties2", || {
        // SAFETY: as above.
        let _ = unsafe {
            let all = self::families();
            entry::enumerate_with(all, count, families, |to, family| {
                to.queue_family_properties = family;
            })
        };
    });
}
