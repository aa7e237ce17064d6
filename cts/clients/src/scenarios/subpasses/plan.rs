// SPDX-License-Identifier: MIT
//! Render passes of several subpasses with few words.

use ash::vk;

use super::super::feedback::dependency;
use super::super::pictures::{ONE, SIDE, area, floats};
use crate::image::Shape;
use crate::picture::{Attachment, Draw, Target};
use crate::resources::{Layout, Resource};
use crate::scope::Scope;

const GRAPHICS: vk::PipelineBindPoint = vk::PipelineBindPoint::GRAPHICS;
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;
pub(super) const FOUR: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;
pub(super) const GREY: [f32; 4] = [0.25, 0.5, 0.75, 1.0];
const DEPTH: vk::Format = vk::Format::D32_SFLOAT_S8_UINT;

/// An attachment of a pass.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) format: vk::Format,
    /// Of a pixel.
    pub(super) bytes: u32,
    pub(super) samples: vk::SampleCountFlags,
    pub(super) clear: vk::ClearValue,
    pub(super) load: vk::AttachmentLoadOp,
    /// Whether anybody looks at it behind the pass.
    pub(super) is_kept: bool,
}

impl Part {
    pub(super) const fn new(format: vk::Format, bytes: u32, clear: [f32; 4]) -> Part {
        Part {
            format,
            bytes,
            samples: ONE,
            clear: vk::ClearValue {
                color: floats(clear),
            },
            load: vk::AttachmentLoadOp::CLEAR,
            is_kept: true,
        }
    }

    /// One of halves, which hold sums and products of the numbers here exactly.
    pub(super) const fn half(clear: [f32; 4]) -> Part {
        Part::new(vk::Format::R16G16B16A16_SFLOAT, 8, clear)
    }

    /// Depth and stencil.
    pub(super) const fn deep() -> Part {
        Part {
            clear: vk::ClearValue {
                depth_stencil: vk::ClearDepthStencilValue {
                    depth: 1.0,
                    stencil: 3,
                },
            },
            ..Part::new(DEPTH, 4, [0.0; 4])
        }
    }

    /// One that is only of the pass.
    pub(super) const fn lost(self) -> Part {
        Part {
            is_kept: false,
            ..self
        }
    }

    pub(super) const fn samples(self, samples: vk::SampleCountFlags) -> Part {
        Part { samples, ..self }
    }

    fn is_deep(&self) -> bool {
        self.format == DEPTH
    }
}

/// A subpass, by numbers of attachments.
#[derive(Clone, Default)]
pub(super) struct Sub {
    pub(super) inputs: Vec<u32>,
    pub(super) colour: Vec<u32>,
    pub(super) resolve: Vec<u32>,
    pub(super) depth: Option<u32>,
    /// Draws read what others of the same subpass wrote, behind barriers.
    pub(super) is_loop: bool,
}

impl Sub {
    pub(super) fn new(inputs: &[u32], colour: &[u32]) -> Sub {
        Sub {
            inputs: inputs.to_vec(),
            colour: colour.to_vec(),
            ..Sub::default()
        }
    }

    pub(super) fn deep(self, depth: u32) -> Sub {
        Sub {
            depth: Some(depth),
            ..self
        }
    }
}

/// What a pass is made of.
#[derive(Clone)]
pub(super) struct Plan {
    pub(super) parts: Vec<Part>,
    pub(super) subs: Vec<Sub>,
    pub(super) layers: u32,
    pub(super) view_mask: u32,
    pub(super) area: vk::Rect2D,
    /// The framebuffer learns views when the pass begins.
    pub(super) is_imageless: bool,
}

impl Plan {
    pub(super) fn new(parts: &[Part], subs: &[Sub]) -> Plan {
        Plan {
            parts: parts.to_vec(),
            subs: subs.to_vec(),
            layers: 1,
            view_mask: 0,
            area: area(0, 0, SIDE, SIDE),
            is_imageless: false,
        }
    }
}

