// SPDX-License-Identifier: MIT
//! Applications of Vulkan 1.1 and 1.2 that use extensions for what later versions have: each command is
//! called once by its extension's name.

use anyhow::ensure;
use ash::vk;

use super::feedback::stages;
use super::pictures::{FLAT, GREY, Picture, RED, RGBA8, SIDE, area, expect_pixel};
use super::scenario;
use crate::image::Shape;
use crate::picture::Draw;
use crate::resources::Resource;
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("aliases.rendering", rendering),
    scenario("aliases.render_pass", render_pass),
];

const VERSIONS: [(&str, u32); 2] = [("1.1", vk::API_VERSION_1_1), ("1.2", vk::API_VERSION_1_2)];

/// Runs a scene on devices of older versions, whose messages count as errors.
unsafe fn each(
    s: &Scope<'_>,
    scene: unsafe fn(&Scope<'_>, &str) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    for (name, version) in VERSIONS {
        let gpu = s.gpu.older(version)?;
        let done = {
            let scope = Scope::new(&gpu, s.report);
            scene(&scope, name)
        };
        let messages = gpu.close();
        done?;
        ensure!(messages.is_empty(), "Vulkan {name}: {}", messages[0]);
    }
    Ok(())
}

/// Rendering without a render pass, with all state that commands of extensions set.
unsafe fn rendering(s: &Scope<'_>) -> anyhow::Result<()> {
    each(s, draw_with_dynamic_state)
}

