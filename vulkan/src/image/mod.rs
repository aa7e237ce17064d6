// SPDX-License-Identifier: MIT
//! VkImage.
//!
//! An image is one image of the hardware, or two where depth and stencil are together. What is tiled
//! lies as hardware computes it from the records (images, 7), so that an image knows all offsets from its
//! description alone.

pub(crate) mod description;
pub(crate) mod descriptor;
pub(crate) mod format;
pub(crate) mod modifier;
pub(crate) mod pack;
mod view;

use agx_hw::layout::{Memory, PAGE};
use ash::vk;

pub(crate) use self::description::{Description, Most, Plane, Planes};
pub(crate) use self::view::{ImageView, create_image_view, destroy_image_view, level_texture};
use crate::debug;
use crate::device::{self, Device};
use crate::entry;
use crate::error::VkResult;
use crate::memory::{self, DeviceMemory};
use crate::object::{self, Object};
use crate::wsi::Swapchain;

/// An image.
pub(crate) struct Image {
    pub(crate) description: Description,
    pub(crate) planes: Planes,
    /// Bytes of memory.
    size: u64,
    /// The GPU's address of the first byte; 0 until memory is bound.
    pub(crate) address: u64,
}

impl Object for Image {
    type Handle = vk::Image;
}

impl Image {
    /// # Errors
    /// [`vk::Result::ERROR_FORMAT_NOT_SUPPORTED`] for what there cannot be, with a message, and what
    /// [`modifier::rows`] says.
    ///
    /// # Safety
    /// The structure is valid.
    unsafe fn new(info: &vk::ImageCreateInfo<'_>) -> VkResult<Image> {
        // SAFETY: the caller's promise.
        let rows = unsafe { modifier::rows(info)? };
        let description = Description::of(info, rows);
        let planes = description.planes().map_err(|why| {
            debug::error(&format_args!("vkCreateImage: {why}"));
            match rows {
                Some(_) => vk::Result::ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT,
                None => vk::Result::ERROR_FORMAT_NOT_SUPPORTED,
            }
        })?;
        let size = planes
            .last()
            .map_or(0, |plane| plane.offset + plane.memory.size());
        Ok(Image {
            description,
            planes,
            size: size.next_multiple_of(PAGE),
            address: 0,
        })
    }

    /// The plane that has an aspect: the depth where two are asked for.
    pub(crate) fn plane(&self, aspect: vk::ImageAspectFlags) -> Option<&Plane> {
        let own = format::aspects(self.description.format);
        // The memory plane of an image with a DRM format modifier.
        if aspect == vk::ImageAspectFlags::MEMORY_PLANE_0_EXT {
            return self.planes.first();
        }
        let asked = aspect & own;
        if asked.is_empty() {
            return None;
        }
        match asked == vk::ImageAspectFlags::STENCIL {
            true => self.planes.last(),
            false => self.planes.first(),
        }
    }
}

/// vkCreateImage.
pub(crate) unsafe extern "system" fn create_image(
    device: vk::Device,
    info: *const vk::ImageCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    image: *mut vk::Image,
) -> vk::Result {
    entry::try_guard("vkCreateImage", || {
        // SAFETY: valid by the specification.
        unsafe {
            let device = object::get::<Device>(device);
            let made = Image::new(&*info)?;
            *image = object::create(device.allocator(allocator), made)?;
        }
        Ok(())
    })
}

/// vkDestroyImage.
pub(crate) unsafe extern "system" fn destroy_image(
    device: vk::Device,
    image: vk::Image,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: null or a live handle that no one else uses, by the specification.
    unsafe { device::destroy_object::<Image>("vkDestroyImage", device, image, allocator) };
}

fn requirements(size: u64) -> vk::MemoryRequirements {
    memory::requirements(size, PAGE)
}

/// vkGetImageMemoryRequirements.
pub(crate) unsafe extern "system" fn get_image_memory_requirements(
    _device: vk::Device,
    image: vk::Image,
    to: *mut vk::MemoryRequirements,
) {
    entry::guard("vkGetImageMemoryRequirements", || {
        // SAFETY: valid by the specification.
        unsafe { *to = requirements(object::get::<Image>(image).size) };
    });
}

/// vkGetImageMemoryRequirements2.
pub(crate) unsafe extern "system" fn get_image_memory_requirements2(
    _device: vk::Device,
    info: *const vk::ImageMemoryRequirementsInfo2<'_>,
    to: *mut vk::MemoryRequirements2<'_>,
) {
    entry::guard("vkGetImageMemoryRequirements2", || {
        // SAFETY: valid by the specification.
        unsafe {
            memory::write_requirements(requirements(object::get::<Image>((*info).image).size), to);
        }
    });
}

