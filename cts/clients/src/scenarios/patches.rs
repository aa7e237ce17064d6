// SPDX-License-Identifier: MIT
//! Patches that are drawn by several command buffers, in the primary and in secondary ones.

use ash::vk;

use super::draw::{GREY, SIZE, finish, once, target};
use super::scenario;
use crate::picture::{Draw, Target};
use crate::scenario::Scenario;
use crate::scope::{Buffer, Scope};

pub(super) const SCENARIOS: &[Scenario] = &[scenario("draw.secondary", secondary)];

/// A rectangle: left, top, width, height.
type Rectangle = [i32; 4];

/// A rectangle that is drawn: what a scissor leaves of all or the right half of a viewport. Tint and
/// one of [`BASES`] are added to what is there.
#[derive(Clone, Copy, PartialEq)]
struct Patch {
    viewport: Rectangle,
    scissor: Rectangle,
    right_half: bool,
    indexed: bool,
    tint: [u8; 4],
    base: usize,
}

/// What the uniform buffer holds, 256 bytes apart.
const BASES: [[u8; 4]; 2] = [[1, 2, 3, 4], [40, 0, 5, 0]];

/// Of two command buffers.
const PATCHES: [&[Patch]; 2] = [
    &[
        Patch {
            viewport: [3, 2, 40, 30],
            scissor: [5, 0, 30, 25],
            right_half: false,
            indexed: true,
            tint: [16, 30, 0, 0],
            base: 0,
        },
        Patch {
            viewport: [3, 2, 40, 30],
            scissor: [20, 10, 30, 40],
            right_half: true,
            indexed: true,
            tint: [0, 30, 7, 0],
            base: 0,
        },
    ],
    &[Patch {
        viewport: [30, 10, 45, 33],
        scissor: [31, 0, 60, 60],
        right_half: false,
        indexed: false,
        tint: [9, 0, 20, 0],
        base: 1,
    }],
];

/// What patches are drawn with.
struct Patches {
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    set_layout: vk::DescriptorSetLayout,
    set: vk::DescriptorSet,
    corners: Buffer,
    indices: Buffer,
}

