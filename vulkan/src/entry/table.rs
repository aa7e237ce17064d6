// SPDX-License-Identifier: MIT
//! Every command that the driver has: its name, who may ask for it, and what brings it.
//!
//! The test `commands` compares the table with the registry of the Khronos Group: for the version
//! and the extensions that are advertised it must be complete.

use ash::vk;

use super::lookup;
use crate::physical_device::{
    self, external, features, formats, group, memory, properties, queue_families, tools,
};
use crate::{device, instance};

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

/// An extension alone.
const fn extension(name: &'static str) -> Provider {
    Provider::Extension(name)
}

const DEVICE_GROUP: &[Provider] = &[extension("VK_KHR_device_group")];
const DEVICE_GROUP_CREATION: &[Provider] = &[extension("VK_KHR_device_group_creation")];
const EXTERNAL_FENCE_CAPABILITIES: &[Provider] = &[extension("VK_KHR_external_fence_capabilities")];
const EXTERNAL_MEMORY_CAPABILITIES: &[Provider] =
    &[extension("VK_KHR_external_memory_capabilities")];
const EXTERNAL_SEMAPHORE_CAPABILITIES: &[Provider] =
    &[extension("VK_KHR_external_semaphore_capabilities")];
const GET_PHYSICAL_DEVICE_PROPERTIES2: &[Provider] =
    &[extension("VK_KHR_get_physical_device_properties2")];
const TOOLING_INFO: &[Provider] = &[extension("VK_EXT_tooling_info")];

