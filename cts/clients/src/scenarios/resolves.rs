// SPDX-License-Identifier: MIT
//! Samples of depth attachments that become one when rendering ends.

use ash::vk;

use super::scenario;
use super::states::{SIDE, area};
use crate::image::Shape;
use crate::picture::{Attachment, Draw, Target};
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[scenario("resolves.depth", depth)];

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
