// SPDX-License-Identifier: MIT
//! What passes load, keep and leave behind: operations of each attachment, passes that are cut in two, parts of
//! images, and passes without some attachments.

use anyhow::ensure;
use ash::vk;

use super::pictures::{
    BLUE, FLAT, GREEN, GREY, Picture, RED, RGBA8, SIDE, area, expect_pixel, floats, quads,
};
use super::scenario;
use crate::image::Shape;
use crate::picture::{Attachment, Draw, Target};
use crate::resources::Resource;
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("passes.load_each", load_each),
    scenario("passes.store_nothing", store_nothing),
    scenario("passes.read_only_depth", read_only_depth),
    scenario("passes.suspended", suspended),
    scenario("passes.no_attachments", no_attachments),
    scenario("passes.unused", unused),
    scenario("passes.eight_targets", eight_targets),
    scenario("passes.levels", levels),
    scenario("passes.slices", slices),
    scenario("passes.many", many),
    scenario("passes.sizes", sizes),
];

const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;
type Load = vk::AttachmentLoadOp;
type Store = vk::AttachmentStoreOp;

/// An attachment with operations.
fn attachment(of: &Attachment, load: Load, store: Store) -> vk::RenderingAttachmentInfo<'static> {
    vk::RenderingAttachmentInfo::default()
        .image_view(of.view)
        .image_layout(GENERAL)
        .load_op(load)
        .store_op(store)
        .clear_value(of.clear)
}

/// Begins a pass over everything with operations of colour, depth and stencil.
unsafe fn begin(
    picture: &Picture<'_, '_>,
    operations: [(Load, Store); 3],
    flags: vk::RenderingFlags,
) {
    let colour: Vec<_> = (picture.target.colour.iter())
        .map(|of| attachment(of, operations[0].0, operations[0].1))
        .collect();
    let mut info = vk::RenderingInfo::default()
        .flags(flags)
        .render_area(area(0, 0, SIDE, SIDE))
        .layer_count(1)
        .color_attachments(&colour);
    let deep = picture.target.depth.as_ref();
    let [depth, stencil] = [1, 2].map(|at| {
        deep.map(|of| attachment(of, operations[at].0, operations[at].1))
            .unwrap_or_default()
    });
    if let Some(of) = deep {
        let aspects = of.image.shape.aspect;
        if aspects.contains(vk::ImageAspectFlags::DEPTH) {
            info = info.depth_attachment(&depth);
        }
        if aspects.contains(vk::ImageAspectFlags::STENCIL) {
            info = info.stencil_attachment(&stencil);
        }
    }
    let device = picture.s.device();
    device.cmd_begin_rendering(picture.commands, &info);
}

/// Draws [`quads`] that test and write depth and count in stencil.
unsafe fn draw_deep(picture: &Picture<'_, '_>, vertex: &str, count: u32) -> anyhow::Result<()> {
    let mut draw = picture.quads(vertex);
    let face = vk::StencilOpState {
        fail_op: vk::StencilOp::KEEP,
        pass_op: vk::StencilOp::INCREMENT_AND_WRAP,
        depth_fail_op: vk::StencilOp::INVERT,
        compare_op: vk::CompareOp::ALWAYS,
        compare_mask: 0xff,
        write_mask: 0xff,
        reference: 0,
    };
    draw.depth = (draw.depth.depth_test_enable(true).depth_write_enable(true))
        .depth_compare_op(vk::CompareOp::LESS)
        .stencil_test_enable(true)
        .front(face)
        .back(face);
    picture.draw(&draw, 4, count)
}

unsafe fn end(picture: &Picture<'_, '_>) {
    picture.s.device().cmd_end_rendering(picture.commands);
    picture.s.barrier(picture.commands);
}