/// A dependency of a subpass on what others did at the same pixels.
pub(super) fn local(from: u32, to: u32) -> vk::SubpassDependency {
    use vk::{AccessFlags as A, PipelineStageFlags as S};
    let tests = S::EARLY_FRAGMENT_TESTS | S::LATE_FRAGMENT_TESTS;
    let written = A::COLOR_ATTACHMENT_WRITE | A::DEPTH_STENCIL_ATTACHMENT_WRITE;
    let read = A::COLOR_ATTACHMENT_READ | A::DEPTH_STENCIL_ATTACHMENT_READ;
    vk::SubpassDependency {
        src_subpass: from,
        dst_subpass: to,
        src_stage_mask: S::COLOR_ATTACHMENT_OUTPUT | tests,
        dst_stage_mask: S::FRAGMENT_SHADER | S::COLOR_ATTACHMENT_OUTPUT | tests,
        src_access_mask: written,
        dst_access_mask: written | read | A::INPUT_ATTACHMENT_READ,
        dependency_flags: vk::DependencyFlags::BY_REGION,
    }
}

/// A pass that is recorded.
pub(super) struct Pass<'s, 'g> {
    pub(super) s: &'s Scope<'g>,
    plan: Plan,
    /// Dependencies between subpasses are local to pixels.
    pub(super) is_local: bool,
    pub(super) commands: vk::CommandBuffer,
    pub(super) handle: vk::RenderPass,
    framebuffer: vk::Framebuffer,
    images: Vec<Attachment>,
}

impl<'s, 'g> Pass<'s, 'g> {
    pub(super) unsafe fn new(
        s: &'s Scope<'g>,
        plan: &Plan,
        is_local: bool,
    ) -> anyhow::Result<Self> {
        let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        let mut images = Vec::new();
        for part in &plan.parts {
            images.push(image(s, plan, part, commands)?);
        }
        let handle = render_pass(s, plan, is_local)?;
        let framebuffer = framebuffer(s, plan, handle, &images)?;
        Ok(Pass {
            s,
            plan: plan.clone(),
            is_local,
            commands,
            handle,
            framebuffer,
            images,
        })
    }

