// SPDX-License-Identifier: MIT
//! Every command that the driver has: its name, who may ask for it, and what brings it.
//!
//! The test `commands` compares the table with the registry of the Khronos Group: for the version
//! and the extensions that are advertised it must be complete.

use ash::vk;

use crate::{device, fence, instance, queue, semaphore};

/// A command.
#[derive(Clone, Copy)]
pub struct Command {
    /// As the specification writes it.
    pub name: &'static str,
    /// What it is called on.
    pub level: Level,
    /// What brings it: any of these.
    pub from: &'static [Provider],
    /// The function.
    pub(crate) function: unsafe extern "system" fn(),
}

/// What a command is called on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// On nothing: before there is an instance.
    Global,
    /// On an instance.
    Instance,
    /// On a physical device.
    PhysicalDevice,
    /// On a device or what it owns.
    Device,
}

/// What brings a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// A version of the core.
    Core(u32),
    /// An extension.
    Extension(&'static str),
}

const V1_0: &[Provider] = &[Provider::Core(vk::API_VERSION_1_0)];

const V1_1: &[Provider] = &[Provider::Core(vk::API_VERSION_1_1)];
const V1_2: &[Provider] = &[Provider::Core(vk::API_VERSION_1_2)];
const V1_3: &[Provider] = &[Provider::Core(vk::API_VERSION_1_3)];
const EXTERNAL_FENCE_FD: &[Provider] = &[Provider::Extension("VK_KHR_external_fence_fd")];
const EXTERNAL_SEMAPHORE_FD: &[Provider] = &[Provider::Extension("VK_KHR_external_semaphore_fd")];
const SYNCHRONIZATION2: &[Provider] = &[Provider::Extension("VK_KHR_synchronization2")];
const TIMELINE_SEMAPHORE: &[Provider] = &[Provider::Extension("VK_KHR_timeline_semaphore")];

/// Forgets a function's type.
const fn erase<F: Copy>(function: F) -> unsafe extern "system" fn() {
    const { assert!(size_of::<F>() == size_of::<unsafe extern "system" fn()>()) };
    // SAFETY: F is a function pointer of the specification; callers get it under the name that
    // tells its type.
    unsafe { std::mem::transmute_copy(&function) }
}

const fn command(
    name: &'static str,
    level: Level,
    from: &'static [Provider],
    function: unsafe extern "system" fn(),
) -> Command {
    Command {
        name,
        level,
        from,
        function,
    }
}

