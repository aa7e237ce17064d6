// SPDX-License-Identifier: MIT
//! Every structure of features and properties that the advertised versions and extensions have is
//! filled in, whole and no further.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_void};

use agx_vulkan::entry::loader;
use ash::vk;

use crate::has;
use crate::registry::{Registry, Structure};

/// What memory holds before the driver writes to it.
const UNTOUCHED: u64 = 0xc5c5_c5c5_c5c5_c5c5;
/// Words of the largest structure, and more.
const WORDS: usize = 512;
/// Words of the header: a type and a pointer.
const HEADER: usize = 2;

/// Structures that extend another and that the driver must know.
fn expected<'a>(registry: &'a Registry, base: &str) -> BTreeMap<&'a str, &'a Structure> {
    let types = registry
        .brought(&has)
        .flat_map(|(_, require)| &require.types);
    types
        .filter_map(|name| registry.structure(name))
        .filter(|(_, structure)| structure.extends.iter().any(|of| of == base))
        .collect()
}

fn function<F: Copy>(instance: vk::Instance, name: &CStr) -> F {
    // SAFETY: null or the live instance of the test, and a valid string.
    let found = unsafe { loader::get_instance_proc_addr(instance, name.as_ptr()) };
    let found = found.unwrap_or_else(|| panic!("{name:?}"));
    assert_eq!(size_of::<F>(), size_of_val(&found));
    // SAFETY: the type is the name's, in the calls below.
    unsafe { std::mem::transmute_copy(&found) }
}

/// Runs something on the simulated GPU's physical device.
fn with_device(body: impl FnOnce(vk::Instance, vk::PhysicalDevice)) {
    let create: vk::PFN_vkCreateInstance = function(vk::Instance::null(), c"vkCreateInstance");
    let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
    let info = vk::InstanceCreateInfo::default().application_info(&application);
    let mut instance = vk::Instance::null();
    // SAFETY: valid usage, and so below.
    let result = unsafe { create(&info, std::ptr::null(), &mut instance) };
    assert_eq!(result, vk::Result::SUCCESS);
    let enumerate: vk::PFN_vkEnumeratePhysicalDevices =
        function(instance, c"vkEnumeratePhysicalDevices");
    let mut device = vk::PhysicalDevice::null();
    let mut count = 1;
    // SAFETY: valid usage.
    let result = unsafe { enumerate(instance, &mut count, &mut device) };
    assert_eq!((result, count), (vk::Result::SUCCESS, 1));
    body(instance, device);
    let destroy: vk::PFN_vkDestroyInstance = function(instance, c"vkDestroyInstance");
    // SAFETY: valid usage.
    unsafe { destroy(instance, std::ptr::null()) };
}

/// Memory with a structure's header and nothing known behind it.
fn untouched(number: u32) -> Vec<u64> {
    let mut memory = vec![UNTOUCHED; WORDS];
    memory[0] = u64::from(number);
    memory[1] = 0;
    memory
}

#[test]
fn features_are_written_whole() {
    let registry = Registry::installed();
    let structures = expected(&registry, "VkPhysicalDeviceFeatures2");
    assert!(structures.len() > 30, "only {}", structures.len());
    with_device(|instance, device| {
        let get: vk::PFN_vkGetPhysicalDeviceFeatures2 =
            function(instance, c"vkGetPhysicalDeviceFeatures2");
        for (name, structure) in structures {
            assert!(structure.members.iter().all(|kind| kind == "VkBool32"));
            let count = structure.members.len();
            let mut memory = untouched(structure.number);
            let mut features = vk::PhysicalDeviceFeatures2 {
                p_next: memory.as_mut_ptr().cast::<c_void>(),
                ..Default::default()
            };
            // SAFETY: valid usage.
            unsafe { get(device, &mut features) };
            let words = memory[HEADER..].iter();
            let words: Vec<u32> = words
                .flat_map(|word| [*word as u32, (*word >> 32) as u32])
                .collect();
            for (index, word) in words[..count].iter().enumerate() {
                assert!(*word <= 1, "{name}: member {index} is {word:#x}");
            }
            for word in &words[count..] {
                assert_eq!(*word, UNTOUCHED as u32, "{name}: written past its end");
            }
            assert_eq!(memory[0], u64::from(structure.number), "{name}");
            assert_eq!(memory[1], 0, "{name}");
        }
    });
}