/// Each of colour, depth and stencil is loaded or cleared by itself.
unsafe fn load_each(s: &Scope<'_>) -> anyhow::Result<()> {
    let first = quads(&[([4.0, 4.0, 40.0, 40.0], 0.5, RED)]);
    let second = quads(&[([20.0, 20.0, 60.0, 60.0], 0.625, BLUE)]);
    for loaded in 0..8 {
        let mut picture = Picture::deep(s, vk::Format::D32_SFLOAT_S8_UINT, 1.0, 7)?;
        let keep = (Load::CLEAR, Store::STORE);
        begin(&picture, [keep; 3], vk::RenderingFlags::empty());
        draw_deep(&picture, &first, 1)?;
        end(&picture);
        // Other values, to be told from the first.
        picture.target.colour[0].clear.color = floats(GREEN);
        if let Some(depth) = &mut picture.target.depth {
            depth.clear.depth_stencil = vk::ClearDepthStencilValue {
                depth: 0.75,
                stencil: 0x31,
            };
        }
        let operations = [0, 1, 2].map(|bit| match loaded >> bit & 1 {
            1 => (Load::LOAD, Store::STORE),
            _ => keep,
        });
        begin(&picture, operations, vk::RenderingFlags::empty());
        draw_deep(&picture, &second, 1)?;
        let name = format!("loaded {loaded:03b}");
        let pixels = picture.end(&name)?;
        let (colour, depth) = (loaded & 1 == 1, loaded >> 1 & 1 == 1);
        let all = &pixels.colour[0];
        expect_pixel(&name, all, 10, 10, if colour { RED } else { GREEN })?;
        expect_pixel(&name, all, 62, 2, if colour { GREY } else { GREEN })?;
        let both = match (colour, depth) {
            (_, false) => BLUE,
            (true, true) => RED,
            (false, true) => GREEN,
        };
        expect_pixel(&name, all, 30, 30, both)?;
        expect_pixel(&name, all, 50, 50, BLUE)?;
    }
    Ok(())
}

/// What is not stored may become anything, what a pass has nothing to do with stays.
unsafe fn store_nothing(s: &Scope<'_>) -> anyhow::Result<()> {
    let first = quads(&[([4.0, 4.0, 40.0, 40.0], 0.5, RED)]);
    let second = quads(&[([20.0, 20.0, 60.0, 60.0], 0.25, BLUE)]);
    for (name, store) in [("lost", Store::DONT_CARE), ("none", Store::NONE)] {
        let picture = Picture::deep(s, vk::Format::D32_SFLOAT_S8_UINT, 1.0, 7)?;
        let keep = (Load::CLEAR, Store::STORE);
        begin(&picture, [keep; 3], vk::RenderingFlags::empty());
        draw_deep(&picture, &first, 1)?;
        end(&picture);
        let load = (Load::LOAD, store);
        let colour = (Load::LOAD, Store::STORE);
        begin(&picture, [colour, load, load], vk::RenderingFlags::empty());
        // Reads only: nothing is written that would then be lost.
        let mut draw = picture.quads(&second);
        draw.depth = (draw.depth.depth_test_enable(true)).depth_compare_op(vk::CompareOp::LESS);
        picture.draw(&draw, 4, 1)?;
        let pixels = picture.read()?;
        expect_pixel(name, &pixels.colour[0], 30, 30, BLUE)?;
        expect_pixel(name, &pixels.colour[0], 10, 10, RED)?;
        let all = pixels.colour[0].clone();
        s.report.result(&format!("{name}: colour"), all);
        if store == Store::NONE {
            s.report
                .result("none: depth", pixels.depth.unwrap_or_default());
            s.report
                .result("none: stencil", pixels.stencil.unwrap_or_default());
        }
    }
    Ok(())
}

/// Depth that is tested in a layout in which it cannot be written.
unsafe fn read_only_depth(s: &Scope<'_>) -> anyhow::Result<()> {
    let first = quads(&[([4.0, 4.0, 40.0, 40.0], 0.5, RED)]);
    let second = quads(&[
        ([20.0, 20.0, 60.0, 60.0], 0.75, BLUE),
        ([2.0, 30.0, 30.0, 50.0], 0.25, GREEN),
    ]);
    let format = vk::Format::D32_SFLOAT;
    let picture = Picture::deep(s, format, 1.0, 0)?;
    let mut draw = picture.quads(&first);
    draw.depth = (draw.depth.depth_test_enable(true).depth_write_enable(true))
        .depth_compare_op(vk::CompareOp::LESS);
    picture.clear();
    picture.draw(&draw, 4, 1)?;
    end(&picture);
    let (device, commands) = (s.device(), picture.commands);
    let Some(deep) = picture.target.depth else {
        unreachable!("it was made")
    };
    let change = |from, to| deep.image.to_layout(s, commands, from, to);
    let reading = vk::ImageLayout::DEPTH_STENCIL_READ_ONLY_OPTIMAL;
    change(GENERAL, reading);
    let colour = [attachment(
        &picture.target.colour[0],
        Load::LOAD,
        Store::STORE,
    )];
    let depth = attachment(&deep, Load::LOAD, Store::NONE).image_layout(reading);
    let info = vk::RenderingInfo::default()
        .render_area(area(0, 0, SIDE, SIDE))
        .layer_count(1)
        .color_attachments(&colour)
        .depth_attachment(&depth);
    device.cmd_begin_rendering(commands, &info);
    let mut draw = picture.quads(&second);
    draw.depth = (draw.depth.depth_test_enable(true)).depth_compare_op(vk::CompareOp::LESS);
    picture.draw(&draw, 4, 2)?;
    device.cmd_end_rendering(commands);
    change(reading, GENERAL);
    let pixels = picture.read_after()?;
    picture.report("read only", &pixels)?;
    let all = &pixels.colour[0];
    expect_pixel("hidden", all, 35, 35, RED)?;
    expect_pixel("behind nothing", all, 50, 50, BLUE)?;
    expect_pixel("before", all, 10, 35, GREEN)
}

