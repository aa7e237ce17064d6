// SPDX-License-Identifier: MIT
//! Scaled copies of images, by shaders of the driver.
//!
//! The source is sampled, and the target written as its format says by the shader itself: so every format that
//! is no block can be a target, whether shaders of applications can store to it or not.

use agx_hw::format::Format;
use agx_hw::sampler::{Filter, MipFilter, Sampler as Record};
use arrayvec::ArrayVec;
use ash::vk;

use super::buffer::{CommandBuffer, record};
use super::image_transfer::{Box3, Place, Side, is_inside, layers, side_of};
use crate::debug;
use crate::entry;
use crate::error::VkResult;
use crate::image::descriptor::{self, SAMPLER_SIZE, SamplerState, TEXTURE_SIZE};
use crate::image::pack::{self, Packing};
use crate::image::{Image, Plane, level_texture};
use crate::internal::{IMAGE_WORKGROUP, Kind};
use crate::object;

/// Push constants of shaders that sample.
pub(super) type Constants = ArrayVec<u8, 128>;

/// The aspects that images have.
const ASPECTS: [vk::ImageAspectFlags; 3] = [
    vk::ImageAspectFlags::COLOR,
    vk::ImageAspectFlags::DEPTH,
    vk::ImageAspectFlags::STENCIL,
];

/// The memory of set 0 of a shader that samples a texture.
pub(super) fn sampled(
    texture: [u8; TEXTURE_SIZE],
    filter: Filter,
) -> [u8; TEXTURE_SIZE + SAMPLER_SIZE] {
    let record = Record {
        mag: filter,
        min: filter,
        mip: MipFilter::None,
        ..Record::fetch()
    };
    let sampler = descriptor::sampler(&SamplerState {
        record: record.bits(),
        white: record.bits(),
        mip_filter: record.mip.code(),
        ..SamplerState::default()
    });
    let mut bytes = [0; TEXTURE_SIZE + SAMPLER_SIZE];
    bytes[..TEXTURE_SIZE].copy_from_slice(&texture);
    bytes[TEXTURE_SIZE..].copy_from_slice(&sampler);
    bytes
}

/// The first constants of shaders that write an image: where and how. A word follows that has a meaning of
/// its own in each.
pub(super) fn target_constants(to: &Side, packing: Packing, word: u32) -> Constants {
    let mut constants = Constants::new();
    let addresses = [to.address, to.layer_stride];
    constants.extend(addresses.into_iter().flat_map(u64::to_le_bytes));
    let words = to.words().into_iter().chain(packing.components);
    let words = words.chain([packing.kind, word]);
    constants.extend(words.flat_map(u32::to_le_bytes));
    constants
}

/// How the target's format is packed, if texels of the source can become ones of it.
pub(super) fn packing_between(from: Format, to: Format) -> Option<Packing> {
    let is_integer = |format: Format| format.encoding().numeric().is_integer();
    let packing = pack::packing(to).filter(|_| is_integer(from) == is_integer(to));
    if packing.is_none() {
        debug::error(&format_args!(
            "texels of {} do not become ones of {}",
            from.name(),
            to.name()
        ));
    }
    packing
}

/// One axis of a blit.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Axis {
    /// The target's box.
    first: u32,
    count: u32,
    /// From the middle of a texel of the target's box to a place in the source.
    scale: f32,
    start: f32,
}

impl Axis {
    /// From two corners of the source to two of the target (Vulkan 1.3, "Image Copies With Scaling").
    /// Nothing if the target is empty or begins before the image.
    fn new(from: [i32; 2], to: [i32; 2]) -> Option<Axis> {
        let (first, end) = (to[0].min(to[1]), to[0].max(to[1]));
        let first_texel = u32::try_from(first).ok()?;
        let count = end.abs_diff(first);
        if count == 0 {
            return None;
        }
        let length = |ends: [i32; 2]| f64::from(ends[1]) - f64::from(ends[0]);
        let scale = length(from) / length(to);
        let start = f64::from(from[0]) + (f64::from(first) - f64::from(to[0])) * scale;
        Some(Axis {
            first: first_texel,
            count,
            scale: scale as f32,
            start: start as f32,
        })
    }
}

/// The axes of a region.
fn axes(region: &vk::ImageBlit2<'_>) -> Option<[Axis; 3]> {
    let (from, to) = (&region.src_offsets, &region.dst_offsets);
    Some([
        Axis::new([from[0].x, from[1].x], [to[0].x, to[1].x])?,
        Axis::new([from[0].y, from[1].y], [to[0].y, to[1].y])?,
        Axis::new([from[0].z, from[1].z], [to[0].z, to[1].z])?,
    ])
}

