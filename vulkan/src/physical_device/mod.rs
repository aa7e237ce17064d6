// SPDX-License-Identifier: MIT
//! VkPhysicalDevice: what the GPU can do.

pub(crate) mod external;
pub(crate) mod features;
pub(crate) mod formats;
pub(crate) mod group;
pub(crate) mod identity;
pub(crate) mod limits;
pub(crate) mod memory;
pub(crate) mod properties;
pub(crate) mod queue_families;
pub(crate) mod tools;

use agx_uapi::Chip;
use ash::vk;

use crate::backend::Backend;
use crate::entry;
use crate::error::{VkResult, kernel};
use crate::extensions;
use crate::object::Object;

/// A GPU.
pub(crate) struct PhysicalDevice {
    /// Whose it is.
    pub(crate) instance: vk::Instance,
    /// How to open it.
    pub(crate) backend: Backend,
    /// Which of the two it is.
    pub(crate) chip: Chip,
}

impl Object for PhysicalDevice {
    type Handle = vk::PhysicalDevice;
}

impl PhysicalDevice {
    pub(crate) fn new(instance: vk::Instance, backend: Backend) -> VkResult<PhysicalDevice> {
        let params = backend.open()?.params().map_err(kernel("GET_PARAMS"))?;
        let chip = match params.gpu_generation {
            16 => Chip::M4,
            17 => Chip::A18Pro,
            other => {
                crate::debug::error(&format_args!(
                    "GPU generation {other} is neither 16 (M4) nor 17 (A18 Pro)"
                ));
                return Err(vk::Result::ERROR_INCOMPATIBLE_DRIVER);
            }
        };
        Ok(PhysicalDevice {
            instance,
            backend,
            chip,
        })
    }
}

/// vkEnumerateDeviceExtensionProperties.
pub(crate) unsafe extern "system" fn enumerate_extensions(
    _physical: vk::PhysicalDevice,
    layer: *const std::ffi::c_char,
    count: *mut u32,
    properties: *mut vk::ExtensionProperties,
) -> vk::Result {
    entry::try_guard("vkEnumerateDeviceExtensionProperties", || {
        if !layer.is_null() {
            return Err(vk::Result::ERROR_LAYER_NOT_PRESENT);
        }
        // SAFETY: valid by the specification.
        unsafe {
            entry::enumerate(
                extensions::properties(extensions::DEVICE),
                count,
                properties,
            )
        }
    })
}

/// vkEnumerateDeviceLayerProperties: drivers have no layers.
pub(crate) unsafe extern "system" fn enumerate_layers(
    _physical: vk::PhysicalDevice,
    count: *mut u32,
    properties: *mut vk::LayerProperties,
) -> vk::Result {
    entry::try_guard("vkEnumerateDeviceLayerProperties", || {
        // SAFETY: valid by the specification.
        unsafe { entry::enumerate(std::iter::empty(), count, properties) }
    })
}
