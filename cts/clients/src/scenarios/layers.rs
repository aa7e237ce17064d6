// SPDX-License-Identifier: MIT
//! Viewports and layers that the vertex shader chooses.

use anyhow::ensure;
use ash::vk;

use super::pictures::{FLAT, GREY, Picture, RGBA8, SIDE, area, floats};
use super::scenario;
use crate::image::Shape;
use crate::picture::{Attachment, Draw, Target};
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("layers.viewports", viewports),
    scenario("layers.viewports_partly_set", partly_set),
    scenario("layers.layers", layers),
    scenario("layers.both", both),
];

/// A quad over all of a viewport for each instance, whose colour is its number.
const VERTEX: &str = "
#extension GL_ARB_shader_viewport_layer_array : require
layout(location = 0) flat out vec4 colour;
void main() {
    vec2 at = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2.0 - 1.0;
    gl_Position = vec4(at, 0.5, 1.0);
    int n = gl_InstanceIndex;
    colour = vec4(float(n + 1) / 255.0, float(CHOICE) / 255.0, 0.0, 1.0);
    OUTPUT = CHOICE;
}
";

/// [`VERTEX`] with what is written and how it follows from the instance's number `n`.
fn vertex(output: &str, choice: &str) -> String {
    VERTEX.replace("OUTPUT", output).replace("CHOICE", choice)
}

/// Rectangles of sixteen viewports, which overlap, and their scissors.
fn regions() -> Vec<(vk::Viewport, vk::Rect2D)> {
    let one = |n: u32| {
        let (x, y) = (n % 4 * 16, n / 4 * 16);
        let viewport = vk::Viewport {
            x: x as f32,
            y: y as f32,
            width: (10 + n) as f32,
            height: (22 - n) as f32,
            min_depth: n as f32 / 32.0,
            max_depth: 1.0 - n as f32 / 64.0,
        };
        let scissor = area(x as i32 + (n % 3) as i32, y as i32 + 1, 9 + n, 12);
        (viewport, scissor)
    };
    (0..16).map(one).collect()
}

/// Where a quad over a viewport is drawn.
fn covers((viewport, scissor): &(vk::Viewport, vk::Rect2D), x: u32, y: u32) -> bool {
    let inside = |at: u32, from: u32, size: u32| at >= from && at - from < size;
    inside(x, viewport.x as u32, viewport.width as u32)
        && inside(y, viewport.y as u32, viewport.height as u32)
        && inside(x, scissor.offset.x as u32, scissor.extent.width)
        && inside(y, scissor.offset.y as u32, scissor.extent.height)
}

/// What instances with viewports draw, one over the other: colours and depths.
fn expected(regions: &[(vk::Viewport, vk::Rect2D)], chosen: &[usize]) -> (Vec<u8>, Vec<u8>) {
    let (mut colours, mut depths) = (Vec::new(), Vec::new());
    for (y, x) in (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (y, x))) {
        let mut colour = GREY.map(|c| (c * 255.0).round() as u8);
        let mut depth = 1.0_f32;
        for (instance, viewport) in chosen.iter().enumerate() {
            let region = &regions[*viewport];
            if covers(region, x, y) {
                colour = [instance as u8 + 1, *viewport as u8, 0, 255];
                depth = (region.0.min_depth + region.0.max_depth) / 2.0;
            }
        }
        colours.extend(colour);
        depths.extend(depth.to_le_bytes());
    }
    (colours, depths)
}

