// SPDX-License-Identifier: MIT
//! Scaled copies of images, against a model on the CPU.
//!
//! Texels are compared as what they mean: a nearest filter may be off by a step of the target's format, which
//! conversions round to, a linear one by two steps of the weights in addition (of 8 bits on each axis,
//! Vulkan 1.3, `subTexelPrecisionBits` is 4 at least).

use anyhow::ensure;
use ash::vk;

use super::scenario;
use crate::image::{Image, Model, Shape};
use crate::scenario::Scenario;
use crate::scope::Scope;
use crate::texel::{Coding, Kind};

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("blit.nearest", nearest),
    scenario("blit.linear", linear),
    scenario("blit.conversions", conversions),
    scenario("blit.integers", integers),
    scenario("blit.levels", levels),
    scenario("blit.solid", solid),
    scenario("blit.depth_stencil", depth_stencil),
];

const TRANSFER: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::TRANSFER_SRC.as_raw() | vk::ImageUsageFlags::TRANSFER_DST.as_raw(),
);
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;
const NEAREST: vk::Filter = vk::Filter::NEAREST;
const LINEAR: vk::Filter = vk::Filter::LINEAR;

const fn coding(format: vk::Format, kind: Kind, fields: &'static [(usize, u32)]) -> Coding {
    Coding {
        format,
        kind,
        fields,
    }
}

const BYTES: &[(usize, u32)] = &[(0, 8), (1, 8), (2, 8), (3, 8)];
const REVERSED: &[(usize, u32)] = &[(2, 8), (1, 8), (0, 8), (3, 8)];
const HALVES: &[(usize, u32)] = &[(0, 16), (1, 16), (2, 16), (3, 16)];
const WORDS: &[(usize, u32)] = &[(0, 32), (1, 32), (2, 32), (3, 32)];

const RGBA8: Coding = coding(vk::Format::R8G8B8A8_UNORM, Kind::Unorm, BYTES);
const BGRA8: Coding = coding(vk::Format::B8G8R8A8_UNORM, Kind::Unorm, REVERSED);
const RGBA8_SRGB: Coding = coding(vk::Format::R8G8B8A8_SRGB, Kind::Srgb, BYTES);
const BGRA8_SRGB: Coding = coding(vk::Format::B8G8R8A8_SRGB, Kind::Srgb, REVERSED);
const R8: Coding = coding(vk::Format::R8_UNORM, Kind::Unorm, &[(0, 8)]);
const RG16: Coding = coding(vk::Format::R16G16_UNORM, Kind::Unorm, &[(0, 16), (1, 16)]);
const RGBA16F: Coding = coding(vk::Format::R16G16B16A16_SFLOAT, Kind::Float, HALVES);
const RGBA32F: Coding = coding(vk::Format::R32G32B32A32_SFLOAT, Kind::Float, WORDS);
const R5G6B5: Coding = coding(
    vk::Format::R5G6B5_UNORM_PACK16,
    Kind::Unorm,
    &[(2, 5), (1, 6), (0, 5)],
);
const RGB10A2: Coding = coding(
    vk::Format::A2B10G10R10_UNORM_PACK32,
    Kind::Unorm,
    &[(0, 10), (1, 10), (2, 10), (3, 2)],
);
const RG11B10F: Coding = coding(
    vk::Format::B10G11R11_UFLOAT_PACK32,
    Kind::Float,
    &[(0, 11), (1, 11), (2, 10)],
);
const RGBA8UI: Coding = coding(vk::Format::R8G8B8A8_UINT, Kind::Uint, BYTES);
const RGBA16UI: Coding = coding(vk::Format::R16G16B16A16_UINT, Kind::Uint, HALVES);
const RGBA32UI: Coding = coding(vk::Format::R32G32B32A32_UINT, Kind::Uint, WORDS);
const RGBA8I: Coding = coding(vk::Format::R8G8B8A8_SINT, Kind::Sint, BYTES);
const RGBA32I: Coding = coding(vk::Format::R32G32B32A32_SINT, Kind::Sint, WORDS);
const D16: Coding = coding(vk::Format::D16_UNORM, Kind::Unorm, &[(0, 16)]);
const D32: Coding = coding(vk::Format::D32_SFLOAT, Kind::Float, &[(0, 32)]);
const S8: Coding = coding(vk::Format::S8_UINT, Kind::Uint, &[(0, 8)]);
const D32_OF_BOTH: Coding = coding(vk::Format::D32_SFLOAT_S8_UINT, Kind::Float, &[(0, 32)]);
const S8_OF_BOTH: Coding = coding(vk::Format::D32_SFLOAT_S8_UINT, Kind::Uint, &[(0, 8)]);

