// SPDX-License-Identifier: MIT
//! Draws: recording them, and frames of what makes programs slow. A frame is submitted and waited for.
#![allow(
    unsafe_op_in_unsafe_fn,
    reason = "every line is a Vulkan call on the scope's own handles"
)]

use ash::vk;
use cortland_clients::image::{Image, Shape};
use cortland_clients::picture::{Draw, Target};
use cortland_clients::scope::{Buffer, Scope, TIMEOUT};

use crate::driver::rate;

const RGBA8: vk::Format = vk::Format::R8G8B8A8_UNORM;
/// Texels of a side of the texture.
const TEXTURE: u32 = 256;

/// Frames of the scenes that are wanted, by name.
pub(crate) unsafe fn measure(
    s: &Scope<'_>,
    note: impl Fn(&str, f64),
    wanted: impl Fn(&str) -> bool,
) -> anyhow::Result<()> {
    let studio = Studio::new(s)?;
    if wanted("cube") {
        studio.cube(&note)?;
    }
    if wanted("mesh") {
        studio.mesh(&note)?;
    }
    if wanted("layers") {
        studio.layers(&note)?;
    }
    if wanted("samples") {
        studio.fetches(&note)?;
    }
    Ok(())
}

/// Recording of draws, and frames of many.
pub(crate) unsafe fn measure_draws(s: &Scope<'_>, note: impl Fn(&str, f64)) -> anyhow::Result<()> {
    Studio::new(s)?.small_draws(&note)
}

/// A texture, and what all pipelines have in common.
struct Studio<'s, 'g> {
    s: &'s Scope<'g>,
    layout: vk::PipelineLayout,
    /// Alike.
    sets: [vk::DescriptorSet; 2],
}

/// What is rendered to, in a layout that stays.
struct Frame {
    target: Target,
    commands: vk::CommandBuffer,
    fence: vk::Fence,
}

