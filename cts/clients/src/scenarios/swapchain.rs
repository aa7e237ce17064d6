// SPDX-License-Identifier: MIT
//! Swapchains whose images are seen in two formats.

use anyhow::ensure;
use ash::vk;

use super::pictures::{area, floats};
use super::present::headless_surface;
use super::scenario;
use crate::image::{Image, Shape};
use crate::scenario::Scenario;
use crate::scope::{Scope, TIMEOUT};

pub(super) const SCENARIOS: &[Scenario] = &[scenario("swapchain.mutable_format", mutable_format)];

const SIZE: [u32; 2] = [40, 24];

/// Linear colours through a view on the curve of sRGB, and bytes through one that is not.
unsafe fn mutable_format(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu.needs(ash::khr::swapchain_mutable_format::NAME)?;
    let surface = headless_surface(s)?;
    let device = s.device();
    let functions = ash::khr::swapchain::Device::new(&s.gpu.instance, device);
    let (plain, curved) = (vk::Format::B8G8R8A8_UNORM, vk::Format::B8G8R8A8_SRGB);
    let formats = [plain, curved];
    let mut list = vk::ImageFormatListCreateInfo::default().view_formats(&formats);
    let info = vk::SwapchainCreateInfoKHR::default()
        .flags(vk::SwapchainCreateFlagsKHR::MUTABLE_FORMAT)
        .surface(surface)
        .min_image_count(2)
        .image_format(plain)
        .image_color_space(vk::ColorSpaceKHR::SRGB_NONLINEAR)
        .image_extent(vk::Extent2D {
            width: SIZE[0],
            height: SIZE[1],
        })
        .image_array_layers(1)
        .image_usage(vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC)
        .pre_transform(vk::SurfaceTransformFlagsKHR::IDENTITY)
        .composite_alpha(vk::CompositeAlphaFlagsKHR::OPAQUE)
        .present_mode(vk::PresentModeKHR::FIFO)
        .clipped(true)
        .push_next(&mut list);
    let chain = functions.create_swapchain(&info, None)?;
    let destroy = functions.clone();
    s.at_end(move |_| destroy.destroy_swapchain(chain, None));
    let images = functions.get_swapchain_images(chain)?;
    for (format, expected) in [(plain, [128, 64, 0]), (curved, [188, 137, 0])] {
        let fence = s.fence(vk::FenceCreateFlags::empty())?;
        let none = vk::Semaphore::null();
        let (index, _) = functions.acquire_next_image(chain, TIMEOUT, none, fence)?;
        s.wait(&[fence])?;
        let image = Image {
            handle: images[index as usize],
            shape: Shape::flat(plain, 4, SIZE[0], SIZE[1]),
        };
        let identity = vk::ComponentMapping::default();
        let view = s.view_as(image, vk::ImageViewType::TYPE_2D, format, identity)?;
        let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        image.to_layout(
            s,
            commands,
            vk::ImageLayout::UNDEFINED,
            vk::ImageLayout::GENERAL,
        );
        let attachments = [vk::RenderingAttachmentInfo::default()
            .image_view(view)
            .image_layout(vk::ImageLayout::GENERAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)
            .clear_value(vk::ClearValue {
                color: floats([128.0 / 255.0, 64.0 / 255.0, 0.0, 1.0]),
            })];
        let info = vk::RenderingInfo::default()
            .render_area(area(0, 0, SIZE[0], SIZE[1]))
            .layer_count(1)
            .color_attachments(&attachments);
        device.cmd_begin_rendering(commands, &info);
        device.cmd_end_rendering(commands);
        let back = s.read_back(commands, image)?;
        image.to_layout(
            s,
            commands,
            vk::ImageLayout::GENERAL,
            vk::ImageLayout::PRESENT_SRC_KHR,
        );
        s.finish(commands)?;
        let (chains, indices) = ([chain], [index]);
        let info = vk::PresentInfoKHR::default()
            .swapchains(&chains)
            .image_indices(&indices);
        functions.queue_present(s.gpu.queue, &info)?;
        device.queue_wait_idle(s.gpu.queue)?;
        // Blue comes first in memory. The curve may be off by one.
        let expected = [expected[2], expected[1], expected[0], 255];
        for pixel in back.bytes().as_chunks::<4>().0 {
            let mut both = pixel.iter().zip(expected);
            ensure!(
                both.all(|(a, b)| a.abs_diff(b) <= u8::from(format == curved)),
                "{format:?}: {pixel:?} instead of {expected:?}"
            );
        }
    }
    Ok(())
}
