// SPDX-License-Identifier: MIT
//! Small pictures of one fixed-function state each. Geometry lies so that Vulkan defines which
//! pixels it covers, and numbers are such that results are exact; what is not is compared here
//! with a tolerance, on each driver by itself.

use anyhow::ensure;
use ash::vk;

use super::pictures::{
    BLUE, FLAT, GREEN, GREY, Picture, RED, SIDE, area, expect_pixel, floats, quads,
};
use super::scenario;
use super::stencil::stencil_at;
use crate::picture::Draw;
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("states.topology", topology),
    scenario("states.restart", restart),
    scenario("states.cull", cull),
    scenario("states.polygon_mode", polygon_mode),
    scenario("states.viewport", viewport),
    scenario("states.scissor", scissor),
    scenario("states.clear_attachments", clear_attachments),
    scenario("states.render_area", render_area),
    scenario("states.load_operations", load_operations),
];

/// Points of odd and even sizes, lines along the axes, triangles. Points lie where the edges of
/// their squares are edges of pixels; lines of width 1 run through pixels' middles and end
/// inside pixels, where strict and other lines cover the same ones.
unsafe fn topology(s: &Scope<'_>) -> anyhow::Result<()> {
    use vk::PrimitiveTopology as T;
    let points = "
layout(location = 0) flat out vec4 colour;
void main() {
    float size[5] = float[](1.0, 2.0, 3.0, 8.0, 15.0);
    vec2 at[5] = vec2[](vec2(3.5), vec2(10.0, 4.0), vec2(20.5, 6.5), vec2(40.0, 12.0), vec2(30.5, 40.5));
    gl_PointSize = size[gl_VertexIndex];
    gl_Position = vec4(at[gl_VertexIndex] / 32.0 - 1.0, 0.0, 1.0);
    colour = vec4(float(gl_VertexIndex) / 5.0, 1.0, 0.0, 1.0);
}
";
    let lines = "
layout(location = 0) flat out vec4 colour;
void main() {
    vec2 at[6] = vec2[](vec2(4.25, 4.5), vec2(20.25, 4.5), vec2(30.5, 10.25), vec2(30.5, 60.25), vec2(24.75, 7.5), vec2(7.75, 7.5));
    gl_PointSize = 1.0;
    gl_Position = vec4(at[gl_VertexIndex] / 32.0 - 1.0, 0.0, 1.0);
    colour = vec4(1.0, float(gl_VertexIndex / 2) * 0.4, 0.0, 1.0);
}
";
    // Its segments end inside pixels, which both of two segments may or may not cover: all of it is
    // of one colour, and ends are covered by others.
    let grid = "
layout(location = 0) flat out vec4 colour;
void main() {
    int i = gl_VertexIndex;
    vec2 at = vec2(float(i / 2) * 13.0 + 3.0, (i & 1) == 0 ? 5.0 : 50.0 + float(i));
    gl_Position = vec4(at / 32.0 - 1.0, 0.0, 1.0);
    colour = vec4(float(i) * 0.125, 0.0, 1.0, 1.0);
}
";
    let fan = "
layout(location = 0) flat out vec4 colour;
void main() {
    vec2 at[6] = vec2[](vec2(30.25, 33.25), vec2(60.25, 30), vec2(40, 3.25), vec2(4, 10.25), vec2(9, 55.25), vec2(50.25, 60));
    gl_Position = vec4(at[gl_VertexIndex] / 32.0 - 1.0, 0.0, 1.0);
    colour = vec4(float(gl_VertexIndex) * 0.125, 1.0, 0.0, 1.0);
}
";
    for (name, topology, vertex, count) in [
        ("points", T::POINT_LIST, points, 5),
        ("lines", T::LINE_LIST, lines, 6),
        ("lines, one over", T::LINE_LIST, lines, 5),
        ("triangles", T::TRIANGLE_LIST, fan, 6),
        ("triangles, two over", T::TRIANGLE_LIST, fan, 5),
        ("strip", T::TRIANGLE_STRIP, grid, 8),
        ("strip of three", T::TRIANGLE_STRIP, grid, 3),
        ("fan", T::TRIANGLE_FAN, fan, 6),
        ("fan of three", T::TRIANGLE_FAN, fan, 3),
    ] {
        let picture = Picture::plain(s)?;
        let mut draw = Draw::new(&picture.target, vertex, FLAT);
        draw.topology = topology;
        picture.clear();
        picture.draw(&draw, count, 1)?;
        picture.end(name)?;
    }
    // A strip along the edges of a square: its corners belong to one of two segments, or to both.
    let corners = "
layout(location = 0) flat out vec4 colour;
void main() {
    vec2 at[4] = vec2[](vec2(4.0, 4.5), vec2(40.5, 4.5), vec2(40.5, 30.5), vec2(10.0, 30.5));
    gl_Position = vec4(at[gl_VertexIndex] / 32.0 - 1.0, 0.0, 1.0);
    colour = vec4(1.0, 0.0, 0.0, 1.0);
}
";
    let picture = Picture::plain(s)?;
    let mut draw = Draw::new(&picture.target, corners, FLAT);
    draw.topology = T::LINE_STRIP;
    picture.clear();
    picture.draw(&draw, 4, 1)?;
    let got = picture.read()?.colour.remove(0);
    for (x, y, drawn) in [
        (4, 4, true),
        (20, 4, true),
        (39, 4, true),
        (40, 10, true),
        (40, 29, true),
        (38, 30, true),
        (10, 30, true),
        (8, 30, false),
        (4, 10, false),
        (20, 20, false),
    ] {
        expect_pixel("line strip", &got, x, y, if drawn { RED } else { GREY })?;
    }
    Ok(())
}

