// SPDX-License-Identifier: MIT
//! Images whose layout other drivers know (VK_EXT_image_drm_format_modifier): they leave as dma-bufs and come back.

use std::os::fd::{FromRawFd as _, IntoRawFd as _, OwnedFd};

use anyhow::{Context as _, ensure};
use ash::vk;

use super::scenario;
use crate::image::{Image, Shape};
use crate::model::bytes;
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("modifiers.questions", questions),
    scenario("modifiers.shared", shared),
    scenario("modifiers.given_rows", given_rows),
    scenario("modifiers.refused", refused),
];

/// `DRM_FORMAT_MOD_LINEAR`.
const LINEAR: u64 = 0;
/// A tiled layout of other hardware (`I915_FORMAT_MOD_X_TILED`).
const FOREIGN: u64 = 0x0100_0000_0000_0001;

const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;
const DMA_BUF: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT;
const USAGE: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::TRANSFER_SRC.as_raw()
        | vk::ImageUsageFlags::TRANSFER_DST.as_raw()
        | vk::ImageUsageFlags::COLOR_ATTACHMENT.as_raw()
        | vk::ImageUsageFlags::SAMPLED.as_raw(),
);

/// Rows that end within those of the hardware.
fn shape() -> Shape {
    Shape::flat(FORMAT, 4, 77, 43)
}

fn needed(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu.needs(ash::khr::external_memory_fd::NAME)?;
    s.gpu.needs(ash::ext::external_memory_dma_buf::NAME)?;
    s.gpu.needs(ash::ext::image_drm_format_modifier::NAME)
}

/// What can be done with images of a modifier.
unsafe fn properties(
    s: &Scope<'_>,
    format: vk::Format,
    modifier: u64,
) -> Result<vk::ImageFormatProperties, vk::Result> {
    let mut asked =
        vk::PhysicalDeviceImageDrmFormatModifierInfoEXT::default().drm_format_modifier(modifier);
    let mut external = vk::PhysicalDeviceExternalImageFormatInfo::default().handle_type(DMA_BUF);
    let info = vk::PhysicalDeviceImageFormatInfo2::default()
        .format(format)
        .ty(vk::ImageType::TYPE_2D)
        .tiling(vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT)
        .usage(USAGE)
        .push_next(&mut asked)
        .push_next(&mut external);
    let mut answer = vk::ImageFormatProperties2::default();
    s.gpu
        .instance
        .get_physical_device_image_format_properties2(s.gpu.physical, &info, &mut answer)?;
    Ok(answer.image_format_properties)
}

/// Modifiers of formats, with what linear images can do anyway.
unsafe fn questions(s: &Scope<'_>) -> anyhow::Result<()> {
    needed(s)?;
    for (format, offered) in [
        (FORMAT, true),
        (vk::Format::B8G8R8A8_SRGB, true),
        (vk::Format::R16G16B16A16_SFLOAT, true),
        (vk::Format::D32_SFLOAT, false),
        (vk::Format::BC1_RGB_UNORM_BLOCK, false),
    ] {
        let mut room = [vk::DrmFormatModifierPropertiesEXT::default(); 8];
        let mut list = vk::DrmFormatModifierPropertiesListEXT::default()
            .drm_format_modifier_properties(&mut room);
        let mut all = vk::FormatProperties2::default().push_next(&mut list);
        let (instance, physical) = (&s.gpu.instance, s.gpu.physical);
        instance.get_physical_device_format_properties2(physical, format, &mut all);
        let linear = all.format_properties.linear_tiling_features;
        let count = list.drm_format_modifier_count as usize;
        let found = room[..count].iter();
        let found = found.clone().find(|it| it.drm_format_modifier == LINEAR);
        ensure!(found.is_some() == offered, "{format:?}: {count} modifiers");
        if let Some(found) = found {
            ensure!(found.drm_format_modifier_plane_count == 1);
            ensure!(found.drm_format_modifier_tiling_features == linear);
        }
        let can = properties(s, format, LINEAR);
        ensure!(can.is_ok() == offered, "{format:?}: {can:?}");
        let cannot = properties(s, format, FOREIGN);
        ensure!(
            cannot.err() == Some(vk::Result::ERROR_FORMAT_NOT_SUPPORTED),
            "{format:?}"
        );
    }
    Ok(())
}

