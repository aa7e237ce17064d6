// SPDX-License-Identifier: MIT
//! VkFramebuffer: the views that a render pass renders to, or only their extent where they come when it
//! begins.

use std::ptr::NonNull;

use ash::vk;

use crate::device::{self, Device};
use crate::entry;
use crate::error::VkResult;
use crate::host::{HostAllocator, HostVec, OUT_OF_HOST};
use crate::image::ImageView;
use crate::object::{self, Object};

/// A framebuffer.
pub(crate) struct Framebuffer {
    /// By attachment; they live as long as the framebuffer is used. None when it is imageless.
    pub(crate) views: HostVec<NonNull<ImageView>>,
    pub(crate) extent: vk::Extent2D,
    pub(crate) layers: u32,
}

impl Object for Framebuffer {
    type Handle = vk::Framebuffer;
}

/// Appends the views behind handles.
///
/// # Errors
/// When there is no host memory.
///
/// # Safety
/// The handles are of views.
pub(crate) unsafe fn append_views(
    to: &mut HostVec<NonNull<ImageView>>,
    handles: &[vk::ImageView],
) -> VkResult {
    to.try_reserve(handles.len()).map_err(|_| OUT_OF_HOST)?;
    for handle in handles {
        // SAFETY: the caller's promise.
        to.push(NonNull::from(unsafe { object::get::<ImageView>(*handle) }));
    }
    Ok(())
}

impl Framebuffer {
    /// # Safety
    /// The structure is valid.
    unsafe fn new(
        host: HostAllocator,
        info: &vk::FramebufferCreateInfo<'_>,
    ) -> VkResult<Framebuffer> {
        let mut views = host.vec();
        if !info.flags.contains(vk::FramebufferCreateFlags::IMAGELESS) {
            // SAFETY: the caller's promise.
            unsafe {
                let handles = entry::slice(info.p_attachments, info.attachment_count);
                append_views(&mut views, handles)?;
            }
        }
        Ok(Framebuffer {
            views,
            extent: vk::Extent2D {
                width: info.width,
                height: info.height,
            },
            layers: info.layers,
        })
    }
}

/// vkCreateFramebuffer.
pub(crate) unsafe extern "system" fn create_framebuffer(
    device: vk::Device,
    info: *const vk::FramebufferCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    framebuffer: *mut vk::Framebuffer,
) -> vk::Result {
    entry::try_guard("vkCreateFramebuffer", || {
        // SAFETY: valid by the specification.
        unsafe {
            let host = object::get::<Device>(device).allocator(allocator);
            *framebuffer = object::create(host, Framebuffer::new(host, &*info)?)?;
        }
        Ok(())
    })
}

/// vkDestroyFramebuffer.
pub(crate) unsafe extern "system" fn destroy_framebuffer(
    device: vk::Device,
    framebuffer: vk::Framebuffer,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: null or a live handle that no one else uses, by the specification.
    unsafe {
        device::destroy_object::<Framebuffer>(
            "vkDestroyFramebuffer",
            device,
            framebuffer,
            allocator,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Driver, FailingHost, for_each_failure};

    #[test]
    fn every_refusal_of_host_memory_is_told_and_leaks_nothing() {
        let host = FailingHost::new();
        let driver = Driver::with_host(&host);
        let device = &driver.device;
        let image = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(vk::Format::R8G8B8A8_UNORM)
            .extent(vk::Extent3D {
                width: 8,
                height: 4,
                depth: 1,
            })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::COLOR_ATTACHMENT);
        // SAFETY: valid structures and live handles, here and below.
        unsafe {
            let image = device.create_image(&image, None).expect("an image");
            let info = vk::ImageViewCreateInfo::default()
                .image(image)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(vk::Format::R8G8B8A8_UNORM)
                .subresource_range(vk::ImageSubresourceRange {
                    aspect_mask: vk::ImageAspectFlags::COLOR,
                    level_count: 1,
                    layer_count: 1,
                    ..Default::default()
                });
            let view = device.create_image_view(&info, None).expect("a view");
            let views = [view; 2];
            let info = vk::FramebufferCreateInfo::default()
                .attachments(&views)
                .width(8)
                .height(4)
                .layers(1);
            let failures = for_each_failure(
                &host,
                |callbacks| device.create_framebuffer(&info, Some(callbacks)),
                |made, callbacks| device.destroy_framebuffer(made, Some(callbacks)),
            );
            assert_eq!(failures, 2);
            let made = device.create_framebuffer(&info, None).expect("one");
            let this = object::get::<Framebuffer>(made);
            assert_eq!((this.views.len(), this.layers), (2, 1));
            assert_eq!((this.extent.width, this.extent.height), (8, 4));
            device.destroy_framebuffer(made, None);

            // An imageless one does not look at views.
            let info = vk::FramebufferCreateInfo {
                flags: vk::FramebufferCreateFlags::IMAGELESS,
                p_attachments: std::ptr::null(),
                ..info
            };
            let made = device.create_framebuffer(&info, None).expect("one");
            assert!(object::get::<Framebuffer>(made).views.is_empty());
            device.destroy_framebuffer(made, None);
            device.destroy_image_view(view, None);
            device.destroy_image(image, None);
        }
    }
}