/// vkGetDeviceImageMemoryRequirements.
pub(crate) unsafe extern "system" fn get_device_image_memory_requirements(
    _device: vk::Device,
    info: *const vk::DeviceImageMemoryRequirements<'_>,
    to: *mut vk::MemoryRequirements2<'_>,
) {
    entry::guard("vkGetDeviceImageMemoryRequirements", || {
        // SAFETY: valid by the specification.
        unsafe {
            memory::write_requirements(
                requirements(Image::new(&*(*info).p_create_info).map_or(0, |image| image.size)),
                to,
            );
        }
    });
}

/// Binds memory to an image.
///
/// # Safety
/// Both handles are valid, and the image is externally synchronised.
unsafe fn bind(image: vk::Image, memory: vk::DeviceMemory, offset: u64) -> VkResult {
    // SAFETY: the caller's promise.
    let (image, memory) = unsafe {
        (
            object::get_mut::<Image>(image),
            object::get::<DeviceMemory>(memory),
        )
    };
    image.address = memory.place("an image", offset, image.size)?;
    Ok(())
}

/// vkBindImageMemory.
pub(crate) unsafe extern "system" fn bind_image_memory(
    _device: vk::Device,
    image: vk::Image,
    memory: vk::DeviceMemory,
    offset: vk::DeviceSize,
) -> vk::Result {
    entry::try_guard("vkBindImageMemory", || {
        // SAFETY: valid and externally synchronised by the specification.
        unsafe { bind(image, memory, offset) }
    })
}

/// The memory of a swapchain's image that an image is bound to instead of memory of its own.
///
/// # Safety
/// The structure is valid.
unsafe fn swapchain_memory(info: &vk::BindImageMemoryInfo<'_>) -> Option<vk::DeviceMemory> {
    // SAFETY: the caller's promise.
    unsafe {
        let of = entry::find::<vk::BindImageMemorySwapchainInfoKHR<'_>>(info.p_next)?;
        object::get_optional::<Swapchain>(of.swapchain)?.memory_of(of.image_index)
    }
}

/// vkBindImageMemory2.
pub(crate) unsafe extern "system" fn bind_image_memory2(
    _device: vk::Device,
    count: u32,
    infos: *const vk::BindImageMemoryInfo<'_>,
) -> vk::Result {
    entry::try_guard("vkBindImageMemory2", || {
        let mut result = Ok(());
        // SAFETY: valid and externally synchronised by the specification.
        for info in unsafe { entry::slice(infos, count) } {
            // SAFETY: as above.
            let bound = unsafe {
                match swapchain_memory(info) {
                    Some(memory) => bind(info.image, memory, 0),
                    None => bind(info.image, info.memory, info.memory_offset),
                }
            };
            result = result.and(bound);
        }
        result
    })
}

/// Where a level of a layer of an image is, for the CPU: only of linear images.
fn subresource_layout(image: &Image, subresource: &vk::ImageSubresource) -> vk::SubresourceLayout {
    let Some(plane) = image.plane(subresource.aspect_mask) else {
        return vk::SubresourceLayout::default();
    };
    match &plane.memory {
        Memory::Linear(linear) => vk::SubresourceLayout {
            offset: plane.offset,
            size: linear.size(),
            row_pitch: linear.stride().into(),
            array_pitch: linear.size(),
            depth_pitch: linear.size(),
        },
        // Of tiled images too, what can be said: maintenance5 lets applications ask.
        Memory::Tiled(tiled) => {
            let level = tiled.levels().get(subresource.mip_level as usize);
            let layer = u64::from(subresource.array_layer) * tiled.layer_stride();
            level.map_or_else(vk::SubresourceLayout::default, |level| {
                vk::SubresourceLayout {
                    offset: plane.offset + layer + level.offset,
                    size: level.size,
                    row_pitch: 0,
                    array_pitch: tiled.layer_stride(),
                    depth_pitch: tiled.layer_stride(),
                }
            })
        }
    }
}

/// vkGetImageSubresourceLayout.
pub(crate) unsafe extern "system" fn get_image_subresource_layout(
    _device: vk::Device,
    image: vk::Image,
    subresource: *const vk::ImageSubresource,
    layout: *mut vk::SubresourceLayout,
) {
    entry::guard("vkGetImageSubresourceLayout", || {
        // SAFETY: valid by the specification.
        unsafe { *layout = subresource_layout(object::get::<Image>(image), &*subresource) };
    });
}