/// Forgets a function's type.
pub(super) const fn erase<F: Copy>(function: F) -> unsafe extern "system" fn() {
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
        // instance.rs
        command("vkCreateInstance", Global, V1_0, erase::<vk::PFN_vkCreateInstance>(instance::create_instance)),
        command("vkEnumerateInstanceExtensionProperties", Global, V1_0, erase::<vk::PFN_vkEnumerateInstanceExtensionProperties>(instance::enumerate_extensions)),
        command("vkEnumerateInstanceLayerProperties", Global, V1_0, erase::<vk::PFN_vkEnumerateInstanceLayerProperties>(instance::enumerate_layers)),
        command("vkEnumerateInstanceVersion", Global, V1_1, erase::<vk::PFN_vkEnumerateInstanceVersion>(instance::enumerate_version)),
        command("vkDestroyInstance", Instance, V1_0, erase::<vk::PFN_vkDestroyInstance>(instance::destroy_instance)),
        command("vkEnumeratePhysicalDevices", Instance, V1_0, erase::<vk::PFN_vkEnumeratePhysicalDevices>(instance::enumerate_physical_devices)),
        // entry/lookup.rs
        command("vkGetInstanceProcAddr", Instance, V1_0, erase::<vk::PFN_vkGetInstanceProcAddr>(lookup::get_instance_proc_addr)),
        command("vkGetDeviceProcAddr", Device, V1_0, erase::<vk::PFN_vkGetDeviceProcAddr>(lookup::get_device_proc_addr)),
        // physical_device/
        command("vkEnumerateDeviceExtensionProperties", PhysicalDevice, V1_0, erase::<vk::PFN_vkEnumerateDeviceExtensionProperties>(physical_device::enumerate_extensions)),
        command("vkEnumerateDeviceLayerProperties", PhysicalDevice, V1_0, erase::<vk::PFN_vkEnumerateDeviceLayerProperties>(physical_device::enumerate_layers)),
        command("vkGetPhysicalDeviceFeatures", PhysicalDevice, V1_0, erase::<vk::PFN_vkGetPhysicalDeviceFeatures>(features::get_features)),
        command("vkGetPhysicalDeviceFeatures2", PhysicalDevice, V1_1, erase::<vk::PFN_vkGetPhysicalDeviceFeatures2>(features::get_features2)),
        command("vkGetPhysicalDeviceFeatures2KHR", PhysicalDevice, GET_PHYSICAL_DEVICE_PROPERTIES2, erase::<vk::PFN_vkGetPhysicalDeviceFeatures2>(features::get_features2)),
        command("vkGetPhysicalDeviceProperties", PhysicalDevice, V1_0, erase::<vk::PFN_vkGetPhysicalDeviceProperties>(properties::get_properties)),
        command("vkGetPhysicalDeviceProperties2", PhysicalDevice, V1_1, erase::<vk::PFN_vkGetPhysicalDeviceProperties2>(properties::get_properties2)),
        command("vkGetPhysicalDeviceProperties2KHR", PhysicalDevice, GET_PHYSICAL_DEVICE_PROPERTIES2, erase::<vk::PFN_vkGetPhysicalDeviceProperties2>(properties::get_properties2)),
        command("vkGetPhysicalDeviceMemoryProperties", PhysicalDevice, V1_0, erase::<vk::PFN_vkGetPhysicalDeviceMemoryProperties>(memory::get_memory)),
        command("vkGetPhysicalDeviceMemoryProperties2", PhysicalDevice, V1_1, erase::<vk::PFN_vkGetPhysicalDeviceMemoryProperties2>(memory::get_memory2)),
        command("vkGetPhysicalDeviceMemoryProperties2KHR", PhysicalDevice, GET_PHYSICAL_DEVICE_PROPERTIES2, erase::<vk::PFN_vkGetPhysicalDeviceMemoryProperties2>(memory::get_memory2)),
        command("vkGetPhysicalDeviceQueueFamilyProperties", PhysicalDevice, V1_0, erase::<vk::PFN_vkGetPhysicalDeviceQueueFamilyProperties>(queue_families::get_families)),
        command("vkGetPhysicalDeviceQueueFamilyProperties2", PhysicalDevice, V1_1, erase::<vk::PFN_vkGetPhysicalDeviceQueueFamilyProperties2>(queue_families::get_families2)),
        command("vkGetPhysicalDeviceQueueFamilyProperties2KHR", PhysicalDevice, GET_PHYSICAL_DEVICE_PROPERTIES2, erase::<vk::PFN_vkGetPhysicalDeviceQueueFamilyProperties2>(queue_families::get_families2)),
        command("vkGetPhysicalDeviceFormatProperties", PhysicalDevice, V1_0, erase::<vk::PFN_vkGetPhysicalDeviceFormatProperties>(formats::get_format)),
        command("vkGetPhysicalDeviceFormatProperties2", PhysicalDevice, V1_1, erase::<vk::PFN_vkGetPhysicalDeviceFormatProperties2>(formats::get_format2)),
        command("vkGetPhysicalDeviceFormatProperties2KHR", PhysicalDevice, GET_PHYSICAL_DEVICE_PROPERTIES2, erase::<vk::PFN_vkGetPhysicalDeviceFormatProperties2>(formats::get_format2)),
        command("vkGetPhysicalDeviceImageFormatProperties", PhysicalDevice, V1_0, erase::<vk::PFN_vkGetPhysicalDeviceImageFormatProperties>(formats::get_image_format)),
        command("vkGetPhysicalDeviceImageFormatProperties2", PhysicalDevice, V1_1, erase::<vk::PFN_vkGetPhysicalDeviceImageFormatProperties2>(formats::get_image_format2)),
        command("vkGetPhysicalDeviceImageFormatProperties2KHR", PhysicalDevice, GET_PHYSICAL_DEVICE_PROPERTIES2, erase::<vk::PFN_vkGetPhysicalDeviceImageFormatProperties2>(formats::get_image_format2)),
        command("vkGetPhysicalDeviceSparseImageFormatProperties", PhysicalDevice, V1_0, erase::<vk::PFN_vkGetPhysicalDeviceSparseImageFormatProperties>(formats::get_sparse_image_formats)),
        command("vkGetPhysicalDeviceSparseImageFormatProperties2", PhysicalDevice, V1_1, erase::<vk::PFN_vkGetPhysicalDeviceSparseImageFormatProperties2>(formats::get_sparse_image_formats2)),
        command("vkGetPhysicalDeviceSparseImageFormatProperties2KHR", PhysicalDevice, GET_PHYSICAL_DEVICE_PROPERTIES2, erase::<vk::PFN_vkGetPhysicalDeviceSparseImageFormatProperties2>(formats::get_sparse_image_formats2)),
        command("vkGetPhysicalDeviceExternalBufferProperties", PhysicalDevice, V1_1, erase::<vk::PFN_vkGetPhysicalDeviceExternalBufferProperties>(external::get_buffer_properties)),
        command("vkGetPhysicalDeviceExternalBufferPropertiesKHR", PhysicalDevice, EXTERNAL_MEMORY_CAPABILITIES, erase::<vk::PFN_vkGetPhysicalDeviceExternalBufferProperties>(external::get_buffer_properties)),
        command("vkGetPhysicalDeviceExternalFenceProperties", PhysicalDevice, V1_1, erase::<vk::PFN_vkGetPhysicalDeviceExternalFenceProperties>(external::get_fence_properties)),
        command("vkGetPhysicalDeviceExternalFencePropertiesKHR", PhysicalDevice, EXTERNAL_FENCE_CAPABILITIES, erase::<vk::PFN_vkGetPhysicalDeviceExternalFenceProperties>(external::get_fence_properties)),
        command("vkGetPhysicalDeviceExternalSemaphoreProperties", PhysicalDevice, V1_1, erase::<vk::PFN_vkGetPhysicalDeviceExternalSemaphoreProperties>(external::get_semaphore_properties)),
        command("vkGetPhysicalDeviceExternalSemaphorePropertiesKHR", PhysicalDevice, EXTERNAL_SEMAPHORE_CAPABILITIES, erase::<vk::PFN_vkGetPhysicalDeviceExternalSemaphoreProperties>(external::get_semaphore_properties)),
        command("vkGetPhysicalDeviceToolProperties", PhysicalDevice, V1_3, erase::<vk::PFN_vkGetPhysicalDeviceToolProperties>(tools::get_tools)),
        command("vkGetPhysicalDeviceToolPropertiesEXT", PhysicalDevice, TOOLING_INFO, erase::<vk::PFN_vkGetPhysicalDeviceToolProperties>(tools::get_tools)),
        command("vkEnumeratePhysicalDeviceGroups", Instance, V1_1, erase::<vk::PFN_vkEnumeratePhysicalDeviceGroups>(group::enumerate)),
        command("vkEnumeratePhysicalDeviceGroupsKHR", Instance, DEVICE_GROUP_CREATION, erase::<vk::PFN_vkEnumeratePhysicalDeviceGroups>(group::enumerate)),
        command("vkGetDeviceGroupPeerMemoryFeatures", Device, V1_1, erase::<vk::PFN_vkGetDeviceGroupPeerMemoryFeatures>(group::peer_memory_features)),
        command("vkGetDeviceGroupPeerMemoryFeaturesKHR", Device, DEVICE_GROUP, erase::<vk::PFN_vkGetDeviceGroupPeerMemoryFeatures>(group::peer_memory_features)),
        // device.rs
        command("vkCreateDevice", PhysicalDevice, V1_0, erase::<vk::PFN_vkCreateDevice>(device::create_device)),
        command("vkDestroyDevice", Device, V1_0, erase::<vk::PFN_vkDestroyDevice>(device::destroy_device)),
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