/// Restarts with indices of 16 and 32 bits; the same index without restart is a vertex.
unsafe fn restart(s: &Scope<'_>) -> anyhow::Result<()> {
    use vk::PrimitiveTopology as T;
    let vertex = "
layout(location = 0) flat out vec4 colour;
void main() {
    int i = gl_VertexIndex & 63;
    vec2 at = vec2(float(i % 8) * 8.0 + 1.25, float(i / 8) * 8.0 + 3.5);
    gl_Position = vec4(at / 32.0 - 1.0, 0.0, 1.0);
    colour = vec4(float(i) / 64.0, 1.0, 0.0, 1.0);
}
";
    let none = u32::MAX;
    let indices = [
        0, 8, 1, 9, none, 3, 12, 4, 13, 5, none, none, 20, 30, 21, none, 1, 2, none,
    ];
    for topology in [T::TRIANGLE_STRIP, T::TRIANGLE_FAN] {
        for wide in [false, true] {
            let picture = Picture::plain(s)?;
            let mut draw = Draw::new(&picture.target, vertex, FLAT);
            draw.topology = topology;
            draw.restart = true;
            let bytes: Vec<u8> = match wide {
                true => indices.iter().flat_map(|i: &u32| i.to_le_bytes()).collect(),
                false => (indices.iter())
                    .flat_map(|i| (*i as u16).to_le_bytes())
                    .collect(),
            };
            let buffer = s.buffer_for(bytes.len() as u64, vk::BufferUsageFlags::INDEX_BUFFER)?;
            buffer.write(0, &bytes);
            let kind = match wide {
                true => vk::IndexType::UINT32,
                false => vk::IndexType::UINT16,
            };
            picture.clear();
            picture.bind(&draw)?;
            let device = s.device();
            device.cmd_bind_index_buffer(picture.commands, buffer.handle, 0, kind);
            device.cmd_draw_indexed(picture.commands, indices.len() as u32, 1, 0, 0, 0);
            picture.end(&format!("{topology:?} {kind:?}"))?;
        }
    }
    Ok(())
}