/// One end of a blit: two corners in a level; the third axis of images of two dimensions is the first layer
/// and one behind the last.
#[derive(Clone, Copy)]
struct End {
    level: u32,
    corners: [[i32; 3]; 2],
}

impl End {
    fn new(from: [i32; 3], to: [i32; 3]) -> End {
        End {
            level: 0,
            corners: [from, to],
        }
    }

    /// All of a level.
    fn all(shape: &Shape, level: u32) -> End {
        let [width, height, depth] = shape.level(level).map(|size| size as i32);
        End {
            level,
            corners: [[0; 3], [width, height, depth]],
        }
    }

    fn on(self, axis: usize) -> [i32; 2] {
        [self.corners[0][axis], self.corners[1][axis]]
    }

    fn place(self, shape: &Shape) -> (vk::ImageSubresourceLayers, [vk::Offset3D; 2]) {
        let is_solid = shape.kind == vk::ImageType::TYPE_3D;
        let [from, to] = self.corners;
        let (layer, layers) = match is_solid {
            true => (0, 1),
            false => (from[2] as u32, (to[2] - from[2]) as u32),
        };
        let depths = match is_solid {
            true => [from[2], to[2]],
            false => [0, 1],
        };
        let offset = |at: usize| vk::Offset3D {
            x: self.corners[at][0],
            y: self.corners[at][1],
            z: depths[at],
        };
        (
            vk::ImageSubresourceLayers {
                aspect_mask: shape.aspect,
                mip_level: self.level,
                base_array_layer: layer,
                layer_count: layers,
            },
            [offset(0), offset(1)],
        )
    }
}

/// An image with several aspects of which each has its own bytes.
#[derive(Clone)]
struct Side {
    aspects: Vec<(Coding, Model)>,
}

impl Side {
    /// An image of random texels, shaped alike but for the format.
    fn new(shape: Shape, codings: &[Coding], seed: u32) -> Side {
        let aspects = codings.iter().map(|coding| {
            let aspect = match (coding.format, coding.kind) {
                (vk::Format::S8_UINT, _) | (vk::Format::D32_SFLOAT_S8_UINT, Kind::Uint) => {
                    vk::ImageAspectFlags::STENCIL
                }
                (
                    vk::Format::D16_UNORM | vk::Format::D32_SFLOAT | vk::Format::D32_SFLOAT_S8_UINT,
                    _,
                ) => vk::ImageAspectFlags::DEPTH,
                _ => vk::ImageAspectFlags::COLOR,
            };
            let shape = Shape {
                format: coding.format,
                aspect,
                element: (1, 1, coding.bytes()),
                ..shape
            };
            let mut model = Model::new(shape, seed);
            coding.tame(&mut model.bytes);
            (*coding, model)
        });
        Side {
            aspects: aspects.collect(),
        }
    }

    fn shape(&self) -> Shape {
        self.aspects[0].1.shape
    }

    unsafe fn has(&self, s: &Scope<'_>, feature: vk::FormatFeatureFlags) -> bool {
        let format = self.shape().format;
        let of = s
            .gpu
            .instance
            .get_physical_device_format_properties(s.gpu.physical, format);
        of.optimal_tiling_features.contains(feature) && s.has_image(&self.shape(), TRANSFER)
    }

    /// Copies between its image and buffers; the buffers are made and filled, or read later.
    unsafe fn copy(
        &self,
        s: &Scope<'_>,
        commands: vk::CommandBuffer,
        image: Image,
        to_image: bool,
    ) -> anyhow::Result<Vec<crate::scope::Buffer>> {
        let mut buffers = Vec::new();
        for (_, model) in &self.aspects {
            let buffer = s.buffer(model.bytes.len() as u64)?;
            buffer.write(0, &model.bytes);
            let image = Image {
                shape: model.shape,
                ..image
            };
            image.copy_all(s, commands, buffer.handle, to_image);
            buffers.push(buffer);
        }
        Ok(buffers)
    }
}

/// A texel's colour.
fn texel(coding: &Coding, model: &Model, level: u32, at: [u32; 3]) -> [f64; 4] {
    let part = crate::image::Part {
        level,
        at,
        size: [1; 3],
    };
    coding.decode(&model.part(part))
}

/// The place in the source of the middle of a texel of the target.
fn place(at: u32, from: [i32; 2], to: [i32; 2]) -> f64 {
    let length = |ends: [i32; 2]| f64::from(ends[1] - ends[0]);
    (f64::from(at) + 0.5 - f64::from(to[0])) * length(from) / length(to) + f64::from(from[0])
}