/// The layouts are the caller's to destroy.
unsafe fn patches(s: &Scope<'_>, target: &Target) -> anyhow::Result<Patches> {
    let vertex = "
layout(location = 0) in vec2 at;
void main() { gl_Position = vec4(at, 0.0, 1.0); }
";
    let fragment = "
layout(push_constant) uniform P { vec4 tint; };
layout(set = 0, binding = 0) uniform B { vec4 base; };
layout(location = 0) out vec4 colour;
void main() { colour = tint + base; }
";
    let device = s.device();
    let stages = vk::ShaderStageFlags::FRAGMENT;
    let bindings = [vk::DescriptorSetLayoutBinding::default()
        .descriptor_type(vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC)
        .descriptor_count(1)
        .stage_flags(stages)];
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    let set_layout = device.create_descriptor_set_layout(&info, None)?;
    let (set_layouts, ranges) = (
        [set_layout],
        [vk::PushConstantRange {
            stage_flags: stages,
            offset: 0,
            size: 16,
        }],
    );
    let info = vk::PipelineLayoutCreateInfo::default()
        .set_layouts(&set_layouts)
        .push_constant_ranges(&ranges);
    let layout = device.create_pipeline_layout(&info, None)?;
    let uniforms = s.buffer(512)?;
    for (base, offset) in BASES.into_iter().zip([0, 256]) {
        uniforms.write(offset, &scaled(base));
    }
    let set = s.set(set_layout)?;
    let kind = vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC;
    s.write(set, 0, kind, 0, &[uniforms.part(0, 16)]);
    let mut draw = Draw::new(target, vertex, fragment);
    draw.layout = layout;
    draw.dynamic = vec![vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
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
    draw.blend = vec![
        vk::PipelineColorBlendAttachmentState::default()
            .blend_enable(true)
            .src_color_blend_factor(vk::BlendFactor::ONE)
            .dst_color_blend_factor(vk::BlendFactor::ONE)
            .src_alpha_blend_factor(vk::BlendFactor::ONE)
            .dst_alpha_blend_factor(vk::BlendFactor::ONE)
            .color_write_mask(vk::ColorComponentFlags::RGBA),
    ];
    let corner = |left: f32, n: u16| {
        let x = [left, 1.0][usize::from(n % 2)];
        let y = [-1.0_f32, 1.0][usize::from(n / 2)];
        [x.to_le_bytes(), y.to_le_bytes()].concat()
    };
    // All of a viewport, its right half, and all of it without indices.
    const ORDER: [u16; 6] = [0, 1, 2, 2, 1, 3];
    let corners = s.buffer_for(112, vk::BufferUsageFlags::VERTEX_BUFFER)?;
    for (offset, left) in [(0, -1.0), (32, 0.0)] {
        let all = (0..4).flat_map(|n| corner(left, n));
        corners.write(offset, &all.collect::<Vec<_>>());
    }
    let all = ORDER.iter().flat_map(|n| corner(-1.0, *n));
    corners.write(64, &all.collect::<Vec<_>>());
    let indices = s.buffer_for(64, vk::BufferUsageFlags::INDEX_BUFFER)?;
    let all = ORDER.iter().flat_map(|n| n.to_le_bytes());
    indices.write(4, &all.collect::<Vec<_>>());
    Ok(Patches {
        pipeline: s.graphics(&draw)?,
        layout,
        set_layout,
        set,
        corners,
        indices,
    })
}

/// Bytes of a colour as shaders read it.
fn scaled(colour: [u8; 4]) -> Vec<u8> {
    let scaled = colour.map(|c| (f32::from(c) / 255.0).to_le_bytes());
    scaled.concat()
}

impl Patches {
    /// Draws patches, from nothing; each sets only what is not as before.
    unsafe fn draw(&self, s: &Scope<'_>, commands: vk::CommandBuffer, patches: &[Patch]) {
        let device = s.device();
        let point = vk::PipelineBindPoint::GRAPHICS;
        device.cmd_bind_pipeline(commands, point, self.pipeline);
        let mut before = None::<Patch>;
        for patch in patches {
            let differs =
                |same: fn(&Patch, &Patch) -> bool| !before.is_some_and(|b| same(&b, patch));
            if differs(|a, b| a.viewport == b.viewport) {
                let [x, y, width, height] = patch.viewport.map(|v| v as f32);
                let (min_depth, max_depth) = (0.0, 1.0);
                let viewport = vk::Viewport {
                    x,
                    y,
                    width,
                    height,
                    min_depth,
                    max_depth,
                };
                device.cmd_set_viewport(commands, 0, &[viewport]);
            }
            if differs(|a, b| a.scissor == b.scissor) {
                let [x, y, width, height] = patch.scissor;
                let scissor = vk::Rect2D {
                    offset: vk::Offset2D { x, y },
                    extent: vk::Extent2D {
                        width: width as u32,
                        height: height as u32,
                    },
                };
                device.cmd_set_scissor(commands, 0, &[scissor]);
            }
            if differs(|a, b| a.base == b.base) {
                let offsets = [256 * patch.base as u32];
                device.cmd_bind_descriptor_sets(
                    commands,
                    point,
                    self.layout,
                    0,
                    &[self.set],
                    &offsets,
                );
            }
            if differs(|a, b| a.tint == b.tint) {
                let stages = vk::ShaderStageFlags::FRAGMENT;
                let tint = scaled(patch.tint);
                device.cmd_push_constants(commands, self.layout, stages, 0, &tint);
            }
            let offset = match (patch.indexed, patch.right_half) {
                (true, false) => 0,
                (true, true) => 32,
                (false, _) => 64,
            };
            device.cmd_bind_vertex_buffers(commands, 0, &[self.corners.handle], &[offset]);
            match patch.indexed {
                true => {
                    let indices = self.indices.handle;
                    device.cmd_bind_index_buffer(commands, indices, 4, vk::IndexType::UINT16);
                    device.cmd_draw_indexed(commands, 6, 1, 0, 0, 0);
                }
                false => device.cmd_draw(commands, 6, 1, 0, 0),
            }
            before = Some(*patch);
        }
    }
}

/// What patches make of a cleared attachment.
fn patched([width, height]: [u32; 2], patches: impl IntoIterator<Item = Patch>) -> Vec<u8> {
    let mut all = [51_u8, 102, 153, 255].repeat((width * height) as usize);
    for patch in patches {
        let [mut left, top, right, bottom] = {
            let [x, y, w, h] = patch.viewport;
            [x, y, x + w, y + h]
        };
        if patch.right_half {
            left = (left + right) / 2;
        }
        let [x, y, w, h] = patch.scissor;
        for (at, pixel) in all.chunks_exact_mut(4).enumerate() {
            let (px, py) = ((at as u32 % width) as i32, (at as u32 / width) as i32);
            let inside = (left.max(x)..right.min(x + w)).contains(&px)
                && (top.max(y)..bottom.min(y + h)).contains(&py);
            if inside {
                let added = patch.tint.into_iter().zip(BASES[patch.base]);
                for (to, (tint, base)) in pixel.iter_mut().zip(added) {
                    *to = to.saturating_add(tint + base);
                }
            }
        }
    }
    all
}

/// Secondary command buffers inside of rendering: executed several times in one pass, and in
/// another one of another size, after the layouts that they were recorded with are gone.
unsafe fn secondary(s: &Scope<'_>) -> anyhow::Result<()> {
    let device = s.device();
    let load = vk::AttachmentLoadOp::CLEAR;
    let commands = once(s)?;
    let first = target(s, commands)?;
    let patches = patches(s, &first)?;
    s.render(commands, &first, load);
    for list in PATCHES {
        patches.draw(s, commands, list);
    }
    let got = finish(s, commands, &first, "in the primary")?;
    let all = || PATCHES.into_iter().flatten().copied();
    s.report
        .check("in the primary", &got, &patched(SIZE, all()))?;

    let mut secondaries = Vec::new();
    for list in PATCHES {
        let pool = s.command_pool(vk::CommandPoolCreateFlags::empty())?;
        let commands = s.allocate(pool, vk::CommandBufferLevel::SECONDARY, 1)?[0];
        let formats = [vk::Format::R8G8B8A8_UNORM];
        let mut rendering = vk::CommandBufferInheritanceRenderingInfo::default()
            .color_attachment_formats(&formats)
            .rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let inheritance = vk::CommandBufferInheritanceInfo::default().push_next(&mut rendering);
        let info = vk::CommandBufferBeginInfo::default()
            .flags(
                vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE
                    | vk::CommandBufferUsageFlags::SIMULTANEOUS_USE,
            )
            .inheritance_info(&inheritance);
        device.begin_command_buffer(commands, &info)?;
        patches.draw(s, commands, list);
        device.end_command_buffer(commands)?;
        secondaries.push(commands);
    }
    device.destroy_pipeline_layout(patches.layout, None);
    device.destroy_descriptor_set_layout(patches.set_layout, None);

    for (name, size) in [("twice", SIZE), ("in a smaller pass", [41, 37])] {
        let commands = once(s)?;
        let target = Target {
            size,
            samples: vk::SampleCountFlags::TYPE_1,
            colour: vec![s.colour(vk::Format::R8G8B8A8_UNORM, 4, size, GREY, commands)?],
            depth: None,
        };
        let flags = vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS;
        s.render_with(commands, &target, load, flags);
        device.cmd_execute_commands(commands, &secondaries);
        device.cmd_execute_commands(commands, &secondaries);
        let got = finish(s, commands, &target, name)?;
        s.report
            .check(name, &got, &patched(size, all().chain(all())))?;
    }
    Ok(())
}
