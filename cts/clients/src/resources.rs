// SPDX-License-Identifier: MIT
//! What graphics shaders read and write: images, samplers, buffers and their descriptors; and a probe,
//! which gives the numbers that a fragment shader computes.
#![allow(
    unsafe_op_in_unsafe_fn,
    clippy::missing_safety_doc,
    reason = "every line is a Vulkan call on a scope's own handles; validation layers check them"
)]

use ash::vk;

use crate::image::{Image, Model};
use crate::picture::{Draw, Target};
use crate::scope::{Buffer, Scope};

/// Stages that see resources and constants.
pub const STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::from_raw(
    vk::ShaderStageFlags::VERTEX.as_raw() | vk::ShaderStageFlags::FRAGMENT.as_raw(),
);

/// What a descriptor is of; images are in the general layout.
#[derive(Debug, Clone, Copy)]
pub enum Resource {
    /// A combined image and sampler.
    Texture(vk::ImageView, vk::Sampler),
    /// The same of an image that is rendered to, in the layout of feedback loops.
    Loop(vk::ImageView, vk::Sampler),
    /// A storage image.
    Image(vk::ImageView),
    /// An input attachment.
    Input(vk::ImageView),
    /// All of a uniform buffer.
    Uniform(Buffer),
    /// All of a storage buffer.
    Storage(Buffer),
    /// A sampler alone.
    Sampler(vk::Sampler),
    /// An image alone.
    Sampled(vk::ImageView),
    /// A uniform texel buffer.
    Texels(vk::BufferView),
    /// A storage texel buffer.
    StorageTexels(vk::BufferView),
}

impl Resource {
    fn ty(&self) -> vk::DescriptorType {
        match self {
            Resource::Texture(..) | Resource::Loop(..) => {
                vk::DescriptorType::COMBINED_IMAGE_SAMPLER
            }
            Resource::Image(_) => vk::DescriptorType::STORAGE_IMAGE,
            Resource::Input(_) => vk::DescriptorType::INPUT_ATTACHMENT,
            Resource::Uniform(_) => vk::DescriptorType::UNIFORM_BUFFER,
            Resource::Storage(_) => vk::DescriptorType::STORAGE_BUFFER,
            Resource::Sampler(_) => vk::DescriptorType::SAMPLER,
            Resource::Sampled(_) => vk::DescriptorType::SAMPLED_IMAGE,
            Resource::Texels(_) => vk::DescriptorType::UNIFORM_TEXEL_BUFFER,
            Resource::StorageTexels(_) => vk::DescriptorType::STORAGE_TEXEL_BUFFER,
        }
    }
}

/// A pipeline layout with one set, whose bindings 0, 1 and so on are resources.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// The layout.
    pub pipeline: vk::PipelineLayout,
    /// The set's.
    pub set: vk::DescriptorSetLayout,
}

/// Pixels of a side of what a probe draws.
pub const PROBE: u32 = 32;

/// A fragment shader that is run for the pixels of a square, and a layout of its resources.
pub struct Probe<'s, 'g> {
    s: &'s Scope<'g>,
    /// The layout.
    pub layout: Layout,
    pipeline: vk::Pipeline,
}

/// A triangle over everything.
pub const EVERYWHERE: &str = "
void main() {
    gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.0, 1.0);
}
";

