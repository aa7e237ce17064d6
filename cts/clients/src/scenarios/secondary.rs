// SPDX-License-Identifier: MIT
//! Secondary command buffers that draw: in render passes, with state of their own, with depth and stencil, and
//! in passes of several samples.

use anyhow::ensure;
use ash::vk;

use super::feedback::dependency;
use super::pictures::{
    BLUE, GREEN, GREY, ONE, Picture, RED, RGBA8, SIDE, area, expect_pixel, floats, quads,
};
use super::scenario;
use crate::picture::Draw;
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("secondary.render_pass", render_pass),
    scenario("secondary.state", state),
    scenario("secondary.deep", deep),
    scenario("secondary.samples", samples),
];

const GRAPHICS: vk::PipelineBindPoint = vk::PipelineBindPoint::GRAPHICS;

/// Records a command buffer that goes on with a pass.
unsafe fn record(
    s: &Scope<'_>,
    inheritance: &vk::CommandBufferInheritanceInfo<'_>,
    commands: impl FnOnce(vk::CommandBuffer) -> anyhow::Result<()>,
) -> anyhow::Result<vk::CommandBuffer> {
    let pool = s.command_pool(vk::CommandPoolCreateFlags::empty())?;
    let buffer = s.allocate(pool, vk::CommandBufferLevel::SECONDARY, 1)?[0];
    let info = vk::CommandBufferBeginInfo::default()
        .flags(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE)
        .inheritance_info(inheritance);
    s.device().begin_command_buffer(buffer, &info)?;
    commands(buffer)?;
    s.device().end_command_buffer(buffer)?;
    Ok(buffer)
}

/// Records what draws to a picture's attachments without a render pass.
unsafe fn record_for(
    picture: &Picture<'_, '_>,
    commands: impl FnOnce(vk::CommandBuffer) -> anyhow::Result<()>,
) -> anyhow::Result<vk::CommandBuffer> {
    let draw = Draw::new(&picture.target, "", "");
    let mut rendering = vk::CommandBufferInheritanceRenderingInfo::default()
        .color_attachment_formats(&draw.colour)
        .rasterization_samples(picture.target.samples);
    if let Some(depth) = &picture.target.depth {
        let aspects = depth.image.shape.aspect;
        if aspects.contains(vk::ImageAspectFlags::DEPTH) {
            rendering = rendering.depth_attachment_format(draw.depth_format);
        }
        if aspects.contains(vk::ImageAspectFlags::STENCIL) {
            rendering = rendering.stencil_attachment_format(draw.stencil_format);
        }
    }
    let inheritance = vk::CommandBufferInheritanceInfo::default().push_next(&mut rendering);
    record(picture.s, &inheritance, commands)
}

/// Begins a pass whose commands are in secondary command buffers.
unsafe fn begin(picture: &Picture<'_, '_>) {
    let flags = vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS;
    let load = vk::AttachmentLoadOp::CLEAR;
    (picture.s).render_with(picture.commands, &picture.target, load, flags);
}

fn steps() -> String {
    quads(&[
        ([4.0, 4.0, 30.0, 60.0], 0.25, RED),
        ([20.0, 10.0, 50.0, 40.0], 0.5, GREEN),
        ([40.0, 4.0, 60.0, 60.0], 0.375, BLUE),
    ])
}