/// An image of a modifier: of a list, or with rows where they are said to be.
unsafe fn image(s: &Scope<'_>, rows: Option<vk::SubresourceLayout>) -> Result<Image, vk::Result> {
    let shape = shape();
    let modifiers = [LINEAR];
    let layouts = [rows.unwrap_or_default()];
    let mut list =
        vk::ImageDrmFormatModifierListCreateInfoEXT::default().drm_format_modifiers(&modifiers);
    let mut explicit = vk::ImageDrmFormatModifierExplicitCreateInfoEXT::default()
        .drm_format_modifier(LINEAR)
        .plane_layouts(&layouts);
    let mut external = vk::ExternalMemoryImageCreateInfo::default().handle_types(DMA_BUF);
    let [width, height, depth] = shape.texels(0);
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(FORMAT)
        .extent(vk::Extent3D {
            width,
            height,
            depth,
        })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .tiling(vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT)
        .usage(USAGE)
        .push_next(&mut external);
    let info = match rows {
        Some(_) => info.push_next(&mut explicit),
        None => info.push_next(&mut list),
    };
    let handle = s.device().create_image(&info, None)?;
    s.at_end(move |device| device.destroy_image(handle, None));
    Ok(Image { handle, shape })
}

/// Memory of its own for an image: new, or that of a dma-buf.
unsafe fn bind(
    s: &Scope<'_>,
    image: &Image,
    from: Option<OwnedFd>,
) -> anyhow::Result<vk::DeviceMemory> {
    let needs = s.device().get_image_memory_requirements(image.handle);
    let host = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let mut dedicated = vk::MemoryDedicatedAllocateInfo::default().image(image.handle);
    let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(DMA_BUF);
    let mut import = vk::ImportMemoryFdInfoKHR::default().handle_type(DMA_BUF);
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(needs.size)
        .memory_type_index(s.memory_type(needs.memory_type_bits, host)?)
        .push_next(&mut dedicated);
    let info = match from {
        Some(file) => {
            import.fd = file.into_raw_fd();
            info.push_next(&mut import)
        }
        None => info.push_next(&mut export),
    };
    let memory = s.device().allocate_memory(&info, None)?;
    s.at_end(move |device| device.free_memory(memory, None));
    s.device().bind_image_memory(image.handle, memory, 0)?;
    Ok(memory)
}

/// Where an image's rows are.
unsafe fn rows_of(s: &Scope<'_>, image: &Image) -> vk::SubresourceLayout {
    let plane = vk::ImageSubresource {
        aspect_mask: vk::ImageAspectFlags::MEMORY_PLANE_0_EXT,
        ..Default::default()
    };
    s.device().get_image_subresource_layout(image.handle, plane)
}

/// Copies noise into a new image.
unsafe fn write(s: &Scope<'_>, image: &Image, noise: &[u8]) -> anyhow::Result<()> {
    let buffer = s.buffer(image.shape.size() as u64)?;
    buffer.write(0, noise);
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let general = vk::ImageLayout::GENERAL;
    image.to_layout(s, commands, vk::ImageLayout::UNDEFINED, general);
    image.copy_all(s, commands, buffer.handle, true);
    s.finish(commands)
}

/// Copies an image to a buffer, after taking it over from somebody else where it is theirs.
unsafe fn read(s: &Scope<'_>, image: &Image, theirs: bool) -> anyhow::Result<Vec<u8>> {
    let buffer = s.buffer(image.shape.size() as u64)?;
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let general = vk::ImageLayout::GENERAL;
    if theirs {
        let barrier = vk::ImageMemoryBarrier::default()
            .dst_access_mask(vk::AccessFlags::TRANSFER_READ)
            .old_layout(general)
            .new_layout(general)
            .src_queue_family_index(vk::QUEUE_FAMILY_EXTERNAL)
            .dst_queue_family_index(s.gpu.family)
            .image(image.handle)
            .subresource_range(image.range());
        s.device().cmd_pipeline_barrier(
            commands,
            vk::PipelineStageFlags::TOP_OF_PIPE,
            vk::PipelineStageFlags::TRANSFER,
            vk::DependencyFlags::empty(),
            &[],
            &[],
            &[barrier],
        );
    } else {
        image.to_layout(s, commands, general, general);
    }
    image.copy_all(s, commands, buffer.handle, false);
    s.finish(commands)?;
    Ok(buffer.bytes())
}

