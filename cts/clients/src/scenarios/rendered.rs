// SPDX-License-Identifier: MIT
//! What was rendered, used as an image: copied, blitted, sampled, in rows that the CPU reads.

use anyhow::ensure;
use ash::vk;

use super::pictures::{BLUE, GREEN, GREY, Picture, RED, RGBA8, SIDE, floats, quads};
use super::scenario;
use crate::image::{Image, Model, Shape};
use crate::picture::{Attachment, Draw, Target};
use crate::resources::{PROBE, Probe, Resource};
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("rendered.copied", copied),
    scenario("rendered.blitted", blitted),
    scenario("rendered.over_copies", over_copies),
    scenario("rendered.depth_copied", depth_copied),
    scenario("rendered.sampled", sampled),
    scenario("rendered.linear", linear),
    scenario("rendered.linear_sampled", linear_sampled),
];

const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;
const COLOUR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;

pub(super) fn both() -> String {
    quads(&[
        ([4.0, 4.0, 40.0, 40.0], 0.5, RED),
        ([20.0, 20.0, 60.0, 60.0], 0.25, BLUE),
    ])
}

/// The picture of [`both`] over grey.
fn expected() -> Vec<u8> {
    (0..SIDE * SIDE)
        .flat_map(|at| {
            let (x, y) = (at % SIDE, at / SIDE);
            let inside = |low, high| (low..high).contains(&x) && (low..high).contains(&y);
            match (inside(20, 60), inside(4, 40)) {
                (true, _) => [0, 0, 255, 255],
                (false, true) => [255, 0, 0, 255],
                (false, false) => [51, 102, 153, 255],
            }
        })
        .collect()
}

fn layers(aspect: vk::ImageAspectFlags) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers {
        aspect_mask: aspect,
        mip_level: 0,
        base_array_layer: 0,
        layer_count: 1,
    }
}

fn region(
    aspect: vk::ImageAspectFlags,
    from: [i32; 2],
    to: [i32; 2],
    size: [u32; 2],
) -> vk::ImageCopy {
    let offset = |[x, y]: [i32; 2]| vk::Offset3D { x, y, z: 0 };
    vk::ImageCopy::default()
        .src_subresource(layers(aspect))
        .src_offset(offset(from))
        .dst_subresource(layers(aspect))
        .dst_offset(offset(to))
        .extent(vk::Extent3D {
            width: size[0],
            height: size[1],
            depth: 1,
        })
}

/// Renders [`both`], ends the pass and waits for it.
unsafe fn rendered<'s, 'g>(s: &'s Scope<'g>) -> anyhow::Result<Picture<'s, 'g>> {
    let picture = Picture::plain(s)?;
    let vertex = both();
    picture.clear();
    picture.draw(&picture.quads(&vertex), 4, 2)?;
    s.device().cmd_end_rendering(picture.commands);
    s.barrier(picture.commands);
    Ok(picture)
}

/// An image that is copied to and read.
unsafe fn other(s: &Scope<'_>, commands: vk::CommandBuffer) -> anyhow::Result<Image> {
    let usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let shape = Shape::flat(RGBA8, 4, SIDE, SIDE);
    let image = s.image(shape, usage, vk::ImageCreateFlags::empty(), commands)?;
    let white = floats([1.0; 4]);
    let device = s.device();
    device.cmd_clear_color_image(commands, image.handle, GENERAL, &white, &[image.range()]);
    s.barrier(commands);
    Ok(image)
}

/// Parts of what was rendered in another image.
unsafe fn copied(s: &Scope<'_>) -> anyhow::Result<()> {
    let picture = rendered(s)?;
    let commands = picture.commands;
    let to = other(s, commands)?;
    let parts = [
        ([0, 0], [10, 7], [33, 41]),
        ([30, 30], [0, 50], [20, 14]),
        ([63, 63], [63, 0], [1, 1]),
    ];
    let regions = parts.map(|(from, to, size)| region(COLOUR, from, to, size));
    let from = picture.target.colour[0].image.handle;
    (s.device()).cmd_copy_image(commands, from, GENERAL, to.handle, GENERAL, &regions);
    let back = s.read_back(commands, to)?;
    s.finish(commands)?;
    let source = expected();
    let mut all = vec![255_u8; 4 * (SIDE * SIDE) as usize];
    for (from, to, size) in parts {
        for (y, x) in (0..size[1] as i32).flat_map(|y| (0..size[0] as i32).map(move |x| (y, x))) {
            let at = |[left, top]: [i32; 2]| 4 * ((top + y) * SIDE as i32 + left + x) as usize;
            let texel = &source[at(from)..at(from) + 4];
            all[at(to)..at(to) + 4].copy_from_slice(texel);
        }
    }
    s.report.expect("parts", back.bytes(), &all)
}