/// What a sample of the source is.
fn sample(
    coding: &Coding,
    model: &Model,
    level: u32,
    at: [f64; 3],
    filter: vk::Filter,
) -> [f64; 4] {
    let size = model.shape.level(level);
    let clamp = |axis: usize, at: f64| at.clamp(0.0, f64::from(size[axis] - 1)) as u32;
    if filter == NEAREST {
        let at = [0, 1, 2].map(|axis| clamp(axis, at[axis].floor()));
        return texel(coding, model, level, at);
    }
    let axes = match model.shape.kind {
        vk::ImageType::TYPE_3D => 3,
        _ => 2,
    };
    let mut colour = [0.0; 4];
    for corner in 0..1 << axes {
        let mut weight = 1.0;
        let mut corner_at = [0; 3];
        for axis in 0..3 {
            if axis >= axes {
                corner_at[axis] = clamp(axis, at[axis].floor());
                continue;
            }
            let low = (at[axis] - 0.5).floor();
            let share = at[axis] - 0.5 - low;
            let is_high = corner >> axis & 1 == 1;
            weight *= if is_high { share } else { 1.0 - share };
            corner_at[axis] = clamp(axis, if is_high { low + 1.0 } else { low });
        }
        let of = texel(coding, model, level, corner_at);
        for (to, of) in colour.iter_mut().zip(of) {
            *to += weight * of;
        }
    }
    colour
}

/// Compares an aspect of the target with the model; `before` is what it was.
fn compare(
    name: &str,
    (source, from): (&(Coding, Model), End),
    (target, to): (&(Coding, Model), End),
    got: &[u8],
    filter: vk::Filter,
) -> anyhow::Result<()> {
    let (coding, before) = target;
    let mut got_model = before.clone();
    got_model.bytes.copy_from_slice(got);
    let weights = match filter {
        NEAREST => 0.0,
        _ => 3.0 / 256.0,
    };
    // What lies outside of the box is as it was.
    let inside = |axis: usize, at: u32| {
        let [a, b] = to.on(axis);
        (a.min(b)..a.max(b)).contains(&(at as i32))
    };
    for level in 0..before.shape.levels {
        let [width, height, depth] = before.shape.level(level);
        for z in 0..depth {
            for y in 0..height {
                for x in 0..width {
                    let at = [x, y, z];
                    let is_inside =
                        level == to.level && inside(0, x) && inside(1, y) && inside(2, z);
                    let part = crate::image::Part {
                        level,
                        at,
                        size: [1; 3],
                    };
                    if !is_inside {
                        ensure!(
                            got_model.part(part) == before.part(part),
                            "{name}: {at:?} of level {level} is outside and changed"
                        );
                        continue;
                    }
                    let mut from_at = [0.0; 3];
                    for axis in 0..3 {
                        from_at[axis] = place(at[axis], from.on(axis), to.on(axis));
                    }
                    let expected = sample(&source.0, &source.1, from.level, from_at, filter);
                    let found = coding.decode(&got_model.part(part));
                    for (component, _) in coding.fields {
                        let (found, expected) = (found[*component], expected[*component]);
                        let most = coding.step(*component, expected) + weights;
                        ensure!(
                            (found - expected).abs() <= most,
                            "{name}: component {component} at {at:?} is {found}, not {expected} \
                             (from {from_at:?})"
                        );
                    }
                }
            }
        }
    }
    Ok(())
}

/// Blits once and compares.
unsafe fn blit(
    s: &Scope<'_>,
    name: &str,
    (source, from): (&Side, End),
    (target, to): (&Side, End),
    filter: vk::Filter,
) -> anyhow::Result<()> {
    let supported = source.has(s, vk::FormatFeatureFlags::BLIT_SRC)
        && target.has(s, vk::FormatFeatureFlags::BLIT_DST);
    if !supported {
        // What other drivers cannot do says nothing about this one.
        ensure!(
            !s.gpu.driver().contains("Cortland"),
            "{name}: not supported"
        );
        return Ok(());
    }
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let none = vk::ImageCreateFlags::empty();
    let from_image = s.image(source.shape(), TRANSFER, none, commands)?;
    let to_image = s.image(target.shape(), TRANSFER, none, commands)?;
    source.copy(s, commands, from_image, true)?;
    target.copy(s, commands, to_image, true)?;
    s.barrier(commands);
    let all = |side: &Side| {
        let aspects = side.aspects.iter().map(|aspect| aspect.1.shape.aspect);
        aspects.fold(vk::ImageAspectFlags::empty(), |all, one| all | one)
    };
    let (mut src_subresource, src_offsets) = from.place(&source.shape());
    let (mut dst_subresource, dst_offsets) = to.place(&target.shape());
    src_subresource.aspect_mask = all(source);
    dst_subresource.aspect_mask = all(target);
    let region = vk::ImageBlit {
        src_subresource,
        src_offsets,
        dst_subresource,
        dst_offsets,
    };
    s.device().cmd_blit_image(
        commands,
        from_image.handle,
        GENERAL,
        to_image.handle,
        GENERAL,
        &[region],
        filter,
    );
    s.barrier(commands);
    let back = target.copy(s, commands, to_image, false)?;
    s.finish(commands)?;
    for ((source, target), got) in source.aspects.iter().zip(&target.aspects).zip(back) {
        compare(name, (source, from), (target, to), &got.bytes(), filter)?;
    }
    Ok(())
}