/// Two triangles of either winding, coloured by `gl_FrontFacing`.
unsafe fn cull(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = "
void main() {
    vec2 at[6] = vec2[](vec2(3, 5.25), vec2(30, 9.25), vec2(9, 50.25), vec2(33, 5.25), vec2(39, 50.25), vec2(60, 9.25));
    gl_Position = vec4(at[gl_VertexIndex] / 32.0 - 1.0, 0.0, 1.0);
}
";
    let fragment = "
layout(location = 0) out vec4 colour;
void main() { colour = gl_FrontFacing ? vec4(0.0, 1.0, 0.0, 1.0) : vec4(1.0, 0.0, 0.0, 1.0); }
";
    let modes = vk::CullModeFlags::NONE.as_raw()..=vk::CullModeFlags::FRONT_AND_BACK.as_raw();
    for mode in modes.map(vk::CullModeFlags::from_raw) {
        for face in [vk::FrontFace::CLOCKWISE, vk::FrontFace::COUNTER_CLOCKWISE] {
            for dynamic in [false, true] {
                let picture = Picture::plain(s)?;
                let mut draw = Draw::new(&picture.target, vertex, fragment);
                if dynamic {
                    draw.dynamic = vec![vk::DynamicState::CULL_MODE, vk::DynamicState::FRONT_FACE];
                } else {
                    draw.raster = draw.raster.cull_mode(mode).front_face(face);
                }
                picture.clear();
                picture.bind(&draw)?;
                if dynamic {
                    s.device().cmd_set_cull_mode(picture.commands, mode);
                    s.device().cmd_set_front_face(picture.commands, face);
                }
                s.device().cmd_draw(picture.commands, 6, 1, 0, 0);
                let name = format!("{mode:?} {face:?} dynamic {dynamic}");
                let got = picture.read()?.colour.remove(0);
                let clockwise = face == vk::FrontFace::CLOCKWISE;
                // The first triangle is clockwise on the screen, where y points down.
                for (x, front) in [(10, clockwise), (40, !clockwise)] {
                    let culled = match front {
                        true => mode.contains(vk::CullModeFlags::FRONT),
                        false => mode.contains(vk::CullModeFlags::BACK),
                    };
                    let colour = match (culled, front) {
                        (true, _) => GREY,
                        (false, true) => GREEN,
                        (false, false) => RED,
                    };
                    expect_pixel(&name, &got, x, 15, colour)?;
                }
                s.report.result(&name, got);
            }
        }
    }
    Ok(())
}

/// Corners and edges of triangles. Lines have freedom at their ends: middles are looked at.
unsafe fn polygon_mode(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu_feature(|features| features.fill_mode_non_solid)?;
    let vertex = "
layout(location = 0) flat out vec4 colour;
void main() {
    vec2 at[3] = vec2[](vec2(4.5, 5.5), vec2(50.5, 5.5), vec2(4.5, 40.5));
    gl_PointSize = 1.0;
    gl_Position = vec4(at[gl_VertexIndex] / 32.0 - 1.0, 0.0, 1.0);
    colour = vec4(1.0, 0.0, 0.0, 1.0);
}
";
    for mode in [
        vk::PolygonMode::FILL,
        vk::PolygonMode::LINE,
        vk::PolygonMode::POINT,
    ] {
        let picture = Picture::plain(s)?;
        let mut draw = Draw::new(&picture.target, vertex, FLAT);
        draw.raster = draw.raster.polygon_mode(mode);
        picture.clear();
        picture.draw(&draw, 3, 1)?;
        let got = picture.read()?.colour.remove(0);
        let name = format!("{mode:?}");
        let edge = mode != vk::PolygonMode::POINT;
        let inside = mode == vk::PolygonMode::FILL;
        for (x, y, drawn) in [
            (20, 5, edge),
            (4, 20, edge),
            (10, 12, inside),
            (60, 60, false),
        ] {
            // A filled triangle's edge through pixels' middles may leave them out.
            if !inside || (x, y) == (10, 12) {
                expect_pixel(&name, &got, x, y, if drawn { RED } else { GREY })?;
            }
        }
        if mode == vk::PolygonMode::POINT {
            for (x, y) in [(4, 5), (50, 5), (4, 40)] {
                expect_pixel(&name, &got, x, y, RED)?;
            }
            s.report.result(&name, got);
        }
    }
    Ok(())
}

/// Viewports with offsets, parts outside, upside down, and with depth ranges.
unsafe fn viewport(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = "
layout(location = 0) flat out vec4 colour;
void main() {
    vec2 at[3] = vec2[](vec2(-0.75, -0.875), vec2(0.75, -0.25), vec2(-0.25, 0.75));
    gl_Position = vec4(at[gl_VertexIndex % 3], 0.25 + 0.5 * float(gl_InstanceIndex), 1.0);
    colour = vec4(1.0, float(gl_InstanceIndex), 0.0, 1.0);
}
";
    for (name, x, y, width, height, near, far) in [
        ("whole", 0.0, 0.0, 64.0, 64.0, 0.0, 1.0),
        ("part", 8.0, 16.0, 32.0, 40.0, 0.0, 1.0),
        ("fractions", 8.25, 16.5, 31.5, 40.25, 0.0, 1.0),
        ("larger", -32.0, -16.0, 128.0, 128.0, 0.0, 1.0),
        ("upside down", 0.0, 64.0, 64.0, -64.0, 0.0, 1.0),
        ("upside down part", 4.0, 40.0, 48.0, -32.0, 0.0, 1.0),
        ("depth range", 0.0, 0.0, 64.0, 64.0, 0.25, 0.75),
        ("depth reversed", 0.0, 0.0, 64.0, 64.0, 1.0, 0.0),
        ("depth alike", 0.0, 0.0, 64.0, 64.0, 0.5, 0.5),
    ] {
        for dynamic in [false, true] {
            let picture = Picture::deep(s, vk::Format::D32_SFLOAT, 1.0, 0)?;
            let mut draw = Draw::new(&picture.target, vertex, FLAT);
            let viewport = vk::Viewport {
                x,
                y,
                width,
                height,
                min_depth: near,
                max_depth: far,
            };
            if dynamic {
                draw.dynamic = vec![vk::DynamicState::VIEWPORT];
            } else {
                draw.viewport = viewport;
            }
            draw.depth = (draw.depth.depth_test_enable(true).depth_write_enable(true))
                .depth_compare_op(vk::CompareOp::LESS);
            picture.clear();
            picture.bind(&draw)?;
            if dynamic {
                (s.device()).cmd_set_viewport(picture.commands, 0, &[viewport]);
            }
            s.device().cmd_draw(picture.commands, 3, 2, 0, 0);
            picture.end(&format!("{name} dynamic {dynamic}"))?;
        }
    }
    Ok(())
}