/// A pass of three command buffers: what ends it goes on in the next one, without loads and stores between.
unsafe fn suspended(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = quads(&[
        ([4.0, 4.0, 40.0, 40.0], 0.5, RED),
        ([20.0, 20.0, 60.0, 60.0], 0.25, BLUE),
        ([30.0, 2.0, 50.0, 50.0], 0.375, GREEN),
    ]);
    let picture = Picture::deep(s, vk::Format::D32_SFLOAT_S8_UINT, 1.0, 7)?;
    let mut all = Vec::new();
    let device = s.device();
    device.end_command_buffer(picture.commands)?;
    all.push(picture.commands);
    for part in 0..3 {
        let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        let of_part = Picture {
            s,
            commands,
            target: picture.target.clone(),
            resolved: Vec::new(),
        };
        let flags = match part {
            0 => vk::RenderingFlags::SUSPENDING,
            1 => vk::RenderingFlags::SUSPENDING | vk::RenderingFlags::RESUMING,
            _ => vk::RenderingFlags::RESUMING,
        };
        begin(&of_part, [(Load::CLEAR, Store::STORE); 3], flags);
        let mut draw = of_part.quads(&vertex);
        draw.depth = (draw.depth.depth_test_enable(true).depth_write_enable(true))
            .depth_compare_op(vk::CompareOp::LESS);
        of_part.bind(&draw)?;
        device.cmd_draw(commands, 4, 1, 0, part);
        device.cmd_end_rendering(commands);
        device.end_command_buffer(commands)?;
        all.push(commands);
    }
    let submit = [vk::SubmitInfo::default().command_buffers(&all)];
    let fence = s.fence(vk::FenceCreateFlags::empty())?;
    device.queue_submit(s.gpu.queue, &submit, fence)?;
    s.wait(&[fence])?;
    let after = Picture {
        s,
        commands: s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?,
        target: picture.target.clone(),
        resolved: Vec::new(),
    };
    let pixels = after.read_after()?;
    after.report("three parts", &pixels)?;
    for (x, y, colour) in [
        (10, 10, RED),
        (25, 25, BLUE),
        (45, 45, BLUE),
        (45, 10, GREEN),
    ] {
        expect_pixel("three parts", &pixels.colour[0], x, y, colour)?;
    }
    Ok(())
}

/// Fragments that only write a buffer.
unsafe fn no_attachments(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = quads(&[
        ([4.0, 4.0, 40.0, 40.0], 0.5, RED),
        ([20.0, 20.0, 60.0, 60.0], 0.25, BLUE),
    ]);
    let fragment = "
layout(set = 0, binding = 0) buffer B { uint counts[]; };
void main() { atomicAdd(counts[int(gl_FragCoord.y) * 64 + int(gl_FragCoord.x)], 1u); }
";
    s.gpu_feature(|features| features.fragment_stores_and_atomics)?;
    let buffer = s.buffer_of(&[0; (SIDE * SIDE) as usize])?;
    let list = [Resource::Storage(buffer)];
    let layout = s.layout(&list, 0)?;
    let set = s.resources(layout, &list)?;
    let target = Target {
        size: [SIDE; 2],
        samples: ONE,
        colour: Vec::new(),
        depth: None,
    };
    let mut draw = Draw::new(&target, &vertex, fragment);
    draw.topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
    draw.layout = layout.pipeline;
    let pipeline = s.graphics(&draw)?;
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let (device, graphics) = (s.device(), vk::PipelineBindPoint::GRAPHICS);
    s.render(commands, &target, Load::LOAD);
    device.cmd_bind_pipeline(commands, graphics, pipeline);
    device.cmd_bind_descriptor_sets(commands, graphics, layout.pipeline, 0, &[set], &[]);
    device.cmd_draw(commands, 4, 2, 0, 0);
    device.cmd_end_rendering(commands);
    s.barrier(commands);
    s.finish(commands)?;
    let expected: Vec<u8> = (0..SIDE * SIDE)
        .flat_map(|at| {
            let (x, y) = (at % SIDE, at / SIDE);
            let first = (4..40).contains(&x) && (4..40).contains(&y);
            let second = (20..60).contains(&x) && (20..60).contains(&y);
            (u32::from(first) + u32::from(second)).to_le_bytes()
        })
        .collect();
    s.report.expect("counts", buffer.bytes(), &expected)
}