/// The same enlarged, reduced and mirrored; sizes are such that texels stay whole.
unsafe fn blitted(s: &Scope<'_>) -> anyhow::Result<()> {
    let source = expected();
    for (name, from, to) in [
        ("enlarged", [0, 0, 32, 32], [0, 0, 64, 64]),
        ("mirrored", [64, 0, 0, 64], [0, 0, 64, 64]),
        ("turned", [64, 64, 0, 0], [0, 0, 64, 64]),
        ("a part", [4, 8, 36, 40], [30, 20, 62, 52]),
    ] {
        let picture = rendered(s)?;
        let commands = picture.commands;
        let image = other(s, commands)?;
        let corners = |[left, top, right, bottom]: [i32; 4]| {
            [(left, top, 0), (right, bottom, 1)].map(|(x, y, z)| vk::Offset3D { x, y, z })
        };
        let blit = vk::ImageBlit::default()
            .src_subresource(layers(COLOUR))
            .src_offsets(corners(from))
            .dst_subresource(layers(COLOUR))
            .dst_offsets(corners(to));
        s.device().cmd_blit_image(
            commands,
            picture.target.colour[0].image.handle,
            GENERAL,
            image.handle,
            GENERAL,
            &[blit],
            vk::Filter::NEAREST,
        );
        let back = s.read_back(commands, image)?;
        s.finish(commands)?;
        let mut all = vec![255_u8; source.len()];
        for (y, x) in (to[1]..to[3]).flat_map(|y| (to[0]..to[2]).map(move |x| (y, x))) {
            let place = |axis: usize, at: i32| {
                let share = (f64::from(at - to[axis]) + 0.5) / f64::from(to[axis + 2] - to[axis]);
                let (low, high) = (f64::from(from[axis]), f64::from(from[axis + 2]));
                (low + share * (high - low)).floor() as usize
            };
            let of = 4 * (place(1, y) * SIDE as usize + place(0, x));
            let at = 4 * (y * SIDE as i32 + x) as usize;
            all[at..at + 4].copy_from_slice(&source[of..of + 4]);
        }
        s.report.expect(name, back.bytes(), &all)?;
    }
    Ok(())
}

/// Passes that load what copies have written between them.
unsafe fn over_copies(s: &Scope<'_>) -> anyhow::Result<()> {
    let picture = rendered(s)?;
    let commands = picture.commands;
    let image = picture.target.colour[0].image;
    let model = Model::new(Shape::flat(RGBA8, 4, 24, 10), 980);
    let buffer = s.buffer(960)?;
    buffer.write(0, &model.bytes);
    let region = vk::BufferImageCopy::default()
        .image_subresource(layers(COLOUR))
        .image_offset(vk::Offset3D { x: 13, y: 29, z: 0 })
        .image_extent(vk::Extent3D {
            width: 24,
            height: 10,
            depth: 1,
        });
    let device = s.device();
    device.cmd_copy_buffer_to_image(commands, buffer.handle, image.handle, GENERAL, &[region]);
    s.barrier(commands);
    picture.begin(vk::AttachmentLoadOp::LOAD);
    let vertex = quads(&[([30.0, 2.0, 35.0, 62.0], 0.5, GREEN)]);
    picture.draw(&picture.quads(&vertex), 4, 1)?;
    let got = picture.read()?.colour.remove(0);
    let mut all = expected();
    for (at, texel) in model.bytes.chunks_exact(4).enumerate() {
        let at = 4 * ((29 + at / 24) * SIDE as usize + 13 + at % 24);
        all[at..at + 4].copy_from_slice(texel);
    }
    for (y, x) in (2..62).flat_map(|y| (30..35).map(move |x| (y, x))) {
        let at = 4 * (y * SIDE as usize + x);
        all[at..at + 4].copy_from_slice(&[0, 255, 0, 255]);
    }
    s.report.expect("between", got, &all)
}