fn flat(width: u32, height: u32) -> Shape {
    // The format and its texels are the side's.
    Shape::flat(vk::Format::UNDEFINED, 0, width, height)
}

/// Copies, enlargements and reductions, mirrored or not. Extents are odd where places would otherwise be
/// between two texels.
unsafe fn boxes(
    s: &Scope<'_>,
    source: &Coding,
    target: &Coding,
    filter: vk::Filter,
) -> anyhow::Result<()> {
    let from = Side::new(flat(75, 41).stacked(1, 3), &[*source], 500);
    let to = Side::new(flat(131, 67).stacked(1, 4), &[*target], 501);
    let cases = [
        ("copy", [[3, 5, 1], [40, 30, 2]], [[11, 2, 3], [48, 27, 4]]),
        (
            "larger",
            [[0, 0, 0], [75, 41, 1]],
            [[0, 0, 0], [131, 67, 1]],
        ),
        (
            "smaller",
            [[2, 1, 0], [73, 40, 3]],
            [[5, 7, 1], [36, 24, 4]],
        ),
        (
            "mirrored",
            [[10, 4, 2], [45, 25, 3]],
            [[120, 3, 0], [5, 66, 1]],
        ),
        (
            "turned",
            [[45, 25, 0], [10, 4, 1]],
            [[30, 3, 0], [101, 36, 1]],
        ),
        (
            "whole turn",
            [[45, 4, 0], [10, 25, 1]],
            [[90, 50, 2], [55, 8, 3]],
        ),
    ];
    for (name, [a, b], [c, d]) in cases {
        let name = format!("{:?} to {:?}, {name}", source.format, target.format);
        blit(
            s,
            &name,
            (&from, End::new(a, b)),
            (&to, End::new(c, d)),
            filter,
        )?;
    }
    Ok(())
}

unsafe fn nearest(s: &Scope<'_>) -> anyhow::Result<()> {
    for coding in [RGBA8, R8, RGBA32F] {
        boxes(s, &coding, &coding, NEAREST)?;
    }
    Ok(())
}

unsafe fn linear(s: &Scope<'_>) -> anyhow::Result<()> {
    for coding in [RGBA8, RGBA8_SRGB, RGBA16F] {
        boxes(s, &coding, &coding, LINEAR)?;
    }
    Ok(())
}

/// Between formats, enlarged by a bit.
unsafe fn convert(s: &Scope<'_>, pairs: &[(Coding, Coding)]) -> anyhow::Result<()> {
    for (source, target) in pairs {
        let from = Side::new(flat(33, 17), &[*source], 510);
        let to = Side::new(flat(40, 21), &[*target], 511);
        let name = format!("{:?} to {:?}", source.format, target.format);
        let (from_end, to_end) = (End::all(&from.shape(), 0), End::new([1, 2, 0], [38, 21, 1]));
        blit(s, &name, (&from, from_end), (&to, to_end), NEAREST)?;
        if !source.is_integer() {
            let name = format!("{name}, linear");
            let both = [&from, &to];
            let can = s
                .gpu
                .instance
                .get_physical_device_format_properties(s.gpu.physical, source.format)
                .optimal_tiling_features
                .contains(vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR);
            if can {
                blit(s, &name, (both[0], from_end), (both[1], to_end), LINEAR)?;
            }
        }
    }
    Ok(())
}

unsafe fn conversions(s: &Scope<'_>) -> anyhow::Result<()> {
    let pairs = [
        (RGBA8, BGRA8),
        (BGRA8, RGBA8_SRGB),
        (BGRA8_SRGB, RGBA16F),
        (RGBA16F, BGRA8_SRGB),
        (RGBA32F, RGB10A2),
        (RGB10A2, R5G6B5),
        (R5G6B5, RGBA8),
        (RGBA32F, RG11B10F),
        (RG11B10F, RGBA16F),
        (RGBA8, R8),
        (R8, RG16),
        (RG16, RGBA32F),
    ];
    convert(s, &pairs)
}

