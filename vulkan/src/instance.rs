// SPDX-License-Identifier: MIT
//! VkInstance: what the application and the driver agree on before there is a device.

use ash::vk;

use crate::backend::Backend;
use crate::entry;
use crate::error::VkResult;
use crate::host::{HostAllocator, HostVec};
use crate::object::{self, Object};
use crate::physical_device::PhysicalDevice;

/// An instance.
pub(crate) struct Instance {
    /// Where its memory comes from.
    pub(crate) host: HostAllocator,
    /// The version that the application asked for; [`vk::API_VERSION_1_0`] when it did not say.
    pub(crate) api_version: u32,
    /// Extensions that the application enabled.
    pub(crate) extensions: HostVec<&'static str>,
    physical_devices: HostVec<vk::PhysicalDevice>,
}

impl Object for Instance {
    type Handle = vk::Instance;
}

/// vkCreateInstance.
pub(crate) unsafe extern "system" fn create_instance(
    info: *const vk::InstanceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    instance: *mut vk::Instance,
) -> vk::Result {
    entry::try_guard("vkCreateInstance", || {
        // SAFETY: valid by the specification.
        let (info, host) = unsafe {
            let global = HostAllocator::global(vk::SystemAllocationScope::INSTANCE);
            let scope = vk::SystemAllocationScope::INSTANCE;
            (&*info, HostAllocator::choose(allocator, &global, scope))
        };
        // SAFETY: null or valid by the specification.
        let application = unsafe { info.p_application_info.as_ref() };
        let made = Instance {
            host,
            api_version: application
                .map(|application| application.api_version)
                .filter(|version| *version != 0)
                .unwrap_or(vk::API_VERSION_1_0),
            extensions: host.vec(),
            physical_devices: host.vec(),
        };
        let handle = object::create(host, made)?;
        // SAFETY: just created and not known to anyone else.
        let made = unsafe { object::get_mut::<Instance>(handle) };
        if let Err(error) = made.find_devices(handle) {
            // SAFETY: as above.
            unsafe { destroy(host, handle) };
            return Err(error);
        }
        // SAFETY: valid by the specification.
        unsafe { *instance = handle };
        Ok(())
    })
}

/// vkDestroyInstance.
pub(crate) unsafe extern "system" fn destroy_instance(
    instance: vk::Instance,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    entry::guard("vkDestroyInstance", || {
        // SAFETY: null or a live handle by the specification.
        let Some(this) = (unsafe { object::get_optional::<Instance>(instance) }) else {
            return;
        };
        let scope = vk::SystemAllocationScope::INSTANCE;
        // SAFETY: valid by the specification.
        unsafe {
            let host = HostAllocator::choose(allocator, &this.host, scope);
            destroy(host, instance);
        }
    });
}

/// Destroys an instance and its physical devices.
///
/// # Safety
/// No one uses them any more.
unsafe fn destroy(host: HostAllocator, instance: vk::Instance) {
    // SAFETY: the caller's promise.
    unsafe {
        let this = object::get_mut::<Instance>(instance);
        for physical in this.physical_devices.drain(..) {
            object::destroy::<PhysicalDevice>(host, physical);
        }
        object::destroy::<Instance>(host, instance);
    }
}

impl Instance {
    fn find_devices(&mut self, handle: vk::Instance) -> VkResult {
        let Some(backend) = Backend::choose() else {
            return Ok(());
        };
        self.physical_devices
            .try_reserve_exact(1)
            .map_err(|_| vk::Result::ERROR_OUT_OF_HOST_MEMORY)?;
        let physical = PhysicalDevice::new(handle, backend)?;
        let physical = object::create(self.host, physical)?;
        self.physical_devices.push(physical);
        Ok(())
    }
}

/// vkEnumeratePhysicalDevices.
pub(crate) unsafe extern "system" fn enumerate_physical_devices(
    instance: vk::Instance,
    count: *mut u32,
    devices: *mut vk::PhysicalDevice,
) -> vk::Result {
    entry::try_guard("vkEnumeratePhysicalDevices", || {
        // SAFETY: valid by the specification.
        unsafe {
            let this = object::get::<Instance>(instance);
            entry::enumerate(this.physical_devices.iter().copied(), count, devices)
        }
    })
}
