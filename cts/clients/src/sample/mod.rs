// SPDX-License-Identifier: MIT
//! A sample as engines draw frames: a shadow map, instanced spheres with physically based shading on
//! a ground with a block-compressed texture, four samples of floats, and a tone-mapping pass.
//!
//! It runs on any driver and makes the bytes of a picture.
#![allow(
    unsafe_op_in_unsafe_fn,
    reason = "every line is a Vulkan call on the scope's own handles; validation layers check them"
)]

mod ground;
mod mesh;
mod scene;
mod shaders;

use ash::vk;

use crate::gpu::{Gpu, Options};
use crate::image::{Image, Shape};
use crate::picture::{Attachment, Draw, Target};
use crate::scenario::Report;
use crate::scope::{Buffer, Scope};
use mesh::Mesh;

/// Pixels of the picture.
pub const SIZE: [u32; 2] = [640, 400];
/// Texels of a side of the shadow map.
const SHADOW: u32 = 512;
const SAMPLES: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;
const LIGHT: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
const DEPTH: vk::Format = vk::Format::D32_SFLOAT;
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;

/// Draws the picture: RGBA bytes, row by row, and what the validation layer says.
///
/// # Errors
/// What Vulkan reports.
pub fn draw(options: Options) -> anyhow::Result<(Vec<u8>, Vec<String>)> {
    let gpu = Gpu::open(options)?;
    let report = Report::default();
    let scope = Scope::new(&gpu, &report);
    // SAFETY: the device is open, and the scope destroys what was made.
    let pixels = unsafe { Sample::new(&scope).and_then(|sample| sample.frame()) };
    drop(scope);
    let messages = gpu.close();
    Ok((pixels?, messages))
}

struct Sample<'s, 'g> {
    s: &'s Scope<'g>,
    commands: vk::CommandBuffer,
    /// Nearest to the light.
    shadow: Attachment,
    /// Light in several samples, resolved to one.
    light: Attachment,
    resolved: Attachment,
    depth: Attachment,
    /// What is shown.
    screen: Attachment,
    layout: vk::PipelineLayout,
    set: vk::DescriptorSet,
    mesh: Mesh,
    instances: Buffer,
}

impl<'s, 'g> Sample<'s, 'g> {
    unsafe fn new(s: &'s Scope<'g>) -> anyhow::Result<Self> {
        let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        let (colour, depth) = (
            vk::ImageUsageFlags::COLOR_ATTACHMENT,
            vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
        );
        let sampled = vk::ImageUsageFlags::SAMPLED;
        let one = vk::SampleCountFlags::TYPE_1;
        let make = |format, bytes, size: [u32; 2], samples, usage: vk::ImageUsageFlags| {
            let mut shape = Shape::flat(format, bytes, size[0], size[1]);
            let mut clear = vk::ClearValue::default();
            if usage.contains(depth) {
                shape.aspect = vk::ImageAspectFlags::DEPTH;
                clear.depth_stencil.depth = 1.0;
            }
            let image = s.image_with(
                shape,
                samples,
                usage,
                vk::ImageCreateFlags::empty(),
                commands,
            )?;
            let view = s.view(image, vk::ImageViewType::TYPE_2D, shape.aspect)?;
            anyhow::Ok(Attachment { image, view, clear })
        };
        let shadow = make(DEPTH, 4, [SHADOW; 2], one, depth | sampled)?;
        let light = make(LIGHT, 8, SIZE, SAMPLES, colour)?;
        let resolved = make(LIGHT, 8, SIZE, one, colour | sampled)?;
        let deep = make(DEPTH, 4, SIZE, SAMPLES, depth)?;
        let srgb = vk::Format::R8G8B8A8_SRGB;
        let source = vk::ImageUsageFlags::TRANSFER_SRC;
        let screen = make(srgb, 4, SIZE, one, colour | source)?;
        let ground = ground::texture(s, commands)?;
        let uniforms = s.buffer_for(
            scene::uniforms().len() as u64,
            vk::BufferUsageFlags::UNIFORM_BUFFER,
        )?;
        uniforms.write(0, &scene::uniforms());
        let instances = scene::instances();
        let buffer = s.buffer_for(instances.len() as u64, vk::BufferUsageFlags::VERTEX_BUFFER)?;
        buffer.write(0, &instances);
        let (layout, set) = descriptors(s, &uniforms, ground, &shadow, &resolved)?;
        Ok(Sample {
            s,
            commands,
            shadow,
            light,
            resolved,
            depth: deep,
            screen,
            layout,
            set,
            mesh: Mesh::sphere(s, 48, 24)?,
            instances: buffer,
        })
    }