    /// A pipeline for a subpass that draws rectangles, and whose fragment shader has its inputs as bindings.
    pub(super) unsafe fn draw<'a>(
        &self,
        subpass: u32,
        vertex: &'a str,
        fragment: &'a str,
    ) -> anyhow::Result<(Draw<'a>, Option<(Layout, vk::DescriptorSet)>)> {
        let sub = &self.plan.subs[subpass as usize];
        let at = |number: &u32| self.images[*number as usize];
        let used = |number: &&u32| **number != vk::ATTACHMENT_UNUSED;
        let any = (sub.colour.iter().filter(used).chain(&sub.depth)).next();
        let samples = any.map_or(ONE, |number| self.plan.parts[*number as usize].samples);
        let target = Target {
            size: [SIDE; 2],
            samples,
            colour: sub.colour.iter().filter(used).map(at).collect(),
            depth: sub.depth.as_ref().map(at),
        };
        let mut draw = Draw::new(&target, vertex, fragment);
        draw.topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
        draw.pass = Some((self.handle, subpass));
        draw.scissor = self.plan.area;
        if draw.blend.len() < sub.colour.len() {
            draw.blend.resize(sub.colour.len(), draw.blend[0]);
        }
        if sub.inputs.is_empty() {
            return Ok((draw, None));
        }
        let inputs: Vec<_> = (sub.inputs.iter())
            .map(|number| Resource::Input(at(number).view))
            .collect();
        let layout = self.s.layout(&inputs, 0)?;
        let set = self.s.resources(layout, &inputs)?;
        draw.layout = layout.pipeline;
        Ok((draw, Some((layout, set))))
    }

    pub(super) unsafe fn begin(&self, contents: vk::SubpassContents) {
        let clears: Vec<_> = self.plan.parts.iter().map(|part| part.clear).collect();
        let views: Vec<_> = self.images.iter().map(|image| image.view).collect();
        let mut given = vk::RenderPassAttachmentBeginInfo::default().attachments(&views);
        let mut info = vk::RenderPassBeginInfo::default()
            .render_pass(self.handle)
            .framebuffer(self.framebuffer)
            .render_area(self.plan.area)
            .clear_values(&clears);
        if self.plan.is_imageless {
            info = info.push_next(&mut given);
        }
        (self.s.device()).cmd_begin_render_pass(self.commands, &info, contents);
    }

    pub(super) unsafe fn next(&self) {
        let contents = vk::SubpassContents::INLINE;
        self.s.device().cmd_next_subpass(self.commands, contents);
    }

    /// Binds a pipeline with its inputs and draws so many rectangles.
    pub(super) unsafe fn run(
        &self,
        commands: vk::CommandBuffer,
        (draw, inputs): &(Draw<'_>, Option<(Layout, vk::DescriptorSet)>),
        count: u32,
    ) -> anyhow::Result<()> {
        let pipeline = self.s.graphics(draw)?;
        self.run_with(commands, pipeline, *inputs, count);
        Ok(())
    }

    pub(super) unsafe fn run_with(
        &self,
        commands: vk::CommandBuffer,
        pipeline: vk::Pipeline,
        inputs: Option<(Layout, vk::DescriptorSet)>,
        count: u32,
    ) {
        let device = self.s.device();
        device.cmd_bind_pipeline(commands, GRAPHICS, pipeline);
        if let Some((layout, set)) = inputs {
            device.cmd_bind_descriptor_sets(commands, GRAPHICS, layout.pipeline, 0, &[set], &[]);
        }
        device.cmd_draw(commands, 4, count, 0, 0);
    }

    /// Ends the pass and gives what is kept, by attachment.
    pub(super) unsafe fn end(&self) -> anyhow::Result<Vec<Vec<u8>>> {
        self.s.device().cmd_end_render_pass(self.commands);
        let mut back = Vec::new();
        for (part, attachment) in self.plan.parts.iter().zip(&self.images) {
            if !part.is_kept || part.samples != ONE {
                continue;
            }
            let mut image = attachment.image;
            if part.is_deep() {
                image.shape.aspect = vk::ImageAspectFlags::DEPTH;
            }
            back.push(self.s.read_back(self.commands, image)?);
        }
        self.s.finish(self.commands)?;
        Ok(back.iter().map(crate::scope::Buffer::bytes).collect())
    }
}

/// How an attachment is used.
fn usage(part: &Part) -> vk::ImageUsageFlags {
    use vk::ImageUsageFlags as U;
    let drawn = match part.is_deep() {
        true => U::DEPTH_STENCIL_ATTACHMENT,
        false => U::COLOR_ATTACHMENT,
    };
    let around = match part.is_kept {
        true => U::TRANSFER_SRC | U::TRANSFER_DST,
        false => U::TRANSIENT_ATTACHMENT,
    };
    U::INPUT_ATTACHMENT | drawn | around
}

unsafe fn framebuffer(
    s: &Scope<'_>,
    plan: &Plan,
    pass: vk::RenderPass,
    images: &[Attachment],
) -> anyhow::Result<vk::Framebuffer> {
    let views: Vec<_> = images.iter().map(|image| image.view).collect();
    let formats: Vec<_> = plan.parts.iter().map(|part| [part.format]).collect();
    let known: Vec<_> = (plan.parts.iter().zip(&formats))
        .map(|(part, formats)| {
            vk::FramebufferAttachmentImageInfo::default()
                .usage(usage(part))
                .width(SIDE)
                .height(SIDE)
                .layer_count(plan.layers)
                .view_formats(formats)
        })
        .collect();
    let mut known = vk::FramebufferAttachmentsCreateInfo::default().attachment_image_infos(&known);
    let mut info = vk::FramebufferCreateInfo::default()
        .render_pass(pass)
        .attachments(&views)
        .width(SIDE)
        .height(SIDE)
        .layers(if plan.view_mask == 0 { plan.layers } else { 1 });
    if plan.is_imageless {
        info = info.flags(vk::FramebufferCreateFlags::IMAGELESS);
        info = info.push_next(&mut known);
    }
    let framebuffer = s.device().create_framebuffer(&info, None)?;
    s.at_end(move |device| device.destroy_framebuffer(framebuffer, None));
    Ok(framebuffer)
}

