// SPDX-License-Identifier: MIT
//! Copies of images and buffers, and clears, by shaders of the driver.
//!
//! Vulkan's copies move bits, whatever they mean, so none of them needs the texture unit: a shader
//! computes where the elements are on either side (images, 7). A clear writes whole levels, and their
//! padding with them: it is a fill.

use agx_hw::layout::{Level, Memory, Tiled};
use ash::vk;

use super::buffer::{CommandBuffer, record};
use crate::buffer::Buffer;
use crate::debug;
use crate::entry;
use crate::error::VkResult;
use crate::image::{Image, Plane, pack};
use crate::internal::{IMAGE_WORKGROUP, Kind};
use crate::object;

/// One side of a copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    /// Of element (0, 0) of the first layer.
    pub(super) address: u64,
    pub(super) layer_stride: u64,
    order: Order,
    /// The corner of the box, in elements.
    at: [u32; 2],
    /// Bytes of an element of one sample.
    bytes: u32,
    log2_samples: u32,
}

/// The order of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// So many elements from row to row.
    Linear { pitch: u32 },
    /// Tiles of which there are so many in a row.
    Tiled {
        log2_width: u32,
        log2_height: u32,
        columns: u32,
    },
}

impl Side {
    /// The words that the shader reads.
    pub(super) fn words(&self) -> [u32; 4] {
        let pixel = (self.bytes << self.log2_samples).ilog2() << 16 | self.log2_samples << 24;
        let (order, pitch) = match self.order {
            Order::Linear { pitch } => (1 << 31, pitch),
            Order::Tiled {
                log2_width,
                log2_height,
                columns,
            } => (log2_width | log2_height << 8, columns),
        };
        [order | pixel, pitch, self.at[0], self.at[1]]
    }
}

/// A place in an image: a level, and layers or slices from one on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) level: u32,
    pub(super) layer: u32,
    pub(super) offset: [u32; 2],
}

/// What a copy takes of an image, in elements of its format.
#[derive(Clone, Copy, Debug)]
pub(super) struct Box3 {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) layers: u32,
}

fn tiled_level(tiled: &Tiled, level: u32) -> VkResult<&Level> {
    tiled.levels().get(level as usize).ok_or_else(|| {
        debug::error(&format_args!("an image has no level {level}"));
        vk::Result::ERROR_UNKNOWN
    })
}

pub(super) fn side_of(image: &Image, plane: &Plane, place: Place) -> VkResult<Side> {
    let address = image.address + plane.offset;
    let element = plane.format.element();
    let at = [
        place.offset[0] / u32::from(element.width),
        place.offset[1] / u32::from(element.height),
    ];
    let bytes = u32::from(element.bytes);
    Ok(match &plane.memory {
        Memory::Linear(linear) => Side {
            address,
            layer_stride: 0,
            order: Order::Linear {
                pitch: linear.stride() / bytes,
            },
            at,
            bytes,
            log2_samples: 0,
        },
        Memory::Tiled(tiled) => {
            let level = tiled_level(tiled, place.level)?;
            let layer = tiled.layer_stride() * u64::from(place.layer);
            Side {
                address: address + layer + level.offset,
                layer_stride: tiled.layer_stride(),
                order: Order::Tiled {
                    log2_width: level.tile_width.ilog2(),
                    log2_height: level.tile_height.ilog2(),
                    columns: level.columns,
                },
                at,
                bytes,
                log2_samples: image.description.samples.as_raw().ilog2(),
            }
        }
    })
}

/// The first layer, or slice, of a part of an image, and how many.
pub(super) fn layers(
    image: &Image,
    subresource: &vk::ImageSubresourceLayers,
    offset: vk::Offset3D,
    extent: vk::Extent3D,
) -> (u32, u32) {
    if image.description.kind == vk::ImageType::TYPE_3D {
        return (offset.z as u32, extent.depth);
    }
    let first = subresource.base_array_layer;
    let count = match subresource.layer_count {
        vk::REMAINING_ARRAY_LAYERS => image.description.layers.saturating_sub(first),
        count => count,
    };
    (first, count)
}

