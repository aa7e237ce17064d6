// SPDX-License-Identifier: MIT
//! Samples that become one: of colour, depth and stencil attachments when rendering ends, and by a command.

use ash::vk;

use super::feedback::dependency;
use super::pictures::{BLUE, FLAT, GREEN, RED, RGBA8, SIDE, area, floats, quads};
use super::scenario;
use crate::image::Shape;
use crate::picture::{Attachment, Draw, Target};
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("resolves.depth", depth),
    scenario("resolves.stencil", stencil),
    scenario("resolves.integers", integers),
    scenario("resolves.part", part),
    scenario("resolves.command", command),
    scenario("resolves.render_pass", render_pass),
];

const FOUR: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;

/// The left half of the picture, at a depth.
fn half(depth: f32) -> String {
    format!(
        "
void main() {{
    vec2 at = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1);
    gl_Position = vec4(at.x - 1.0, at.y * 2.0 - 1.0, {depth:?}, 1.0);
}}
"
    )
}

/// Samples that are not kept themselves are resolved all the same.
unsafe fn depth(s: &Scope<'_>) -> anyhow::Result<()> {
    let mut offered = vk::PhysicalDeviceDepthStencilResolveProperties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut offered);
    (s.gpu.instance).get_physical_device_properties2(s.gpu.physical, &mut properties);
    let modes = offered.supported_depth_resolve_modes;
    // Lavapipe offers averages and takes the first sample: they are left to the driver's own tests.
    for (mode, expected) in [
        (vk::ResolveModeFlags::SAMPLE_ZERO, 0.25_f32),
        (vk::ResolveModeFlags::MIN, 0.25),
        (vk::ResolveModeFlags::MAX, 0.5),
    ] {
        if !modes.contains(mode) {
            continue;
        }
        let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        let clear = vk::ClearDepthStencilValue {
            depth: 0.75,
            stencil: 0,
        };
        let (format, aspect) = (vk::Format::D32_SFLOAT, vk::ImageAspectFlags::DEPTH);
        let to = s.depth_stencil(format, [SIDE; 2], clear, commands)?;
        let shape = Shape {
            aspect,
            ..Shape::flat(format, 4, SIDE, SIDE)
        };
        let samples = vk::SampleCountFlags::TYPE_4;
        let image = s.image_with(
            shape,
            samples,
            vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
            vk::ImageCreateFlags::empty(),
            commands,
        )?;
        let attachment = Attachment {
            image,
            view: s.view(image, vk::ImageViewType::TYPE_2D, aspect)?,
            clear: to.clear,
        };
        let view = attachment.view;
        let target = Target {
            size: [SIDE; 2],
            samples,
            colour: Vec::new(),
            depth: Some(attachment),
        };
        let device = s.device();
        let depth = vk::RenderingAttachmentInfo::default()
            .image_view(view)
            .image_layout(vk::ImageLayout::GENERAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::DONT_CARE)
            .clear_value(to.clear)
            .resolve_mode(mode)
            .resolve_image_view(to.view)
            .resolve_image_layout(vk::ImageLayout::GENERAL);
        let info = vk::RenderingInfo::default()
            .render_area(area(0, 0, SIDE, SIDE))
            .layer_count(1)
            .depth_attachment(&depth);
        device.cmd_begin_rendering(commands, &info);
        for (mask, depth) in [(0b0101, 0.25_f32), (0b1010, 0.5)] {
            let vertex = half(depth);
            let mut draw = Draw::new(&target, &vertex, "");
            draw.fragment = None;
            draw.topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
            draw.mask = mask;
            draw.depth = draw
                .depth
                .depth_test_enable(true)
                .depth_write_enable(true)
                .depth_compare_op(vk::CompareOp::ALWAYS);
            let pipeline = s.graphics(&draw)?;
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
            device.cmd_draw(commands, 4, 1, 0, 0);
        }
        device.cmd_end_rendering(commands);
        let back = s.read_back(commands, to.image)?;
        s.finish(commands)?;
        let row = |x: u32| if x < SIDE / 2 { expected } else { 0.75 };
        let all: Vec<u8> = (0..SIDE * SIDE)
            .flat_map(|at| row(at % SIDE).to_le_bytes())
            .collect();
        s.report.check(&format!("{mode:?}"), &back.bytes(), &all)?;
    }
    Ok(())
}

/// An attachment of four samples.
unsafe fn many(
    s: &Scope<'_>,
    shape: Shape,
    usage: vk::ImageUsageFlags,
    clear: vk::ClearValue,
    commands: vk::CommandBuffer,
) -> anyhow::Result<Attachment> {
    let none = vk::ImageCreateFlags::empty();
    let image = s.image_with(shape, FOUR, usage, none, commands)?;
    let view = s.view(image, vk::ImageViewType::TYPE_2D, shape.aspect)?;
    Ok(Attachment { image, view, clear })
}