impl<'s, 'g> Studio<'s, 'g> {
    unsafe fn new(s: &'s Scope<'g>) -> anyhow::Result<Self> {
        let device = s.device();
        let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        let levels = TEXTURE.ilog2() + 1;
        let shape = Shape::flat(RGBA8, 4, TEXTURE, TEXTURE).stacked(levels, 1);
        let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
        let image = s.image(shape, usage, vk::ImageCreateFlags::empty(), commands)?;
        let texels = s.buffer(shape.size() as u64)?;
        let noise = (0..shape.size() as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8);
        texels.write(0, &noise.collect::<Vec<u8>>());
        image.copy_all(s, commands, texels.handle, true);
        s.finish(commands)?;
        let (layout, sets) = Self::descriptors(s, image)?;
        let layouts = [layout];
        let constants = [vk::PushConstantRange {
            stage_flags: vk::ShaderStageFlags::VERTEX,
            offset: 0,
            size: 16,
        }];
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&layouts)
            .push_constant_ranges(&constants);
        let layout = device.create_pipeline_layout(&info, None)?;
        s.at_end(move |device| device.destroy_pipeline_layout(layout, None));
        Ok(Studio { s, layout, sets })
    }

    /// Sets with the texture and a sampler that filters between levels.
    unsafe fn descriptors(
        s: &Scope<'_>,
        image: Image,
    ) -> anyhow::Result<(vk::DescriptorSetLayout, [vk::DescriptorSet; 2])> {
        let device = s.device();
        let view = s.view(image, vk::ImageViewType::TYPE_2D, image.shape.aspect)?;
        let linear = vk::Filter::LINEAR;
        let info = vk::SamplerCreateInfo::default()
            .mag_filter(linear)
            .min_filter(linear)
            .mipmap_mode(vk::SamplerMipmapMode::LINEAR)
            .max_lod(vk::LOD_CLAMP_NONE);
        let sampler = device.create_sampler(&info, None)?;
        s.at_end(move |device| device.destroy_sampler(sampler, None));
        let ty = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(ty)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::FRAGMENT)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let layout = device.create_descriptor_set_layout(&info, None)?;
        s.at_end(move |device| device.destroy_descriptor_set_layout(layout, None));
        let sizes = [vk::DescriptorPoolSize {
            ty,
            descriptor_count: 2,
        }];
        let info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(2)
            .pool_sizes(&sizes);
        let pool = device.create_descriptor_pool(&info, None)?;
        s.at_end(move |device| device.destroy_descriptor_pool(pool, None));
        let layouts = [layout; 2];
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(pool)
            .set_layouts(&layouts);
        let sets = device.allocate_descriptor_sets(&info)?;
        let sets = [sets[0], sets[1]];
        let images = [vk::DescriptorImageInfo {
            sampler,
            image_view: view,
            image_layout: vk::ImageLayout::GENERAL,
        }];
        let writes = sets.map(|set| {
            vk::WriteDescriptorSet::default()
                .dst_set(set)
                .descriptor_type(ty)
                .image_info(&images)
        });
        device.update_descriptor_sets(&writes, &[]);
        Ok((layout, sets))
    }

    /// A target of one colour and perhaps depth, and a command buffer.
    unsafe fn frame(&self, side: u32, depth: bool) -> anyhow::Result<Frame> {
        let s = self.s;
        let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        let size = [side, side];
        let clear = vk::ClearColorValue {
            float32: [0.2, 0.2, 0.2, 1.0],
        };
        let colour = s.colour(RGBA8, 4, size, clear, commands)?;
        let far = vk::ClearDepthStencilValue {
            depth: 1.0,
            stencil: 0,
        };
        let depth = match depth {
            true => Some(s.depth_stencil(vk::Format::D32_SFLOAT, size, far, commands)?),
            false => None,
        };
        s.finish(commands)?;
        let target = Target {
            size,
            samples: vk::SampleCountFlags::TYPE_1,
            colour: vec![colour],
            depth,
        };
        Ok(Frame {
            target,
            commands: s.commands(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE)?,
            fence: s.fence(vk::FenceCreateFlags::empty())?,
        })
    }

    /// A pipeline, with a depth test if there is depth.
    unsafe fn pipeline(&self, mut draw: Draw<'_>) -> anyhow::Result<vk::Pipeline> {
        draw.layout = self.layout;
        let tested = draw.depth_format != vk::Format::UNDEFINED;
        draw.depth = (draw.depth)
            .depth_test_enable(tested)
            .depth_write_enable(tested)
            .depth_compare_op(vk::CompareOp::LESS);
        self.s.graphics(&draw)
    }

    /// Begins rendering, with the pipeline and the texture bound.
    unsafe fn begin(&self, frame: &Frame, pipeline: vk::Pipeline) {
        let (device, graphics) = (self.s.device(), vk::PipelineBindPoint::GRAPHICS);
        self.s
            .render(frame.commands, &frame.target, vk::AttachmentLoadOp::CLEAR);
        device.cmd_bind_pipeline(frame.commands, graphics, pipeline);
        let sets = [self.sets[0]];
        device.cmd_bind_descriptor_sets(frame.commands, graphics, self.layout, 0, &sets, &[]);
    }

    /// The rate of a frame that is recorded so far, of `count` things each.
    unsafe fn frames(&self, frame: &Frame, count: usize) -> anyhow::Result<f64> {
        let device = self.s.device();
        device.cmd_end_rendering(frame.commands);
        device.end_command_buffer(frame.commands)?;
        let all = [frame.commands];
        let submit = [vk::SubmitInfo::default().command_buffers(&all)];
        rate(count, || {
            device.queue_submit(self.s.gpu.queue, &submit, frame.fence)?;
            device.wait_for_fences(&[frame.fence], true, TIMEOUT)?;
            Ok(device.reset_fences(&[frame.fence])?)
        })
    }

    /// What vkcube draws, at its size: twelve triangles with a texture.
    unsafe fn cube(&self, note: &impl Fn(&str, f64)) -> anyhow::Result<()> {
        let frame = self.frame(500, true)?;
        let mut draw = Draw::new(&frame.target, CUBE, TEXTURED);
        draw.raster = draw.raster.cull_mode(vk::CullModeFlags::NONE);
        let pipeline = self.pipeline(draw)?;
        self.begin(&frame, pipeline);
        self.s.device().cmd_draw(frame.commands, 36, 1, 0, 0);
        note("frame: cube of 500x500", self.frames(&frame, 1)?);
        Ok(())
    }

    /// 100,352 triangles of a pixel or two.
    unsafe fn mesh(&self, note: &impl Fn(&str, f64)) -> anyhow::Result<()> {
        const SIDE: u32 = 224;
        let s = self.s;
        let frame = self.frame(500, true)?;
        let vertices = (0..=SIDE).flat_map(|y| (0..=SIDE).map(move |x| [x, y]));
        let vertices: Vec<u8> = vertices
            .flat_map(|at| at.map(|n| n as f32 / SIDE as f32))
            .flat_map(f32::to_le_bytes)
            .collect();
        let corner = |x: u32, y: u32| y * (SIDE + 1) + x;
        let squares = (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (x, y)));
        let indices: Vec<u8> = squares
            .flat_map(|(x, y)| {
                let [a, b, c, d] =
                    [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(i, j)| corner(x + i, y + j));
                [a, b, c, c, b, d]
            })
            .flat_map(u32::to_le_bytes)
            .collect();
        let [vertices, indices] = [
            (vertices, vk::BufferUsageFlags::VERTEX_BUFFER),
            (indices, vk::BufferUsageFlags::INDEX_BUFFER),
        ]
        .map(|(bytes, usage)| -> anyhow::Result<Buffer> {
            let buffer = s.buffer_for(bytes.len() as u64, usage)?;
            buffer.write(0, &bytes);
            Ok(buffer)
        });
        let (vertices, indices) = (vertices?, indices?);
        let mut draw = Draw::new(&frame.target, WAVES, LIT);
        draw.bindings = vec![vk::VertexInputBindingDescription {
            binding: 0,
            stride: 8,
            input_rate: vk::VertexInputRate::VERTEX,
        }];
        draw.attributes = vec![vk::VertexInputAttributeDescription {
            location: 0,
            binding: 0,
            format: vk::Format::R32G32_SFLOAT,
            offset: 0,
        }];
        let pipeline = self.pipeline(draw)?;
        self.begin(&frame, pipeline);
        let device = s.device();
        device.cmd_bind_vertex_buffers(frame.commands, 0, &[vertices.handle], &[0]);
        device.cmd_bind_index_buffer(frame.commands, indices.handle, 0, vk::IndexType::UINT32);
        device.cmd_draw_indexed(frame.commands, 6 * SIDE * SIDE, 1, 0, 0, 0);
        let rate = self.frames(&frame, (2 * SIDE * SIDE) as usize)?;
        note("frame: triangles of a mesh", rate);
        Ok(())
    }

    /// Four layers with a texture, blended over each other: pixels of a layer.
    unsafe fn layers(&self, note: &impl Fn(&str, f64)) -> anyhow::Result<()> {
        let frame = self.frame(512, false)?;
        let mut draw = Draw::new(&frame.target, LAYERS, TEXTURED);
        for blend in &mut draw.blend {
            blend.blend_enable = vk::TRUE;
            blend.src_color_blend_factor = vk::BlendFactor::SRC_ALPHA;
            blend.dst_color_blend_factor = vk::BlendFactor::ONE_MINUS_SRC_ALPHA;
        }
        let pipeline = self.pipeline(draw)?;
        self.begin(&frame, pipeline);
        self.s.device().cmd_draw(frame.commands, 3, 4, 0, 0);
        let rate = self.frames(&frame, 4 * 512 * 512)?;
        note("frame: pixels of blended layers", rate);
        Ok(())
    }

    /// Sixteen samples between two levels for each pixel.
    unsafe fn fetches(&self, note: &impl Fn(&str, f64)) -> anyhow::Result<()> {
        let frame = self.frame(256, false)?;
        let pipeline = self.pipeline(Draw::new(&frame.target, LAYERS, SIXTEEN))?;
        self.begin(&frame, pipeline);
        self.s.device().cmd_draw(frame.commands, 3, 1, 0, 0);
        let rate = self.frames(&frame, 16 * 256 * 256)?;
        note("frame: trilinear samples", rate);
        Ok(())
    }

    /// Draws of a triangle each, with constants of their own: recorded, and run.
    unsafe fn small_draws(&self, note: &impl Fn(&str, f64)) -> anyhow::Result<()> {
        const COUNT: u32 = 10_000;
        let (s, device) = (self.s, self.s.device());
        let frame = self.frame(500, false)?;
        let pipeline = self.pipeline(Draw::new(&frame.target, SMALL, TEXTURED))?;
        let pool = s.command_pool(vk::CommandPoolCreateFlags::TRANSIENT)?;
        let recorded = Frame {
            commands: s.allocate(pool, vk::CommandBufferLevel::PRIMARY, 1)?[0],
            target: frame.target.clone(),
            ..frame
        };
        let record = |each: &dyn Fn(vk::CommandBuffer, u32)| {
            rate(COUNT as usize, || {
                // SAFETY: the pool's only command buffer is not submitted meanwhile.
                unsafe {
                    device.reset_command_pool(pool, vk::CommandPoolResetFlags::empty())?;
                    s.begin(
                        recorded.commands,
                        vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT,
                    )?;
                    self.begin(&recorded, pipeline);
                    push(device, recorded.commands, self.layout, 0);
                    for number in 0..COUNT {
                        each(recorded.commands, number);
                    }
                    device.cmd_end_rendering(recorded.commands);
                    Ok(device.end_command_buffer(recorded.commands)?)
                }
            })
        };
        let plain = record(&|commands, _| device.cmd_draw(commands, 3, 1, 0, 0))?;
        note("record: draws", plain);
        let pushed = record(&|commands, number| {
            push(device, commands, self.layout, number);
            device.cmd_draw(commands, 3, 1, 0, 0);
        })?;
        note("record: push, draw", pushed);
        let (layout, graphics) = (self.layout, vk::PipelineBindPoint::GRAPHICS);
        let bound = record(&|commands, number| {
            let sets = [self.sets[number as usize % 2]];
            device.cmd_bind_descriptor_sets(commands, graphics, layout, 0, &sets, &[]);
            device.cmd_draw(commands, 3, 1, 0, 0);
        })?;
        note("record: bind a set, draw", bound);
        let other = self.pipeline(Draw::new(&frame.target, SMALL, GREY))?;
        let pipelines = [pipeline, other];
        let rebound = record(&|commands, number| {
            let pipeline = pipelines[number as usize % 2];
            device.cmd_bind_pipeline(commands, graphics, pipeline);
            device.cmd_draw(commands, 3, 1, 0, 0);
        })?;
        note("record: bind a pipeline, draw", rebound);
        let mut draw = Draw::new(&frame.target, SMALL, TEXTURED);
        draw.dynamic.push(vk::DynamicState::SCISSOR);
        let dynamic = self.pipeline(draw)?;
        let scissor = record(&|commands, number| {
            if number == 0 {
                device.cmd_bind_pipeline(commands, graphics, dynamic);
            }
            let extent = vk::Extent2D {
                width: 500,
                height: 400 + number % 2,
            };
            device.cmd_set_scissor(commands, 0, &[extent.into()]);
            device.cmd_draw(commands, 3, 1, 0, 0);
        })?;
        note("record: set a scissor, draw", scissor);
        let everything = record(&|commands, number| {
            let at = number as usize % 2;
            let sets = [self.sets[at]];
            device.cmd_bind_pipeline(commands, graphics, pipelines[at]);
            device.cmd_bind_descriptor_sets(commands, graphics, layout, 0, &sets, &[]);
            push(device, commands, layout, number);
            device.cmd_draw(commands, 3, 1, 0, 0);
        })?;
        note("record: bind both, push, draw", everything);
        self.begin(&frame, pipeline);
        for number in 0..COUNT {
            push(device, frame.commands, self.layout, number);
            device.cmd_draw(frame.commands, 3, 1, 0, 0);
        }
        note("frame: small draws", self.frames(&frame, COUNT as usize)?);
        Ok(())
    }
}

