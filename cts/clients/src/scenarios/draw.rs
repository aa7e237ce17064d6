// SPDX-License-Identifier: MIT
//! Small scenes, whose pixels are the same on every driver: where Vulkan defines the result, exactly.

use ash::vk;

use super::scenario;
use crate::picture::{Draw, Target};
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("draw.clear", clear),
    scenario("draw.triangle", triangle),
    scenario("draw.vertex_buffers", vertex_buffers),
    scenario("draw.indexed", indexed),
    scenario("draw.depth", depth),
    scenario("draw.blend", blend),
];

pub(super) const SIZE: [u32; 2] = [75, 43];
pub(super) const GREY: vk::ClearColorValue = vk::ClearColorValue {
    float32: [0.2, 0.4, 0.6, 1.0],
};

/// One colour attachment.
pub(super) unsafe fn target(s: &Scope<'_>, commands: vk::CommandBuffer) -> anyhow::Result<Target> {
    Ok(Target {
        size: SIZE,
        samples: vk::SampleCountFlags::TYPE_1,
        colour: vec![s.colour(vk::Format::R8G8B8A8_UNORM, 4, SIZE, GREY, commands)?],
        depth: None,
    })
}

pub(super) unsafe fn once(s: &Scope<'_>) -> anyhow::Result<vk::CommandBuffer> {
    s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)
}

/// Runs commands and reports the first colour attachment.
pub(super) unsafe fn finish(
    s: &Scope<'_>,
    commands: vk::CommandBuffer,
    target: &Target,
    name: &str,
) -> anyhow::Result<Vec<u8>> {
    s.device().cmd_end_rendering(commands);
    let back = s.read_back(commands, target.colour[0].image)?;
    s.finish(commands)?;
    s.report.result(name, back.bytes());
    Ok(back.bytes())
}

/// A triangle from nothing but the number of the vertex.
const CORNERS: &str = "
vec2 corners[3] = vec2[](vec2(-0.8, -0.9), vec2(0.9, -0.1), vec2(-0.3, 0.8));
void main() { gl_Position = vec4(corners[gl_VertexIndex % 3], 0.5, 1.0); }
";
const RED: &str = "
layout(location = 0) out vec4 colour;
void main() { colour = vec4(1.0, 0.0, 0.0, 1.0); }
";

unsafe fn clear(s: &Scope<'_>) -> anyhow::Result<()> {
    let commands = once(s)?;
    let target = target(s, commands)?;
    s.render(commands, &target, vk::AttachmentLoadOp::CLEAR);
    let got = finish(s, commands, &target, "cleared")?;
    let expected = [51, 102, 153, 255].repeat((SIZE[0] * SIZE[1]) as usize);
    s.report.check("cleared", &got, &expected)
}

unsafe fn triangle(s: &Scope<'_>) -> anyhow::Result<()> {
    let commands = once(s)?;
    let target = target(s, commands)?;
    let pipeline = s.graphics(&Draw::new(&target, CORNERS, RED))?;
    s.render(commands, &target, vk::AttachmentLoadOp::CLEAR);
    let device = s.device();
    device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
    device.cmd_draw(commands, 3, 1, 0, 0);
    finish(s, commands, &target, "triangle").map(drop)
}

