// SPDX-License-Identifier: MIT
//! Resolves: one sample of several, by shaders of the driver.

use agx_hw::format::Format;
use agx_hw::sampler::Filter;
use ash::vk;

use super::blit::{packing_between, sampled, target_constants};
use super::buffer::{CommandBuffer, record};
use super::image_transfer::{Box3, Place, is_inside, layers, side_of};
use crate::debug;
use crate::entry;
use crate::error::VkResult;
use crate::image::{Image, ImageView, Plane, level_texture};
use crate::internal::{IMAGE_WORKGROUP, Kind};
use crate::object;

/// A plane of an image as a resolve sees it.
#[derive(Clone, Copy)]
struct Resolved<'a> {
    image: &'a Image,
    plane: &'a Plane,
    /// The view's, if it is one.
    format: Format,
    place: Place,
}

impl<'a> Resolved<'a> {
    fn of_view(
        view: &'a ImageView,
        aspect: vk::ImageAspectFlags,
        offset: [u32; 2],
    ) -> Option<Resolved<'a>> {
        let image = view.image();
        let plane = image.plane(aspect)?;
        Some(Resolved {
            image,
            plane,
            // Where there are two planes a view cannot have another format.
            format: match image.planes.len() {
                1 => view.format,
                _ => plane.format,
            },
            place: Place {
                level: view.level,
                layer: view.layer,
                offset,
            },
        })
    }
}

/// The shader's number of a mode.
fn mode_code(mode: vk::ResolveModeFlags) -> u32 {
    match mode {
        vk::ResolveModeFlags::AVERAGE => 1,
        vk::ResolveModeFlags::MIN => 2,
        vk::ResolveModeFlags::MAX => 3,
        _ => 0,
    }
}

impl CommandBuffer {
    /// Resolves an aspect of an attachment: an area of so many layers of a view, or those
    /// of them that are views of a mask.
    ///
    /// # Errors
    /// When there is no memory.
    pub(super) fn resolve(
        &mut self,
        [from, to]: [&ImageView; 2],
        aspect: vk::ImageAspectFlags,
        area: vk::Rect2D,
        layers: u32,
        view_mask: u32,
        mode: vk::ResolveModeFlags,
    ) -> VkResult {
        let offset = [area.offset.x, area.offset.y].map(|at| at.max(0) as u32);
        let planes = (
            Resolved::of_view(from, aspect, offset),
            Resolved::of_view(to, aspect, offset),
        );
        let (Some(from_plane), Some(to_plane)) = planes else {
            debug::error(&format_args!("a resolve of {aspect:?} that a view has not"));
            return Ok(());
        };
        let part = Box3 {
            width: area.extent.width,
            height: area.extent.height,
            layers: layers.min(from.layers).min(to.layers),
        };
        self.resolve_plane(from_plane, to_plane, part, view_mask, mode)
    }

    fn resolve_plane(
        &mut self,
        from: Resolved<'_>,
        to: Resolved<'_>,
        part: Box3,
        view_mask: u32,
        mode: vk::ResolveModeFlags,
    ) -> VkResult {
        let Some(packing) = packing_between(from.format, to.format) else {
            return Ok(());
        };
        if part.width == 0 || part.height == 0 {
            return Ok(());
        }
        let samples = from.image.description.samples;
        if samples == vk::SampleCountFlags::TYPE_1
            || to.image.description.samples != vk::SampleCountFlags::TYPE_1
        {
            debug::error(&format_args!(
                "a resolve of {samples:?} samples to {:?}",
                to.image.description.samples
            ));
            return Ok(());
        }
        if !is_inside(from.image, from.plane, from.place, part)
            || !is_inside(to.image, to.plane, to.place, part)
        {
            return Ok(());
        }
        let kind = match from.format.encoding().numeric().is_integer() {
            true => Kind::ResolveInteger,
            false => Kind::Resolve,
        };
        let program = self.internal(kind)?;
        let groups = [
            part.width.div_ceil(IMAGE_WORKGROUP[0]),
            part.height.div_ceil(IMAGE_WORKGROUP[1]),
            1,
        ];
        let is_view = |layer: &u32| view_mask == 0 || view_mask >> layer & 1 == 1;
        for layer in (0..part.layers).filter(is_view) {
            let place = Place {
                layer: to.place.layer + layer,
                ..to.place
            };
            let side = side_of(to.image, to.plane, place)?;
            let texture = level_texture(
                from.image,
                from.plane,
                from.format,
                from.place.level,
                from.place.layer + layer,
            )?;
            let mut constants = target_constants(&side, packing, mode_code(mode));
            let [x, y] = from.place.offset;
            let words = [samples.as_raw(), 0, x, y, part.width, part.height];
            constants.extend(words.into_iter().flat_map(u32::to_le_bytes));
            let set = sampled(texture, Filter::Nearest);
            self.launch_own(program, &constants, &set, groups)?;
        }
        Ok(())
    }