/// Pushes where a small draw is.
unsafe fn push(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    layout: vk::PipelineLayout,
    number: u32,
) {
    let at = [number % 100, number / 100, number, 0].map(|n| (n as f32 / 100.0).to_le_bytes());
    let stage = vk::ShaderStageFlags::VERTEX;
    device.cmd_push_constants(commands, layout, stage, 0, at.as_flattened());
}

/// A cube seen from a corner.
const CUBE: &str = "
layout(location = 0) out vec2 at;
void main() {
    const int faces[6] = int[](0, 1, 2, 2, 1, 3);
    int face = gl_VertexIndex / 6, corner = faces[gl_VertexIndex % 6];
    vec2 uv = vec2(corner & 1, corner >> 1);
    vec3 p = vec3(uv * 2.0 - 1.0, (face & 1) == 0 ? -1.0 : 1.0);
    p = face < 2 ? p : face < 4 ? p.zxy : p.yzx;
    vec2 x = vec2(0.866 * (p.x - p.z), 0.5 * (p.x + p.z) - p.y);
    float z = 4.0 + (p.x + p.y + p.z) * 0.577;
    gl_Position = vec4(x * 1.6, z * 1.02 - 2.0, z);
    at = uv;
}
";

const TEXTURED: &str = "
layout(set = 0, binding = 0) uniform sampler2D image;
layout(location = 0) in vec2 at;
layout(location = 0) out vec4 colour;
void main() { colour = vec4(texture(image, at).rgb, 0.5); }
";