/// Depths of one pass, copied for the test of another.
unsafe fn depth_copied(s: &Scope<'_>) -> anyhow::Result<()> {
    for (format, bytes) in [(vk::Format::D32_SFLOAT, 4), (vk::Format::D16_UNORM, 2)] {
        let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        let shape = Shape {
            aspect: vk::ImageAspectFlags::DEPTH,
            ..Shape::flat(format, bytes, SIDE, SIDE)
        };
        let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT
            | vk::ImageUsageFlags::TRANSFER_SRC
            | vk::ImageUsageFlags::TRANSFER_DST;
        let mut deep = Vec::new();
        for clear in [1.0, 0.0] {
            let image = s.image(shape, usage, vk::ImageCreateFlags::empty(), commands)?;
            deep.push(Attachment {
                image,
                view: s.view(image, vk::ImageViewType::TYPE_2D, shape.aspect)?,
                clear: vk::ClearValue {
                    depth_stencil: vk::ClearDepthStencilValue {
                        depth: clear,
                        stencil: 0,
                    },
                },
            });
        }
        let mut target = Target {
            size: [SIDE; 2],
            samples: ONE,
            colour: vec![s.colour(RGBA8, 4, [SIDE; 2], floats(GREY), commands)?],
            depth: Some(deep[0]),
        };
        let device = s.device();
        let (first, second) = (both(), quads(&[([0.0, 0.0, 64.0, 64.0], 0.375, GREEN)]));
        for (text, count, of) in [(&first, 2, 0), (&second, 1, 1)] {
            target.depth = Some(deep[of]);
            if of == 1 {
                let (from, to) = (deep[0].image.handle, deep[1].image.handle);
                let all = region(shape.aspect, [0, 0], [0, 0], [SIDE; 2]);
                device.cmd_copy_image(commands, from, GENERAL, to, GENERAL, &[all]);
                s.barrier(commands);
            }
            let mut draw = Draw::new(&target, text, super::pictures::FLAT);
            draw.topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
            draw.depth = (draw.depth.depth_test_enable(true).depth_write_enable(true))
                .depth_compare_op(vk::CompareOp::LESS);
            let pipeline = s.graphics(&draw)?;
            let load = match of {
                0 => vk::AttachmentLoadOp::CLEAR,
                _ => vk::AttachmentLoadOp::LOAD,
            };
            s.render(commands, &target, load);
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
            device.cmd_draw(commands, 4, count, 0, 0);
            device.cmd_end_rendering(commands);
            s.barrier(commands);
        }
        let back = s.read_back(commands, target.colour[0].image)?;
        s.finish(commands)?;
        // Blue is before the green, red and grey behind it.
        let all: Vec<u8> = (expected().as_chunks::<4>().0.iter())
            .flat_map(|pixel| match pixel {
                [0, 0, 255, 255] => *pixel,
                _ => [0, 255, 0, 255],
            })
            .collect();
        s.report
            .expect(&format!("{format:?}"), back.bytes(), &all)?;
    }
    Ok(())
}