/// Scissors of all sizes, the empty one included; what is outside stays.
unsafe fn scissor(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = quads(&[([-10.0, -10.0, 80.0, 80.0], 0.0, RED)]);
    for scissor in [
        area(0, 0, 64, 64),
        area(5, 7, 20, 30),
        area(31, 33, 1, 1),
        area(32, 0, 32, 64),
        area(60, 60, 100, 100),
        area(7, 9, 0, 0),
        area(0, 0, 0x7fff_ffff, 3),
    ] {
        for dynamic in [false, true] {
            let picture = Picture::plain(s)?;
            let mut draw = picture.quads(&vertex);
            if dynamic {
                draw.dynamic = vec![vk::DynamicState::SCISSOR];
            } else {
                draw.scissor = scissor;
            }
            picture.clear();
            picture.bind(&draw)?;
            if dynamic {
                (s.device()).cmd_set_scissor(picture.commands, 0, &[scissor]);
            }
            s.device().cmd_draw(picture.commands, 4, 1, 0, 0);
            let got = picture.read()?.colour.remove(0);
            let mut expected = Vec::new();
            let (x, y) = (scissor.offset.x as u32, scissor.offset.y as u32);
            for row in 0..SIDE {
                for column in 0..SIDE {
                    let inside = column >= x
                        && row >= y
                        && column - x < scissor.extent.width
                        && row - y < scissor.extent.height;
                    let colour = if inside { RED } else { GREY };
                    expected.extend(colour.map(|c| (c * 255.0).round() as u8));
                }
            }
            let name = format!("{scissor:?} dynamic {dynamic}");
            s.report.expect(&name, got, &expected)?;
        }
    }
    Ok(())
}

/// Rectangles cleared inside a pass, colour and depth, after and before draws.
unsafe fn clear_attachments(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = quads(&[
        ([4.0, 4.0, 40.0, 40.0], 0.5, RED),
        ([20.0, 20.0, 60.0, 60.0], 0.25, BLUE),
    ]);
    let format = vk::Format::D32_SFLOAT_S8_UINT;
    let picture = Picture::deep(s, format, 1.0, 3)?;
    let mut draw = picture.quads(&vertex);
    draw.depth = (draw.depth.depth_test_enable(true).depth_write_enable(true))
        .depth_compare_op(vk::CompareOp::LESS);
    picture.clear();
    let clear = |aspect, value: vk::ClearValue, rect| {
        let attachment = vk::ClearAttachment {
            aspect_mask: aspect,
            color_attachment: 0,
            clear_value: value,
        };
        let rect = vk::ClearRect {
            rect,
            base_array_layer: 0,
            layer_count: 1,
        };
        s.device()
            .cmd_clear_attachments(picture.commands, &[attachment], &[rect]);
    };
    let depth = |depth, stencil| vk::ClearValue {
        depth_stencil: vk::ClearDepthStencilValue { depth, stencil },
    };
    let both = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
    clear(
        vk::ImageAspectFlags::DEPTH,
        depth(0.125, 9),
        area(10, 0, 5, 64),
    );
    picture.draw(&draw, 4, 2)?;
    let white = vk::ClearValue {
        color: floats([1.0; 4]),
    };
    clear(vk::ImageAspectFlags::COLOR, white, area(30, 10, 7, 9));
    clear(both, depth(0.75, 0xa5), area(50, 50, 14, 14));
    clear(
        vk::ImageAspectFlags::STENCIL,
        depth(0.5, 0x17),
        area(0, 0, 3, 5),
    );
    let pixels = picture.end("cleared")?;
    expect_pixel("colour", &pixels.colour[0], 33, 12, [1.0; 4])?;
    expect_pixel("behind the cleared depth", &pixels.colour[0], 12, 12, GREY)?;
    ensure!(stencil_at(&pixels, 55, 55) == 0xa5, "stencil of both");
    ensure!(stencil_at(&pixels, 1, 1) == 0x17, "stencil alone");
    ensure!(stencil_at(&pixels, 30, 1) == 3, "stencil elsewhere");
    Ok(())
}

