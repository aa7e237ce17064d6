// SPDX-License-Identifier: MIT
//! VkPhysicalDevice: what the GPU can do.

use agx_uapi::Chip;
use agx_uapi::abi::ParamsGlobal;
use ash::vk;

use crate::backend::Backend;
use crate::error::{VkResult, kernel};
use crate::object::Object;

/// A GPU.
pub(crate) struct PhysicalDevice {
    /// Whose it is.
    pub(crate) instance: vk::Instance,
    /// How to open it.
    pub(crate) backend: Backend,
    /// What its kernel driver says of it.
    pub(crate) params: ParamsGlobal,
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
            params,
            chip,
        })
    }
}