/// An extent in elements.
fn elements(plane: &Plane, extent: vk::Extent3D, layers: u32) -> Box3 {
    let element = plane.format.element();
    Box3 {
        width: extent.width.div_ceil(element.width.into()),
        height: extent.height.div_ceil(element.height.into()),
        layers,
    }
}

/// Whether a box is inside a level of an image; copies that are not are left out.
pub(super) fn is_inside(image: &Image, plane: &Plane, place: Place, part: Box3) -> bool {
    let element = plane.format.element();
    let [width, height, depth] = image.description.level_extent(place.level);
    let layers = match image.description.kind {
        vk::ImageType::TYPE_3D => depth,
        _ => image.description.layers,
    };
    let fits =
        |offset: u32, count: u32, all: u32| u64::from(offset) + u64::from(count) <= u64::from(all);
    let unit = |size: u32, by: u8| size.div_ceil(by.into());
    let inside = place.level < image.description.levels
        && fits(
            place.offset[0] / u32::from(element.width),
            part.width,
            unit(width, element.width),
        )
        && fits(
            place.offset[1] / u32::from(element.height),
            part.height,
            unit(height, element.height),
        )
        && fits(place.layer, part.layers, layers);
    if !inside {
        debug::error(&format_args!(
            "a copy reaches outside of an image: {part:?} from {place:?} of {:?}",
            image.description
        ));
    }
    inside
}

impl CommandBuffer {
    /// Copies a box of elements.
    fn copy_box(&mut self, from: Side, to: Side, part: Box3) -> VkResult {
        if part.width == 0 || part.height == 0 || part.layers == 0 {
            return Ok(());
        }
        if from.bytes != to.bytes || from.log2_samples != to.log2_samples {
            debug::error(&format_args!(
                "a copy between elements of {} and of {} bytes",
                from.bytes << from.log2_samples,
                to.bytes << to.log2_samples
            ));
            return Ok(());
        }
        let kind = match from.bytes {
            16 => Kind::ImageCopy16,
            8 => Kind::ImageCopy8,
            4 => Kind::ImageCopy4,
            2 => Kind::ImageCopy2,
            _ => Kind::ImageCopy1,
        };
        let program = self.internal(kind)?;
        let units = part.width << from.log2_samples;
        let mut constants = [0; 76];
        let addresses = [from.address, from.layer_stride, to.address, to.layer_stride];
        let words =
            from.words()
                .into_iter()
                .chain(to.words())
                .chain([units, part.height, part.layers]);
        let bytes = addresses
            .into_iter()
            .flat_map(u64::to_le_bytes)
            .chain(words.flat_map(u32::to_le_bytes));
        for (to, byte) in constants.iter_mut().zip(bytes) {
            *to = byte;
        }
        let groups = [
            units.div_ceil(IMAGE_WORKGROUP[0]),
            part.height.div_ceil(IMAGE_WORKGROUP[1]),
            part.layers,
        ];
        self.launch_internal(program, &constants, groups)
    }