impl Scope<'_> {
    /// A layout for resources like these and for constants.
    pub unsafe fn layout(&self, list: &[Resource], constants: u32) -> anyhow::Result<Layout> {
        let bindings: Vec<_> = (0..)
            .zip(list)
            .map(|(binding, resource)| {
                let stages = match resource {
                    Resource::Input(_) => vk::ShaderStageFlags::FRAGMENT,
                    _ => STAGES,
                };
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding)
                    .descriptor_type(resource.ty())
                    .descriptor_count(1)
                    .stage_flags(stages)
            })
            .collect();
        let device = self.device();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let set = device.create_descriptor_set_layout(&info, None)?;
        self.at_end(move |device| device.destroy_descriptor_set_layout(set, None));
        let ranges = [vk::PushConstantRange {
            stage_flags: STAGES,
            offset: 0,
            size: constants,
        }];
        let sets = [set];
        let mut info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
        if constants > 0 {
            info = info.push_constant_ranges(&ranges);
        }
        let pipeline = device.create_pipeline_layout(&info, None)?;
        self.at_end(move |device| device.destroy_pipeline_layout(pipeline, None));
        Ok(Layout { pipeline, set })
    }

    /// A set of a layout with resources, in a pool of its own.
    pub unsafe fn resources(
        &self,
        layout: Layout,
        list: &[Resource],
    ) -> anyhow::Result<vk::DescriptorSet> {
        let device = self.device();
        let sizes: Vec<_> = list
            .iter()
            .map(|resource| vk::DescriptorPoolSize {
                ty: resource.ty(),
                descriptor_count: 1,
            })
            .collect();
        let info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(1)
            .pool_sizes(&sizes);
        let pool = device.create_descriptor_pool(&info, None)?;
        self.at_end(move |device| device.destroy_descriptor_pool(pool, None));
        let layouts = [layout.set];
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(pool)
            .set_layouts(&layouts);
        let set = device.allocate_descriptor_sets(&info)?[0];
        for (binding, resource) in (0..).zip(list) {
            let image_layout = match resource {
                Resource::Loop(..) => vk::ImageLayout::ATTACHMENT_FEEDBACK_LOOP_OPTIMAL_EXT,
                _ => vk::ImageLayout::GENERAL,
            };
            let image = |view, sampler| {
                [vk::DescriptorImageInfo {
                    sampler,
                    image_view: view,
                    image_layout,
                }]
            };
            let none = vk::Sampler::null();
            let (mut images, mut buffers, mut texels) = (None, None, None);
            match resource {
                Resource::Texture(view, sampler) | Resource::Loop(view, sampler) => {
                    images = Some(image(*view, *sampler));
                }
                Resource::Image(view) | Resource::Input(view) | Resource::Sampled(view) => {
                    images = Some(image(*view, none));
                }
                Resource::Sampler(sampler) => {
                    images = Some(image(vk::ImageView::null(), *sampler));
                }
                Resource::Uniform(buffer) | Resource::Storage(buffer) => {
                    buffers = Some([buffer.whole()]);
                }
                Resource::Texels(view) | Resource::StorageTexels(view) => texels = Some([*view]),
            }
            let mut write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(binding)
                .descriptor_type(resource.ty());
            if let Some(images) = &images {
                write = write.image_info(images);
            }
            if let Some(buffers) = &buffers {
                write = write.buffer_info(buffers);
            }
            if let Some(texels) = &texels {
                write = write.texel_buffer_view(texels);
            }
            device.update_descriptor_sets(&[write], &[]);
        }
        Ok(set)
    }

    /// A sampler.
    pub unsafe fn sampler(&self, info: &vk::SamplerCreateInfo<'_>) -> anyhow::Result<vk::Sampler> {
        let sampler = self.device().create_sampler(info, None)?;
        self.at_end(move |device| device.destroy_sampler(sampler, None));
        Ok(sampler)
    }

    /// An image that holds what its model does, to sample, once the commands have run.
    pub unsafe fn filled(
        &self,
        model: &Model,
        usage: vk::ImageUsageFlags,
        flags: vk::ImageCreateFlags,
        commands: vk::CommandBuffer,
    ) -> anyhow::Result<Image> {
        let usage = usage | vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
        let image = self.image(model.shape, usage, flags, commands)?;
        let buffer = self.buffer(model.bytes.len() as u64)?;
        buffer.write(0, &model.bytes);
        image.copy_all(self, commands, buffer.handle, true);
        self.barrier(commands);
        Ok(image)
    }

    /// A view with a format and a swizzle of its own.
    pub unsafe fn view_as(
        &self,
        image: Image,
        kind: vk::ImageViewType,
        format: vk::Format,
        components: vk::ComponentMapping,
    ) -> anyhow::Result<vk::ImageView> {
        let info = vk::ImageViewCreateInfo::default()
            .image(image.handle)
            .view_type(kind)
            .format(format)
            .components(components)
            .subresource_range(image.range());
        let view = self.device().create_image_view(&info, None)?;
        self.at_end(move |device| device.destroy_image_view(view, None));
        Ok(view)
    }
}

impl<'s, 'g> Probe<'s, 'g> {
    /// Of a fragment shader with one output, `colour`, which is not declared in the text. Resources are
    /// like those of the list.
    pub unsafe fn new(
        s: &'s Scope<'g>,
        fragment: &str,
        list: &[Resource],
        constants: u32,
    ) -> anyhow::Result<Self> {
        let layout = s.layout(list, constants)?;
        let text = format!("layout(location = 0) out vec4 colour;\n{fragment}");
        let target = Target {
            size: [PROBE; 2],
            samples: vk::SampleCountFlags::TYPE_1,
            colour: Vec::new(),
            depth: None,
        };
        let mut draw = Draw::new(&target, EVERYWHERE, &text);
        draw.colour = vec![vk::Format::R32G32B32A32_SFLOAT];
        draw.blend = vec![vk::PipelineColorBlendAttachmentState {
            color_write_mask: vk::ColorComponentFlags::RGBA,
            ..Default::default()
        }];
        draw.layout = layout.pipeline;
        Ok(Probe {
            s,
            layout,
            pipeline: s.graphics(&draw)?,
        })
    }

    /// What the shader gives for each pixel, row after row.
    pub unsafe fn run(&self, list: &[Resource], constants: &[u8]) -> anyhow::Result<Vec<[f32; 4]>> {
        let s = self.s;
        let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        self.run_after(commands, list, constants)
    }

    /// The same after commands that were recorded.
    pub unsafe fn run_after(
        &self,
        commands: vk::CommandBuffer,
        list: &[Resource],
        constants: &[u8],
    ) -> anyhow::Result<Vec<[f32; 4]>> {
        let (s, device) = (self.s, self.s.device());
        let set = s.resources(self.layout, list)?;
        let clear = vk::ClearColorValue {
            float32: [f32::NAN; 4],
        };
        let format = vk::Format::R32G32B32A32_SFLOAT;
        let target = Target {
            size: [PROBE; 2],
            samples: vk::SampleCountFlags::TYPE_1,
            colour: vec![s.colour(format, 16, [PROBE; 2], clear, commands)?],
            depth: None,
        };
        s.render(commands, &target, vk::AttachmentLoadOp::CLEAR);
        let graphics = vk::PipelineBindPoint::GRAPHICS;
        let layout = self.layout.pipeline;
        device.cmd_bind_pipeline(commands, graphics, self.pipeline);
        device.cmd_bind_descriptor_sets(commands, graphics, layout, 0, &[set], &[]);
        if !constants.is_empty() {
            device.cmd_push_constants(commands, layout, STAGES, 0, constants);
        }
        device.cmd_draw(commands, 3, 1, 0, 0);
        device.cmd_end_rendering(commands);
        let back = s.read_back(commands, target.colour[0].image)?;
        s.finish(commands)?;
        let words = back.words();
        let pixels = words.chunks_exact(4);
        Ok(pixels
            .map(|p| std::array::from_fn(|at| f32::from_bits(p[at])))
            .collect())
    }
}
