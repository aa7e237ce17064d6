// SPDX-License-Identifier: MIT
//! Multiview: draws and clears of several layers at once.

use ash::vk;

use super::scenario;
use crate::image::Shape;
use crate::picture::{Attachment, Draw, Target};
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[scenario("draw.views", views)];

const SIZE: [u32; 2] = [40, 24];
const LAYERS: u32 = 4;

const VERTEX: &str = "
#extension GL_EXT_multiview : require
vec2 corners[3] = vec2[](vec2(-0.8, -0.9), vec2(0.4, -0.1), vec2(-0.3, 0.8));
void main() { gl_Position = vec4(corners[gl_VertexIndex] + vec2(0.15 * gl_ViewIndex, 0), 0.5, 1.0); }
";
const FRAGMENT: &str = "
#extension GL_EXT_multiview : require
layout(location = 0) out vec4 colour;
void main() { colour = vec4(gl_ViewIndex / 3.0, 1.0, 0.0, 1.0); }
";

/// Masks with and without gaps; layers that are no views keep what they had.
unsafe fn views(s: &Scope<'_>) -> anyhow::Result<()> {
    for mask in [0b11_u32, 0b1011] {
        let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        let shape = Shape::flat(vk::Format::R8G8B8A8_UNORM, 4, SIZE[0], SIZE[1]).stacked(1, LAYERS);
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT
            | vk::ImageUsageFlags::TRANSFER_SRC
            | vk::ImageUsageFlags::TRANSFER_DST;
        let image = s.image(shape, usage, vk::ImageCreateFlags::empty(), commands)?;
        let device = s.device();
        let before = vk::ClearColorValue {
            float32: [0.0, 0.0, 1.0, 0.0],
        };
        let (handle, layout) = (image.handle, vk::ImageLayout::GENERAL);
        device.cmd_clear_color_image(commands, handle, layout, &before, &[image.range()]);
        s.barrier(commands);
        let clear = vk::ClearColorValue {
            float32: [0.2, 0.4, 0.6, 1.0],
        };
        let view = s.view(image, vk::ImageViewType::TYPE_2D_ARRAY, shape.aspect)?;
        let target = Target {
            size: SIZE,
            samples: vk::SampleCountFlags::TYPE_1,
            colour: vec![Attachment {
                image,
                view,
                clear: vk::ClearValue { color: clear },
            }],
            depth: None,
        };
        let mut draw = Draw::new(&target, VERTEX, FRAGMENT);
        draw.view_mask = mask;
        let pipeline = s.graphics(&draw)?;
        let attachments = [vk::RenderingAttachmentInfo::default()
            .image_view(view)
            .image_layout(layout)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)
            .clear_value(target.colour[0].clear)];
        let info = vk::RenderingInfo::default()
            .render_area(draw.scissor)
            .layer_count(1)
            .view_mask(mask)
            .color_attachments(&attachments);
        device.cmd_begin_rendering(commands, &info);
        device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
        device.cmd_draw(commands, 3, 1, 0, 0);
        let white = vk::ClearAttachment {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            color_attachment: 0,
            clear_value: vk::ClearValue {
                color: vk::ClearColorValue { float32: [1.0; 4] },
            },
        };
        let corner = vk::ClearRect {
            rect: vk::Rect2D {
                offset: vk::Offset2D { x: 3, y: 2 },
                extent: vk::Extent2D {
                    width: 7,
                    height: 5,
                },
            },
            base_array_layer: 0,
            layer_count: 1,
        };
        device.cmd_clear_attachments(commands, &[white], &[corner]);
        device.cmd_end_rendering(commands);
        let back = s.read_back(commands, image)?;
        s.finish(commands)?;
        s.report.result(&format!("views {mask:#b}"), back.bytes());
        for (layer, texels) in
            (0..LAYERS).zip(back.bytes().chunks((4 * SIZE[0] * SIZE[1]) as usize))
        {
            let untouched = texels == [0, 0, 255, 0].repeat(texels.len() / 4);
            let name = format!("layer {layer} of {mask:#b} is drawn");
            s.report
                .check(&name, &[u8::from(!untouched)], &[(mask >> layer & 1) as u8])?;
        }
    }
    Ok(())
}