/// Two subpasses, the first in secondary command buffers, the second in the primary.
unsafe fn render_pass(s: &Scope<'_>) -> anyhow::Result<()> {
    let picture = Picture::plain(s)?;
    let device = s.device();
    let general = vk::ImageLayout::GENERAL;
    let attachments = [vk::AttachmentDescription::default()
        .format(RGBA8)
        .samples(ONE)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(vk::AttachmentStoreOp::STORE)
        .initial_layout(general)
        .final_layout(general)];
    let references = [vk::AttachmentReference {
        attachment: 0,
        layout: general,
    }];
    let subpass = vk::SubpassDescription::default()
        .pipeline_bind_point(GRAPHICS)
        .color_attachments(&references);
    let subpasses = [subpass; 2];
    let dependencies = [
        dependency(vk::SUBPASS_EXTERNAL, 0),
        dependency(0, 1),
        dependency(1, vk::SUBPASS_EXTERNAL),
    ];
    let info = vk::RenderPassCreateInfo::default()
        .attachments(&attachments)
        .subpasses(&subpasses)
        .dependencies(&dependencies);
    let pass = device.create_render_pass(&info, None)?;
    s.at_end(move |device| device.destroy_render_pass(pass, None));
    let views = [picture.target.colour[0].view];
    let info = vk::FramebufferCreateInfo::default()
        .render_pass(pass)
        .attachments(&views)
        .width(SIDE)
        .height(SIDE)
        .layers(1);
    let framebuffer = device.create_framebuffer(&info, None)?;
    s.at_end(move |device| device.destroy_framebuffer(framebuffer, None));
    let vertex = steps();
    let mut pipelines = Vec::new();
    for subpass in 0..2 {
        let mut draw = picture.quads(&vertex);
        draw.pass = Some((pass, subpass));
        pipelines.push(s.graphics(&draw)?);
    }
    let mut secondaries = Vec::new();
    // Without the framebuffer, which need not be known, and with it.
    for (instance, known) in [(0, false), (1, true)] {
        let mut inheritance = vk::CommandBufferInheritanceInfo::default()
            .render_pass(pass)
            .subpass(0);
        if known {
            inheritance = inheritance.framebuffer(framebuffer);
        }
        secondaries.push(record(s, &inheritance, |commands| {
            device.cmd_bind_pipeline(commands, GRAPHICS, pipelines[0]);
            device.cmd_draw(commands, 4, 1, 0, instance);
            Ok(())
        })?);
    }
    let clears = [picture.target.colour[0].clear];
    let info = vk::RenderPassBeginInfo::default()
        .render_pass(pass)
        .framebuffer(framebuffer)
        .render_area(area(0, 0, SIDE, SIDE))
        .clear_values(&clears);
    let commands = picture.commands;
    let contents = vk::SubpassContents::SECONDARY_COMMAND_BUFFERS;
    device.cmd_begin_render_pass(commands, &info, contents);
    device.cmd_execute_commands(commands, &secondaries);
    device.cmd_next_subpass(commands, vk::SubpassContents::INLINE);
    device.cmd_bind_pipeline(commands, GRAPHICS, pipelines[1]);
    device.cmd_draw(commands, 4, 1, 0, 2);
    device.cmd_end_render_pass(commands);
    let pixels = picture.read_after()?;
    picture.report("two subpasses", &pixels)?;
    let got = &pixels.colour[0];
    for (x, y, tint) in [
        (10, 20, RED),
        (25, 20, GREEN),
        (45, 20, BLUE),
        (62, 2, GREY),
    ] {
        expect_pixel("two subpasses", got, x, y, tint)?;
    }
    Ok(())
}

/// Each sets its own state, which is not another one's.
unsafe fn state(s: &Scope<'_>) -> anyhow::Result<()> {
    let picture = Picture::plain(s)?;
    let device = s.device();
    let vertex = steps();
    let mut dynamic = picture.quads(&vertex);
    dynamic.dynamic = vec![
        vk::DynamicState::SCISSOR,
        vk::DynamicState::CULL_MODE,
        vk::DynamicState::RASTERIZER_DISCARD_ENABLE,
    ];
    let mut fixed = picture.quads(&vertex);
    fixed.scissor = area(0, 50, 64, 6);
    let [dynamic, fixed] = [s.graphics(&dynamic)?, s.graphics(&fixed)?];
    let mut secondaries = Vec::new();
    for (top, discarded) in [(4, false), (12, true), (20, false)] {
        secondaries.push(record_for(&picture, |commands| {
            device.cmd_set_scissor(commands, 0, &[area(0, top, 64, 6)]);
            device.cmd_set_cull_mode(commands, vk::CullModeFlags::NONE);
            device.cmd_set_rasterizer_discard_enable(commands, discarded);
            device.cmd_bind_pipeline(commands, GRAPHICS, dynamic);
            device.cmd_draw(commands, 4, 3, 0, 0);
            Ok(())
        })?);
        if top == 12 {
            secondaries.push(record_for(&picture, |commands| {
                device.cmd_bind_pipeline(commands, GRAPHICS, fixed);
                device.cmd_draw(commands, 4, 3, 0, 0);
                Ok(())
            })?);
        }
    }
    begin(&picture);
    device.cmd_execute_commands(picture.commands, &secondaries);
    let got = picture.end("state")?.colour.remove(0);
    for (y, drawn) in [
        (6, true),
        (14, false),
        (22, true),
        (40, false),
        (52, true),
        (60, false),
    ] {
        expect_pixel("state", &got, 10, y, if drawn { RED } else { GREY })?;
    }
    Ok(())
}