/// Stencil values, which cannot be weighed.
unsafe fn stencil(s: &Scope<'_>) -> anyhow::Result<()> {
    let mut offered = vk::PhysicalDeviceDepthStencilResolveProperties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut offered);
    (s.gpu.instance).get_physical_device_properties2(s.gpu.physical, &mut properties);
    let modes = offered.supported_stencil_resolve_modes;
    for (mode, expected) in [
        (vk::ResolveModeFlags::SAMPLE_ZERO, 0x31_u8),
        (vk::ResolveModeFlags::MIN, 0x17),
        (vk::ResolveModeFlags::MAX, 0x31),
    ] {
        if !modes.contains(mode) {
            continue;
        }
        let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        let clear = vk::ClearDepthStencilValue {
            depth: 0.0,
            stencil: 0x5a,
        };
        let (format, aspect) = (vk::Format::S8_UINT, vk::ImageAspectFlags::STENCIL);
        let to = s.depth_stencil(format, [SIDE; 2], clear, commands)?;
        let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
        let from = many(s, to.image.shape, usage, to.clear, commands)?;
        let target = Target {
            size: [SIDE; 2],
            samples: FOUR,
            colour: Vec::new(),
            depth: Some(from),
        };
        let attachment = vk::RenderingAttachmentInfo::default()
            .image_view(from.view)
            .image_layout(GENERAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::DONT_CARE)
            .clear_value(to.clear)
            .resolve_mode(mode)
            .resolve_image_view(to.view)
            .resolve_image_layout(GENERAL);
        let info = vk::RenderingInfo::default()
            .render_area(area(0, 0, SIDE, SIDE))
            .layer_count(1)
            .stencil_attachment(&attachment);
        let device = s.device();
        device.cmd_begin_rendering(commands, &info);
        let vertex = half(0.5);
        for (mask, reference) in [(0b0101, 0x31), (0b1010, 0x17)] {
            let mut draw = Draw::new(&target, &vertex, "");
            draw.fragment = None;
            draw.topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
            draw.mask = mask;
            let face = vk::StencilOpState {
                pass_op: vk::StencilOp::REPLACE,
                compare_op: vk::CompareOp::ALWAYS,
                compare_mask: 0xff,
                write_mask: 0xff,
                reference,
                ..Default::default()
            };
            draw.depth = (draw.depth.stencil_test_enable(true).front(face)).back(face);
            let pipeline = s.graphics(&draw)?;
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
            device.cmd_draw(commands, 4, 1, 0, 0);
        }
        device.cmd_end_rendering(commands);
        let mut image = to.image;
        image.shape.aspect = aspect;
        let back = s.read_back(commands, image)?;
        s.finish(commands)?;
        let all: Vec<u8> = (0..SIDE * SIDE)
            .map(|at| match at % SIDE < SIDE / 2 {
                true => expected,
                false => 0x5a,
            })
            .collect();
        // Not every driver has all modes.
        s.report.check(&format!("{mode:?}"), &back.bytes(), &all)?;
    }
    Ok(())
}

/// Begins a pass of one colour attachment that is resolved over an area.
unsafe fn begin(
    s: &Scope<'_>,
    commands: vk::CommandBuffer,
    [from, to]: [&Attachment; 2],
    mode: vk::ResolveModeFlags,
    part: vk::Rect2D,
) {
    let colour = [vk::RenderingAttachmentInfo::default()
        .image_view(from.view)
        .image_layout(GENERAL)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(vk::AttachmentStoreOp::STORE)
        .clear_value(from.clear)
        .resolve_mode(mode)
        .resolve_image_view(to.view)
        .resolve_image_layout(GENERAL)];
    let info = vk::RenderingInfo::default()
        .render_area(part)
        .layer_count(1)
        .color_attachments(&colour);
    s.device().cmd_begin_rendering(commands, &info);
}

fn target(from: Attachment) -> Target {
    Target {
        size: [SIDE; 2],
        samples: FOUR,
        colour: vec![from],
        depth: None,
    }
}

const USAGE: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::COLOR_ATTACHMENT.as_raw() | vk::ImageUsageFlags::TRANSFER_SRC.as_raw(),
);