/// A pass over a part clears and draws there only.
unsafe fn render_area(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = quads(&[([10.0, 10.0, 60.0, 25.0], 0.5, RED)]);
    for (at, part) in [
        area(0, 0, 64, 64),
        area(16, 8, 32, 40),
        area(5, 7, 23, 31),
        area(33, 1, 31, 63),
        area(63, 0, 1, 64),
    ]
    .into_iter()
    .enumerate()
    {
        let mut picture = Picture::plain(s)?;
        picture.clear();
        s.device().cmd_end_rendering(picture.commands);
        s.barrier(picture.commands);
        picture.target.colour[0].clear = vk::ClearValue {
            color: floats(GREEN),
        };
        let colour = [vk::RenderingAttachmentInfo::default()
            .image_view(picture.target.colour[0].view)
            .image_layout(vk::ImageLayout::GENERAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)
            .clear_value(picture.target.colour[0].clear)];
        let info = vk::RenderingInfo::default()
            .render_area(part)
            .layer_count(1)
            .color_attachments(&colour);
        s.device().cmd_begin_rendering(picture.commands, &info);
        let mut draw = picture.quads(&vertex);
        // Vulkan wants draws inside of the area.
        draw.scissor = part;
        picture.draw(&draw, 4, 1)?;
        let got = picture.read()?.colour.remove(0);
        let mut expected = Vec::new();
        for y in 0..SIDE as i32 {
            for x in 0..SIDE as i32 {
                let (dx, dy) = (x - part.offset.x, y - part.offset.y);
                let inside = dx >= 0
                    && dy >= 0
                    && dx < part.extent.width as i32
                    && dy < part.extent.height as i32;
                let drawn = (10..60).contains(&x) && (10..25).contains(&y);
                let colour = match (inside, drawn) {
                    (false, _) => GREY,
                    (true, true) => RED,
                    (true, false) => GREEN,
                };
                expected.extend(colour.map(|c| (c * 255.0).round() as u8));
            }
        }
        s.report.expect(&format!("area {at}"), got, &expected)?;
    }
    Ok(())
}

/// What was drawn is there after a load, drawn over; passes without draws; what is not stored may
/// be anything and is drawn over entirely.
unsafe fn load_operations(s: &Scope<'_>) -> anyhow::Result<()> {
    let first = quads(&[([4.0, 4.0, 40.0, 40.0], 0.5, RED)]);
    let second = quads(&[([20.0, 20.0, 60.0, 60.0], 0.75, BLUE)]);
    let all = quads(&[([0.0, 0.0, 64.0, 64.0], 0.75, GREEN)]);
    let picture = Picture::deep(s, vk::Format::D32_SFLOAT, 1.0, 0)?;
    let depth = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(true)
        .depth_write_enable(true)
        .depth_compare_op(vk::CompareOp::LESS);
    let device = s.device();
    picture.clear();
    let mut draw = picture.quads(&first);
    draw.depth = depth;
    picture.draw(&draw, 4, 1)?;
    for text in [None, Some(&second), None] {
        device.cmd_end_rendering(picture.commands);
        s.barrier(picture.commands);
        picture.begin(vk::AttachmentLoadOp::LOAD);
        if let Some(text) = text {
            let mut draw = picture.quads(text);
            draw.depth = depth;
            picture.draw(&draw, 4, 1)?;
        }
    }
    let pixels = picture.end("loaded")?;
    expect_pixel("hidden", &pixels.colour[0], 30, 30, RED)?;
    expect_pixel("second", &pixels.colour[0], 50, 50, BLUE)?;
    let picture = Picture::plain(s)?;
    picture.begin(vk::AttachmentLoadOp::DONT_CARE);
    picture.draw(&picture.quads(&all), 4, 1)?;
    picture.draw(&picture.quads(&first), 4, 1)?;
    picture.end("not loaded")?;
    Ok(())
}