/// Colour and depth of a pass, as textures of the next one.
unsafe fn sampled(s: &Scope<'_>) -> anyhow::Result<()> {
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let attachment = |format, aspect, usage, clear| {
        let shape = Shape {
            aspect,
            ..Shape::flat(format, 4, SIDE, SIDE)
        };
        let usage = usage | vk::ImageUsageFlags::SAMPLED;
        let image = s.image(shape, usage, vk::ImageCreateFlags::empty(), commands)?;
        let view = s.view(image, vk::ImageViewType::TYPE_2D, aspect)?;
        anyhow::Ok(Attachment { image, view, clear })
    };
    let colour = attachment(
        RGBA8,
        COLOUR,
        vk::ImageUsageFlags::COLOR_ATTACHMENT,
        vk::ClearValue {
            color: floats(GREY),
        },
    )?;
    let depth = attachment(
        vk::Format::D32_SFLOAT,
        vk::ImageAspectFlags::DEPTH,
        vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
        vk::ClearValue {
            depth_stencil: vk::ClearDepthStencilValue {
                depth: 0.875,
                stencil: 0,
            },
        },
    )?;
    let target = Target {
        size: [SIDE; 2],
        samples: ONE,
        colour: vec![colour],
        depth: Some(depth),
    };
    let vertex = both();
    let mut draw = Draw::new(&target, &vertex, super::pictures::FLAT);
    draw.topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
    draw.depth = (draw.depth.depth_test_enable(true).depth_write_enable(true))
        .depth_compare_op(vk::CompareOp::LESS);
    let pipeline = s.graphics(&draw)?;
    let device = s.device();
    s.render(commands, &target, vk::AttachmentLoadOp::CLEAR);
    device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
    device.cmd_draw(commands, 4, 2, 0, 0);
    device.cmd_end_rendering(commands);
    s.barrier(commands);
    let sampler = s.sampler(&vk::SamplerCreateInfo::default())?;
    let list = [
        Resource::Texture(colour.view, sampler),
        Resource::Texture(depth.view, sampler),
    ];
    let text = "
layout(set = 0, binding = 0) uniform sampler2D c;
layout(set = 0, binding = 1) uniform sampler2D d;
void main() {
    vec2 at = (floor(gl_FragCoord.xy) * 2.0 + 0.5) / 64.0;
    colour = vec4(textureLod(c, at, 0.0).rgb * 255.0, textureLod(d, at, 0.0).r);
}
";
    let got = Probe::new(s, text, &list, 0)?.run_after(commands, &list, &[])?;
    let all = expected();
    for (n, got) in got.iter().enumerate() {
        let (x, y) = (n % PROBE as usize, n / PROBE as usize);
        let at = 4 * (2 * y * SIDE as usize + 2 * x);
        let [r, g, b] = [0, 1, 2].map(|c| f32::from(all[at + c]));
        let z = match all[at..at + 4] {
            [0, 0, 255, 255] => 0.25,
            [255, 0, 0, 255] => 0.5,
            _ => 0.875,
        };
        let near = [got[0] - r, got[1] - g, got[2] - b]
            .iter()
            .all(|d| d.abs() < 0.01);
        ensure!(
            near && got[3] == z,
            "{got:?} of {:?}, {z} at {x}, {y}",
            [r, g, b]
        );
    }
    Ok(())
}

/// An image in rows in memory that the CPU sees.
struct Rows {
    image: Image,
    mapped: *mut u8,
    layout: vk::SubresourceLayout,
}

/// Where the device offers it for a use.
unsafe fn rows(
    s: &Scope<'_>,
    size: [u32; 2],
    usage: vk::ImageUsageFlags,
    feature: vk::FormatFeatureFlags,
) -> anyhow::Result<Rows> {
    let device = s.device();
    let properties = (s.gpu.instance).get_physical_device_format_properties(s.gpu.physical, RGBA8);
    let offered = properties.linear_tiling_features.contains(feature);
    crate::gpu::require(offered, "linear images for the use")?;
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(RGBA8)
        .extent(vk::Extent3D {
            width: size[0],
            height: size[1],
            depth: 1,
        })
        .mip_levels(1)
        .array_layers(1)
        .samples(ONE)
        .tiling(vk::ImageTiling::LINEAR)
        .usage(usage)
        .initial_layout(vk::ImageLayout::PREINITIALIZED);
    let handle = device.create_image(&info, None)?;
    s.at_end(move |device| device.destroy_image(handle, None));
    let needs = device.get_image_memory_requirements(handle);
    let host = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(needs.size)
        .memory_type_index(s.memory_type(needs.memory_type_bits, host)?);
    let memory = device.allocate_memory(&info, None)?;
    s.at_end(move |device| device.free_memory(memory, None));
    device.bind_image_memory(handle, memory, 0)?;
    let mapped = device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?;
    let subresource = vk::ImageSubresource {
        aspect_mask: COLOUR,
        mip_level: 0,
        array_layer: 0,
    };
    Ok(Rows {
        image: Image {
            handle,
            shape: Shape::flat(RGBA8, 4, size[0], size[1]),
        },
        mapped: mapped.cast(),
        layout: device.get_image_subresource_layout(handle, subresource),
    })
}

impl Rows {
    unsafe fn row(&self, y: u32) -> *mut u8 {
        let at = self.layout.offset + u64::from(y) * self.layout.row_pitch;
        self.mapped.add(at as usize)
    }