/// Depth and stencil that each continues.
unsafe fn deep(s: &Scope<'_>) -> anyhow::Result<()> {
    let picture = Picture::deep(s, vk::Format::D32_SFLOAT_S8_UINT, 0.4375, 7)?;
    let device = s.device();
    let vertex = steps();
    let mut draw = picture.quads(&vertex);
    let face = vk::StencilOpState {
        pass_op: vk::StencilOp::INCREMENT_AND_WRAP,
        depth_fail_op: vk::StencilOp::INVERT,
        compare_op: vk::CompareOp::ALWAYS,
        compare_mask: 0xff,
        write_mask: 0xff,
        ..Default::default()
    };
    draw.depth = (draw.depth.depth_test_enable(true).depth_write_enable(true))
        .depth_compare_op(vk::CompareOp::LESS)
        .stencil_test_enable(true)
        .front(face)
        .back(face);
    let pipeline = s.graphics(&draw)?;
    let mut secondaries = Vec::new();
    for instance in [2, 0, 1] {
        secondaries.push(record_for(&picture, |commands| {
            device.cmd_bind_pipeline(commands, GRAPHICS, pipeline);
            device.cmd_draw(commands, 4, 1, 0, instance);
            Ok(())
        })?);
    }
    begin(&picture);
    device.cmd_execute_commands(picture.commands, &secondaries);
    let pixels = picture.end("deep")?;
    for (x, y, tint) in [(10, 20, RED), (25, 20, RED), (35, 20, GREY), (45, 20, BLUE)] {
        expect_pixel("deep", &pixels.colour[0], x, y, tint)?;
    }
    Ok(())
}

/// Attachments of several samples that are resolved.
unsafe fn samples(s: &Scope<'_>) -> anyhow::Result<()> {
    let black = floats([0.0; 4]);
    let four = vk::SampleCountFlags::TYPE_4;
    let picture = Picture::new(s, &[(RGBA8, 4, black)], None, four)?;
    let device = s.device();
    let vertex = steps();
    let mut secondaries = Vec::new();
    for (instance, mask) in [(0, u32::MAX), (1, 0b0011), (2, u32::MAX)] {
        let mut draw = picture.quads(&vertex);
        draw.mask = mask;
        let pipeline = s.graphics(&draw)?;
        secondaries.push(record_for(&picture, |commands| {
            device.cmd_bind_pipeline(commands, GRAPHICS, pipeline);
            device.cmd_draw(commands, 4, 1, 0, instance);
            Ok(())
        })?);
    }
    let colour: Vec<_> = (picture.target.colour.iter().zip(&picture.resolved))
        .map(|(attachment, resolved)| {
            vk::RenderingAttachmentInfo::default()
                .image_view(attachment.view)
                .image_layout(vk::ImageLayout::GENERAL)
                .load_op(vk::AttachmentLoadOp::CLEAR)
                .store_op(vk::AttachmentStoreOp::DONT_CARE)
                .resolve_mode(vk::ResolveModeFlags::AVERAGE)
                .resolve_image_view(resolved.view)
                .resolve_image_layout(vk::ImageLayout::GENERAL)
                .clear_value(attachment.clear)
        })
        .collect();
    let info = vk::RenderingInfo::default()
        .flags(vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS)
        .render_area(area(0, 0, SIDE, SIDE))
        .layer_count(1)
        .color_attachments(&colour);
    device.cmd_begin_rendering(picture.commands, &info);
    device.cmd_execute_commands(picture.commands, &secondaries);
    let got = picture.read()?.colour.remove(0);
    expect_pixel("all samples", &got, 10, 20, RED)?;
    expect_pixel("all samples", &got, 45, 20, BLUE)?;
    let at = 4 * (20 * SIDE as usize + 35);
    // Half of them; 127.5 may be rounded either way.
    let green = got[at + 1];
    ensure!((127..=128).contains(&green), "half of the samples: {green}");
    Ok(())
}
