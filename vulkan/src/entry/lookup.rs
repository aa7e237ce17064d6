// SPDX-License-Identifier: MIT
//! From names to functions: only what the application may call (Vulkan 1.3, 4.1 "Command Function
//! Pointers").
//!
//! A command of a later version than the application asked for, or of an extension that it did not
//! enable, is not found, so that programs which try for one do not take it for granted.

use std::ffi::{CStr, c_char};

use ash::vk;

use super::table::{self, Command, Level, Provider};
use super::{guard, loader};
use crate::device::Device;
use crate::extensions::{self, Set};
use crate::instance::Instance;
use crate::object;

/// vkGetInstanceProcAddr, and what the loader gets to it by.
///
/// # Safety
/// `instance` is null or a live instance, `name` a valid string, as the specification says.
pub(crate) unsafe extern "system" fn get_instance_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    guard("vkGetInstanceProcAddr", || {
        // SAFETY: the caller's promise.
        let (instance, name) = unsafe {
            (
                object::get_optional::<Instance>(instance),
                CStr::from_ptr(name),
            )
        };
        if let Some(function) = loader::function(name) {
            return Some(function);
        }
        let command = find(name)?;
        let may = match instance {
            None => command.level == Level::Global || command.name == "vkGetInstanceProcAddr",
            Some(instance) => command.level != Level::Global && from_instance(instance, command),
        };
        may.then_some(command.function)
    })
}

/// vk_icdGetPhysicalDeviceProcAddr: [`get_instance_proc_addr`] for commands of physical devices.
///
/// # Safety
/// As for [`get_instance_proc_addr`].
pub(super) unsafe extern "system" fn get_physical_device_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    guard("vk_icdGetPhysicalDeviceProcAddr", || {
        // SAFETY: the caller's promise.
        let (instance, name) = unsafe {
            (
                object::get_optional::<Instance>(instance)?,
                CStr::from_ptr(name),
            )
        };
        let command = find(name).filter(|command| command.level == Level::PhysicalDevice)?;
        from_instance(instance, command).then_some(command.function)
    })
}

/// vkGetDeviceProcAddr.
pub(crate) unsafe extern "system" fn get_device_proc_addr(
    device: vk::Device,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    guard("vkGetDeviceProcAddr", || {
        // SAFETY: valid by the specification. The instance outlives the device.
        let (device, instance, name) = unsafe {
            let device = object::get::<Device>(device);
            let instance = device.instance();
            (device, instance, CStr::from_ptr(name))
        };
        let command = find(name).filter(|command| command.level == Level::Device)?;
        let may = command.from.iter().any(|provider| match provider {
            Provider::Core(version) => *version <= instance.api_version,
            Provider::Extension(name) => {
                has(&device.extensions, name) || has(&instance.extensions, name)
            }
        });
        may.then_some(command.function)
    })
}

fn find(name: &CStr) -> Option<&'static Command> {
    table::find(name.to_str().ok()?)
}

/// Whether the extensions of the instance, or those that its devices can have, bring a command.
fn from_instance(instance: &Instance, command: &Command) -> bool {
    command.from.iter().any(|provider| match provider {
        Provider::Core(version) => *version <= instance.api_version,
        Provider::Extension(name) => {
            has(&instance.extensions, name)
                || extensions::DEVICE
                    .iter()
                    .any(|extension| extension.name.to_bytes() == name.as_bytes())
        }
    })
}

fn has(set: &Set, name: &str) -> bool {
    set.iter()
        .any(|extension| extension.name.to_bytes() == name.as_bytes())
}