/// All sixteen viewports and scissors, from the pipeline and by commands, in several orders.
unsafe fn viewports(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu_feature(|features| features.multi_viewport)?;
    let regions = regions();
    for (name, choice, chosen) in [
        ("in order", "n", (0..16).collect::<Vec<usize>>()),
        ("back", "15 - n", (0..16).rev().collect()),
        ("mixed", "n * 5 % 16", (0..16).map(|n| n * 5 % 16).collect()),
        ("one", "7", vec![7; 16]),
    ] {
        for dynamic in [false, true] {
            let text = vertex("gl_ViewportIndex", choice);
            let picture = Picture::deep(s, vk::Format::D32_SFLOAT, 1.0, 0)?;
            let mut draw = picture.quads(&text);
            (draw.viewport, draw.scissor) = regions[0];
            draw.further = regions[1..].to_vec();
            draw.depth = (draw.depth.depth_test_enable(true).depth_write_enable(true))
                .depth_compare_op(vk::CompareOp::ALWAYS);
            if dynamic {
                draw.dynamic = vec![vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
            }
            picture.clear();
            picture.bind(&draw)?;
            let (device, commands) = (s.device(), picture.commands);
            if dynamic {
                let (viewports, scissors): (Vec<_>, Vec<_>) = regions.iter().copied().unzip();
                // In pieces, the later ones first.
                device.cmd_set_viewport(commands, 5, &viewports[5..]);
                device.cmd_set_viewport(commands, 0, &viewports[..5]);
                device.cmd_set_scissor(commands, 9, &scissors[9..]);
                device.cmd_set_scissor(commands, 0, &scissors[..9]);
            }
            device.cmd_draw(commands, 4, 16, 0, 0);
            let name = format!("{name} dynamic {dynamic}");
            let pixels = picture.end(&name)?;
            let (colours, depths) = expected(&regions, &chosen);
            s.report.check(&name, &pixels.colour[0], &colours)?;
            let depth = pixels.depth.unwrap_or_default();
            s.report.check(&format!("{name}: depth"), &depth, &depths)?;
        }
    }
    Ok(())
}

/// Counts that commands set, of fewer viewports; a change of one of them between draws.
unsafe fn partly_set(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu_feature(|features| features.multi_viewport)?;
    let mut regions = regions();
    let text = vertex("gl_ViewportIndex", "n % 3");
    let picture = Picture::plain(s)?;
    let mut draw = picture.quads(&text);
    draw.counted = true;
    draw.dynamic = vec![
        vk::DynamicState::VIEWPORT_WITH_COUNT,
        vk::DynamicState::SCISSOR_WITH_COUNT,
    ];
    picture.clear();
    picture.bind(&draw)?;
    let (device, commands) = (s.device(), picture.commands);
    let (viewports, scissors): (Vec<_>, Vec<_>) = regions[..3].iter().copied().unzip();
    device.cmd_set_viewport_with_count(commands, &viewports);
    device.cmd_set_scissor_with_count(commands, &scissors);
    device.cmd_draw(commands, 4, 3, 0, 0);
    let (first, _) = expected(&regions, &[0, 1, 2]);
    // The middle one elsewhere, drawn alone.
    regions[1] = regions[14];
    let (viewports, scissors): (Vec<_>, Vec<_>) = regions[..3].iter().copied().unzip();
    device.cmd_set_viewport_with_count(commands, &viewports);
    device.cmd_set_scissor_with_count(commands, &scissors);
    device.cmd_draw(commands, 4, 1, 0, 1);
    let pixels = picture.end("moved")?;
    let mut expected = first;
    for (at, pixel) in expected.chunks_exact_mut(4).enumerate() {
        if covers(&regions[1], at as u32 % SIDE, at as u32 / SIDE) {
            pixel.copy_from_slice(&[2, 1, 0, 255]);
        }
    }
    s.report.check("moved", &pixels.colour[0], &expected)
}

const LAYERS: u32 = 5;

/// Colour and depth attachments of several layers.
unsafe fn layered(s: &Scope<'_>, commands: vk::CommandBuffer) -> anyhow::Result<Target> {
    let usage = vk::ImageUsageFlags::TRANSFER_SRC;
    let none = vk::ImageCreateFlags::empty();
    let array = vk::ImageViewType::TYPE_2D_ARRAY;
    let shape = Shape::flat(RGBA8, 4, SIDE, SIDE).stacked(1, LAYERS);
    let image = s.image(
        shape,
        usage | vk::ImageUsageFlags::COLOR_ATTACHMENT,
        none,
        commands,
    )?;
    let deep = Shape {
        aspect: vk::ImageAspectFlags::DEPTH,
        format: vk::Format::D32_SFLOAT,
        ..shape
    };
    let depth = s.image(
        deep,
        usage | vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
        none,
        commands,
    )?;
    Ok(Target {
        size: [SIDE; 2],
        samples: vk::SampleCountFlags::TYPE_1,
        colour: vec![Attachment {
            image,
            view: s.view(image, array, shape.aspect)?,
            clear: vk::ClearValue {
                color: floats(GREY),
            },
        }],
        depth: Some(Attachment {
            image: depth,
            view: s.view(depth, array, deep.aspect)?,
            clear: vk::ClearValue {
                depth_stencil: vk::ClearDepthStencilValue {
                    depth: 0.75,
                    stencil: 0,
                },
            },
        }),
    })
}

/// Begins rendering to all layers, which are cleared.
unsafe fn begin(s: &Scope<'_>, commands: vk::CommandBuffer, target: &Target) {
    let one = |attachment: &Attachment| {
        vk::RenderingAttachmentInfo::default()
            .image_view(attachment.view)
            .image_layout(vk::ImageLayout::GENERAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)
            .clear_value(attachment.clear)
    };
    let colour: Vec<_> = target.colour.iter().map(one).collect();
    let depth = target.depth.as_ref().map(one).unwrap_or_default();
    let info = vk::RenderingInfo::default()
        .render_area(area(0, 0, SIDE, SIDE))
        .layer_count(LAYERS)
        .color_attachments(&colour)
        .depth_attachment(&depth);
    s.device().cmd_begin_rendering(commands, &info);
}

/// Draws to layers in an order that is not theirs; one stays as it was cleared.
unsafe fn layers(s: &Scope<'_>) -> anyhow::Result<()> {
    let text = "
#extension GL_ARB_shader_viewport_layer_array : require
layout(location = 0) flat out vec4 colour;
const int order[6] = int[](3, 0, 4, 3, 1, 3);
void main() {
    int n = gl_InstanceIndex;
    vec2 at = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * vec2(20, 30) + vec2(n * 5, n * 3);
    // The last one of layer 3 is behind the others.
    gl_Position = vec4(at / 32.0 - 1.0, 0.25 + float(n) * 0.0625, 1.0);
    colour = vec4(float(n + 1) / 255.0, float(order[n]) / 255.0, 0.0, 1.0);
    gl_Layer = order[n];
}
";
    const ORDER: [u32; 6] = [3, 0, 4, 3, 1, 3];
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let target = layered(s, commands)?;
    let mut draw = Draw::new(&target, text, FLAT);
    draw.topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
    draw.depth = (draw.depth.depth_test_enable(true).depth_write_enable(true))
        .depth_compare_op(vk::CompareOp::LESS);
    let pipeline = s.graphics(&draw)?;
    begin(s, commands, &target);
    let device = s.device();
    device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
    device.cmd_draw(commands, 4, 6, 0, 0);
    device.cmd_end_rendering(commands);
    let colour = s.read_back(commands, target.colour[0].image)?;
    let depth = match &target.depth {
        Some(depth) => s.read_back(commands, depth.image)?,
        None => unreachable!("it was made"),
    };
    s.finish(commands)?;
    let (mut colours, mut depths) = (Vec::new(), Vec::new());
    for layer in 0..LAYERS {
        for (y, x) in (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (y, x))) {
            let mut pixel = GREY.map(|c| (c * 255.0).round() as u8);
            let mut z = 0.75_f32;
            for (n, of) in (0..).zip(ORDER) {
                let inside = (n * 5..n * 5 + 20).contains(&x) && (n * 3..n * 3 + 30).contains(&y);
                let new = 0.25 + n as f32 * 0.0625;
                if of == layer && inside && new < z {
                    pixel = [n as u8 + 1, of as u8, 0, 255];
                    z = new;
                }
            }
            colours.extend(pixel);
            depths.extend(z.to_le_bytes());
        }
    }
    s.report.expect("colour", colour.bytes(), &colours)?;
    s.report.expect("depth", depth.bytes(), &depths)
}

