// SPDX-License-Identifier: MIT
//! VkSampler, as far as it is there: nothing samples yet.

use ash::vk;

use crate::device::{self, Device};
use crate::entry;
use crate::object::{self, Object};

/// A sampler.
pub(crate) struct Sampler;

impl Object for Sampler {
    type Handle = vk::Sampler;
}

/// vkCreateSampler.
pub(crate) unsafe extern "system" fn create_sampler(
    device: vk::Device,
    _info: *const vk::SamplerCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    sampler: *mut vk::Sampler,
) -> vk::Result {
    entry::try_guard("vkCreateSampler", || {
        // SAFETY: valid by the specification.
        unsafe {
            let device = object::get::<Device>(device);
            *sampler = object::create(device.allocator(allocator), Sampler)?;
        }
        Ok(())
    })
}

/// vkDestroySampler.
pub(crate) unsafe extern "system" fn destroy_sampler(
    device: vk::Device,
    sampler: vk::Sampler,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: null or a live handle that no one else uses, by the specification.
    unsafe { device::destroy_object::<Sampler>("vkDestroySampler", device, sampler, allocator) };
}