#[test]
fn properties_are_written() {
    let registry = Registry::installed();
    let bases: [(&str, &CStr); 2] = [
        (
            "VkPhysicalDeviceProperties2",
            c"vkGetPhysicalDeviceProperties2",
        ),
        (
            "VkPhysicalDeviceMemoryProperties2",
            c"vkGetPhysicalDeviceMemoryProperties2",
        ),
    ];
    with_device(|instance, device| {
        for (base, command) in bases {
            let structures = expected(&registry, base);
            assert!(!structures.is_empty(), "{base}");
            for (name, structure) in structures {
                let mut memory = untouched(structure.number);
                let next = memory.as_mut_ptr().cast::<c_void>();
                if base == "VkPhysicalDeviceProperties2" {
                    let get: vk::PFN_vkGetPhysicalDeviceProperties2 = function(instance, command);
                    let mut properties = vk::PhysicalDeviceProperties2 {
                        p_next: next,
                        ..Default::default()
                    };
                    // SAFETY: valid usage.
                    unsafe { get(device, &mut properties) };
                } else {
                    let get: vk::PFN_vkGetPhysicalDeviceMemoryProperties2 =
                        function(instance, command);
                    let mut properties = vk::PhysicalDeviceMemoryProperties2 {
                        p_next: next,
                        ..Default::default()
                    };
                    // SAFETY: valid usage.
                    unsafe { get(device, &mut properties) };
                }
                // Members are of many types; each has four bytes at least, which none leaves at
                // this value.
                let first = memory[HEADER] as u32;
                assert_ne!(first, UNTOUCHED as u32, "{name} is not written");
                assert_eq!(memory[WORDS - 1], UNTOUCHED, "{name}");
                assert_eq!(memory[1], 0, "{name}");
            }
        }
    });
}

#[test]
fn other_versions_do_not_find_newer_commands() {
    let create: vk::PFN_vkCreateInstance = function(vk::Instance::null(), c"vkCreateInstance");
    let info = vk::InstanceCreateInfo::default();
    let mut instance = vk::Instance::null();
    // SAFETY: valid usage.
    let result = unsafe { create(&info, std::ptr::null(), &mut instance) };
    assert_eq!(result, vk::Result::SUCCESS);
    let finds = |name: &CStr| {
        // SAFETY: a live instance and a valid string.
        unsafe { loader::get_instance_proc_addr(instance, name.as_ptr()) }.is_some()
    };
    let finds_physical = |name: &CStr| {
        // SAFETY: as above.
        unsafe { loader::get_physical_device_proc_addr(instance, name.as_ptr()) }.is_some()
    };
    // No version was asked for, which is 1.0, and no extension.
    assert!(finds(c"vkGetPhysicalDeviceFeatures") && finds(c"vkGetInstanceProcAddr"));
    assert!(!finds(c"vkGetPhysicalDeviceFeatures2"));
    assert!(!finds(c"vkGetPhysicalDeviceFeatures2KHR"));
    assert!(!finds(c"vkCreateDebugUtilsMessengerEXT"));
    assert!(!finds(c"vkCreateInstance"));
    // Extensions that a device may enable are found; what they bring is called on it alone.
    assert!(finds(c"vkCreatePrivateDataSlotEXT"));
    assert!(finds_physical(c"vkGetPhysicalDeviceFeatures"));
    assert!(!finds_physical(c"vkGetPhysicalDeviceFeatures2"));
    assert!(!finds_physical(c"vkDestroyInstance"));
    assert!(!finds_physical(c"vkDestroyDevice"));
    let destroy: vk::PFN_vkDestroyInstance = function(instance, c"vkDestroyInstance");
    // SAFETY: valid usage.
    unsafe { destroy(instance, std::ptr::null()) };
}
