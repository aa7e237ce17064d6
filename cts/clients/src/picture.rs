// SPDX-License-Identifier: MIT
//! Pictures that scenarios draw: attachments, pipelines and passes with few words.
#![allow(
    unsafe_op_in_unsafe_fn,
    clippy::missing_safety_doc,
    reason = "every line is a Vulkan call on a scope's own handles; validation layers check them"
)]

use anyhow::Context as _;
use ash::vk;

use crate::image::{Image, Shape};
use crate::scope::{Buffer, Scope};
use crate::shader;

/// What a pipeline is, beside its shaders. The defaults draw triangles over everything.
#[derive(Clone)]
pub struct Draw<'a> {
    /// GLSL of the vertex shader, below `#version`.
    pub vertex: &'a str,
    /// GLSL of the fragment shader; none is possible.
    pub fragment: Option<&'a str>,
    /// What is assembled.
    pub topology: vk::PrimitiveTopology,
    /// Whether indices of all ones end primitives.
    pub restart: bool,
    /// Vertex buffers.
    pub bindings: Vec<vk::VertexInputBindingDescription>,
    /// Attributes.
    pub attributes: Vec<vk::VertexInputAttributeDescription>,
    /// Instances that share an element of a binding, where it is not one.
    pub divisors: Vec<vk::VertexInputBindingDivisorDescriptionEXT>,
    /// Rasterisation.
    pub raster: vk::PipelineRasterizationStateCreateInfo<'a>,
    /// Depth and stencil.
    pub depth: vk::PipelineDepthStencilStateCreateInfo<'a>,
    /// Blending, for each attachment.
    pub blend: Vec<vk::PipelineColorBlendAttachmentState>,
    /// The logical operation.
    pub logic: Option<vk::LogicOp>,
    /// Blend constants.
    pub constants: [f32; 4],
    /// Samples.
    pub samples: vk::SampleCountFlags,
    /// Alpha to coverage, and to one.
    pub alpha: (bool, bool),
    /// Samples that are written.
    pub mask: u32,
    /// Run for each sample.
    pub sample_shading: bool,
    /// The layout.
    pub layout: vk::PipelineLayout,
    /// The viewport.
    pub viewport: vk::Viewport,
    /// The scissor.
    pub scissor: vk::Rect2D,
    /// Viewports and scissors after the first.
    pub further: Vec<(vk::Viewport, vk::Rect2D)>,
    /// Commands set the viewports and scissors, and how many there are.
    pub counted: bool,
    /// Formats of the attachments.
    pub colour: Vec<vk::Format>,
    /// The depth format.
    pub depth_format: vk::Format,
    /// The stencil format.
    pub stencil_format: vk::Format,
    /// State that commands set.
    pub dynamic: Vec<vk::DynamicState>,
    /// Views.
    pub view_mask: u32,
    /// A render pass and a subpass of it, instead of dynamic rendering.
    pub pass: Option<(vk::RenderPass, u32)>,
    /// Flags of the pipeline.
    pub flags: vk::PipelineCreateFlags,
}

impl Draw<'_> {
    /// A pipeline for a target of one colour.
    pub fn new<'a>(target: &Target, vertex: &'a str, fragment: &'a str) -> Draw<'a> {
        let [width, height] = [target.size[0], target.size[1]];
        Draw {
            vertex,
            fragment: Some(fragment),
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            restart: false,
            bindings: Vec::new(),
            attributes: Vec::new(),
            divisors: Vec::new(),
            raster: vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0),
            depth: vk::PipelineDepthStencilStateCreateInfo::default(),
            blend: vec![
                vk::PipelineColorBlendAttachmentState {
                    color_write_mask: vk::ColorComponentFlags::RGBA,
                    ..Default::default()
                };
                target.colour.len()
            ],
            logic: None,
            constants: [0.0; 4],
            samples: target.samples,
            alpha: (false, false),
            mask: u32::MAX,
            sample_shading: false,
            layout: vk::PipelineLayout::null(),
            viewport: vk::Viewport {
                x: 0.0,
                y: 0.0,
                width: width as f32,
                height: height as f32,
                min_depth: 0.0,
                max_depth: 1.0,
            },
            scissor: vk::Rect2D {
                offset: vk::Offset2D::default(),
                extent: vk::Extent2D { width, height },
            },
            further: Vec::new(),
            counted: false,
            colour: target.colour.iter().map(|c| c.image.shape.format).collect(),
            depth_format: target
                .depth
                .as_ref()
                .map_or(vk::Format::UNDEFINED, |depth| depth.image.shape.format),
            stencil_format: target
                .depth
                .as_ref()
                .filter(|depth| {
                    matches!(
                        depth.image.shape.format,
                        vk::Format::S8_UINT | vk::Format::D32_SFLOAT_S8_UINT
                    )
                })
                .map_or(vk::Format::UNDEFINED, |depth| depth.image.shape.format),
            dynamic: Vec::new(),
            view_mask: 0,
            pass: None,
            flags: vk::PipelineCreateFlags::empty(),
        }
    }
}