impl CommandBuffer {
    fn blit_image(
        &mut self,
        from: &Image,
        to: &Image,
        region: &vk::ImageBlit2<'_>,
        filter: vk::Filter,
    ) -> VkResult {
        let Some(axes) = axes(region) else {
            return Ok(());
        };
        for aspect in ASPECTS {
            let source = region.src_subresource.aspect_mask & aspect;
            if source.is_empty() {
                continue;
            }
            let planes = (
                from.plane(source),
                to.plane(region.dst_subresource.aspect_mask & aspect),
            );
            let (Some(from_plane), Some(to_plane)) = planes else {
                debug::error(&format_args!("a blit of {aspect:?} that an image has not"));
                continue;
            };
            self.blit_plane((from, from_plane), (to, to_plane), region, axes, filter)?;
        }
        Ok(())
    }

    fn blit_plane(
        &mut self,
        (from, from_plane): (&Image, &Plane),
        (to, to_plane): (&Image, &Plane),
        region: &vk::ImageBlit2<'_>,
        [x, y, z]: [Axis; 3],
        filter: vk::Filter,
    ) -> VkResult {
        let Some(packing) = packing_between(from_plane.format, to_plane.format) else {
            return Ok(());
        };
        let (source, target) = (&region.src_subresource, &region.dst_subresource);
        let is_solid = |image: &Image| image.description.kind == vk::ImageType::TYPE_3D;
        let depth = vk::Offset3D {
            z: z.first as i32,
            ..Default::default()
        };
        let depths = vk::Extent3D {
            depth: z.count,
            ..Default::default()
        };
        let (first, count) = layers(to, target, depth, depths);
        let place = Place {
            level: target.mip_level,
            layer: first,
            offset: [x.first, y.first],
        };
        let part = Box3 {
            width: x.count,
            height: y.count,
            layers: count,
        };
        let description = &from.description;
        let from_layer = match is_solid(from) {
            true => 0,
            false => source.base_array_layer,
        };
        // Of an image of two dimensions, each slice of the target shows the same.
        let from_layers = match is_solid(from) || is_solid(to) {
            true => 1,
            false => count,
        };
        let is_there = source.mip_level < description.levels
            && u64::from(from_layer) + u64::from(from_layers) <= u64::from(description.layers);
        if !is_there || description.samples != vk::SampleCountFlags::TYPE_1 {
            debug::error(&format_args!(
                "a blit from level {} and layers from {from_layer} of {description:?}",
                source.mip_level
            ));
            return Ok(());
        }
        if to.description.samples != vk::SampleCountFlags::TYPE_1
            || !is_inside(to, to_plane, place, part)
        {
            return Ok(());
        }
        let is_integer = from_plane.format.encoding().numeric().is_integer();
        let kind = match (is_solid(from), is_integer) {
            (false, false) => Kind::Blit,
            (false, true) => Kind::BlitInteger,
            (true, false) => Kind::BlitSolid,
            (true, true) => Kind::BlitSolidInteger,
        };
        let program = self.internal(kind)?;
        let is_linear = filter == vk::Filter::LINEAR && from_plane.format.filters();
        let filter = match is_linear {
            true => Filter::Linear,
            false => Filter::Nearest,
        };
        // As many layers in one launch as have the same texture.
        let (launches, in_one) = match from_layers == count {
            true => (count, 1),
            false => (1, count),
        };
        let size = description.level_extent(source.mip_level);
        for launch in 0..launches {
            let side = side_of(
                to,
                to_plane,
                Place {
                    layer: first + launch,
                    ..place
                },
            )?;
            let texture = level_texture(
                from,
                from_plane,
                from_plane.format,
                source.mip_level,
                from_layer + launch,
            )?;
            let mut constants = target_constants(&side, packing, is_linear.into());
            let words = [0, 0, x.count, y.count, in_one, 0];
            let floats = [
                [x.scale, y.scale, z.scale, 0.0],
                [x.start, y.start, z.start, 0.0],
                [size[0] as f32, size[1] as f32, size[2] as f32, 1.0],
            ];
            constants.extend(words.into_iter().flat_map(u32::to_le_bytes));
            constants.extend(floats.into_iter().flatten().flat_map(f32::to_le_bytes));
            let groups = [
                x.count.div_ceil(IMAGE_WORKGROUP[0]),
                y.count.div_ceil(IMAGE_WORKGROUP[1]),
                in_one,
            ];
            self.launch_own(program, &constants, &sampled(texture, filter), groups)?;
        }
        Ok(())
    }
}

