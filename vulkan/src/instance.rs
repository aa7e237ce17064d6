// SPDX-License-Identifier: MIT
//! VkInstance: what the application and the driver agree on before there is a device.

use ash::vk;

use crate::backend::Backend;
use crate::debug;
use crate::debug_utils::AtBirthAndDeath;
use crate::entry;
use crate::error::VkResult;
use crate::extensions::{self, Set};
use crate::host::{HostAllocator, HostVec, OUT_OF_HOST};
use crate::object::{self, Object};
use crate::physical_device::PhysicalDevice;

/// The version of Vulkan that the driver follows: the newest patch that ash's definitions know.
pub(crate) const API_VERSION: u32 = vk::make_api_version(0, 1, 3, vk::HEADER_VERSION);

/// An instance.
pub(crate) struct Instance {
    /// Where its memory comes from.
    pub(crate) host: HostAllocator,
    /// The version that the application asked for; [`vk::API_VERSION_1_0`] when it did not say.
    pub(crate) api_version: u32,
    /// Extensions that the application enabled.
    pub(crate) extensions: Set,
    physical_devices: HostVec<vk::PhysicalDevice>,
    /// Who hears what goes wrong while it is created or destroyed.
    listener: Option<AtBirthAndDeath>,
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
        // SAFETY: valid by the specification.
        let listener = unsafe { AtBirthAndDeath::find(info.p_next) };
        let _listening = listener.map(|it| it.listen()).transpose()?;
        if info.enabled_layer_count != 0 {
            debug::error(&"the driver has no layers; the loader loads them");
            return Err(vk::Result::ERROR_LAYER_NOT_PRESENT);
        }
        // SAFETY: valid by the specification.
        let extensions = unsafe {
            let names = info.pp_enabled_extension_names;
            Set::named(extensions::INSTANCE, names, info.enabled_extension_count)?
        };
        // SAFETY: null or valid by the specification.
        let application = unsafe { info.p_application_info.as_ref() };
        let made = Instance {
            host,
            api_version: application
                .map(|application| application.api_version)
                .filter(|version| *version != 0)
                .unwrap_or(vk::API_VERSION_1_0),
            extensions,
            physical_devices: host.vec(),
            listener,
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
        // Without memory for a listener it is not listened to.
        let _listening = this.listener.and_then(|it| it.listen().ok());
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
    /// The GPUs that it found.
    pub(crate) fn physical_devices(&self) -> &[vk::PhysicalDevice] {
        &self.physical_devices
    }

    fn find_devices(&mut self, handle: vk::Instance) -> VkResult {
        let Some(backend) = Backend::choose() else {
            return Ok(());
        };
        self.physical_devices
            .try_reserve_exact(1)
            .map_err(|_| OUT_OF_HOST)?;
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

/// vkEnumerateInstanceVersion.
pub(crate) unsafe extern "system" fn enumerate_version(version: *mut u32) -> vk::Result {
    entry::try_guard("vkEnumerateInstanceVersion", || {
        // SAFETY: valid by the specification.
        unsafe { *version = API_VERSION };
        Ok(())
    })
}

/// vkEnumerateInstanceExtensionProperties.
pub(crate) unsafe extern "system" fn enumerate_extensions(
    layer: *const std::ffi::c_char,
    count: *mut u32,
    properties: *mut vk::ExtensionProperties,
) -> vk::Result {
    entry::try_guard("vkEnumerateInstanceExtensionProperties", || {
        if !layer.is_null() {
            return Err(vk::Result::ERROR_LAYER_NOT_PRESENT);
        }
        let all = extensions::properties(extensions::INSTANCE);
        // SAFETY: valid by the specification.
        unsafe { entry::enumerate(all, count, properties) }
    })
}

/// vkEnumerateInstanceLayerProperties: drivers have no layers.
pub(crate) unsafe extern "system" fn enumerate_layers(
    count: *mut u32,
    properties: *mut vk::LayerProperties,
) -> vk::Result {
    entry::try_guard("vkEnumerateInstanceLayerProperties", || {
        // SAFETY: valid by the specification.
        unsafe { entry::enumerate(std::iter::empty(), count, properties) }
    })
}