/// The rows in memory as an image has them, without what is between them.
unsafe fn seen(
    s: &Scope<'_>,
    memory: vk::DeviceMemory,
    rows: vk::SubresourceLayout,
) -> anyhow::Result<Vec<u8>> {
    let [width, height, _] = shape().texels(0);
    let flags = vk::MemoryMapFlags::empty();
    let mapped = s
        .device()
        .map_memory(memory, rows.offset, vk::WHOLE_SIZE, flags)?;
    let mut all = Vec::new();
    for y in 0..height as usize {
        let row = mapped.cast::<u8>().add(y * rows.row_pitch as usize);
        all.extend_from_slice(std::slice::from_raw_parts(row, 4 * width as usize));
    }
    s.device().unmap_memory(memory);
    Ok(all)
}

/// An image is written, leaves as a dma-buf and is read as another image, and by the CPU.
unsafe fn shared(s: &Scope<'_>) -> anyhow::Result<()> {
    needed(s)?;
    let (instance, device) = (&s.gpu.instance, s.device());
    let first = image(s, None)?;
    let modifiers = ash::ext::image_drm_format_modifier::Device::new(instance, device);
    let mut chosen = vk::ImageDrmFormatModifierPropertiesEXT::default();
    modifiers.get_image_drm_format_modifier_properties(first.handle, &mut chosen)?;
    ensure!(chosen.drm_format_modifier == LINEAR);
    let memory = bind(s, &first, None)?;
    let noise = bytes(700, first.shape.size());
    write(s, &first, &noise)?;
    let rows = rows_of(s, &first);
    s.report
        .check("by the CPU", &seen(s, memory, rows)?, &noise)?;
    let external = ash::khr::external_memory_fd::Device::new(instance, device);
    let get = vk::MemoryGetFdInfoKHR::default()
        .memory(memory)
        .handle_type(DMA_BUF);
    // SAFETY: a new descriptor, which is the caller's.
    let file = OwnedFd::from_raw_fd(external.get_memory_fd(&get)?);
    let given = vk::SubresourceLayout {
        offset: rows.offset,
        row_pitch: rows.row_pitch,
        ..Default::default()
    };
    let second = image(s, Some(given))?;
    bind(s, &second, Some(file))?;
    s.report
        .check("by another image", &read(s, &second, true)?, &noise)
}

/// Rows further apart than they need to be, not at the beginning: copied, and rendered to.
unsafe fn given_rows(s: &Scope<'_>) -> anyhow::Result<()> {
    needed(s)?;
    for (offset, row_pitch) in [(0, 320), (0, 4096), (16384, 512), (1 << 20, 1 << 16)] {
        let given = vk::SubresourceLayout {
            offset,
            row_pitch,
            ..Default::default()
        };
        let made = image(s, Some(given)).with_context(|| format!("{given:?}"))?;
        let rows = rows_of(s, &made);
        ensure!((rows.offset, rows.row_pitch) == (offset, row_pitch));
        let memory = bind(s, &made, None)?;
        let noise = bytes(710, made.shape.size());
        write(s, &made, &noise)?;
        let name = |what: &str| format!("{what}, {offset} {row_pitch}");
        s.report
            .check(&name("copied"), &seen(s, memory, rows)?, &noise)?;
        s.report
            .check(&name("read"), &read(s, &made, false)?, &noise)?;
        let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        let colour = vk::ClearColorValue {
            float32: [1.0, 0.2, 0.0, 0.6],
        };
        let general = vk::ImageLayout::GENERAL;
        made.to_layout(s, commands, general, general);
        let device = s.device();
        device.cmd_clear_color_image(commands, made.handle, general, &colour, &[made.range()]);
        s.finish(commands)?;
        let expected = [255, 51, 0, 153].repeat(noise.len() / 4);
        s.report
            .check(&name("cleared"), &seen(s, memory, rows)?, &expected)?;
    }
    Ok(())
}

/// Rows that cannot be have an error of their own.
unsafe fn refused(s: &Scope<'_>) -> anyhow::Result<()> {
    needed(s)?;
    for (offset, row_pitch) in [(0, 304), (0, 312), (0, 0), (8, 512), (0, 1 << 33)] {
        let given = vk::SubresourceLayout {
            offset,
            row_pitch,
            ..Default::default()
        };
        let made = image(s, Some(given)).map(|_| ());
        let expected = Err(vk::Result::ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT);
        ensure!(made == expected, "{offset} {row_pitch}: {made:?}");
    }
    // What the driver says of that is no fault.
    let _ = s.gpu.take_messages();
    Ok(())
}
