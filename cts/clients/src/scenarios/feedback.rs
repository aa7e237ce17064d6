// SPDX-License-Identifier: MIT
//! Attachments that are sampled while they are rendered to, and input attachments.

use ash::vk;

use super::pictures::{GREY, Picture, RGBA8, SIDE, area, floats, quads};
use super::scenario;
use crate::image::Shape;
use crate::picture::{Attachment, Draw, Target};
use crate::resources::{Layout, Resource, STAGES};
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("feedback.barriers", barriers),
    scenario("feedback.other_half", other_half),
    scenario("feedback.input_attachments", input_attachments),
];

const LOOP: vk::ImageLayout = vk::ImageLayout::ATTACHMENT_FEEDBACK_LOOP_OPTIMAL_EXT;

/// An image to render to and sample.
unsafe fn looped(s: &Scope<'_>, commands: vk::CommandBuffer) -> anyhow::Result<Target> {
    let shape = Shape::flat(RGBA8, 4, SIDE, SIDE);
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT
        | vk::ImageUsageFlags::SAMPLED
        | vk::ImageUsageFlags::ATTACHMENT_FEEDBACK_LOOP_EXT
        | vk::ImageUsageFlags::TRANSFER_SRC;
    let image = s.image(shape, usage, vk::ImageCreateFlags::empty(), commands)?;
    Ok(Target {
        size: [SIDE; 2],
        samples: vk::SampleCountFlags::TYPE_1,
        colour: vec![Attachment {
            image,
            view: s.view(image, vk::ImageViewType::TYPE_2D, shape.aspect)?,
            clear: vk::ClearValue {
                color: floats(GREY),
            },
        }],
        depth: None,
    })
}

/// All of a subpass waits for all of another one; either may be what is outside of a pass.
pub(super) fn dependency(src_subpass: u32, dst_subpass: u32) -> vk::SubpassDependency {
    let all = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
    vk::SubpassDependency {
        src_subpass,
        dst_subpass,
        src_stage_mask: stages(src_subpass),
        dst_stage_mask: stages(dst_subpass),
        src_access_mask: all,
        dst_access_mask: all,
        dependency_flags: vk::DependencyFlags::empty(),
    }
}

/// All stages of a subpass, or of what is outside of a pass.
pub(super) fn stages(subpass: u32) -> vk::PipelineStageFlags {
    match subpass {
        vk::SUBPASS_EXTERNAL => vk::PipelineStageFlags::ALL_COMMANDS,
        _ => vk::PipelineStageFlags::ALL_GRAPHICS,
    }
}

/// A pass of one subpass, with a dependency on itself.
unsafe fn loop_pass(s: &Scope<'_>) -> anyhow::Result<vk::RenderPass> {
    let attachments = [vk::AttachmentDescription::default()
        .format(RGBA8)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(vk::AttachmentStoreOp::STORE)
        .initial_layout(vk::ImageLayout::GENERAL)
        .final_layout(vk::ImageLayout::GENERAL)];
    let references = [vk::AttachmentReference {
        attachment: 0,
        layout: LOOP,
    }];
    let subpasses = [vk::SubpassDescription::default()
        .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
        .color_attachments(&references)];
    let itself = vk::SubpassDependency {
        src_subpass: 0,
        dst_subpass: 0,
        src_stage_mask: BETWEEN.0,
        dst_stage_mask: BETWEEN.1,
        src_access_mask: BETWEEN.2,
        dst_access_mask: BETWEEN.3,
        dependency_flags: vk::DependencyFlags::BY_REGION | vk::DependencyFlags::FEEDBACK_LOOP_EXT,
    };
    let dependencies = [
        dependency(vk::SUBPASS_EXTERNAL, 0),
        itself,
        dependency(0, vk::SUBPASS_EXTERNAL),
    ];
    let info = vk::RenderPassCreateInfo::default()
        .attachments(&attachments)
        .subpasses(&subpasses)
        .dependencies(&dependencies);
    let pass = s.device().create_render_pass(&info, None)?;
    s.at_end(move |device| device.destroy_render_pass(pass, None));
    Ok(pass)
}

/// What comes between two draws of which the second reads what the first wrote.
const BETWEEN: (
    vk::PipelineStageFlags,
    vk::PipelineStageFlags,
    vk::AccessFlags,
    vk::AccessFlags,
) = (
    vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT,
    vk::PipelineStageFlags::FRAGMENT_SHADER,
    vk::AccessFlags::COLOR_ATTACHMENT_WRITE,
    vk::AccessFlags::SHADER_READ,
);