unsafe fn draw_with_dynamic_state(s: &Scope<'_>, version: &str) -> anyhow::Result<()> {
    use vk::DynamicState as D;
    let (instance, device) = (&s.gpu.instance, s.device());
    let rendering = ash::khr::dynamic_rendering::Device::new(instance, device);
    let state = ash::ext::extended_dynamic_state::Device::new(instance, device);
    let state2 = ash::ext::extended_dynamic_state2::Device::new(instance, device);
    let vertex = "
layout(location = 0) in vec3 at;
layout(location = 0) flat out vec4 colour;
void main() {
    gl_Position = vec4(at.xy / 32.0 - 1.0, at.z, 1.0);
    colour = vec4(1.0, 0.0, 0.0, 1.0);
}
";
    let picture = Picture::deep(s, vk::Format::D32_SFLOAT_S8_UINT, 0.5, 7)?;
    let mut draw = Draw::new(&picture.target, vertex, FLAT);
    draw.counted = true;
    draw.bindings = vec![vk::VertexInputBindingDescription {
        binding: 0,
        stride: 0,
        input_rate: vk::VertexInputRate::VERTEX,
    }];
    draw.attributes = vec![vk::VertexInputAttributeDescription {
        location: 0,
        binding: 0,
        format: vk::Format::R32G32B32_SFLOAT,
        offset: 0,
    }];
    draw.dynamic = vec![
        D::CULL_MODE,
        D::FRONT_FACE,
        D::PRIMITIVE_TOPOLOGY,
        D::VIEWPORT_WITH_COUNT,
        D::SCISSOR_WITH_COUNT,
        D::VERTEX_INPUT_BINDING_STRIDE,
        D::DEPTH_TEST_ENABLE,
        D::DEPTH_WRITE_ENABLE,
        D::DEPTH_COMPARE_OP,
        D::DEPTH_BOUNDS_TEST_ENABLE,
        D::STENCIL_TEST_ENABLE,
        D::STENCIL_OP,
        D::RASTERIZER_DISCARD_ENABLE,
        D::DEPTH_BIAS_ENABLE,
        D::PRIMITIVE_RESTART_ENABLE,
    ];
    let keep = vk::StencilOpState {
        compare_mask: 0xff,
        write_mask: 0xff,
        reference: 0x21,
        ..Default::default()
    };
    draw.depth = draw.depth.front(keep).back(keep);
    // Two squares of which the second is behind what is there; vertices are 20 bytes apart.
    let corners = [
        [4.0_f32, 4.0, 0.25],
        [30.0, 4.0, 0.25],
        [4.0, 40.0, 0.25],
        [30.0, 40.0, 0.25],
        [34.0, 4.0, 0.75],
        [60.0, 4.0, 0.75],
        [34.0, 40.0, 0.75],
        [60.0, 40.0, 0.75],
    ];
    let vertices = s.buffer_for(160, vk::BufferUsageFlags::VERTEX_BUFFER)?;
    for (at, corner) in corners.iter().enumerate() {
        vertices.write(20 * at, &corner.map(f32::to_le_bytes).concat());
    }
    let indices = s.buffer_for(32, vk::BufferUsageFlags::INDEX_BUFFER)?;
    let order = [0, 1, 2, 3, u16::MAX, 4, 5, 6, 7];
    indices.write(0, &order.map(u16::to_le_bytes).concat());
    let commands = picture.commands;
    let one = |attachment: &crate::picture::Attachment| {
        vk::RenderingAttachmentInfo::default()
            .image_view(attachment.view)
            .image_layout(vk::ImageLayout::GENERAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)
            .clear_value(attachment.clear)
    };
    let colour: Vec<_> = picture.target.colour.iter().map(one).collect();
    let deep = picture.target.depth.as_ref().map(one).unwrap_or_default();
    let info = vk::RenderingInfo::default()
        .render_area(area(0, 0, SIDE, SIDE))
        .layer_count(1)
        .color_attachments(&colour)
        .depth_attachment(&deep)
        .stencil_attachment(&deep);
    rendering.cmd_begin_rendering(commands, &info);
    picture.bind(&draw)?;
    state.cmd_set_cull_mode(commands, vk::CullModeFlags::BACK);
    state.cmd_set_front_face(commands, vk::FrontFace::CLOCKWISE);
    state.cmd_set_primitive_topology(commands, vk::PrimitiveTopology::TRIANGLE_STRIP);
    state.cmd_set_viewport_with_count(commands, &[draw.viewport]);
    state.cmd_set_scissor_with_count(commands, &[area(6, 0, 56, SIDE)]);
    state.cmd_bind_vertex_buffers2(
        commands,
        0,
        &[vertices.handle],
        &[0],
        Some(&[160]),
        Some(&[20]),
    );
    state.cmd_set_depth_test_enable(commands, true);
    state.cmd_set_depth_write_enable(commands, true);
    state.cmd_set_depth_compare_op(commands, vk::CompareOp::LESS);
    state.cmd_set_depth_bounds_test_enable(commands, false);
    state.cmd_set_stencil_test_enable(commands, true);
    state.cmd_set_stencil_op(
        commands,
        vk::StencilFaceFlags::FRONT_AND_BACK,
        vk::StencilOp::KEEP,
        vk::StencilOp::REPLACE,
        vk::StencilOp::INVERT,
        vk::CompareOp::ALWAYS,
    );
    state2.cmd_set_rasterizer_discard_enable(commands, false);
    state2.cmd_set_depth_bias_enable(commands, false);
    state2.cmd_set_primitive_restart_enable(commands, true);
    device.cmd_bind_index_buffer(commands, indices.handle, 0, vk::IndexType::UINT16);
    device.cmd_draw_indexed(commands, 9, 1, 0, 0, 0);
    rendering.cmd_end_rendering(commands);
    let pixels = picture.read_after()?;
    let name = format!("Vulkan {version}");
    expect_pixel(&name, &pixels.colour[0], 10, 20, RED)?;
    expect_pixel(&name, &pixels.colour[0], 5, 20, GREY)?;
    expect_pixel(&name, &pixels.colour[0], 40, 20, GREY)?;
    let stencil = pixels.stencil.clone().unwrap_or_default();
    let at = |x: usize| stencil[20 * SIDE as usize + x];
    ensure!(
        [at(5), at(10), at(40)] == [7, 0x21, !7],
        "{name}: stencil {:?}",
        [at(5), at(10), at(40)]
    );
    picture.report(&name, &pixels)
}

/// Render passes of the second kind, with two subpasses.
unsafe fn render_pass(s: &Scope<'_>) -> anyhow::Result<()> {
    each(s, draw_in_subpasses)
}