    fn copy_image(&mut self, from: &Image, to: &Image, region: &vk::ImageCopy2<'_>) -> VkResult {
        let (source, target) = (&region.src_subresource, &region.dst_subresource);
        let every = [
            vk::ImageAspectFlags::COLOR,
            vk::ImageAspectFlags::DEPTH,
            vk::ImageAspectFlags::STENCIL,
        ];
        for aspect in every {
            if !source.aspect_mask.contains(aspect) {
                continue;
            }
            let planes = (from.plane(aspect), to.plane(target.aspect_mask & aspect));
            let (Some(from_plane), Some(to_plane)) = planes else {
                debug::error(&format_args!("a copy of {aspect:?} that an image has not"));
                continue;
            };
            let (from_layer, from_count) = layers(from, source, region.src_offset, region.extent);
            let (to_layer, to_count) = layers(to, target, region.dst_offset, region.extent);
            // Slices may become layers and layers slices.
            let part = elements(from_plane, region.extent, from_count.max(to_count));
            let place = |level, layer, offset: vk::Offset3D| Place {
                level,
                layer,
                offset: [offset.x as u32, offset.y as u32],
            };
            let from_place = place(source.mip_level, from_layer, region.src_offset);
            let to_place = place(target.mip_level, to_layer, region.dst_offset);
            if !is_inside(from, from_plane, from_place, part)
                || !is_inside(to, to_plane, to_place, part)
            {
                continue;
            }
            let from_side = side_of(from, from_plane, from_place)?;
            let to_side = side_of(to, to_plane, to_place)?;
            if let Some(bytes) = same_level(from_plane, from_place, to_plane, to_place, part) {
                for layer in 0..u64::from(part.layers) {
                    self.copy(
                        from_side.address + layer * from_side.layer_stride,
                        to_side.address + layer * to_side.layer_stride,
                        bytes,
                    )?;
                }
                continue;
            }
            self.copy_box(from_side, to_side, part)?;
        }
        Ok(())
    }

    fn copy_buffer_image(
        &mut self,
        buffer: &Buffer,
        image: &Image,
        region: &vk::BufferImageCopy2<'_>,
        to_image: bool,
    ) -> VkResult {
        let subresource = &region.image_subresource;
        let Some(plane) = image.plane(subresource.aspect_mask) else {
            debug::error(&format_args!(
                "a copy of {:?} that an image has not",
                subresource.aspect_mask
            ));
            return Ok(());
        };
        let (layer, count) = layers(image, subresource, region.image_offset, region.image_extent);
        let part = elements(plane, region.image_extent, count);
        let place = Place {
            level: subresource.mip_level,
            layer,
            offset: [region.image_offset.x as u32, region.image_offset.y as u32],
        };
        if !is_inside(image, plane, place, part) {
            return Ok(());
        }
        let element = plane.format.element();
        let or = |length: u32, extent: u32| if length == 0 { extent } else { length };
        let pitch =
            or(region.buffer_row_length, region.image_extent.width).div_ceil(element.width.into());
        let rows = or(region.buffer_image_height, region.image_extent.height)
            .div_ceil(element.height.into());
        let bytes = u32::from(element.bytes);
        let layer_stride = u64::from(pitch) * u64::from(rows) * u64::from(bytes);
        // The last element that is touched, to stay inside of the buffer whatever the application
        // says.
        let last = layer_stride * u64::from(part.layers.saturating_sub(1))
            + (u64::from(pitch) * u64::from(part.height.saturating_sub(1)) + u64::from(part.width))
                * u64::from(bytes);
        if region.buffer_offset.saturating_add(last) > buffer.size {
            debug::error(&format_args!(
                "a copy of {last} bytes at {} reaches outside of a buffer of {}",
                region.buffer_offset, buffer.size
            ));
            return Ok(());
        }
        let linear = Side {
            address: buffer.address + region.buffer_offset,
            layer_stride,
            order: Order::Linear { pitch },
            at: [0; 2],
            bytes,
            log2_samples: 0,
        };
        let tiled = side_of(image, plane, place)?;
        match to_image {
            true => self.copy_box(linear, tiled, part),
            false => self.copy_box(tiled, linear, part),
        }
    }