    /// From what the CPU wrote to the general layout, and back for it to read.
    unsafe fn barrier(&self, s: &Scope<'_>, commands: vk::CommandBuffer, back: bool) {
        let all = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
        let (old, from, to) = match back {
            true => (GENERAL, all, vk::AccessFlags::HOST_READ),
            false => (
                vk::ImageLayout::PREINITIALIZED,
                vk::AccessFlags::HOST_WRITE,
                all,
            ),
        };
        let barrier = vk::ImageMemoryBarrier::default()
            .src_access_mask(from)
            .dst_access_mask(to)
            .old_layout(old)
            .new_layout(GENERAL)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(self.image.handle)
            .subresource_range(self.image.range());
        let stages = [
            vk::PipelineStageFlags::HOST,
            vk::PipelineStageFlags::ALL_COMMANDS,
        ];
        let [from, to] = if back { [stages[1], stages[0]] } else { stages };
        let none = vk::DependencyFlags::empty();
        s.device()
            .cmd_pipeline_barrier(commands, from, to, none, &[], &[], &[barrier]);
    }
}

/// Rows that the CPU reads after a pass without a copy.
unsafe fn linear(s: &Scope<'_>) -> anyhow::Result<()> {
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT;
    let size = [SIDE, SIDE];
    let rows = rows(s, size, usage, vk::FormatFeatureFlags::COLOR_ATTACHMENT)?;
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    rows.barrier(s, commands, false);
    let target = Target {
        size,
        samples: ONE,
        colour: vec![Attachment {
            image: rows.image,
            view: s.view(rows.image, vk::ImageViewType::TYPE_2D, COLOUR)?,
            clear: vk::ClearValue {
                color: floats(GREY),
            },
        }],
        depth: None,
    };
    let vertex = both();
    let mut draw = Draw::new(&target, &vertex, super::pictures::FLAT);
    draw.topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
    let pipeline = s.graphics(&draw)?;
    s.render(commands, &target, vk::AttachmentLoadOp::CLEAR);
    let device = s.device();
    device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
    device.cmd_draw(commands, 4, 2, 0, 0);
    device.cmd_end_rendering(commands);
    rows.barrier(s, commands, true);
    s.finish(commands)?;
    let mut all = Vec::new();
    for y in 0..SIDE {
        all.extend_from_slice(std::slice::from_raw_parts(rows.row(y), 4 * SIDE as usize));
    }
    s.report.expect("rows", all, &expected())
}

/// Rows that the CPU wrote, as a texture.
unsafe fn linear_sampled(s: &Scope<'_>) -> anyhow::Result<()> {
    let usage = vk::ImageUsageFlags::SAMPLED;
    let size = [PROBE - 3, PROBE];
    let rows = rows(s, size, usage, vk::FormatFeatureFlags::SAMPLED_IMAGE)?;
    let model = Model::new(rows.image.shape, 990);
    for (y, bytes) in (0..).zip(model.bytes.chunks_exact(4 * size[0] as usize)) {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), rows.row(y), bytes.len());
    }
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    rows.barrier(s, commands, false);
    let view = s.view(rows.image, vk::ImageViewType::TYPE_2D, COLOUR)?;
    let list = [Resource::Texture(
        view,
        s.sampler(&vk::SamplerCreateInfo::default())?,
    )];
    let text = "
layout(set = 0, binding = 0) uniform sampler2D t;
void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    colour = p.x < 29 ? textureLod(t, (vec2(p) + 0.5) / vec2(29.0, 32.0), 0.0) : texelFetch(t, p - ivec2(29, 0), 0);
}
";
    let got = Probe::new(s, text, &list, 0)?.run_after(commands, &list, &[])?;
    for (n, got) in got.iter().enumerate() {
        let (x, y) = (n % 32, n / 32);
        let at = 4 * (y * 29 + x % 29);
        let texel: [f32; 4] = std::array::from_fn(|c| f32::from(model.bytes[at + c]) / 255.0);
        let near = got.iter().zip(texel).all(|(a, b)| (a - b).abs() < 0.002);
        ensure!(near, "{got:?} instead of {texel:?} at {x}, {y}");
    }
    Ok(())
}
