// SPDX-License-Identifier: MIT
//! The Vulkan instance and device.

use std::collections::HashSet;
use std::ffi::CStr;

use anyhow::{Context as _, anyhow, ensure};
use ash::vk;

use super::Options;
use crate::messages::Messages;

const VALIDATION_LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// An instance with lavapipe's device open.
pub(super) struct Instance {
    instance: ash::Instance,
    device: ash::Device,
    messenger: Option<(ash::ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    /// Where the messenger's callback writes; boxed, so that its address stays.
    messages: Box<Messages>,
    memory: vk::PhysicalDeviceMemoryProperties,
    limits: vk::PhysicalDeviceLimits,
    subgroup_size: u32,
    description: String,
    has_addresses: bool,
    /// Keeps the loader's library; dropped last.
    _entry: ash::Entry,
}

/// Device extensions to enable where they are offered. Their features are listed in [`open`].
const EXTENSIONS: [&CStr; 4] = [
    ash::khr::workgroup_memory_explicit_layout::NAME,
    ash::ext::shader_atomic_float::NAME,
    ash::ext::robustness2::NAME,
    ash::khr::shader_clock::NAME,
];

impl Instance {
    pub(super) fn new(options: Options) -> anyhow::Result<Instance> {
        // SAFETY: the system's Vulkan loader is what the name says.
        let entry = unsafe { ash::Entry::load() }.context("the Vulkan loader")?;
        let application = vk::ApplicationInfo::default()
            .application_name(c"cortland-cts")
            .api_version(vk::API_VERSION_1_3);
        let mut layers = Vec::new();
        let mut extensions = Vec::new();
        let messages = Box::<Messages>::default();
        let mut messenger_info = messenger_info(&messages);
        let mut info = vk::InstanceCreateInfo::default().application_info(&application);
        if options.validation {
            // SAFETY: the entry is loaded.
            let installed = unsafe { entry.enumerate_instance_layer_properties() }?;
            let found = installed
                .iter()
                .any(|layer| layer.layer_name_as_c_str() == Ok(VALIDATION_LAYER));
            ensure!(
                found,
                "the validation layer (Debian package vulkan-validationlayers) is not installed"
            );
            layers.push(VALIDATION_LAYER.as_ptr());
            extensions.push(ash::ext::debug_utils::NAME.as_ptr());
            info = info.push_next(&mut messenger_info);
        }
        let info = info
            .enabled_layer_names(&layers)
            .enabled_extension_names(&extensions);
        // SAFETY: the info and what it points to are complete and live during the call.
        let instance = unsafe { entry.create_instance(&info, None) }.context("vkCreateInstance")?;
        let opened =
            find(&instance).and_then(|physical| Ok((physical, open(&instance, physical)?)));
        let (physical, (device, has_addresses)) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                // SAFETY: it has no objects left.
                unsafe { instance.destroy_instance(None) };
                return Err(error);
            }
        };
        let mut opened = Instance {
            // SAFETY: of this instance.
            memory: unsafe { instance.get_physical_device_memory_properties(physical) },
            // SAFETY: of this instance.
            limits: unsafe { instance.get_physical_device_properties(physical) }.limits,
            subgroup_size: subgroup_size(&instance, physical),
            description: description(&instance, physical),
            device,
            messenger: None,
            messages,
            has_addresses,
            instance,
            _entry: entry,
        };
        if options.validation {
            let utils = ash::ext::debug_utils::Instance::new(&opened._entry, &opened.instance);
            let info = self::messenger_info(&opened.messages);
            // SAFETY: the callback's data outlives the messenger: Drop destroys that first.
            let messenger = unsafe { utils.create_debug_utils_messenger(&info, None) }?;
            opened.messenger = Some((utils, messenger));
        }
        Ok(opened)
    }

    pub(super) fn device(&self) -> &ash::Device {
        &self.device
    }

    pub(super) fn queue(&self) -> vk::Queue {
        // SAFETY: `open` asked for one queue of family 0.
        unsafe { self.device.get_device_queue(0, 0) }
    }

    pub(super) fn limits(&self) -> &vk::PhysicalDeviceLimits {
        &self.limits
    }

    pub(super) fn subgroup_size(&self) -> u32 {
        self.subgroup_size
    }

    pub(super) fn description(&self) -> &str {
        &self.description
    }

    /// Buffers have device addresses.
    pub(super) fn has_addresses(&self) -> bool {
        self.has_addresses
    }

    pub(super) fn is_validating(&self) -> bool {
        self.messenger.is_some()
    }

    /// What the validation layer found since the last call.
    pub(super) fn take_messages(&self) -> Vec<String> {
        self.messages.take()
    }

    /// A type of memory that the CPU writes without flushes.
    pub(super) fn host_memory(&self, allowed: u32) -> anyhow::Result<u32> {
        let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let types = self.memory.memory_types_as_slice();
        (0..types.len() as u32)
            .find(|i| allowed & (1 << i) != 0 && types[*i as usize].property_flags.contains(wanted))
            .ok_or_else(|| anyhow!("no host-visible, coherent memory"))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: runs borrow the device, so nothing of it is left; then the messenger, then the
        // instance that both belong to.
        unsafe {
            self.device.destroy_device(None);
            if let Some((utils, messenger)) = self.messenger.take() {
                utils.destroy_debug_utils_messenger(messenger, None);
            }
            self.instance.destroy_instance(None);
        }
    }
}