    /// Fills levels of a plane.
    fn clear(
        &mut self,
        image: &Image,
        plane: &Plane,
        range: &vk::ImageSubresourceRange,
        value: [u32; 4],
    ) -> VkResult {
        let start = image.address + plane.offset;
        let tiled = match &plane.memory {
            Memory::Linear(linear) => return self.fill_units(start, linear.size(), value),
            Memory::Tiled(tiled) => tiled,
        };
        let all = image.description.levels;
        let first = range.base_mip_level;
        let count = match range.level_count {
            vk::REMAINING_MIP_LEVELS => all.saturating_sub(first),
            count => count,
        };
        if count == 0 || u64::from(first) + u64::from(count) > u64::from(all) {
            return Ok(());
        }
        let (first, last) = (
            tiled_level(tiled, first)?,
            tiled_level(tiled, first + count - 1)?,
        );
        let bytes = last.offset + last.size - first.offset;
        let (base, layers) = match image.description.kind {
            vk::ImageType::TYPE_3D => (0, image.description.extent[2]),
            _ => {
                let base = range.base_array_layer;
                let rest = image.description.layers.saturating_sub(base);
                (base, range.layer_count.min(rest))
            }
        };
        let at = |layer: u32| start + tiled.layer_stride() * u64::from(layer) + first.offset;
        // One piece, if nothing lies between the layers but padding.
        let whole = count == all && bytes <= tiled.layer_stride();
        if whole && layers > 0 && tiled.levels().len() == all as usize {
            let bytes = tiled.layer_stride() * u64::from(layers - 1) + bytes;
            return self.fill_units(at(base), bytes, value);
        }
        for layer in base..base + layers {
            self.fill_units(at(layer), bytes, value)?;
        }
        Ok(())
    }
}

/// The bytes of a level, if a copy is of all of it, and both sides have it in the same order.
fn same_level(
    from: &Plane,
    from_place: Place,
    to: &Plane,
    to_place: Place,
    part: Box3,
) -> Option<u64> {
    let (Memory::Tiled(source), Memory::Tiled(target)) = (&from.memory, &to.memory) else {
        return None;
    };
    let source_level = source.levels().get(from_place.level as usize)?;
    let target_level = target.levels().get(to_place.level as usize)?;
    let whole = |level: &Level, place: Place| {
        place.offset == [0; 2] && (level.width, level.height) == (part.width, part.height)
    };
    let alike = (
        source_level.tile_width,
        source_level.tile_height,
        source_level.columns,
    ) == (
        target_level.tile_width,
        target_level.tile_height,
        target_level.columns,
    ) && source.image().element.bytes == target.image().element.bytes
        && source.image().samples == target.image().samples;
    (alike && whole(source_level, from_place) && whole(target_level, to_place))
        .then(|| source_level.size.min(target_level.size))
}

fn old_region(region: &vk::BufferImageCopy) -> vk::BufferImageCopy2<'static> {
    vk::BufferImageCopy2::default()
        .buffer_offset(region.buffer_offset)
        .buffer_row_length(region.buffer_row_length)
        .buffer_image_height(region.buffer_image_height)
        .image_subresource(region.image_subresource)
        .image_offset(region.image_offset)
        .image_extent(region.image_extent)
}

/// vkCmdCopyImage.
pub(crate) unsafe extern "system" fn cmd_copy_image(
    buffer: vk::CommandBuffer,
    from: vk::Image,
    _from_layout: vk::ImageLayout,
    to: vk::Image,
    _to_layout: vk::ImageLayout,
    count: u32,
    regions: *const vk::ImageCopy,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdCopyImage", buffer, |this| {
            let (from, to) = (object::get::<Image>(from), object::get::<Image>(to));
            for region in entry::slice(regions, count) {
                let region = vk::ImageCopy2::default()
                    .src_subresource(region.src_subresource)
                    .src_offset(region.src_offset)
                    .dst_subresource(region.dst_subresource)
                    .dst_offset(region.dst_offset)
                    .extent(region.extent);
                this.copy_image(from, to, &region)?;
            }
            Ok(())
        });
    }
}

/// vkCmdCopyImage2.
pub(crate) unsafe extern "system" fn cmd_copy_image2(
    buffer: vk::CommandBuffer,
    info: *const vk::CopyImageInfo2<'_>,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdCopyImage2", buffer, |this| {
            let info = &*info;
            let from = object::get::<Image>(info.src_image);
            let to = object::get::<Image>(info.dst_image);
            for region in entry::slice(info.p_regions, info.region_count) {
                this.copy_image(from, to, region)?;
            }
            Ok(())
        });
    }
}