/// An attachment.
#[derive(Clone, Copy)]
pub struct Attachment {
    /// Its image.
    pub image: Image,
    /// A view of it.
    pub view: vk::ImageView,
    /// What it is cleared to.
    pub clear: vk::ClearValue,
}

/// What is drawn to.
#[derive(Clone)]
pub struct Target {
    /// Pixels.
    pub size: [u32; 2],
    /// Samples of a pixel.
    pub samples: vk::SampleCountFlags,
    /// Colour attachments.
    pub colour: Vec<Attachment>,
    /// Depth and stencil.
    pub depth: Option<Attachment>,
}

impl Scope<'_> {
    /// A view of all of an image.
    pub unsafe fn view(
        &self,
        image: Image,
        kind: vk::ImageViewType,
        aspect: vk::ImageAspectFlags,
    ) -> anyhow::Result<vk::ImageView> {
        let info = vk::ImageViewCreateInfo::default()
            .image(image.handle)
            .view_type(kind)
            .format(image.shape.format)
            .subresource_range(vk::ImageSubresourceRange {
                aspect_mask: aspect,
                ..image.range()
            });
        let view = self.device().create_image_view(&info, None)?;
        self.at_end(move |device| device.destroy_image_view(view, None));
        Ok(view)
    }

    /// A colour attachment with bytes to a pixel.
    pub unsafe fn colour(
        &self,
        format: vk::Format,
        bytes: u32,
        size: [u32; 2],
        clear: vk::ClearColorValue,
        commands: vk::CommandBuffer,
    ) -> anyhow::Result<Attachment> {
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT
            | vk::ImageUsageFlags::TRANSFER_SRC
            | vk::ImageUsageFlags::TRANSFER_DST;
        let shape = Shape::flat(format, bytes, size[0], size[1]);
        let image = self.image(shape, usage, vk::ImageCreateFlags::empty(), commands)?;
        Ok(Attachment {
            image,
            view: self.view(image, vk::ImageViewType::TYPE_2D, shape.aspect)?,
            clear: vk::ClearValue { color: clear },
        })
    }

    /// A depth or stencil attachment.
    pub unsafe fn depth_stencil(
        &self,
        format: vk::Format,
        size: [u32; 2],
        clear: vk::ClearDepthStencilValue,
        commands: vk::CommandBuffer,
    ) -> anyhow::Result<Attachment> {
        let aspect = match format {
            vk::Format::S8_UINT => vk::ImageAspectFlags::STENCIL,
            vk::Format::D32_SFLOAT_S8_UINT => {
                vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL
            }
            _ => vk::ImageAspectFlags::DEPTH,
        };
        let bytes = match format {
            vk::Format::S8_UINT => 1,
            vk::Format::D16_UNORM => 2,
            _ => 4,
        };
        let shape = Shape {
            aspect,
            ..Shape::flat(format, bytes, size[0], size[1])
        };
        let usage =
            vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
        let image = self.image(shape, usage, vk::ImageCreateFlags::empty(), commands)?;
        Ok(Attachment {
            image,
            view: self.view(image, vk::ImageViewType::TYPE_2D, aspect)?,
            clear: vk::ClearValue {
                depth_stencil: clear,
            },
        })
    }

    /// A graphics pipeline for dynamic rendering.
    pub unsafe fn graphics(&self, draw: &Draw<'_>) -> anyhow::Result<vk::Pipeline> {
        let none = vk::PipelineCache::null();
        let made = self.describe(draw, |info| self.graphics_of(none, info))?;
        made.context("vkCreateGraphicsPipelines")
    }

    /// A graphics pipeline as described, with a cache.
    pub unsafe fn graphics_of(
        &self,
        cache: vk::PipelineCache,
        info: &vk::GraphicsPipelineCreateInfo<'_>,
    ) -> Result<vk::Pipeline, vk::Result> {
        let made = self
            .device()
            .create_graphics_pipelines(cache, &[*info], None)
            .map_err(|(_, result)| result)?;
        let pipeline = made[0];
        self.at_end(move |device| device.destroy_pipeline(pipeline, None));
        Ok(pipeline)
    }

    /// The description of a graphics pipeline for dynamic rendering.
    pub unsafe fn describe<R>(
        &self,
        draw: &Draw<'_>,
        to: impl FnOnce(&vk::GraphicsPipelineCreateInfo<'_>) -> R,
    ) -> anyhow::Result<R> {
        let mut stages = Vec::new();
        let texts = [
            (vk::ShaderStageFlags::VERTEX, "vert", Some(draw.vertex)),
            (vk::ShaderStageFlags::FRAGMENT, "frag", draw.fragment),
        ];
        for (stage, name, text) in texts {
            let Some(text) = text else { continue };
            let module =
                self.module_of(&shader::glsl_for(text, name, self.gpu.shader_target())?)?;
            stages.push(
                vk::PipelineShaderStageCreateInfo::default()
                    .stage(stage)
                    .module(module)
                    .name(c"main"),
            );
        }
        let mut divisors = vk::PipelineVertexInputDivisorStateCreateInfoEXT::default()
            .vertex_binding_divisors(&draw.divisors);
        let mut input = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&draw.bindings)
            .vertex_attribute_descriptions(&draw.attributes);
        if !draw.divisors.is_empty() {
            input = input.push_next(&mut divisors);
        }
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
            .topology(draw.topology)
            .primitive_restart_enable(draw.restart);
        let (mut viewports, mut scissors) = (vec![draw.viewport], vec![draw.scissor]);
        viewports.extend(draw.further.iter().map(|(viewport, _)| *viewport));
        scissors.extend(draw.further.iter().map(|(_, scissor)| *scissor));
        let mut viewport = vk::PipelineViewportStateCreateInfo::default();
        if !draw.counted {
            viewport = viewport.viewports(&viewports).scissors(&scissors);
        }
        let mask = [draw.mask];
        let multisample = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(draw.samples)
            .sample_mask(&mask)
            .sample_shading_enable(draw.sample_shading)
            .min_sample_shading(1.0)
            .alpha_to_coverage_enable(draw.alpha.0)
            .alpha_to_one_enable(draw.alpha.1);
        let blend = vk::PipelineColorBlendStateCreateInfo::default()
            .attachments(&draw.blend)
            .logic_op_enable(draw.logic.is_some())
            .logic_op(draw.logic.unwrap_or_default())
            .blend_constants(draw.constants);
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&draw.dynamic);
        let mut rendering = vk::PipelineRenderingCreateInfo::default()
            .view_mask(draw.view_mask)
            .color_attachment_formats(&draw.colour)
            .depth_attachment_format(match draw.depth_format {
                vk::Format::S8_UINT => vk::Format::UNDEFINED,
                format => format,
            })
            .stencil_attachment_format(draw.stencil_format);
        let layout = match draw.layout == vk::PipelineLayout::null() {
            true => self.pipeline_layout(&[], 0)?,
            false => draw.layout,
        };
        let mut info = vk::GraphicsPipelineCreateInfo::default()
            .flags(draw.flags)
            .stages(&stages)
            .vertex_input_state(&input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&draw.raster)
            .multisample_state(&multisample)
            .depth_stencil_state(&draw.depth)
            .color_blend_state(&blend)
            .dynamic_state(&dynamic)
            .layout(layout);
        info = match draw.pass {
            Some((pass, subpass)) => info.render_pass(pass).subpass(subpass),
            None => info.push_next(&mut rendering),
        };
        Ok(to(&info))
    }

    /// Begins rendering to everything, with a load operation.
    pub unsafe fn render(
        &self,
        commands: vk::CommandBuffer,
        target: &Target,
        load: vk::AttachmentLoadOp,
    ) {
        self.render_with(commands, target, load, vk::RenderingFlags::empty());
    }

    /// The same with flags.
    pub unsafe fn render_with(
        &self,
        commands: vk::CommandBuffer,
        target: &Target,
        load: vk::AttachmentLoadOp,
        flags: vk::RenderingFlags,
    ) {
        let one = |attachment: &Attachment| {
            vk::RenderingAttachmentInfo::default()
                .image_view(attachment.view)
                .image_layout(vk::ImageLayout::GENERAL)
                .load_op(load)
                .store_op(vk::AttachmentStoreOp::STORE)
                .clear_value(attachment.clear)
        };
        let colour: Vec<_> = target.colour.iter().map(one).collect();
        let depth = target.depth.as_ref().map(one);
        let mut info = vk::RenderingInfo::default()
            .flags(flags)
            .render_area(vk::Rect2D {
                offset: vk::Offset2D::default(),
                extent: vk::Extent2D {
                    width: target.size[0],
                    height: target.size[1],
                },
            })
            .layer_count(1)
            .color_attachments(&colour);
        if let (Some(depth), Some(of)) = (&depth, &target.depth) {
            let aspects = of.image.shape.aspect;
            if aspects.contains(vk::ImageAspectFlags::DEPTH) {
                info = info.depth_attachment(depth);
            }
            if aspects.contains(vk::ImageAspectFlags::STENCIL) {
                info = info.stencil_attachment(depth);
            }
        }
        self.device().cmd_begin_rendering(commands, &info);
    }

    /// What an image holds once the commands before have run.
    pub unsafe fn read_back(
        &self,
        commands: vk::CommandBuffer,
        image: Image,
    ) -> anyhow::Result<Buffer> {
        let buffer = self.buffer(image.shape.size() as u64)?;
        self.barrier(commands);
        image.copy_all(self, commands, buffer.handle, false);
        Ok(buffer)
    }
}