unsafe fn image(
    s: &Scope<'_>,
    plan: &Plan,
    part: &Part,
    commands: vk::CommandBuffer,
) -> anyhow::Result<Attachment> {
    let mut shape = Shape::flat(part.format, part.bytes, SIDE, SIDE).stacked(1, plan.layers);
    if part.is_deep() {
        shape.aspect = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
    }
    let empty = vk::ImageCreateFlags::empty();
    let image = s.image_with(shape, part.samples, usage(part), empty, commands)?;
    if part.load == vk::AttachmentLoadOp::LOAD {
        let (before, range) = (part.clear.color, image.range());
        let device = s.device();
        device.cmd_clear_color_image(commands, image.handle, GENERAL, &before, &[range]);
        s.barrier(commands);
    }
    let kind = match plan.layers {
        1 => vk::ImageViewType::TYPE_2D,
        _ => vk::ImageViewType::TYPE_2D_ARRAY,
    };
    Ok(Attachment {
        image,
        view: s.view(image, kind, shape.aspect)?,
        clear: part.clear,
    })
}

unsafe fn render_pass(
    s: &Scope<'_>,
    plan: &Plan,
    is_local: bool,
) -> anyhow::Result<vk::RenderPass> {
    let attachments: Vec<_> = plan
        .parts
        .iter()
        .map(|part| {
            let store = match part.is_kept {
                true => vk::AttachmentStoreOp::STORE,
                false => vk::AttachmentStoreOp::DONT_CARE,
            };
            vk::AttachmentDescription::default()
                .format(part.format)
                .samples(part.samples)
                .load_op(part.load)
                .store_op(store)
                .stencil_load_op(part.load)
                .stencil_store_op(store)
                .initial_layout(GENERAL)
                .final_layout(GENERAL)
        })
        .collect();
    let reference = |number: &u32| vk::AttachmentReference {
        attachment: *number,
        layout: GENERAL,
    };
    let references = |numbers: &[u32]| numbers.iter().map(reference).collect::<Vec<_>>();
    let all: Vec<_> = (plan.subs.iter())
        .map(|sub| {
            (
                references(&sub.inputs),
                references(&sub.colour),
                references(&sub.resolve),
                sub.depth.as_ref().map(reference),
            )
        })
        .collect();
    let subpasses: Vec<_> = all
        .iter()
        .map(|(inputs, colour, resolve, depth)| {
            let mut description = vk::SubpassDescription::default()
                .pipeline_bind_point(GRAPHICS)
                .input_attachments(inputs)
                .color_attachments(colour);
            if !resolve.is_empty() {
                description = description.resolve_attachments(resolve);
            }
            if let Some(depth) = depth {
                description = description.depth_stencil_attachment(depth);
            }
            description
        })
        .collect();
    let last = plan.subs.len() as u32 - 1;
    let mut dependencies = vec![
        dependency(vk::SUBPASS_EXTERNAL, 0),
        dependency(last, vk::SUBPASS_EXTERNAL),
    ];
    for to in 0..=last {
        dependencies.extend((0..to).map(|from| match is_local {
            true => local(from, to),
            false => dependency(from, to),
        }));
        if plan.subs[to as usize].is_loop {
            dependencies.push(local(to, to));
        }
    }
    let masks = vec![plan.view_mask; plan.subs.len()];
    let mut multiview = vk::RenderPassMultiviewCreateInfo::default().view_masks(&masks);
    let mut info = vk::RenderPassCreateInfo::default()
        .attachments(&attachments)
        .subpasses(&subpasses)
        .dependencies(&dependencies);
    if plan.view_mask != 0 {
        info = info.push_next(&mut multiview);
    }
    let pass = s.device().create_render_pass(&info, None)?;
    s.at_end(move |device| device.destroy_render_pass(pass, None));
    Ok(pass)
}