const GREY: &str = "
layout(set = 0, binding = 0) uniform sampler2D image;
layout(location = 0) in vec2 at;
layout(location = 0) out vec4 colour;
void main() { colour = vec4(texture(image, at).rrr, 1.0); }
";

/// A height field of waves.
const WAVES: &str = "
layout(location = 0) in vec2 at;
layout(location = 0) out vec3 normal;
void main() {
    vec2 w = at * 20.0;
    float height = 0.1 * sin(w.x) * cos(w.y);
    normal = vec3(-2.0 * cos(w.x) * cos(w.y), 1.0, 2.0 * sin(w.x) * sin(w.y));
    gl_Position = vec4(at * 1.9 - 0.95 + vec2(0.0, height), 0.5 + 0.4 * at.y - height, 1.0);
}
";

const LIT: &str = "
layout(location = 0) in vec3 normal;
layout(location = 0) out vec4 colour;
void main() {
    float light = max(dot(normalize(normal), normalize(vec3(0.3, 1.0, 0.2))), 0.0);
    colour = vec4(light * vec3(0.9, 0.7, 0.5) + 0.1, 1.0);
}
";

/// A triangle over everything; each instance shifts the texture.
const LAYERS: &str = "
layout(location = 0) out vec2 at;
void main() {
    vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2.0;
    gl_Position = vec4(corner * 2.0 - 1.0, 0.5, 1.0);
    at = corner * 1.5 + 0.1 * float(gl_InstanceIndex);
}
";

const SIXTEEN: &str = "
layout(set = 0, binding = 0) uniform sampler2D image;
layout(location = 0) in vec2 at;
layout(location = 0) out vec4 colour;
void main() {
    vec4 sum = vec4(0.0);
    for (int i = 0; i < 16; i++) sum += texture(image, at * 1.3 + float(i) * 0.0625);
    colour = sum / 16.0;
}
";

/// A triangle of a few pixels at a place in a grid of a hundred.
const SMALL: &str = "
layout(push_constant) uniform P { vec4 place; };
layout(location = 0) out vec2 at;
void main() {
    vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1);
    gl_Position = vec4((place.xy + corner * 0.009) * 2.0 - 1.0, 0.5, 1.0);
    at = corner + place.z;
}
";
