// SPDX-License-Identifier: MIT
//! VkSampler, as far as it is there: nothing samples yet.

use ash::vk;

use crate::device::Device;
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
    entry::guard("vkDestroySampler", || {
        // SAFETY: valid by the specification; no one uses the sampler any more.
        unsafe {
            let device = object::get::<Device>(device);
            object::destroy::<Sampler>(device.allocator(allocator), sampler);
        }
    });
}