/// Integers: the first sample is taken.
unsafe fn integers(s: &Scope<'_>) -> anyhow::Result<()> {
    let fragment = "
layout(location = 0) out uvec4 colour;
void main() { colour = uvec4(gl_FragCoord.x, gl_FragCoord.y, 7, 200); }
";
    let vertex = half(0.5);
    for mask in [0b0001, 0b1110, 0b1111] {
        let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        let clear = vk::ClearColorValue {
            uint32: [1, 2, 3, 4],
        };
        let to = s.colour(vk::Format::R8G8B8A8_UINT, 4, [SIDE; 2], clear, commands)?;
        let from = many(s, to.image.shape, USAGE, to.clear, commands)?;
        let mut draw = Draw::new(&target(from), &vertex, fragment);
        draw.topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
        draw.mask = mask;
        let pipeline = s.graphics(&draw)?;
        let mode = vk::ResolveModeFlags::SAMPLE_ZERO;
        begin(s, commands, [&from, &to], mode, area(0, 0, SIDE, SIDE));
        let device = s.device();
        device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
        device.cmd_draw(commands, 4, 1, 0, 0);
        device.cmd_end_rendering(commands);
        let back = s.read_back(commands, to.image)?;
        s.finish(commands)?;
        let all: Vec<u8> = (0..SIDE * SIDE)
            .flat_map(|at| {
                let (x, y) = (at % SIDE, at / SIDE);
                match x < SIDE / 2 && mask & 1 == 1 {
                    true => [x as u8, y as u8, 7, 200],
                    false => [1, 2, 3, 4],
                }
            })
            .collect();
        s.report.expect(&format!("{mask:#b}"), back.bytes(), &all)?;
    }
    Ok(())
}

/// Two rectangles, of which the second is in half of the samples.
unsafe fn draw_two(
    s: &Scope<'_>,
    commands: vk::CommandBuffer,
    from: Attachment,
    change: impl Fn(&mut Draw<'_>),
) -> anyhow::Result<()> {
    for (rectangle, tint, mask) in [
        ([4.0, 4.0, 40.0, 40.0], RED, u32::MAX),
        ([20.0, 20.0, 60.0, 60.0], BLUE, 0b0110),
    ] {
        let vertex = quads(&[(rectangle, 0.5, tint)]);
        let target = target(from);
        let mut draw = Draw::new(&target, &vertex, FLAT);
        draw.topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
        draw.mask = mask;
        change(&mut draw);
        let pipeline = s.graphics(&draw)?;
        let device = s.device();
        device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
        device.cmd_draw(commands, 4, 1, 0, 0);
    }
    Ok(())
}

/// The averages of [`draw_two`] over black; halves of 255 may be rounded either way.
fn average(x: u32, y: u32) -> [u8; 4] {
    let inside = |low, high| (low..high).contains(&x) && (low..high).contains(&y);
    match (inside(4, 40), inside(20, 60)) {
        (true, true) => [128, 0, 128, 255],
        (true, false) => [255, 0, 0, 255],
        (false, true) => [0, 0, 128, 128],
        (false, false) => [0; 4],
    }
}

/// Compares with [`average`] within a part, and with what was there elsewhere.
fn check(
    s: &Scope<'_>,
    name: &str,
    got: &[u8],
    expected: impl Fn(u32, u32) -> [u8; 4],
) -> anyhow::Result<()> {
    for (at, pixel) in (0..).zip(got.as_chunks::<4>().0) {
        let (x, y) = (at % SIDE, at / SIDE);
        let expected = expected(x, y);
        let near = pixel.iter().zip(expected).all(|(a, b)| a.abs_diff(b) <= 1);
        anyhow::ensure!(
            near,
            "{name}: {pixel:?} instead of {expected:?} at {x}, {y}"
        );
    }
    // Halves as both drivers may have them.
    let alike = got
        .iter()
        .map(|byte| if *byte == 127 { 128 } else { *byte });
    s.report.result(name, alike.collect());
    Ok(())
}

/// Only what is in the area of the pass is resolved.
unsafe fn part(s: &Scope<'_>) -> anyhow::Result<()> {
    for (at, part) in [
        area(0, 0, SIDE, SIDE),
        area(10, 6, 37, 45),
        area(32, 32, 32, 32),
    ]
    .into_iter()
    .enumerate()
    {
        let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        let to = s.colour(RGBA8, 4, [SIDE; 2], floats([0.0; 4]), commands)?;
        let from = many(s, to.image.shape, USAGE, to.clear, commands)?;
        let green = floats(GREEN);
        let (device, range) = (s.device(), to.image.range());
        device.cmd_clear_color_image(commands, to.image.handle, GENERAL, &green, &[range]);
        s.barrier(commands);
        let mode = vk::ResolveModeFlags::AVERAGE;
        begin(s, commands, [&from, &to], mode, part);
        draw_two(s, commands, from, |draw| draw.scissor = part)?;
        device.cmd_end_rendering(commands);
        let back = s.read_back(commands, to.image)?;
        s.finish(commands)?;
        let (left, top) = (part.offset.x as u32, part.offset.y as u32);
        let (right, bottom) = (left + part.extent.width, top + part.extent.height);
        check(s, &format!("part {at}"), &back.bytes(), |x, y| {
            match (left..right).contains(&x) && (top..bottom).contains(&y) {
                true => average(x, y),
                false => [0, 255, 0, 255],
            }
        })?;
    }
    Ok(())
}

/// Regions that a command resolves, after the pass.
unsafe fn command(s: &Scope<'_>) -> anyhow::Result<()> {
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let to = s.colour(RGBA8, 4, [SIDE; 2], floats([0.0; 4]), commands)?;
    let from = many(s, to.image.shape, USAGE, to.clear, commands)?;
    let green = floats(GREEN);
    let (device, range) = (s.device(), to.image.range());
    device.cmd_clear_color_image(commands, to.image.handle, GENERAL, &green, &[range]);
    s.barrier(commands);
    s.render(commands, &target(from), vk::AttachmentLoadOp::CLEAR);
    draw_two(s, commands, from, |_| ())?;
    device.cmd_end_rendering(commands);
    s.barrier(commands);
    let parts = [([0, 0], [30, 30], [34, 34]), ([30, 30], [3, 1], [25, 29])];
    let regions = parts.map(|(from, to, [width, height])| {
        let layers = vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            mip_level: 0,
            base_array_layer: 0,
            layer_count: 1,
        };
        let offset = |[x, y]: [i32; 2]| vk::Offset3D { x, y, z: 0 };
        vk::ImageResolve::default()
            .src_subresource(layers)
            .src_offset(offset(from))
            .dst_subresource(layers)
            .dst_offset(offset(to))
            .extent(vk::Extent3D {
                width,
                height,
                depth: 1,
            })
    });
    let (source, to_handle) = (from.image.handle, to.image.handle);
    device.cmd_resolve_image(commands, source, GENERAL, to_handle, GENERAL, &regions);
    let back = s.read_back(commands, to.image)?;
    s.finish(commands)?;
    check(s, "regions", &back.bytes(), |x, y| {
        for (from, to, [width, height]) in parts {
            let (dx, dy) = (x as i32 - to[0], y as i32 - to[1]);
            if (0..width as i32).contains(&dx) && (0..height as i32).contains(&dy) {
                return average((from[0] + dx) as u32, (from[1] + dy) as u32);
            }
        }
        [0, 255, 0, 255]
    })
}

