// SPDX-License-Identifier: MIT
//! Every command that the driver has: its name, who may ask for it, and what brings it.
//!
//! The test `commands` compares the table with the registry of the Khronos Group: for the version
//! and the extensions that are advertised it must be complete.

use ash::vk;

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
