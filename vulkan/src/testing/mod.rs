// SPDX-License-Identifier: MIT
//! What unit tests share: a device behind the entry points, and host memory that runs out.

mod host;

use std::ffi::{CStr, c_void};

use ash::vk;

pub(crate) use self::host::{FailingHost, for_each_failure};
use crate::entry::table;

/// A device of the simulated GPU, reached like an application reaches it but without the loader.
pub(crate) struct Driver {
    /// Its commands.
    pub(crate) device: ash::Device,
    /// Its instance's commands.
    pub(crate) instance: ash::Instance,
    callbacks: Option<vk::AllocationCallbacks<'static>>,
}

/// The address of a command, or null.
pub(crate) fn address(name: &CStr) -> *const c_void {
    let name = name.to_str().expect("names are ASCII");
    table::find(name).map_or(std::ptr::null(), |command| {
        command.function as *const c_void
    })
}

impl Driver {
    /// A device with the default features.
    pub(crate) fn new() -> Driver {
        Driver::with(&vk::DeviceCreateInfo::default(), None)
    }

    /// A device whose host memory comes from callbacks, its objects' memory too when they are
    /// created without any.
    pub(crate) fn with_host(host: &FailingHost) -> Driver {
        Driver::with(&vk::DeviceCreateInfo::default(), Some(host.callbacks()))
    }

    /// A device as described.
    pub(crate) fn with(
        info: &vk::DeviceCreateInfo<'_>,
        callbacks: Option<vk::AllocationCallbacks<'static>>,
    ) -> Driver {
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let create = vk::InstanceCreateInfo::default().application_info(&application);
        let static_functions = ash::StaticFn {
            get_instance_proc_addr: get_proc_address,
        };
        // SAFETY: valid structures; the commands have the types that their names say.
        unsafe {
            let entry = ash::Entry::from_static_fn(static_functions);
            let create = entry.create_instance(&create, callbacks.as_ref());
            let instance = create.expect("an instance").handle();
            let instance = ash::Instance::load_with(address, instance);
            let physical = instance.enumerate_physical_devices().expect("devices")[0];
            let mut device = vk::Device::null();
            let pointer = callbacks
                .as_ref()
                .map_or(std::ptr::null(), std::ptr::from_ref);
            let result = crate::device::create_device(physical, info, pointer, &raw mut device);
            assert_eq!(result, vk::Result::SUCCESS);
            Driver {
                device: ash::Device::load_with(address, device),
                instance,
                callbacks,
            }
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // SAFETY: tests destroy their objects first.
        unsafe {
            self.device.destroy_device(self.callbacks.as_ref());
            self.instance.destroy_instance(self.callbacks.as_ref());
        }
    }
}

unsafe extern "system" fn get_proc_address(
    _instance: vk::Instance,
    name: *const std::ffi::c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: ash gives names.
    let name = unsafe { CStr::from_ptr(name) };
    table::find(name.to_str().ok()?).map(|command| command.function)
}