    /// Records and runs all passes.
    unsafe fn frame(&self) -> anyhow::Result<Vec<u8>> {
        let s = self.s;
        self.shadow_pass()?;
        s.barrier(self.commands);
        self.light_pass()?;
        s.barrier(self.commands);
        self.screen_pass()?;
        let back = s.read_back(self.commands, self.screen.image)?;
        s.finish(self.commands)?;
        Ok(back.bytes())
    }

    /// Depths as the light sees them.
    unsafe fn shadow_pass(&self) -> anyhow::Result<()> {
        let target = Target {
            size: [SHADOW; 2],
            samples: vk::SampleCountFlags::TYPE_1,
            colour: Vec::new(),
            depth: Some(self.shadow),
        };
        let mut draw = self.spheres(Draw::new(&target, shaders::SHADOW_VERTEX, ""));
        draw.fragment = None;
        draw.raster = (draw.raster)
            .depth_bias_enable(true)
            .depth_bias_constant_factor(4.0)
            .depth_bias_slope_factor(2.0);
        self.s
            .render(self.commands, &target, vk::AttachmentLoadOp::CLEAR);
        self.bind(&draw)?;
        self.mesh
            .draw(self.s.device(), self.commands, &self.instances);
        self.s.device().cmd_end_rendering(self.commands);
        Ok(())
    }

    /// The sky, the ground and the spheres.
    unsafe fn light_pass(&self) -> anyhow::Result<()> {
        let device = self.s.device();
        let target = Target {
            size: SIZE,
            samples: SAMPLES,
            colour: vec![self.light],
            depth: Some(self.depth),
        };
        let colour = [vk::RenderingAttachmentInfo::default()
            .image_view(self.light.view)
            .image_layout(GENERAL)
            .load_op(vk::AttachmentLoadOp::DONT_CARE)
            .store_op(vk::AttachmentStoreOp::DONT_CARE)
            .resolve_mode(vk::ResolveModeFlags::AVERAGE)
            .resolve_image_view(self.resolved.view)
            .resolve_image_layout(GENERAL)];
        let depth = vk::RenderingAttachmentInfo::default()
            .image_view(self.depth.view)
            .image_layout(GENERAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::DONT_CARE)
            .clear_value(self.depth.clear);
        let info = vk::RenderingInfo::default()
            .render_area(area(SIZE))
            .layer_count(1)
            .color_attachments(&colour)
            .depth_attachment(&depth);
        device.cmd_begin_rendering(self.commands, &info);
        self.bind(&Draw::new(&target, shaders::SCREEN_VERTEX, shaders::SKY))?;
        device.cmd_draw(self.commands, 3, 1, 0, 0);
        let mut ground = Draw::new(&target, shaders::GROUND_VERTEX, shaders::GROUND);
        ground.topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
        ground.depth = tested(ground.depth);
        self.bind(&ground)?;
        device.cmd_draw(self.commands, 4, 1, 0, 0);
        self.bind(&self.spheres(Draw::new(&target, shaders::SPHERE_VERTEX, shaders::SPHERE)))?;
        self.mesh.draw(device, self.commands, &self.instances);
        device.cmd_end_rendering(self.commands);
        Ok(())
    }

    /// Light becomes colours.
    unsafe fn screen_pass(&self) -> anyhow::Result<()> {
        let device = self.s.device();
        let target = Target {
            size: SIZE,
            samples: vk::SampleCountFlags::TYPE_1,
            colour: vec![self.screen],
            depth: None,
        };
        self.s
            .render(self.commands, &target, vk::AttachmentLoadOp::DONT_CARE);
        self.bind(&Draw::new(&target, shaders::SCREEN_VERTEX, shaders::SCREEN))?;
        device.cmd_draw(self.commands, 3, 1, 0, 0);
        device.cmd_end_rendering(self.commands);
        Ok(())
    }