/// vkCmdCopyBufferToImage.
pub(crate) unsafe extern "system" fn cmd_copy_buffer_to_image(
    buffer: vk::CommandBuffer,
    from: vk::Buffer,
    to: vk::Image,
    _layout: vk::ImageLayout,
    count: u32,
    regions: *const vk::BufferImageCopy,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdCopyBufferToImage", buffer, |this| {
            let (from, to) = (object::get::<Buffer>(from), object::get::<Image>(to));
            for region in entry::slice(regions, count) {
                this.copy_buffer_image(from, to, &old_region(region), true)?;
            }
            Ok(())
        });
    }
}

/// vkCmdCopyBufferToImage2.
pub(crate) unsafe extern "system" fn cmd_copy_buffer_to_image2(
    buffer: vk::CommandBuffer,
    info: *const vk::CopyBufferToImageInfo2<'_>,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdCopyBufferToImage2", buffer, |this| {
            let info = &*info;
            let from = object::get::<Buffer>(info.src_buffer);
            let to = object::get::<Image>(info.dst_image);
            for region in entry::slice(info.p_regions, info.region_count) {
                this.copy_buffer_image(from, to, region, true)?;
            }
            Ok(())
        });
    }
}

/// vkCmdCopyImageToBuffer.
pub(crate) unsafe extern "system" fn cmd_copy_image_to_buffer(
    buffer: vk::CommandBuffer,
    from: vk::Image,
    _layout: vk::ImageLayout,
    to: vk::Buffer,
    count: u32,
    regions: *const vk::BufferImageCopy,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdCopyImageToBuffer", buffer, |this| {
            let (from, to) = (object::get::<Image>(from), object::get::<Buffer>(to));
            for region in entry::slice(regions, count) {
                this.copy_buffer_image(to, from, &old_region(region), false)?;
            }
            Ok(())
        });
    }
}

/// vkCmdCopyImageToBuffer2.
pub(crate) unsafe extern "system" fn cmd_copy_image_to_buffer2(
    buffer: vk::CommandBuffer,
    info: *const vk::CopyImageToBufferInfo2<'_>,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdCopyImageToBuffer2", buffer, |this| {
            let info = &*info;
            let from = object::get::<Image>(info.src_image);
            let to = object::get::<Buffer>(info.dst_buffer);
            for region in entry::slice(info.p_regions, info.region_count) {
                this.copy_buffer_image(to, from, region, false)?;
            }
            Ok(())
        });
    }
}

/// vkCmdClearColorImage.
pub(crate) unsafe extern "system" fn cmd_clear_color_image(
    buffer: vk::CommandBuffer,
    image: vk::Image,
    _layout: vk::ImageLayout,
    colour: *const vk::ClearColorValue,
    count: u32,
    ranges: *const vk::ImageSubresourceRange,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdClearColorImage", buffer, |this| {
            let image = object::get::<Image>(image);
            let Some(plane) = image.plane(vk::ImageAspectFlags::COLOR) else {
                return Ok(());
            };
            let value = pack::colour(plane.format, (*colour).uint32);
            for range in entry::slice(ranges, count) {
                this.clear(image, plane, range, value)?;
            }
            Ok(())
        });
    }
}

/// vkCmdClearDepthStencilImage.
pub(crate) unsafe extern "system" fn cmd_clear_depth_stencil_image(
    buffer: vk::CommandBuffer,
    image: vk::Image,
    _layout: vk::ImageLayout,
    value: *const vk::ClearDepthStencilValue,
    count: u32,
    ranges: *const vk::ImageSubresourceRange,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdClearDepthStencilImage", buffer, |this| {
            let image = object::get::<Image>(image);
            let value = &*value;
            for range in entry::slice(ranges, count) {
                for (aspect, word) in [
                    (vk::ImageAspectFlags::DEPTH, value.depth.to_bits()),
                    (vk::ImageAspectFlags::STENCIL, value.stencil & 0xff),
                ] {
                    let plane = image.plane(aspect & range.aspect_mask);
                    if let Some(plane) = plane {
                        let value = pack::colour(plane.format, [word, 0, 0, 0]);
                        this.clear(image, plane, range, value)?;
                    }
                }
            }
            Ok(())
        });
    }
}