    fn resolve_image(
        &mut self,
        from: &Image,
        to: &Image,
        region: &vk::ImageResolve2<'_>,
    ) -> VkResult {
        let aspect = vk::ImageAspectFlags::COLOR;
        let (Some(from_plane), Some(to_plane)) = (from.plane(aspect), to.plane(aspect)) else {
            debug::error(&"a resolve of an image that has no colour");
            return Ok(());
        };
        let (source, target) = (&region.src_subresource, &region.dst_subresource);
        let (from_layer, count) = layers(from, source, region.src_offset, region.extent);
        let (to_layer, _) = layers(to, target, region.dst_offset, region.extent);
        let part = Box3 {
            width: region.extent.width,
            height: region.extent.height,
            layers: count,
        };
        let place = |level, layer, offset: vk::Offset3D| Place {
            level,
            layer,
            offset: [offset.x as u32, offset.y as u32],
        };
        let mode = match from_plane.format.encoding().numeric().is_integer() {
            true => vk::ResolveModeFlags::SAMPLE_ZERO,
            false => vk::ResolveModeFlags::AVERAGE,
        };
        let from = Resolved {
            image: from,
            plane: from_plane,
            format: from_plane.format,
            place: place(source.mip_level, from_layer, region.src_offset),
        };
        let to = Resolved {
            image: to,
            plane: to_plane,
            format: to_plane.format,
            place: place(target.mip_level, to_layer, region.dst_offset),
        };
        self.resolve_plane(from, to, part, 0, mode)
    }
}

/// vkCmdResolveImage.
pub(crate) unsafe extern "system" fn cmd_resolve_image(
    buffer: vk::CommandBuffer,
    from: vk::Image,
    _from_layout: vk::ImageLayout,
    to: vk::Image,
    _to_layout: vk::ImageLayout,
    count: u32,
    regions: *const vk::ImageResolve,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdResolveImage", buffer, |this| {
            let (from, to) = (object::get::<Image>(from), object::get::<Image>(to));
            for region in entry::slice(regions, count) {
                let region = vk::ImageResolve2::default()
                    .src_subresource(region.src_subresource)
                    .src_offset(region.src_offset)
                    .dst_subresource(region.dst_subresource)
                    .dst_offset(region.dst_offset)
                    .extent(region.extent);
                this.resolve_image(from, to, &region)?;
            }
            Ok(())
        });
    }
}

/// vkCmdResolveImage2.
pub(crate) unsafe extern "system" fn cmd_resolve_image2(
    buffer: vk::CommandBuffer,
    info: *const vk::ResolveImageInfo2<'_>,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdResolveImage2", buffer, |this| {
            let info = &*info;
            let from = object::get::<Image>(info.src_image);
            let to = object::get::<Image>(info.dst_image);
            for region in entry::slice(info.p_regions, info.region_count) {
                this.resolve_image(from, to, region)?;
            }
            Ok(())
        });
    }
}

#[cfg(test)]
pub(super) mod tests;