unsafe fn framebuffer(
    s: &Scope<'_>,
    pass: vk::RenderPass,
    views: &[vk::ImageView],
) -> anyhow::Result<vk::Framebuffer> {
    let info = vk::FramebufferCreateInfo::default()
        .render_pass(pass)
        .attachments(views)
        .width(SIDE)
        .height(SIDE)
        .layers(1);
    let framebuffer = s.device().create_framebuffer(&info, None)?;
    s.at_end(move |device| device.destroy_framebuffer(framebuffer, None));
    Ok(framebuffer)
}

/// Grey, with rectangles of bytes in it.
fn grey_with(rectangles: &[([u32; 4], [u8; 4])]) -> Vec<u8> {
    let grey = GREY.map(|c| (c * 255.0).round() as u8);
    let mut all = grey.repeat((SIDE * SIDE) as usize);
    for ([left, top, right, bottom], tint) in rectangles {
        for (y, x) in (*top..*bottom).flat_map(|y| (*left..*right).map(move |x| (y, x))) {
            let at = 4 * (y * SIDE + x) as usize;
            for (to, add) in all[at..at + 4].iter_mut().zip(tint) {
                *to = to.wrapping_add(*add);
            }
        }
    }
    all
}

unsafe fn bind(
    s: &Scope<'_>,
    commands: vk::CommandBuffer,
    pipeline: vk::Pipeline,
    layout: Layout,
    set: vk::DescriptorSet,
) {
    let (device, graphics) = (s.device(), vk::PipelineBindPoint::GRAPHICS);
    device.cmd_bind_pipeline(commands, graphics, pipeline);
    device.cmd_bind_descriptor_sets(commands, graphics, layout.pipeline, 0, &[set], &[]);
}

/// Draws that add to what the ones before left at their own pixels, with a barrier before each.
unsafe fn barriers(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu
        .needs(ash::ext::attachment_feedback_loop_layout::NAME)?;
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let target = looped(s, commands)?;
    let pass = loop_pass(s)?;
    let sampler = s.sampler(&vk::SamplerCreateInfo::default())?;
    let view = target.colour[0].view;
    let list = [Resource::Loop(view, sampler)];
    let layout = s.layout(&list, 0)?;
    let set = s.resources(layout, &list)?;
    let rectangles = [
        ([4, 4, 40, 40], [10, 20, 30, 0]),
        ([20, 10, 60, 30], [40, 0, 5, 0]),
        ([0, 0, 64, 64], [1, 1, 1, 0]),
        ([30, 25, 50, 60], [0, 60, 20, 0]),
    ];
    let list: Vec<_> = rectangles
        .iter()
        .map(|(at, tint)| {
            (
                at.map(|v| v as f32),
                0.0,
                tint.map(|v| f32::from(v) / 255.0),
            )
        })
        .collect();
    let vertex = quads(&list);
    let fragment = "
layout(set = 0, binding = 0) uniform sampler2D t;
layout(location = 0) flat in vec4 tint;
layout(location = 0) out vec4 colour;
void main() { colour = texelFetch(t, ivec2(gl_FragCoord.xy), 0) + tint; }
";
    let mut draw = Draw::new(&target, &vertex, fragment);
    draw.topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
    draw.layout = layout.pipeline;
    draw.pass = Some((pass, 0));
    draw.flags = vk::PipelineCreateFlags::COLOR_ATTACHMENT_FEEDBACK_LOOP_EXT;
    let pipeline = s.graphics(&draw)?;
    let clears = [target.colour[0].clear];
    let info = vk::RenderPassBeginInfo::default()
        .render_pass(pass)
        .framebuffer(framebuffer(s, pass, &[view])?)
        .render_area(area(0, 0, SIDE, SIDE))
        .clear_values(&clears);
    let device = s.device();
    device.cmd_begin_render_pass(commands, &info, vk::SubpassContents::INLINE);
    bind(s, commands, pipeline, layout, set);
    for n in 0..rectangles.len() as u32 {
        let barrier = vk::MemoryBarrier::default()
            .src_access_mask(BETWEEN.2)
            .dst_access_mask(BETWEEN.3);
        device.cmd_pipeline_barrier(
            commands,
            BETWEEN.0,
            BETWEEN.1,
            vk::DependencyFlags::BY_REGION | vk::DependencyFlags::FEEDBACK_LOOP_EXT,
            &[barrier],
            &[],
            &[],
        );
        device.cmd_draw(commands, 4, 1, 0, n);
    }
    device.cmd_end_render_pass(commands);
    let back = s.read_back(commands, target.colour[0].image)?;
    s.finish(commands)?;
    s.report
        .expect("sums", back.bytes(), &grey_with(&rectangles))
}

