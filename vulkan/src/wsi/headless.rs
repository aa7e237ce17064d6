// SPDX-License-Identifier: MIT
//! Surfaces without a window (VK_EXT_headless_surface): nobody sees what is presented.

use std::time::Duration;

use ash::vk;

use super::surface::{self, Description, Surface, Window};
use super::target::{Fit, Picture, Takes, Target};
use crate::entry;
use crate::error::VkResult;

/// Formats of swapchains, the ones that programs ask for first.
const FORMATS: &[vk::Format] = &[
    vk::Format::B8G8R8A8_SRGB,
    vk::Format::B8G8R8A8_UNORM,
    vk::Format::R8G8B8A8_SRGB,
    vk::Format::R8G8B8A8_UNORM,
];

/// What a surface without a window is like.
pub(super) fn describe() -> Description {
    let alpha = vk::CompositeAlphaFlagsKHR::OPAQUE | vk::CompositeAlphaFlagsKHR::INHERIT;
    Description::of_any_size(FORMATS, alpha)
}

/// Where images are not seen.
pub(super) struct Nowhere;

impl Target for Nowhere {
    fn takes(&self) -> Takes {
        Takes::Nothing
    }

    fn refresh_period(&self) -> Option<Duration> {
        None
    }

    fn show(&self, _picture: Picture<'_>) -> VkResult<Fit> {
        Ok(Fit::Exact)
    }
}

/// vkCreateHeadlessSurfaceEXT.
pub(crate) unsafe extern "system" fn create_headless_surface(
    instance: vk::Instance,
    _info: *const vk::HeadlessSurfaceCreateInfoEXT<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    surface: *mut vk::SurfaceKHR,
) -> vk::Result {
    entry::try_guard("vkCreateHeadlessSurfaceEXT", || {
        let made = Surface::new(Window::Headless);
        // SAFETY: valid by the specification.
        unsafe { surface::create(instance, made, allocator, surface) }
    })
}