/// A render pass with an attachment to resolve to.
unsafe fn render_pass(s: &Scope<'_>) -> anyhow::Result<()> {
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let to = s.colour(RGBA8, 4, [SIDE; 2], floats([0.0; 4]), commands)?;
    let from = many(s, to.image.shape, USAGE, to.clear, commands)?;
    let device = s.device();
    let one = |samples, load, store| {
        vk::AttachmentDescription::default()
            .format(RGBA8)
            .samples(samples)
            .load_op(load)
            .store_op(store)
            .initial_layout(GENERAL)
            .final_layout(GENERAL)
    };
    let attachments = [
        one(
            FOUR,
            vk::AttachmentLoadOp::CLEAR,
            vk::AttachmentStoreOp::DONT_CARE,
        ),
        one(
            vk::SampleCountFlags::TYPE_1,
            vk::AttachmentLoadOp::DONT_CARE,
            vk::AttachmentStoreOp::STORE,
        ),
    ];
    let [drawn, resolved] = [0, 1].map(|attachment| {
        [vk::AttachmentReference {
            attachment,
            layout: GENERAL,
        }]
    });
    let subpasses = [vk::SubpassDescription::default()
        .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
        .color_attachments(&drawn)
        .resolve_attachments(&resolved)];
    let dependencies = [
        dependency(vk::SUBPASS_EXTERNAL, 0),
        dependency(0, vk::SUBPASS_EXTERNAL),
    ];
    let info = vk::RenderPassCreateInfo::default()
        .attachments(&attachments)
        .subpasses(&subpasses)
        .dependencies(&dependencies);
    let pass = device.create_render_pass(&info, None)?;
    s.at_end(move |device| device.destroy_render_pass(pass, None));
    let views = [from.view, to.view];
    let info = vk::FramebufferCreateInfo::default()
        .render_pass(pass)
        .attachments(&views)
        .width(SIDE)
        .height(SIDE)
        .layers(1);
    let framebuffer = device.create_framebuffer(&info, None)?;
    s.at_end(move |device| device.destroy_framebuffer(framebuffer, None));
    let clears = [from.clear];
    let info = vk::RenderPassBeginInfo::default()
        .render_pass(pass)
        .framebuffer(framebuffer)
        .render_area(area(0, 0, SIDE, SIDE))
        .clear_values(&clears);
    device.cmd_begin_render_pass(commands, &info, vk::SubpassContents::INLINE);
    draw_two(s, commands, from, |draw| draw.pass = Some((pass, 0)))?;
    device.cmd_end_render_pass(commands);
    let back = s.read_back(commands, to.image)?;
    s.finish(commands)?;
    check(s, "render pass", &back.bytes(), average)
}
