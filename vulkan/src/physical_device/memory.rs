// SPDX-License-Identifier: MIT
//! Memory: one heap, which GPU and CPU share, and two ways for the CPU to see it.

use agx_uapi::abi::limits::PAGE_SIZE;
use ash::vk;

use crate::entry;
use crate::gpu::{self, Zone};

/// What VkDeviceMemory of each type is made of. The CPU sees both as the GPU does without any call;
/// the first is for what it only writes.
pub(crate) const TYPES: [Zone; 2] = [Zone::WriteCombined, Zone::Cached];

/// All types, for resources that can lie in any.
pub(crate) const ALL_TYPES: u32 = (1 << TYPES.len()) - 1;

/// The part of the machine's memory that the heap is: the rest of the system needs some, too.
const HEAP_PART: (u64, u64) = (3, 4);

/// Bytes of the heap.
pub(crate) fn heap_size() -> u64 {
    let machine = rustix::system::sysinfo();
    let total = machine.totalram as u64 * u64::from(machine.mem_unit);
    let part = total / HEAP_PART.1 * HEAP_PART.0;
    part - part % PAGE_SIZE
}

/// Bytes that the process uses and those that it can expect to get, these included
/// (VK_EXT_memory_budget).
fn usage_and_budget() -> (u64, u64) {
    let usage = gpu::bytes_in_use_by_process();
    let available = available().unwrap_or_else(|| {
        let machine = rustix::system::sysinfo();
        machine.freeram as u64 * u64::from(machine.mem_unit)
    });
    (usage, heap_size().min(usage.saturating_add(available)))
}

/// What the kernel believes that programs can get without swapping.
fn available() -> Option<u64> {
    available_in(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

/// `MemAvailable` in `/proc/meminfo`, whose unit is KiB.
fn available_in(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

fn properties() -> vk::PhysicalDeviceMemoryProperties {
    let mut properties = vk::PhysicalDeviceMemoryProperties {
        memory_type_count: TYPES.len() as u32,
        memory_heap_count: 1,
        ..Default::default()
    };
    for (to, zone) in properties.memory_types.iter_mut().zip(TYPES) {
        to.heap_index = 0;
        to.property_flags = vk::MemoryPropertyFlags::DEVICE_LOCAL
            | vk::MemoryPropertyFlags::HOST_VISIBLE
            | vk::MemoryPropertyFlags::HOST_COHERENT;
        if zone == Zone::Cached {
            to.property_flags |= vk::MemoryPropertyFlags::HOST_CACHED;
        }
    }
    properties.memory_heaps[0] = vk::MemoryHeap {
        size: heap_size(),
        flags: vk::MemoryHeapFlags::DEVICE_LOCAL,
    };
    properties
}

/// vkGetPhysicalDeviceMemoryProperties.
pub(crate) unsafe extern "system" fn get_memory(
    _physical: vk::PhysicalDevice,
    to: *mut vk::PhysicalDeviceMemoryProperties,
) {
    entry::guard("vkGetPhysicalDeviceMemoryProperties", || {
        // SAFETY: valid by the specification.
        unsafe { *to = properties() };
    });
}

/// vkGetPhysicalDeviceMemoryProperties2.
pub(crate) unsafe extern "system" fn get_memory2(
    _physical: vk::PhysicalDevice,
    to: *mut vk::PhysicalDeviceMemoryProperties2<'_>,
) {
    entry::guard("vkGetPhysicalDeviceMemoryProperties2", || {
        // SAFETY: valid by the specification.
        for link in unsafe { entry::chain_mut(to.cast()) } {
            // SAFETY: links have the type that they name.
            unsafe {
                match (*link).s_type {
                    vk::StructureType::PHYSICAL_DEVICE_MEMORY_PROPERTIES_2 => {
                        let memory_properties = properties();
                        entry::put(
                            link,
                            vk::PhysicalDeviceMemoryProperties2 {
                                memory_properties,
                                ..Default::default()
                            },
                        );
                    }
                    vk::StructureType::PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT => {
                        // Heaps that there are not have a budget of 0.
                        let mut to = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
                        (to.heap_usage[0], to.heap_budget[0]) = usage_and_budget();
                        entry::put(link, to);
                    }
                    _ => {}
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_is_read() {
        let text = "MemTotal:  100 kB\nMemFree: 7 kB\nMemAvailable:   25 kB\nBuffers: 1 kB\n";
        assert_eq!(available_in(text), Some(25 * 1024));
        assert_eq!(available_in("MemTotal: 1 kB\n"), None);
        assert_eq!(available_in("MemAvailable: many kB\n"), None);
    }

    #[test]
    fn the_budget_is_within_the_heap() {
        let (usage, budget) = usage_and_budget();
        assert!(usage <= budget && budget <= heap_size());
        assert!(budget > 0);
    }
}
