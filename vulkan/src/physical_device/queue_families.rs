// SPDX-License-Identifier: MIT
//! Queue families: one, for compute and transfer.

use ash::vk;

use super::PhysicalDevice;
use crate::entry;
use crate::object;
use crate::quirks::Quirks;

/// Queues of the family.
pub(crate) const QUEUES: u32 = 1;

const FAMILY: vk::QueueFamilyProperties = vk::QueueFamilyProperties {
    queue_flags: vk::QueueFlags::from_raw(
        vk::QueueFlags::COMPUTE.as_raw() | vk::QueueFlags::TRANSFER.as_raw(),
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
///
/// # Safety
/// The handle is valid.
unsafe fn families(
    physical: vk::PhysicalDevice,
) -> impl ExactSizeIterator<Item = vk::QueueFamilyProperties> {
    // SAFETY: the caller's promise.
    let this = unsafe { object::get::<PhysicalDevice>(physical) };
    let mut family = FAMILY;
    if this.quirks.contains(Quirks::CLAIM_GRAPHICS) {
        family.queue_flags |= vk::QueueFlags::GRAPHICS;
    }
    std::iter::once(family)
}

/// vkGetPhysicalDeviceQueueFamilyProperties.
pub(crate) unsafe extern "system" fn get_families(
    physical: vk::PhysicalDevice,
    count: *mut u32,
    families: *mut vk::QueueFamilyProperties,
) {
    entry::guard("vkGetPhysicalDeviceQueueFamilyProperties", || {
        // SAFETY: valid by the specification. It has no way to say that not all fitted.
        let _ = unsafe { entry::enumerate(self::families(physical), count, families) };
    });
}

/// vkGetPhysicalDeviceQueueFamilyProperties2.
pub(crate) unsafe extern "system" fn get_families2(
    physical: vk::PhysicalDevice,
    count: *mut u32,
    families: *mut vk::QueueFamilyProperties2<'_>,
) {
    entry::guard("vkGetPhysicalDeviceQueueFamilyProperties2", || {
        // SAFETY: as above.
        let _ = unsafe {
            let all = self::families(physical);
            entry::enumerate_with(all, count, families, |to, family| {
                to.queue_family_properties = family;
            })
        };
    });
}
