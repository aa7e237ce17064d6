// SPDX-License-Identifier: MIT
//! Formats: none can be used, as there are no images and no texel buffers yet.

use ash::vk;

use crate::entry;

/// vkGetPhysicalDeviceFormatProperties.
pub(crate) unsafe extern "system" fn get_format(
    _physical: vk::PhysicalDevice,
    _format: vk::Format,
    properties: *mut vk::FormatProperties,
) {
    entry::guard("vkGetPhysicalDeviceFormatProperties", || {
        // SAFETY: valid by the specification.
        unsafe { *properties = vk::FormatProperties::default() };
    });
}

/// vkGetPhysicalDeviceFormatProperties2.
pub(crate) unsafe extern "system" fn get_format2(
    _physical: vk::PhysicalDevice,
    _format: vk::Format,
    properties: *mut vk::FormatProperties2<'_>,
) {
    entry::guard("vkGetPhysicalDeviceFormatProperties2", || {
        // SAFETY: valid by the specification.
        for link in unsafe { entry::chain_mut(properties.cast()) } {
            // SAFETY: links have the type that they name.
            unsafe {
                match (*link).s_type {
                    vk::StructureType::FORMAT_PROPERTIES_2 => {
                        entry::put(link, vk::FormatProperties2::default());
                    }
                    vk::StructureType::FORMAT_PROPERTIES_3 => {
                        entry::put(link, vk::FormatProperties3::default());
                    }
                    _ => {}
                }
            }
        }
    });
}

/// vkGetPhysicalDeviceImageFormatProperties.
pub(crate) unsafe extern "system" fn get_image_format(
    _physical: vk::PhysicalDevice,
    _format: vk::Format,
    _kind: vk::ImageType,
    _tiling: vk::ImageTiling,
    _usage: vk::ImageUsageFlags,
    _flags: vk::ImageCreateFlags,
    properties: *mut vk::ImageFormatProperties,
) -> vk::Result {
    entry::try_guard("vkGetPhysicalDeviceImageFormatProperties", || {
        // SAFETY: valid by the specification.
        unsafe { *properties = vk::ImageFormatProperties::default() };
        Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED)
    })
}

/// vkGetPhysicalDeviceImageFormatProperties2.
pub(crate) unsafe extern "system" fn get_image_format2(
    _physical: vk::PhysicalDevice,
    _info: *const vk::PhysicalDeviceImageFormatInfo2<'_>,
    properties: *mut vk::ImageFormatProperties2<'_>,
) -> vk::Result {
    entry::try_guard("vkGetPhysicalDeviceImageFormatProperties2", || {
        // The contents of the chain are undefined after this error, but for the base structure.
        // SAFETY: valid by the specification.
        unsafe { (*properties).image_format_properties = vk::ImageFormatProperties::default() };
        Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED)
    })
}

/// vkGetPhysicalDeviceSparseImageFormatProperties.
pub(crate) unsafe extern "system" fn get_sparse_image_formats(
    _physical: vk::PhysicalDevice,
    _format: vk::Format,
    _kind: vk::ImageType,
    _samples: vk::SampleCountFlags,
    _usage: vk::ImageUsageFlags,
    _tiling: vk::ImageTiling,
    count: *mut u32,
    _properties: *mut vk::SparseImageFormatProperties,
) {
    entry::guard("vkGetPhysicalDeviceSparseImageFormatProperties", || {
        // SAFETY: valid by the specification.
        unsafe { *count = 0 };
    });
}

/// vkGetPhysicalDeviceSparseImageFormatProperties2.
pub(crate) unsafe extern "system" fn get_sparse_image_formats2(
    _physical: vk::PhysicalDevice,
    _info: *const vk::PhysicalDeviceSparseImageFormatInfo2<'_>,
    count: *mut u32,
    _properties: *mut vk::SparseImageFormatProperties2<'_>,
) {
    entry::guard("vkGetPhysicalDeviceSparseImageFormatProperties2", || {
        // SAFETY: valid by the specification.
        unsafe { *count = 0 };
    });
}