unsafe fn integers(s: &Scope<'_>) -> anyhow::Result<()> {
    let pairs = [
        (RGBA8UI, RGBA32UI),
        (RGBA8UI, RGBA16UI),
        (RGBA32UI, RGBA32UI),
        (RGBA8I, RGBA32I),
        (RGBA8I, RGBA8I),
    ];
    convert(s, &pairs)
}

/// From each level to another, as when levels are made, and of one row.
unsafe fn levels(s: &Scope<'_>) -> anyhow::Result<()> {
    let shape = flat(70, 45).stacked(6, 3);
    let (from, to) = (
        Side::new(shape, &[RGBA8], 520),
        Side::new(shape, &[RGBA8], 521),
    );
    for level in 0..5 {
        let ends = (
            End::all(&from.shape(), level),
            End::all(&to.shape(), level + 1),
        );
        blit(
            s,
            &format!("level {level}"),
            (&from, ends.0),
            (&to, ends.1),
            LINEAR,
        )?;
    }
    let mut row = flat(91, 1).stacked(1, 2);
    row.kind = vk::ImageType::TYPE_1D;
    let (from, to) = (Side::new(row, &[RGBA8], 522), Side::new(row, &[BGRA8], 523));
    let ends = (
        End::new([3, 0, 0], [88, 1, 2]),
        End::new([80, 0, 0], [9, 1, 2]),
    );
    for filter in [NEAREST, LINEAR] {
        blit(s, "rows", (&from, ends.0), (&to, ends.1), filter)?;
    }
    Ok(())
}

/// Three dimensions, alone and with two.
unsafe fn solid(s: &Scope<'_>) -> anyhow::Result<()> {
    let solid = |size: [u32; 3], levels| {
        let mut shape = flat(size[0], size[1]);
        shape.kind = vk::ImageType::TYPE_3D;
        shape.extent[2] = size[2];
        shape.levels = levels;
        shape
    };
    let from = Side::new(solid([21, 13, 9], 1), &[RGBA8], 530);
    let to = Side::new(solid([34, 22, 16], 2), &[RGBA16F], 531);
    let cases = [
        (
            "larger",
            [[0, 0, 0], [21, 13, 9]],
            [[0, 0, 0], [34, 22, 16]],
        ),
        (
            "smaller",
            [[1, 2, 0], [20, 13, 9]],
            [[3, 3, 2], [14, 10, 8]],
        ),
        (
            "mirrored",
            [[1, 2, 8], [20, 13, 1]],
            [[30, 3, 1], [5, 18, 14]],
        ),
    ];
    for (name, [a, b], [c, d]) in cases {
        for filter in [NEAREST, LINEAR] {
            blit(
                s,
                name,
                (&from, End::new(a, b)),
                (&to, End::new(c, d)),
                filter,
            )?;
        }
    }
    let second = (End::all(&from.shape(), 0), End::all(&to.shape(), 1));
    blit(
        s,
        "second level",
        (&from, second.0),
        (&to, second.1),
        NEAREST,
    )?;
    // A slice becomes a layer, and a layer a slice.
    let sheet = Side::new(flat(30, 25).stacked(1, 3), &[RGBA8], 532);
    let slice = End::new([1, 1, 4], [20, 12, 5]);
    let layer = End::new([2, 3, 0], [25, 20, 1]);
    blit(
        s,
        "slice to layer",
        (&from, slice),
        (&sheet, layer),
        NEAREST,
    )?;
    let to_slice = End::new([2, 3, 7], [31, 20, 8]);
    blit(
        s,
        "layer to slice",
        (&sheet, layer),
        (&to, to_slice),
        NEAREST,
    )
}

unsafe fn depth_stencil(s: &Scope<'_>) -> anyhow::Result<()> {
    let both = [D32_OF_BOTH, S8_OF_BOTH];
    for codings in [&[D16][..], &[D32], &[S8], &both] {
        let from = Side::new(flat(47, 33).stacked(1, 2), codings, 540);
        let to = Side::new(flat(60, 52).stacked(2, 2), codings, 541);
        let name = format!("{:?}", codings[0].format);
        let from_end = End::new([2, 1, 0], [45, 32, 2]);
        let to_end = End::new([59, 4, 0], [7, 51, 2]);
        blit(s, &name, (&from, from_end), (&to, to_end), NEAREST)?;
    }
    Ok(())
}