/// Without a barrier: pixels are read that this pass does not write.
unsafe fn other_half(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu
        .needs(ash::ext::attachment_feedback_loop_layout::NAME)?;
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let target = looped(s, commands)?;
    let device = s.device();
    let first = quads(&[([4.0, 4.0, 20.0, 40.0], 0.0, [1.0, 0.2, 0.4, 1.0])]);
    let mut draw = Draw::new(&target, &first, super::pictures::FLAT);
    draw.topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
    let pipeline = s.graphics(&draw)?;
    s.render(commands, &target, vk::AttachmentLoadOp::CLEAR);
    device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
    device.cmd_draw(commands, 4, 1, 0, 0);
    device.cmd_end_rendering(commands);
    target.colour[0]
        .image
        .to_layout(s, commands, vk::ImageLayout::GENERAL, LOOP);

    let sampler = s.sampler(&vk::SamplerCreateInfo::default())?;
    let list = [Resource::Loop(target.colour[0].view, sampler)];
    let layout = s.layout(&list, 0)?;
    let set = s.resources(layout, &list)?;
    let second = quads(&[([32.0, 0.0, 64.0, 64.0], 0.0, [0.0, 1.0, 0.0, 1.0])]);
    let fragment = "
layout(set = 0, binding = 0) uniform sampler2D t;
layout(location = 0) flat in vec4 tint;
layout(location = 0) out vec4 colour;
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    colour = texelFetch(t, ivec2(63 - at.x, at.y), 0).brga;
}
";
    let mut draw = Draw::new(&target, &second, fragment);
    draw.topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
    draw.layout = layout.pipeline;
    draw.flags = vk::PipelineCreateFlags::COLOR_ATTACHMENT_FEEDBACK_LOOP_EXT;
    let pipeline = s.graphics(&draw)?;
    let colour = [vk::RenderingAttachmentInfo::default()
        .image_view(target.colour[0].view)
        .image_layout(LOOP)
        .load_op(vk::AttachmentLoadOp::LOAD)
        .store_op(vk::AttachmentStoreOp::STORE)];
    let info = vk::RenderingInfo::default()
        .render_area(area(0, 0, SIDE, SIDE))
        .layer_count(1)
        .color_attachments(&colour);
    device.cmd_begin_rendering(commands, &info);
    bind(s, commands, pipeline, layout, set);
    device.cmd_draw(commands, 4, 1, 0, 0);
    device.cmd_end_rendering(commands);
    target.colour[0]
        .image
        .to_layout(s, commands, LOOP, vk::ImageLayout::GENERAL);
    let back = s.read_back(commands, target.colour[0].image)?;
    s.finish(commands)?;
    let mut expected = grey_with(&[]);
    for (y, x) in (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (y, x))) {
        let from = if x < 32 { x } else { 63 - x };
        let mut pixel = match (4..20).contains(&from) && (4..40).contains(&y) {
            true => [255, 51, 102, 255],
            false => [51, 102, 153, 255],
        };
        if x >= 32 {
            pixel = [pixel[2], pixel[0], pixel[1], pixel[3]];
        }
        let at = 4 * (y * SIDE + x) as usize;
        expected[at..at + 4].copy_from_slice(&pixel);
    }
    s.report.expect("mirrored", back.bytes(), &expected)
}