/// Positions and flat colours from two buffers, one by vertex, one by instance.
unsafe fn vertex_buffers(s: &Scope<'_>) -> anyhow::Result<()> {
    let commands = once(s)?;
    let target = target(s, commands)?;
    let vertex = "
layout(location = 0) in vec2 at;
layout(location = 1) in vec4 tint;
layout(location = 2) in vec2 offset;
layout(location = 0) flat out vec4 colour;
void main() { gl_Position = vec4(at + offset, 0.0, 1.0); colour = tint; }
";
    let fragment = "
layout(location = 0) flat in vec4 tint;
layout(location = 0) out vec4 colour;
void main() { colour = tint; }
";
    let mut draw = Draw::new(&target, vertex, fragment);
    draw.bindings = vec![
        vk::VertexInputBindingDescription {
            binding: 0,
            stride: 8,
            input_rate: vk::VertexInputRate::VERTEX,
        },
        vk::VertexInputBindingDescription {
            binding: 2,
            stride: 12,
            input_rate: vk::VertexInputRate::INSTANCE,
        },
    ];
    let attribute = |location, binding, format, offset| vk::VertexInputAttributeDescription {
        location,
        binding,
        format,
        offset,
    };
    draw.attributes = vec![
        attribute(0, 0, vk::Format::R32G32_SFLOAT, 0),
        attribute(1, 2, vk::Format::R8G8B8A8_UNORM, 8),
        attribute(2, 2, vk::Format::R32G32_SFLOAT, 0),
    ];
    let pipeline = s.graphics(&draw)?;
    let usage = vk::BufferUsageFlags::VERTEX_BUFFER;
    let corners = [[-0.9_f32, -0.9], [-0.2, -0.9], [-0.5, 0.1]];
    let at = s.buffer_for(24, usage)?;
    at.write(
        0,
        &corners
            .concat()
            .iter()
            .flat_map(|f| f.to_le_bytes())
            .collect::<Vec<_>>(),
    );
    let instances = s.buffer_for(48, usage)?;
    for (index, (offset, colour)) in [
        ([9.0_f32, 9.0], [1, 2, 3, 4]),
        ([0.0, 0.0], [255_u8, 0, 0, 255]),
        ([0.7, 0.3], [0, 255, 0, 128]),
        ([1.0, 0.9], [0, 0, 255, 0]),
    ]
    .into_iter()
    .enumerate()
    {
        let mut bytes = offset.map(f32::to_le_bytes).concat();
        bytes.extend(colour);
        instances.write(12 * index, &bytes);
    }
    s.render(commands, &target, vk::AttachmentLoadOp::CLEAR);
    let device = s.device();
    device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
    device.cmd_bind_vertex_buffers(commands, 0, &[at.handle], &[0]);
    device.cmd_bind_vertex_buffers(commands, 2, &[instances.handle], &[0]);
    device.cmd_draw(commands, 3, 3, 0, 1);
    finish(s, commands, &target, "instances").map(drop)
}

/// Indices of 16 and 32 bits, with a base vertex and restarts.
unsafe fn indexed(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = "
vec2 grid(int i) { return vec2(float(i % 5) * 0.4 - 0.8, float(i / 5) * 0.5 - 0.75); }
void main() { gl_Position = vec4(grid(gl_VertexIndex), 0.0, 1.0); }
";
    for (name, topology, wide, indices, base) in [
        (
            "list",
            vk::PrimitiveTopology::TRIANGLE_LIST,
            false,
            &[0_u32, 1, 5, 3, 4, 9, 12, 18, 11][..],
            0,
        ),
        (
            "strip with restarts",
            vk::PrimitiveTopology::TRIANGLE_STRIP,
            true,
            &[
                100,
                105,
                101,
                106,
                u32::MAX,
                103,
                104,
                108,
                109,
                113,
                u32::MAX,
                110,
                116,
            ],
            -100,
        ),
        (
            "fan",
            vk::PrimitiveTopology::TRIANGLE_FAN,
            false,
            &[7, 1, 3, 9, 13, 11, 5],
            0,
        ),
    ] {
        let commands = once(s)?;
        let target = target(s, commands)?;
        let mut draw = Draw::new(&target, vertex, RED);
        draw.topology = topology;
        draw.restart = topology != vk::PrimitiveTopology::TRIANGLE_LIST;
        let pipeline = s.graphics(&draw)?;
        let bytes: Vec<u8> = match wide {
            true => indices.iter().flat_map(|i| i.to_le_bytes()).collect(),
            false => indices
                .iter()
                .flat_map(|i| (*i as u16).to_le_bytes())
                .collect(),
        };
        let buffer = s.buffer_for(64 + bytes.len() as u64, vk::BufferUsageFlags::INDEX_BUFFER)?;
        buffer.write(8, &bytes);
        s.render(commands, &target, vk::AttachmentLoadOp::CLEAR);
        let device = s.device();
        device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
        let (kind, size) = match wide {
            true => (vk::IndexType::UINT32, 4),
            false => (vk::IndexType::UINT16, 2),
        };
        device.cmd_bind_index_buffer(commands, buffer.handle, 8 - size, kind);
        device.cmd_draw_indexed(commands, indices.len() as u32, 1, 1, base, 0);
        finish(s, commands, &target, name)?;
    }
    Ok(())
}