/// Outputs to attachments that are not there.
unsafe fn unused(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = quads(&[([4.0, 4.0, 40.0, 40.0], 0.5, RED)]);
    let fragment = "
layout(location = 0) flat in vec4 tint;
layout(location = 0) out vec4 a;
layout(location = 1) out vec4 b;
layout(location = 2) out vec4 c;
void main() { a = tint; b = tint.brga; c = tint.bgra; }
";
    for missing in 0..3_usize {
        let clear = floats(GREY);
        let picture = Picture::new(s, &[(RGBA8, 4, clear); 3], None, ONE)?;
        let colour: Vec<_> = (picture.target.colour.iter().enumerate())
            .map(|(at, of)| match at == missing {
                true => vk::RenderingAttachmentInfo::default(),
                false => attachment(of, Load::CLEAR, Store::STORE),
            })
            .collect();
        let info = vk::RenderingInfo::default()
            .render_area(area(0, 0, SIDE, SIDE))
            .layer_count(1)
            .color_attachments(&colour);
        let device = s.device();
        // What is not drawn to is cleared before.
        let image = picture.target.colour[missing].image;
        let white = floats([1.0; 4]);
        device.cmd_clear_color_image(
            picture.commands,
            image.handle,
            GENERAL,
            &white,
            &[image.range()],
        );
        s.barrier(picture.commands);
        device.cmd_begin_rendering(picture.commands, &info);
        let mut draw = picture.quads(&vertex);
        draw.fragment = Some(fragment);
        draw.colour[missing] = vk::Format::UNDEFINED;
        picture.draw(&draw, 4, 1)?;
        let pixels = picture.read()?;
        for (at, tint) in [RED, GREEN, BLUE].into_iter().enumerate() {
            let name = format!("without {missing}: {at}");
            let expected = if at == missing { [1.0; 4] } else { tint };
            expect_pixel(&name, &pixels.colour[at], 20, 20, expected)?;
            s.report.result(&name, pixels.colour[at].clone());
        }
    }
    Ok(())
}

/// As many attachments as there can be.
unsafe fn eight_targets(s: &Scope<'_>) -> anyhow::Result<()> {
    let count = s.gpu.properties.limits.max_color_attachments.min(8);
    let vertex = quads(&[([4.0, 4.0, 40.0, 40.0], 0.5, RED)]);
    let outputs: Vec<_> = (0..count)
        .map(|n| format!("layout(location = {n}) out vec4 o{n};"))
        .collect();
    let writes: Vec<_> = (0..count)
        .map(|n| format!("o{n} = vec4({n}, floor(gl_FragCoord.x), 255 - {n}, 255) / 255.0;"))
        .collect();
    let fragment = format!(
        "{}\nvoid main() {{ {} }}",
        outputs.join("\n"),
        writes.join(" ")
    );
    let clears: Vec<_> = (0..count)
        .map(|n| (RGBA8, 4, floats([n as f32 / 8.0, 0.0, 1.0, 0.5])))
        .collect();
    let picture = Picture::new(s, &clears, None, ONE)?;
    let mut draw = picture.quads(&vertex);
    draw.fragment = Some(&fragment);
    picture.clear();
    picture.draw(&draw, 4, 1)?;
    let pixels = picture.end("all")?;
    for (n, bytes) in pixels.colour.iter().enumerate() {
        let at = 4 * (20 * SIDE as usize + 20);
        let expected = [n as u8, 20, 255 - n as u8, 255];
        ensure!(bytes[at..at + 4] == expected, "attachment {n}");
    }
    Ok(())
}