/// Two subpasses: the second reads colour and depth of the first at its own pixels.
unsafe fn input_attachments(s: &Scope<'_>) -> anyhow::Result<()> {
    let mut picture = Picture::plain(s)?;
    let commands = picture.commands;
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::INPUT_ATTACHMENT;
    let none = vk::ImageCreateFlags::empty();
    let first = s.image(Shape::flat(RGBA8, 4, SIDE, SIDE), usage, none, commands)?;
    let shape = Shape {
        aspect: vk::ImageAspectFlags::DEPTH,
        ..Shape::flat(vk::Format::D32_SFLOAT, 4, SIDE, SIDE)
    };
    let usage =
        vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT | vk::ImageUsageFlags::INPUT_ATTACHMENT;
    let depth = s.image(shape, usage, none, commands)?;
    let flat = vk::ImageViewType::TYPE_2D;
    let views = [
        s.view(first, flat, first.shape.aspect)?,
        s.view(depth, flat, shape.aspect)?,
        picture.target.colour[0].view,
    ];
    let general = vk::ImageLayout::GENERAL;
    let attachment = |format, store| {
        vk::AttachmentDescription::default()
            .format(format)
            .samples(vk::SampleCountFlags::TYPE_1)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(store)
            .initial_layout(general)
            .final_layout(general)
    };
    let attachments = [
        attachment(RGBA8, vk::AttachmentStoreOp::DONT_CARE),
        attachment(vk::Format::D32_SFLOAT, vk::AttachmentStoreOp::DONT_CARE),
        attachment(RGBA8, vk::AttachmentStoreOp::STORE),
    ];
    let reference = |attachment| vk::AttachmentReference {
        attachment,
        layout: general,
    };
    let (colour, deep) = ([reference(0)], reference(1));
    let (last, inputs) = ([reference(2)], [reference(0), reference(1)]);
    let subpasses = [
        vk::SubpassDescription::default()
            .color_attachments(&colour)
            .depth_stencil_attachment(&deep),
        vk::SubpassDescription::default()
            .color_attachments(&last)
            .input_attachments(&inputs),
    ];
    let between = vk::SubpassDependency {
        src_stage_mask: vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT
            | vk::PipelineStageFlags::LATE_FRAGMENT_TESTS,
        dst_stage_mask: vk::PipelineStageFlags::FRAGMENT_SHADER,
        src_access_mask: vk::AccessFlags::COLOR_ATTACHMENT_WRITE
            | vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_WRITE,
        dst_access_mask: vk::AccessFlags::INPUT_ATTACHMENT_READ,
        dependency_flags: vk::DependencyFlags::BY_REGION,
        ..dependency(0, 1)
    };
    let dependencies = [
        dependency(vk::SUBPASS_EXTERNAL, 0),
        between,
        dependency(1, vk::SUBPASS_EXTERNAL),
    ];
    let info = vk::RenderPassCreateInfo::default()
        .attachments(&attachments)
        .subpasses(&subpasses)
        .dependencies(&dependencies);
    let device = s.device();
    let pass = device.create_render_pass(&info, None)?;
    s.at_end(move |device| device.destroy_render_pass(pass, None));

    let list = [
        ([4.0, 4.0, 40.0, 40.0], 0.5, [1.0, 0.2, 0.0, 1.0]),
        ([20.0, 20.0, 60.0, 60.0], 0.25, [0.0, 0.4, 1.0, 1.0]),
    ];
    let rectangles = quads(&list);
    let mut draw = picture.quads(&rectangles);
    draw.pass = Some((pass, 0));
    draw.depth = (draw.depth.depth_test_enable(true).depth_write_enable(true))
        .depth_compare_op(vk::CompareOp::LESS);
    let drawn = s.graphics(&draw)?;
    let inputs = [Resource::Input(views[0]), Resource::Input(views[1])];
    let layout = s.layout(&inputs, 16)?;
    let set = s.resources(layout, &inputs)?;
    let fragment = "
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput before;
layout(input_attachment_index = 1, set = 0, binding = 1) uniform subpassInput deep;
layout(push_constant) uniform P { vec4 add; };
layout(location = 0) flat in vec4 tint;
layout(location = 0) out vec4 colour;
void main() { colour = vec4(subpassLoad(before).gb + add.xy, subpassLoad(deep).r, tint.r); }
";
    let whole = quads(&[([0.0, 0.0, 62.0, 62.0], 0.0, [1.0, 0.0, 0.0, 0.0])]);
    let mut draw = picture.quads(&whole);
    draw.fragment = Some(fragment);
    draw.pass = Some((pass, 1));
    draw.layout = layout.pipeline;
    let read = s.graphics(&draw)?;
    let clears = [
        vk::ClearValue {
            color: floats([0.0, 0.6, 0.2, 1.0]),
        },
        vk::ClearValue {
            depth_stencil: vk::ClearDepthStencilValue {
                depth: 1.0,
                stencil: 0,
            },
        },
        picture.target.colour[0].clear,
    ];
    let info = vk::RenderPassBeginInfo::default()
        .render_pass(pass)
        .framebuffer(framebuffer(s, pass, &views)?)
        .render_area(area(0, 0, SIDE, SIDE))
        .clear_values(&clears);
    device.cmd_begin_render_pass(commands, &info, vk::SubpassContents::INLINE);
    device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, drawn);
    device.cmd_draw(commands, 4, 2, 0, 0);
    device.cmd_next_subpass(commands, vk::SubpassContents::INLINE);
    bind(s, commands, read, layout, set);
    let add = [0.2_f32, 0.0, 0.0, 0.0].map(f32::to_le_bytes).concat();
    device.cmd_push_constants(commands, layout.pipeline, STAGES, 0, &add);
    device.cmd_draw(commands, 4, 1, 0, 0);
    device.cmd_end_render_pass(commands);
    picture.target.depth = None;
    let got = picture.read_after()?.colour.remove(0);
    let mut expected = Vec::new();
    for (y, x) in (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (y, x))) {
        let inside = |at: [u32; 4]| (at[0]..at[2]).contains(&x) && (at[1]..at[3]).contains(&y);
        expected.extend(match () {
            () if x >= 62 || y >= 62 => [51, 102, 153, 255],
            () if inside([20, 20, 60, 60]) => [153, 255, 64, 255],
            () if inside([4, 4, 40, 40]) => [102, 0, 128, 255],
            () => [204, 51, 255, 255],
        });
    }
    // 0.5 may be 127 or 128, and 0.25 63 or 64.
    let near = got.iter().zip(&expected).all(|(a, b)| a.abs_diff(*b) <= 1);
    match near {
        true => Ok(()),
        false => s.report.check("read", &got, &expected),
    }
}