    /// With the vertices of the mesh and of the instances, and a depth test.
    fn spheres<'a>(&self, mut draw: Draw<'a>) -> Draw<'a> {
        (draw.bindings, draw.attributes) = mesh::input();
        draw.depth = tested(draw.depth);
        draw
    }

    unsafe fn bind(&self, draw: &Draw<'_>) -> anyhow::Result<()> {
        let (device, graphics) = (self.s.device(), vk::PipelineBindPoint::GRAPHICS);
        let pipeline = self.s.graphics(&Draw {
            layout: self.layout,
            ..draw.clone()
        })?;
        device.cmd_bind_pipeline(self.commands, graphics, pipeline);
        let sets = [self.set];
        device.cmd_bind_descriptor_sets(self.commands, graphics, self.layout, 0, &sets, &[]);
        Ok(())
    }
}

fn area(size: [u32; 2]) -> vk::Rect2D {
    vk::Rect2D {
        offset: vk::Offset2D::default(),
        extent: vk::Extent2D {
            width: size[0],
            height: size[1],
        },
    }
}

fn tested(
    depth: vk::PipelineDepthStencilStateCreateInfo<'_>,
) -> vk::PipelineDepthStencilStateCreateInfo<'_> {
    depth
        .depth_test_enable(true)
        .depth_write_enable(true)
        .depth_compare_op(vk::CompareOp::LESS)
}

/// One set for all passes: matrices, the ground's texture, the shadow map, the light.
unsafe fn descriptors(
    s: &Scope<'_>,
    uniforms: &Buffer,
    ground: Image,
    shadow: &Attachment,
    light: &Attachment,
) -> anyhow::Result<(vk::PipelineLayout, vk::DescriptorSet)> {
    let device = s.device();
    let (uniform, image) = (
        vk::DescriptorType::UNIFORM_BUFFER,
        vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
    );
    let bindings = [uniform, image, image, image];
    let bindings: Vec<_> = (0..)
        .zip(bindings)
        .map(|(number, ty)| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(number)
                .descriptor_type(ty)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::ALL_GRAPHICS)
        })
        .collect();
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    let set_layout = device.create_descriptor_set_layout(&info, None)?;
    s.at_end(move |device| device.destroy_descriptor_set_layout(set_layout, None));
    let sizes = [(uniform, 1), (image, 3)].map(|(ty, descriptor_count)| vk::DescriptorPoolSize {
        ty,
        descriptor_count,
    });
    let info = vk::DescriptorPoolCreateInfo::default()
        .max_sets(1)
        .pool_sizes(&sizes);
    let pool = device.create_descriptor_pool(&info, None)?;
    s.at_end(move |device| device.destroy_descriptor_pool(pool, None));
    let layouts = [set_layout];
    let info = vk::DescriptorSetAllocateInfo::default()
        .descriptor_pool(pool)
        .set_layouts(&layouts);
    let set = device.allocate_descriptor_sets(&info)?[0];
    let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
    let layout = device.create_pipeline_layout(&info, None)?;
    s.at_end(move |device| device.destroy_pipeline_layout(layout, None));
    s.write(set, 0, uniform, 0, &[uniforms.whole()]);
    let linear = vk::SamplerCreateInfo::default()
        .mag_filter(vk::Filter::LINEAR)
        .min_filter(vk::Filter::LINEAR)
        .mipmap_mode(vk::SamplerMipmapMode::LINEAR)
        .max_lod(vk::LOD_CLAMP_NONE);
    let edge = vk::SamplerAddressMode::CLAMP_TO_EDGE;
    let compared = linear
        .address_mode_u(edge)
        .address_mode_v(edge)
        .compare_enable(true)
        .compare_op(vk::CompareOp::LESS_OR_EQUAL);
    let view = s.view(ground, vk::ImageViewType::TYPE_2D, ground.shape.aspect)?;
    let views = [
        (1, view, &linear),
        (2, shadow.view, &compared),
        (3, light.view, &vk::SamplerCreateInfo::default()),
    ];
    for (binding, image_view, info) in views {
        let sampler = device.create_sampler(info, None)?;
        s.at_end(move |device| device.destroy_sampler(sampler, None));
        let images = [vk::DescriptorImageInfo {
            sampler,
            image_view,
            image_layout: GENERAL,
        }];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .dst_binding(binding)
            .descriptor_type(image)
            .image_info(&images);
        device.update_descriptor_sets(&[write], &[]);
    }
    Ok((layout, set))
}