fn messenger_info(messages: &Messages) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    messages.messenger(
        vk::DebugUtilsMessageSeverityFlagsEXT::ERROR,
        vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION,
    )
}

/// lavapipe among the devices of all installed drivers. It is found by the driver's ID, not by
/// environment variables: those would have to be set before any thread starts.
fn find(instance: &ash::Instance) -> anyhow::Result<vk::PhysicalDevice> {
    // SAFETY: the instance is alive.
    let devices = unsafe { instance.enumerate_physical_devices() }.context("Vulkan devices")?;
    let found = devices.into_iter().find(|physical| {
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
        // SAFETY: of this instance; the chain is live.
        unsafe { instance.get_physical_device_properties2(*physical, &mut properties) };
        let version = properties.properties.api_version;
        driver.driver_id == vk::DriverId::MESA_LLVMPIPE && version >= vk::API_VERSION_1_3
    });
    found.ok_or_else(|| anyhow!("no Vulkan device is lavapipe with Vulkan 1.3"))
}

fn subgroup_size(instance: &ash::Instance, physical: vk::PhysicalDevice) -> u32 {
    let mut subgroup = vk::PhysicalDeviceSubgroupProperties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut subgroup);
    // SAFETY: of this instance; the chain is live.
    unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
    subgroup.subgroup_size
}

fn description(instance: &ash::Instance, physical: vk::PhysicalDevice) -> String {
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
    // SAFETY: of this instance; the chain is live.
    unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
    let text = |text: Result<&CStr, _>| {
        text.map(|text| text.to_string_lossy().into_owned())
            .unwrap_or_default()
    };
    let name = text(driver.driver_name_as_c_str());
    format!("{name} {}", text(driver.driver_info_as_c_str()))
}

/// The device with all features that it offers, of those that compute shaders can need; and
/// whether it has buffer addresses.
fn open(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
) -> anyhow::Result<(ash::Device, bool)> {
    // SAFETY: of this instance.
    let offered = unsafe { instance.enumerate_device_extension_properties(physical) }?;
    let offered: HashSet<&CStr> = offered
        .iter()
        .filter_map(|extension| extension.extension_name_as_c_str().ok())
        .collect();
    let mut v11 = vk::PhysicalDeviceVulkan11Features::default();
    let mut v12 = vk::PhysicalDeviceVulkan12Features::default();
    let mut v13 = vk::PhysicalDeviceVulkan13Features::default();
    let mut layout = vk::PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR::default();
    let mut atomic = vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT::default();
    let mut robust = vk::PhysicalDeviceRobustness2FeaturesEXT::default();
    let mut clock = vk::PhysicalDeviceShaderClockFeaturesKHR::default();
    let has = |name: &CStr| offered.contains(name);
    let mut features = vk::PhysicalDeviceFeatures2::default()
        .push_next(&mut v11)
        .push_next(&mut v12)
        .push_next(&mut v13);
    if has(ash::khr::workgroup_memory_explicit_layout::NAME) {
        features = features.push_next(&mut layout);
    }
    if has(ash::ext::shader_atomic_float::NAME) {
        features = features.push_next(&mut atomic);
    }
    if has(ash::ext::robustness2::NAME) {
        features = features.push_next(&mut robust);
    }
    if has(ash::khr::shader_clock::NAME) {
        features = features.push_next(&mut clock);
    }
    // SAFETY: of this instance; the chain is live. What is offered is then what is asked for.
    unsafe { instance.get_physical_device_features2(physical, &mut features) };
    let extensions: Vec<_> = EXTENSIONS.into_iter().filter(|name| has(name)).collect();
    let extensions: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
    let queues = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(0)
        .queue_priorities(&[1.0])];
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&extensions)
        .push_next(&mut features);
    // SAFETY: the info and its chain are complete and live during the call.
    let device =
        unsafe { instance.create_device(physical, &info, None) }.context("vkCreateDevice")?;
    let addresses = v12.buffer_device_address == vk::TRUE;
    Ok((device, addresses))
}
