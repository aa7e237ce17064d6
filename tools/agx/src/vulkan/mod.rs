// SPDX-License-Identifier: MIT
//! `agx vulkan`: does the Vulkan driver work where it is installed?

mod job;

use std::ffi::CStr;
use std::io::Write;

use anyhow::Context as _;
use ash::vk;

/// The name by which the driver is known.
const DRIVER: &CStr = c"Cortland";

const NOT_FOUND: &str = "The loader does not find the driver. `./x install` installs it, and \
                         `eval \"$(./x env)\"` makes it known to programs of this shell.";

/// Runs the command: says which devices the loader finds, and has the driver's own ones compute
/// something. Whether there was one and all were right.
pub(crate) fn run(out: &mut impl Write) -> anyhow::Result<bool> {
    // SAFETY: the system's Vulkan loader is what the name says.
    let entry = unsafe { ash::Entry::load() }.context("the Vulkan loader")?;
    let application = vk::ApplicationInfo::default()
        .application_name(c"agx")
        .api_version(vk::API_VERSION_1_3);
    let info = vk::InstanceCreateInfo::default().application_info(&application);
    // SAFETY: the loader is loaded, the structure valid.
    let instance = match unsafe { entry.create_instance(&info, None) } {
        // The loader's answer when it finds no driver at all.
        Err(vk::Result::ERROR_INCOMPATIBLE_DRIVER) => {
            writeln!(out, "{NOT_FOUND}")?;
            return Ok(false);
        }
        instance => instance.context("vkCreateInstance")?,
    };
    let result = look(&instance, out);
    // SAFETY: nothing of it is left.
    unsafe { instance.destroy_instance(None) };
    result
}

fn look(instance: &ash::Instance, out: &mut impl Write) -> anyhow::Result<bool> {
    // SAFETY: the instance lives.
    let devices = unsafe { instance.enumerate_physical_devices() };
    let (mut ours, mut right) = (0, true);
    for device in devices.context("vkEnumeratePhysicalDevices")? {
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
        // SAFETY: the device is the instance's.
        unsafe { instance.get_physical_device_properties2(device, &mut properties) };
        let properties = properties.properties;
        writeln!(
            out,
            "{}: {} {}, Vulkan {}.{}.{}",
            text(properties.device_name_as_c_str()),
            text(driver.driver_name_as_c_str()),
            text(driver.driver_info_as_c_str()),
            vk::api_version_major(properties.api_version),
            vk::api_version_minor(properties.api_version),
            vk::api_version_patch(properties.api_version),
        )?;
        if driver.driver_name_as_c_str() != Ok(DRIVER) {
            continue;
        }
        ours += 1;
        describe(instance, device, out)?;
        match job::run(instance, device) {
            Ok(count) => writeln!(out, "  computes: {count} values, all right")?,
            Err(error) => {
                right = false;
                writeln!(out, "  does not compute: {error:#}")?;
            }
        }
    }
    if ours == 0 {
        writeln!(out, "{NOT_FOUND}")?;
    }
    Ok(ours > 0 && right)
}

fn describe(
    instance: &ash::Instance,
    device: vk::PhysicalDevice,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    // SAFETY: the device is the instance's.
    let (memory, families, extensions) = unsafe {
        (
            instance.get_physical_device_memory_properties(device),
            instance.get_physical_device_queue_family_properties(device),
            instance.enumerate_device_extension_properties(device)?,
        )
    };
    for heap in memory.memory_heaps_as_slice() {
        let gib = heap.size as f64 / f64::from(1 << 30);
        writeln!(out, "  memory: {gib:.1} GiB, {:?}", heap.flags)?;
    }
    for family in families {
        let count = family.queue_count;
        writeln!(out, "  queues: {count}, {:?}", family.queue_flags)?;
    }
    writeln!(out, "  extensions: {}", extensions.len())?;
    Ok(())
}

fn text(name: Result<&CStr, impl Sized>) -> String {
    name.map_or_else(|_| "?".to_owned(), |name| name.to_string_lossy().into())
}
