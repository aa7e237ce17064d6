// SPDX-License-Identifier: MIT
//! VkImage and VkImageView, as far as they are there: an image has its layout and memory, and
//! nothing reads or writes it yet.
//!
//! No format is advertised, so applications that ask find that they can do nothing with images. Some
//! make one all the same, to have something to bind.

use agx_hw::format::Format;
use agx_hw::launcher::Samples;
use agx_hw::layout::{Image as Description, PAGE, Stack, Tiled, Usage};
use ash::vk;

use crate::debug;
use crate::device::{self, Device};
use crate::entry;
use crate::error::VkResult;
use crate::memory::{self, DeviceMemory};
use crate::object::{self, Object};

/// An image.
pub(crate) struct Image {
    /// Bytes of memory.
    size: u64,
    /// The GPU's address of the first byte; 0 until memory is bound.
    pub(crate) address: u64,
}

impl Object for Image {
    type Handle = vk::Image;
}

/// A view of an image.
pub(crate) struct ImageView {
    /// What it is a view of.
    _image: vk::Image,
}

impl Object for ImageView {
    type Handle = vk::ImageView;
}

/// Bytes of an image's memory.
///
/// # Errors
/// [`vk::Result::ERROR_FORMAT_NOT_SUPPORTED`] for what the hardware has no image of.
fn size(info: &vk::ImageCreateInfo<'_>) -> VkResult<u64> {
    let refused = |why: &dyn std::fmt::Display| {
        debug::error(&format_args!("vkCreateImage: {why}"));
        vk::Result::ERROR_FORMAT_NOT_SUPPORTED
    };
    // agx-hw names formats as Vulkan does.
    let name = format!("{:?}", info.format);
    let format = Format::from_name(&name).ok_or_else(|| refused(&format_args!("no {name}")))?;
    let samples = match info.samples {
        vk::SampleCountFlags::TYPE_1 => Samples::One,
        vk::SampleCountFlags::TYPE_2 => Samples::Two,
        vk::SampleCountFlags::TYPE_4 => Samples::Four,
        other => return Err(refused(&format_args!("{other:?} samples"))),
    };
    let stack = match info.image_type {
        vk::ImageType::TYPE_3D => Stack::Slices(info.extent.depth),
        _ => Stack::Layers(info.array_layers),
    };
    let description = Description {
        width: info.extent.width,
        height: info.extent.height,
        stack,
        element: format.element(),
        samples,
        mipmapped: info.mip_levels > 1,
        page_aligned: false,
    };
    let usage = Usage {
        storage: info.usage.contains(vk::ImageUsageFlags::STORAGE),
        attachment: info.usage.contains(vk::ImageUsageFlags::COLOR_ATTACHMENT),
        depth_stencil: info
            .usage
            .contains(vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT),
    };
    let layout = Tiled::for_usage(description, usage).map_err(|error| refused(&error))?;
    Ok(layout.size())
}

fn requirements(size: u64) -> vk::MemoryRequirements {
    memory::requirements(size, PAGE)
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
        let (device, info) = unsafe { (object::get::<Device>(device), &*info) };
        let made = Image {
            size: size(info)?,
            address: 0,
        };
        // SAFETY: as above.
        unsafe { *image = object::create(device.allocator(allocator), made)? };
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
                requirements(size(&*(*info).p_create_info).unwrap_or(0)),
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
            let bound = unsafe { bind(info.image, info.memory, info.memory_offset) };
            result = result.and(bound);
        }
        result
    })
}

/// vkCreateImageView.
pub(crate) unsafe extern "system" fn create_image_view(
    device: vk::Device,
    info: *const vk::ImageViewCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    view: *mut vk::ImageView,
) -> vk::Result {
    entry::try_guard("vkCreateImageView", || {
        // SAFETY: valid by the specification.
        unsafe {
            let device = object::get::<Device>(device);
            let made = ImageView {
                _image: (*info).image,
            };
            *view = object::create(device.allocator(allocator), made)?;
        }
        Ok(())
    })
}

/// vkDestroyImageView.
pub(crate) unsafe extern "system" fn destroy_image_view(
    device: vk::Device,
    view: vk::ImageView,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: null or a live handle that no one else uses, by the specification.
    unsafe { device::destroy_object::<ImageView>("vkDestroyImageView", device, view, allocator) };
}