/// A layer and a viewport for each instance.
unsafe fn both(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu_feature(|features| features.multi_viewport)?;
    let text = vertex(
        "gl_Layer = gl_InstanceIndex % 5; gl_ViewportIndex",
        "n * 7 % 16",
    );
    let regions = regions();
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let target = layered(s, commands)?;
    let mut draw = Draw::new(&target, &text, FLAT);
    draw.topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
    (draw.viewport, draw.scissor) = regions[0];
    draw.further = regions[1..].to_vec();
    let pipeline = s.graphics(&draw)?;
    begin(s, commands, &target);
    let device = s.device();
    device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
    device.cmd_draw(commands, 4, 16, 0, 0);
    device.cmd_end_rendering(commands);
    let colour = s.read_back(commands, target.colour[0].image)?;
    s.finish(commands)?;
    let mut expected = Vec::new();
    for layer in 0..LAYERS {
        for (y, x) in (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (y, x))) {
            let mut pixel = GREY.map(|c| (c * 255.0).round() as u8);
            for n in (0..16).filter(|n| n % LAYERS == layer) {
                let viewport = (n * 7 % 16) as usize;
                if covers(&regions[viewport], x, y) {
                    pixel = [n as u8 + 1, viewport as u8, 0, 255];
                }
            }
            expected.extend(pixel);
        }
    }
    ensure!(expected.len() == colour.size as usize);
    s.report
        .expect("layers and viewports", colour.bytes(), &expected)
}