/// A view of one level and one layer, or slice, of an image.
unsafe fn part_of(
    s: &Scope<'_>,
    image: crate::image::Image,
    level: u32,
    layer: u32,
) -> anyhow::Result<vk::ImageView> {
    let info = vk::ImageViewCreateInfo::default()
        .image(image.handle)
        .view_type(vk::ImageViewType::TYPE_2D)
        .format(image.shape.format)
        .subresource_range(vk::ImageSubresourceRange {
            aspect_mask: image.shape.aspect,
            base_mip_level: level,
            level_count: 1,
            base_array_layer: layer,
            layer_count: 1,
        });
    let view = s.device().create_image_view(&info, None)?;
    s.at_end(move |device| device.destroy_image_view(view, None));
    Ok(view)
}

/// Renders to each part of an image and reads all of it.
unsafe fn parts(s: &Scope<'_>, shape: Shape, flags: vk::ImageCreateFlags) -> anyhow::Result<()> {
    let vertex = "
layout(location = 0) flat out vec4 colour;
void main() {
    vec2 at = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1);
    gl_Position = vec4(at.x - 0.5, at.y * 2.0 - 1.0, 0.5, 1.0);
    colour = vec4(float(gl_InstanceIndex), 255.0, 0.0, 255.0) / 255.0;
}
";
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT
        | vk::ImageUsageFlags::TRANSFER_SRC
        | vk::ImageUsageFlags::TRANSFER_DST;
    let image = s.image(shape, usage, flags, commands)?;
    let device = s.device();
    let white = floats([1.0; 4]);
    device.cmd_clear_color_image(commands, image.handle, GENERAL, &white, &[image.range()]);
    s.barrier(commands);
    let mut expected = Vec::new();
    let mut number = 0;
    for level in 0..shape.levels {
        let [width, height, layers] = shape.level(level);
        for layer in 0..layers {
            number += 1;
            let drawn = number % 3 != 0;
            let clear = floats([0.0, 0.0, number as f32 / 255.0, 1.0]);
            let target = Target {
                size: [width, height],
                samples: ONE,
                colour: vec![Attachment {
                    image,
                    view: part_of(s, image, level, layer)?,
                    clear: vk::ClearValue { color: clear },
                }],
                depth: None,
            };
            if drawn {
                let mut draw = Draw::new(&target, vertex, FLAT);
                draw.topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
                let pipeline = s.graphics(&draw)?;
                s.render(commands, &target, Load::CLEAR);
                device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
                device.cmd_draw(commands, 4, 1, 0, number);
                device.cmd_end_rendering(commands);
            }
            for x in (0..height).flat_map(|_| 0..width) {
                // The middle half, from -0.5 to 0.5.
                let middle = 2.0 * (x as f32 + 0.5) / width as f32 - 1.0;
                expected.extend(match (drawn, (-0.5..0.5).contains(&middle)) {
                    (false, _) => [255; 4],
                    (true, true) => [number as u8, 255, 0, 255],
                    (true, false) => [0, 0, number as u8, 255],
                });
            }
        }
    }
    let back = s.read_back(commands, image)?;
    s.finish(commands)?;
    s.report.expect("all parts", back.bytes(), &expected)
}

/// Levels and layers as attachments; some stay as they were.
unsafe fn levels(s: &Scope<'_>) -> anyhow::Result<()> {
    let shape = Shape::flat(RGBA8, 4, 48, 80).stacked(5, 3);
    parts(s, shape, vk::ImageCreateFlags::empty())
}

/// Slices of an image of three dimensions as attachments.
unsafe fn slices(s: &Scope<'_>) -> anyhow::Result<()> {
    let shape = Shape {
        kind: vk::ImageType::TYPE_3D,
        extent: [48, 20, 9],
        ..Shape::flat(RGBA8, 4, 1, 1).stacked(1, 1)
    };
    parts(s, shape, vk::ImageCreateFlags::TYPE_2D_ARRAY_COMPATIBLE)
}