/// vkCmdBlitImage.
pub(crate) unsafe extern "system" fn cmd_blit_image(
    buffer: vk::CommandBuffer,
    from: vk::Image,
    _from_layout: vk::ImageLayout,
    to: vk::Image,
    _to_layout: vk::ImageLayout,
    count: u32,
    regions: *const vk::ImageBlit,
    filter: vk::Filter,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdBlitImage", buffer, |this| {
            let (from, to) = (object::get::<Image>(from), object::get::<Image>(to));
            for region in entry::slice(regions, count) {
                let region = vk::ImageBlit2::default()
                    .src_subresource(region.src_subresource)
                    .src_offsets(region.src_offsets)
                    .dst_subresource(region.dst_subresource)
                    .dst_offsets(region.dst_offsets);
                this.blit_image(from, to, &region, filter)?;
            }
            Ok(())
        });
    }
}

/// vkCmdBlitImage2.
pub(crate) unsafe extern "system" fn cmd_blit_image2(
    buffer: vk::CommandBuffer,
    info: *const vk::BlitImageInfo2<'_>,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdBlitImage2", buffer, |this| {
            let info = &*info;
            let from = object::get::<Image>(info.src_image);
            let to = object::get::<Image>(info.dst_image);
            for region in entry::slice(info.p_regions, info.region_count) {
                this.blit_image(from, to, region, info.filter)?;
            }
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::resolve::tests::{Sight, driver, noise, places, run};

    #[test]
    fn axes_scale_and_mirror() {
        let axis = |first, count, scale, start| {
            Some(Axis {
                first,
                count,
                scale,
                start,
            })
        };
        assert_eq!(Axis::new([0, 8], [0, 4]), axis(0, 4, 2.0, 0.0));
        assert_eq!(Axis::new([2, 6], [10, 18]), axis(10, 8, 0.5, 2.0));
        assert_eq!(Axis::new([6, 2], [10, 14]), axis(10, 4, -1.0, 6.0));
        // Mirrored on either side is the same.
        assert_eq!(Axis::new([2, 6], [14, 10]), axis(10, 4, -1.0, 6.0));
        assert_eq!(Axis::new([6, 2], [14, 10]), axis(10, 4, 1.0, 2.0));
        assert_eq!(Axis::new([0, 1], [3, 3]), None);
        assert_eq!(Axis::new([0, 1], [-3, 3]), None);
    }

    /// Blits the box from (2, 3) to (33, 24) of both layers onto that from `to[0]` to `to[1]`. `check` gets the
    /// source, the place in it, and what was found.
    fn blit<const FROM: usize, const TO: usize>(
        formats: [vk::Format; 2],
        aspect: vk::ImageAspectFlags,
        all: vk::ImageAspectFlags,
        to: [[i32; 2]; 2],
        filter: vk::Filter,
        put: impl Fn(u32) -> [u8; FROM],
        check: impl Fn(&dyn Fn(i32, i32) -> [u8; FROM], [f64; 2], [u8; TO]) -> bool,
    ) {
        let driver = driver();
        let one = vk::SampleCountFlags::TYPE_1;
        let [source, target] = formats.map(|format| Sight::new(&driver, format, all, one));
        for place in places() {
            // SAFETY: in sight, and nothing else looks.
            unsafe {
                source
                    .at::<FROM>(aspect, place, 0)
                    .write(put(noise(place, 0)))
            };
        }
        let subresource = vk::ImageSubresourceLayers {
            aspect_mask: all,
            layer_count: 2,
            ..Default::default()
        };
        let corner = |[x, y]: [i32; 2], z| vk::Offset3D { x, y, z };
        let from = [[2, 3], [33, 24]];
        let region = vk::ImageBlit {
            src_subresource: subresource,
            src_offsets: [corner(from[0], 0), corner(from[1], 1)],
            dst_subresource: subresource,
            dst_offsets: [corner(to[0], 0), corner(to[1], 1)],
        };
        let general = vk::ImageLayout::GENERAL;
        run(&driver, |buffer| {
            let (device, regions) = (&driver.device, [region]);
            let (from, to) = (source.image, target.image);
            // SAFETY: live images.
            unsafe { device.cmd_blit_image(buffer, from, general, to, general, &regions, filter) };
        });
        for [x, y, layer] in places() {
            // SAFETY: in sight, and everything has ended.
            let got = unsafe { target.at::<TO>(aspect, [x, y, layer], 0).read() };
            let at = [x as i32, y as i32];
            let inside = |axis: usize| {
                let (a, b) = (to[0][axis], to[1][axis]);
                (a.min(b)..a.max(b)).contains(&at[axis])
            };
            if !inside(0) || !inside(1) {
                assert_eq!(got, [0; TO], "{at:?} is outside");
                continue;
            }
            let place = [0, 1].map(|axis| {
                let share = (f64::from(at[axis]) + 0.5 - f64::from(to[0][axis]))
                    / f64::from(to[1][axis] - to[0][axis]);
                f64::from(from[0][axis]) + share * f64::from(from[1][axis] - from[0][axis])
            });
            let texel = |x: i32, y: i32| put(noise([x as u32, y as u32, layer], 0));
            assert!(
                check(&texel, place, got),
                "{formats:?} at {at:?} of {layer}: {got:?} from {place:?}"
            );
        }
        source.destroy(&driver);
        target.destroy(&driver);
    }

    #[test]
    fn nearest_texels_are_converted() {
        let colour = vk::ImageAspectFlags::COLOR;
        // The red and blue ones change places; red, green and blue are decoded.
        blit::<4, 4>(
            [vk::Format::R8G8B8A8_SRGB, vk::Format::B8G8R8A8_UNORM],
            colour,
            colour,
            [[43, 4], [2, 35]],
            vk::Filter::NEAREST,
            u32::to_le_bytes,
            |texel, [x, y], [b, g, r, a]| {
                let [from_r, from_g, from_b, from_a] = texel(x.floor() as i32, y.floor() as i32);
                let linear = |byte: u8| {
                    let value = f64::from(byte) / 255.0;
                    let curved = ((value + 0.055) / 1.055).powf(2.4);
                    255.0
                        * if value <= 0.04045 {
                            value / 12.92
                        } else {
                            curved
                        }
                };
                let near = |from, to: u8| (linear(from) - f64::from(to)).abs() <= 0.6;
                near(from_r, r) && near(from_g, g) && near(from_b, b) && from_a == a
            },
        );
        // To the largest value that the target has, with its sign.
        blit::<4, 2>(
            [vk::Format::R16G16_SINT, vk::Format::R8G8_SINT],
            colour,
            colour,
            [[1, 36], [40, 3]],
            vk::Filter::NEAREST,
            u32::to_le_bytes,
            |texel, [x, y], got| {
                let [a, b, c, d] = texel(x.floor() as i32, y.floor() as i32);
                let narrow = |low, high| i16::from_le_bytes([low, high]).clamp(-128, 127) as u8;
                got == [narrow(a, b), narrow(c, d)]
            },
        );
    }

    #[test]
    fn neighbours_are_weighed() {
        let colour = vk::ImageAspectFlags::COLOR;
        blit::<1, 2>(
            [vk::Format::R8_UNORM, vk::Format::R16_UNORM],
            colour,
            colour,
            [[2, 3], [43, 34]],
            vk::Filter::LINEAR,
            |word| [word as u8],
            |texel, [x, y], got| {
                let (left, top) = ((x - 0.5).floor(), (y - 0.5).floor());
                let (right, low) = (x - 0.5 - left, y - 0.5 - top);
                let of = |dx: i32, dy: i32| {
                    f64::from(texel(left as i32 + dx, top as i32 + dy)[0]) / 255.0
                };
                let expected = (of(0, 0) * (1.0 - right) + of(1, 0) * right) * (1.0 - low)
                    + (of(0, 1) * (1.0 - right) + of(1, 1) * right) * low;
                let got = f64::from(u16::from_le_bytes(got)) / 65535.0;
                // Weights have 8 bits on either axis.
                (got - expected).abs() <= 2.5 / 256.0
            },
        );
    }

    #[test]
    fn depth_and_stencil_go_together() {
        let both = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
        let format = vk::Format::D32_SFLOAT_S8_UINT;
        let to = [[41, 35], [4, 2]];
        blit::<4, 4>(
            [format; 2],
            vk::ImageAspectFlags::DEPTH,
            both,
            to,
            vk::Filter::NEAREST,
            |word| ((word >> 8) as f32 / 16_777_216.0).to_le_bytes(),
            |texel, [x, y], got| got == texel(x.floor() as i32, y.floor() as i32),
        );
        blit::<1, 1>(
            [format; 2],
            vk::ImageAspectFlags::STENCIL,
            both,
            to,
            vk::Filter::NEAREST,
            |word| [word as u8],
            |texel, [x, y], got| got == texel(x.floor() as i32, y.floor() as i32),
        );
    }
}