unsafe fn draw_in_subpasses(s: &Scope<'_>, version: &str) -> anyhow::Result<()> {
    let device = s.device();
    let passes = ash::khr::create_renderpass2::Device::new(&s.gpu.instance, device);
    let picture = Picture::plain(s)?;
    let commands = picture.commands;
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::INPUT_ATTACHMENT;
    let none = vk::ImageCreateFlags::empty();
    let first = s.image(Shape::flat(RGBA8, 4, SIDE, SIDE), usage, none, commands)?;
    let views = [
        s.view(first, vk::ImageViewType::TYPE_2D, first.shape.aspect)?,
        picture.target.colour[0].view,
    ];
    let general = vk::ImageLayout::GENERAL;
    let attachments = [
        vk::AttachmentStoreOp::DONT_CARE,
        vk::AttachmentStoreOp::STORE,
    ]
    .map(|store| {
        vk::AttachmentDescription2::default()
            .format(RGBA8)
            .samples(vk::SampleCountFlags::TYPE_1)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(store)
            .initial_layout(general)
            .final_layout(general)
    });
    let references: [_; 2] = std::array::from_fn(|attachment| {
        [vk::AttachmentReference2::default()
            .attachment(attachment as u32)
            .layout(general)
            .aspect_mask(vk::ImageAspectFlags::COLOR)]
    });
    let subpasses = [
        vk::SubpassDescription2::default().color_attachments(&references[0]),
        vk::SubpassDescription2::default()
            .color_attachments(&references[1])
            .input_attachments(&references[0]),
    ];
    let all = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
    let dependencies =
        [(vk::SUBPASS_EXTERNAL, 0), (0, 1), (1, vk::SUBPASS_EXTERNAL)].map(|(from, to)| {
            vk::SubpassDependency2::default()
                .src_subpass(from)
                .dst_subpass(to)
                .src_stage_mask(stages(from))
                .dst_stage_mask(stages(to))
                .src_access_mask(all)
                .dst_access_mask(all)
        });
    let info = vk::RenderPassCreateInfo2::default()
        .attachments(&attachments)
        .subpasses(&subpasses)
        .dependencies(&dependencies);
    let pass = passes.create_render_pass2(&info, None)?;
    s.at_end(move |device| device.destroy_render_pass(pass, None));
    let vertex = super::pictures::quads(&[([4.0, 6.0, 40.0, 50.0], 0.0, [0.2, 0.4, 1.0, 1.0])]);
    let mut draw = picture.quads(&vertex);
    draw.pass = Some((pass, 0));
    let drawn = s.graphics(&draw)?;
    let inputs = [Resource::Input(views[0])];
    let layout = s.layout(&inputs, 0)?;
    let set = s.resources(layout, &inputs)?;
    let fragment = "
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput before;
layout(location = 0) out vec4 colour;
void main() { colour = subpassLoad(before).brga; }
";
    let mut draw = Draw::new(&picture.target, crate::resources::EVERYWHERE, fragment);
    draw.pass = Some((pass, 1));
    draw.layout = layout.pipeline;
    let read = s.graphics(&draw)?;
    let info = vk::FramebufferCreateInfo::default()
        .render_pass(pass)
        .attachments(&views)
        .width(SIDE)
        .height(SIDE)
        .layers(1);
    let framebuffer = device.create_framebuffer(&info, None)?;
    s.at_end(move |device| device.destroy_framebuffer(framebuffer, None));
    let clears = [picture.target.colour[0].clear; 2];
    let begin = vk::RenderPassBeginInfo::default()
        .render_pass(pass)
        .framebuffer(framebuffer)
        .render_area(area(0, 0, SIDE, SIDE))
        .clear_values(&clears);
    let graphics = vk::PipelineBindPoint::GRAPHICS;
    let inline = vk::SubpassBeginInfo::default().contents(vk::SubpassContents::INLINE);
    let end = vk::SubpassEndInfo::default();
    passes.cmd_begin_render_pass2(commands, &begin, &inline);
    device.cmd_bind_pipeline(commands, graphics, drawn);
    device.cmd_draw(commands, 4, 1, 0, 0);
    passes.cmd_next_subpass2(commands, &inline, &end);
    device.cmd_bind_pipeline(commands, graphics, read);
    device.cmd_bind_descriptor_sets(commands, graphics, layout.pipeline, 0, &[set], &[]);
    device.cmd_draw(commands, 3, 1, 0, 0);
    passes.cmd_end_render_pass2(commands, &end);
    let pixels = picture.read_after()?;
    let name = format!("Vulkan {version}");
    expect_pixel(&name, &pixels.colour[0], 20, 20, [1.0, 0.2, 0.4, 1.0])?;
    expect_pixel(&name, &pixels.colour[0], 50, 20, [0.6, 0.2, 0.4, 1.0])?;
    picture.report(&name, &pixels)
}