/// All commands, one a line.
#[rustfmt::skip]
pub static COMMANDS: &[Command] = {
    use Level::{Device, Global, Instance, PhysicalDevice};
    &[
        command("vkCreateInstance", Global, V1_0, erase::<vk::PFN_vkCreateInstance>(instance::create_instance)),
        command("vkDestroyInstance", Instance, V1_0, erase::<vk::PFN_vkDestroyInstance>(instance::destroy_instance)),
        command("vkEnumeratePhysicalDevices", Instance, V1_0, erase::<vk::PFN_vkEnumeratePhysicalDevices>(instance::enumerate_physical_devices)),
        command("vkCreateDevice", PhysicalDevice, V1_0, erase::<vk::PFN_vkCreateDevice>(device::create_device)),
        command("vkDestroyDevice", Device, V1_0, erase::<vk::PFN_vkDestroyDevice>(device::destroy_device)),
        // queue/
        command("vkGetDeviceQueue", Device, V1_0, erase::<vk::PFN_vkGetDeviceQueue>(queue::get_device_queue)),
        command("vkQueueSubmit", Device, V1_0, erase::<vk::PFN_vkQueueSubmit>(queue::queue_submit)),
        command("vkQueueWaitIdle", Device, V1_0, erase::<vk::PFN_vkQueueWaitIdle>(queue::queue_wait_idle)),
        command("vkDeviceWaitIdle", Device, V1_0, erase::<vk::PFN_vkDeviceWaitIdle>(queue::device_wait_idle)),
        command("vkQueueBindSparse", Device, V1_0, erase::<vk::PFN_vkQueueBindSparse>(queue::queue_bind_sparse)),
        command("vkGetDeviceQueue2", Device, V1_1, erase::<vk::PFN_vkGetDeviceQueue2>(queue::get_device_queue2)),
        command("vkQueueSubmit2", Device, V1_3, erase::<vk::PFN_vkQueueSubmit2>(queue::queue_submit2)),
        command("vkQueueSubmit2KHR", Device, SYNCHRONIZATION2, erase::<vk::PFN_vkQueueSubmit2>(queue::queue_submit2)),
        // fence.rs
        command("vkCreateFence", Device, V1_0, erase::<vk::PFN_vkCreateFence>(fence::create_fence)),
        command("vkDestroyFence", Device, V1_0, erase::<vk::PFN_vkDestroyFence>(fence::destroy_fence)),
        command("vkResetFences", Device, V1_0, erase::<vk::PFN_vkResetFences>(fence::reset_fences)),
        command("vkGetFenceStatus", Device, V1_0, erase::<vk::PFN_vkGetFenceStatus>(fence::get_fence_status)),
        command("vkWaitForFences", Device, V1_0, erase::<vk::PFN_vkWaitForFences>(fence::wait_for_fences)),
        command("vkImportFenceFdKHR", Device, EXTERNAL_FENCE_FD, erase::<vk::PFN_vkImportFenceFdKHR>(fence::import_fence_fd)),
        command("vkGetFenceFdKHR", Device, EXTERNAL_FENCE_FD, erase::<vk::PFN_vkGetFenceFdKHR>(fence::get_fence_fd)),
        // semaphore.rs
        command("vkCreateSemaphore", Device, V1_0, erase::<vk::PFN_vkCreateSemaphore>(semaphore::create_semaphore)),
        command("vkDestroySemaphore", Device, V1_0, erase::<vk::PFN_vkDestroySemaphore>(semaphore::destroy_semaphore)),
        command("vkGetSemaphoreCounterValue", Device, V1_2, erase::<vk::PFN_vkGetSemaphoreCounterValue>(semaphore::get_semaphore_counter_value)),
        command("vkGetSemaphoreCounterValueKHR", Device, TIMELINE_SEMAPHORE, erase::<vk::PFN_vkGetSemaphoreCounterValue>(semaphore::get_semaphore_counter_value)),
        command("vkWaitSemaphores", Device, V1_2, erase::<vk::PFN_vkWaitSemaphores>(semaphore::wait_semaphores)),
        command("vkWaitSemaphoresKHR", Device, TIMELINE_SEMAPHORE, erase::<vk::PFN_vkWaitSemaphores>(semaphore::wait_semaphores)),
        command("vkSignalSemaphore", Device, V1_2, erase::<vk::PFN_vkSignalSemaphore>(semaphore::signal_semaphore)),
        command("vkSignalSemaphoreKHR", Device, TIMELINE_SEMAPHORE, erase::<vk::PFN_vkSignalSemaphore>(semaphore::signal_semaphore)),
        command("vkImportSemaphoreFdKHR", Device, EXTERNAL_SEMAPHORE_FD, erase::<vk::PFN_vkImportSemaphoreFdKHR>(semaphore::import_semaphore_fd)),
        command("vkGetSemaphoreFdKHR", Device, EXTERNAL_SEMAPHORE_FD, erase::<vk::PFN_vkGetSemaphoreFdKHR>(semaphore::get_semaphore_fd)),
    ]
};

/// The command of a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Command> {
    use std::collections::HashMap;
    use std::sync::LazyLock;
    static INDEX: LazyLock<HashMap<&'static str, &'static Command>> = LazyLock::new(|| {
        COMMANDS
            .iter()
            .map(|command| (command.name, command))
            .collect()
    });
    INDEX.get(name).copied()
}