/// Many passes in one command buffer, each of which sees what those before left.
unsafe fn many(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = "
layout(location = 0) flat out vec4 colour;
void main() {
    int n = gl_InstanceIndex;
    vec2 at = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 12.0 + vec2(n * 7 % 53, n * 11 % 47);
    gl_Position = vec4(at / 32.0 - 1.0, 0.5, 1.0);
    colour = vec4(1.0, 2.0, 3.0, 1.0) / 255.0;
}
";
    let picture = Picture::plain(s)?;
    let mut draw = picture.quads(vertex);
    draw.blend[0] = vk::PipelineColorBlendAttachmentState::default()
        .blend_enable(true)
        .src_color_blend_factor(vk::BlendFactor::ONE)
        .dst_color_blend_factor(vk::BlendFactor::ONE)
        .src_alpha_blend_factor(vk::BlendFactor::ONE)
        .dst_alpha_blend_factor(vk::BlendFactor::ONE)
        .color_write_mask(vk::ColorComponentFlags::RGBA);
    let pipeline = s.graphics(&draw)?;
    let (device, commands) = (s.device(), picture.commands);
    let mut expected = [51_u8, 102, 153, 255].repeat((SIDE * SIDE) as usize);
    for n in 0..24 {
        picture.begin(if n == 0 { Load::CLEAR } else { Load::LOAD });
        device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
        device.cmd_draw(commands, 4, 1, 0, n);
        let (left, top) = (n * 7 % 53, n * 11 % 47);
        for (x, y) in (0..144).map(|at| (left + at % 12, top + at / 12)) {
            if x < SIDE && y < SIDE {
                let at = 4 * (y * SIDE + x) as usize;
                for (to, add) in expected[at..at + 3].iter_mut().zip(1..) {
                    *to += add;
                }
            }
        }
        if n < 23 {
            end(&picture);
        }
    }
    let got = picture.read()?.colour.remove(0);
    s.report.expect("sums", got, &expected)
}

/// Attachments of several sizes: what is outside of the area stays, in each of them.
unsafe fn sizes(s: &Scope<'_>) -> anyhow::Result<()> {
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let device = s.device();
    let (large, small, deep) = ([64, 50], [40, 36], [56, 60]);
    let mut target = Target {
        size: small,
        samples: ONE,
        colour: Vec::new(),
        depth: None,
    };
    for size in [large, small] {
        let made = s.colour(RGBA8, 4, size, floats(GREEN), commands)?;
        let (image, white) = (made.image, floats([1.0; 4]));
        device.cmd_clear_color_image(commands, image.handle, GENERAL, &white, &[image.range()]);
        target.colour.push(made);
    }
    let clear = |depth| vk::ClearDepthStencilValue { depth, stencil: 0 };
    let mut depth = s.depth_stencil(vk::Format::D32_SFLOAT, deep, clear(0.25), commands)?;
    s.barrier(commands);
    let before = Target {
        size: deep,
        samples: ONE,
        colour: Vec::new(),
        depth: Some(depth),
    };
    s.render(commands, &before, Load::CLEAR);
    device.cmd_end_rendering(commands);
    s.barrier(commands);
    depth.clear.depth_stencil = clear(1.0);
    target.depth = Some(depth);
    let vertex = quads(&[([4.0, 4.0, 30.0, 64.0], 0.5, RED)]);
    let fragment = "
layout(location = 0) flat in vec4 tint;
layout(location = 0) out vec4 a;
layout(location = 1) out vec4 b;
void main() { a = tint; b = tint.bgra; }
";
    let mut draw = Draw::new(&target, &vertex, fragment);
    draw.topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
    (draw.viewport.width, draw.viewport.height) = (64.0, 64.0);
    draw.depth = (draw.depth.depth_test_enable(true).depth_write_enable(true))
        .depth_compare_op(vk::CompareOp::LESS);
    let pipeline = s.graphics(&draw)?;
    s.render(commands, &target, Load::CLEAR);
    device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
    device.cmd_draw(commands, 4, 1, 0, 0);
    device.cmd_end_rendering(commands);
    let images = [target.colour[0], target.colour[1], depth].map(|of| of.image);
    let mut back = Vec::new();
    for image in images {
        back.push(s.read_back(commands, image)?);
    }
    s.finish(commands)?;
    let byte = |tint: [f32; 4]| tint.map(|c| (c * 255.0) as u8);
    let word = |depth: f32| depth.to_le_bytes();
    for (name, back, size, [outside, cleared, drawn]) in [
        ("large", &back[0], large, [[1.0; 4], GREEN, RED].map(byte)),
        ("small", &back[1], small, [[1.0; 4], GREEN, BLUE].map(byte)),
        ("depth", &back[2], deep, [0.25, 1.0, 0.5].map(word)),
    ] {
        let mut expected = Vec::new();
        for (y, x) in (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| (y, x))) {
            let is_inside = x < small[0] && y < small[1];
            let is_drawn = (4..30).contains(&x) && y >= 4;
            expected.extend(match (is_inside, is_drawn) {
                (false, _) => outside,
                (true, false) => cleared,
                (true, true) => drawn,
            });
        }
        s.report.expect(name, back.bytes(), &expected)?;
    }
    Ok(())
}