/// Triangles that hide one another, and what the depth attachment holds.
unsafe fn depth(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = "
layout(location = 0) flat out vec4 colour;
void main() {
    float z[3] = float[](0.75, 0.25, 0.5);
    vec4 tints[3] = vec4[](vec4(1, 0, 0, 1), vec4(0, 1, 0, 1), vec4(0, 0, 1, 1));
    vec2 corners[3] = vec2[](vec2(-0.9, -0.8), vec2(0.7, -0.6), vec2(-0.2, 0.9));
    int n = gl_InstanceIndex;
    gl_Position = vec4(corners[gl_VertexIndex] + vec2(float(n) * 0.15, float(n) * -0.1), z[n], 1.0);
    colour = tints[n];
}
";
    let fragment = "
layout(location = 0) flat in vec4 tint;
layout(location = 0) out vec4 colour;
void main() { colour = tint; }
";
    for (format, bytes) in [(vk::Format::D32_SFLOAT, 4), (vk::Format::D16_UNORM, 2)] {
        for compare in [
            vk::CompareOp::LESS,
            vk::CompareOp::GREATER_OR_EQUAL,
            vk::CompareOp::ALWAYS,
        ] {
            let commands = once(s)?;
            let mut target = target(s, commands)?;
            let value = vk::ClearDepthStencilValue {
                depth: 0.5,
                stencil: 0,
            };
            target.depth = Some(s.depth_stencil(format, SIZE, value, commands)?);
            let mut draw = Draw::new(&target, vertex, fragment);
            draw.depth = draw
                .depth
                .depth_test_enable(true)
                .depth_write_enable(true)
                .depth_compare_op(compare);
            let pipeline = s.graphics(&draw)?;
            s.render(commands, &target, vk::AttachmentLoadOp::CLEAR);
            let device = s.device();
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
            device.cmd_draw(commands, 3, 3, 0, 0);
            device.cmd_end_rendering(commands);
            let colour = s.read_back(commands, target.colour[0].image)?;
            let Some(attachment) = target.depth else {
                continue;
            };
            let depth = s.read_back(commands, attachment.image)?;
            s.finish(commands)?;
            let name = format!("{format:?} {compare:?}");
            s.report.result(&format!("{name}: colour"), colour.bytes());
            if bytes == 4 {
                s.report.result(&format!("{name}: depth"), depth.bytes());
            }
        }
    }
    Ok(())
}

/// Blending whose results are exact: factors of zero and one, minimum, maximum, write masks.
unsafe fn blend(s: &Scope<'_>) -> anyhow::Result<()> {
    use vk::{BlendFactor as F, BlendOp as O};
    let state = |src, dst, op, mask| vk::PipelineColorBlendAttachmentState {
        blend_enable: vk::TRUE,
        src_color_blend_factor: src,
        dst_color_blend_factor: dst,
        color_blend_op: op,
        src_alpha_blend_factor: src,
        dst_alpha_blend_factor: dst,
        alpha_blend_op: op,
        color_write_mask: mask,
    };
    let all = vk::ColorComponentFlags::RGBA;
    let fragment = "
layout(location = 0) out vec4 colour;
void main() { colour = vec4(1.0, 0.0, 0.2, 1.0); }
";
    for (at, state) in [
        state(F::ONE, F::ONE, O::ADD, all),
        state(F::ONE, F::ONE, O::SUBTRACT, all),
        state(F::ONE, F::ONE, O::REVERSE_SUBTRACT, all),
        state(F::ZERO, F::ONE, O::MIN, all),
        state(F::ZERO, F::ZERO, O::MAX, all),
        state(F::SRC_ALPHA, F::ONE_MINUS_SRC_ALPHA, O::ADD, all),
        state(
            F::ONE,
            F::ZERO,
            O::ADD,
            vk::ColorComponentFlags::G | vk::ColorComponentFlags::A,
        ),
        state(F::ZERO, F::SRC_COLOR, O::ADD, all),
    ]
    .into_iter()
    .enumerate()
    {
        let commands = once(s)?;
        let target = target(s, commands)?;
        let mut draw = Draw::new(&target, CORNERS, fragment);
        draw.blend = vec![state];
        let pipeline = s.graphics(&draw)?;
        s.render(commands, &target, vk::AttachmentLoadOp::CLEAR);
        let device = s.device();
        device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
        device.cmd_draw(commands, 3, 1, 0, 0);
        finish(s, commands, &target, &format!("blend {at}"))?;
    }
    Ok(())
}
