// SPDX-License-Identifier: MIT
//! Small scenes, whose pixels are the same on every driver: where Vulkan defines the result, exactly.

use ash::vk;

use super::scenario;
use crate::picture::{Draw, Target};
use crate::scenario::Scenario;
use crate::scope::{Buffer, Scope};

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("draw.clear", clear),
    scenario("draw.triangle", triangle),
    scenario("draw.vertex_buffers", vertex_buffers),
    scenario("draw.indexed", indexed),
    scenario("draw.depth", depth),
    scenario("draw.blend", blend),
    scenario("draw.secondary", secondary),
];

const SIZE: [u32; 2] = [75, 43];
const GREY: vk::ClearColorValue = vk::ClearColorValue {
    float32: [0.2, 0.4, 0.6, 1.0],
};

/// One colour attachment.
unsafe fn target(s: &Scope<'_>, commands: vk::CommandBuffer) -> anyhow::Result<Target> {
    Ok(Target {
        size: SIZE,
        samples: vk::SampleCountFlags::TYPE_1,
        colour: vec![s.colour(vk::Format::R8G8B8A8_UNORM, 4, SIZE, GREY, commands)?],
        depth: None,
    })
}

unsafe fn once(s: &Scope<'_>) -> anyhow::Result<vk::CommandBuffer> {
    s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)
}

/// Runs commands and reports the first colour attachment.
unsafe fn finish(
    s: &Scope<'_>,
    commands: vk::CommandBuffer,
    target: &Target,
    name: &str,
) -> anyhow::Result<Vec<u8>> {
    s.device().cmd_end_rendering(commands);
    let back = s.read_back(commands, target.colour[0].image)?;
    s.finish(commands)?;
    s.report.result(name, back.bytes());
    Ok(back.bytes())
}

/// A triangle from nothing but the number of the vertex.
const CORNERS: &str = "
vec2 corners[3] = vec2[](vec2(-0.8, -0.9), vec2(0.9, -0.1), vec2(-0.3, 0.8));
void main() { gl_Position = vec4(corners[gl_VertexIndex % 3], 0.5, 1.0); }
";
const RED: &str = "
layout(location = 0) out vec4 colour;
void main() { colour = vec4(1.0, 0.0, 0.0, 1.0); }
";

unsafe fn clear(s: &Scope<'_>) -> anyhow::Result<()> {
    let commands = once(s)?;
    let target = target(s, commands)?;
    s.render(commands, &target, vk::AttachmentLoadOp::CLEAR);
    let got = finish(s, commands, &target, "cleared")?;
    let expected = [51, 102, 153, 255].repeat((SIZE[0] * SIZE[1]) as usize);
    s.report.check("cleared", &got, &expected)
}

unsafe fn triangle(s: &Scope<'_>) -> anyhow::Result<()> {
    let commands = once(s)?;
    let target = target(s, commands)?;
    let pipeline = s.graphics(&Draw::new(&target, CORNERS, RED))?;
    s.render(commands, &target, vk::AttachmentLoadOp::CLEAR);
    let device = s.device();
    device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
    device.cmd_draw(commands, 3, 1, 0, 0);
    finish(s, commands, &target, "triangle").map(drop)
}

/// Positions and flat colours from two buffers, one by vertex, one by instance.
unsafe fn vertex_buffers(s: &Scope<'_>) -> anyhow::Result<()> {
    let commands = once(s)?;
    let target = target(s, commands)?;
    let vertex = "
layout(location = 0) in vec2 at;
layout(location = 1) in vec4 tint;
layout(location = 2) in vec2 offset;
layout(location = 0) flat out vec4 colour;
void main() { gl_Position = vec4(at + offset, 0.0, 1.0); colour = tint; }
";
    let fragment = "
layout(location = 0) flat in vec4 tint;
layout(location = 0) out vec4 colour;
void main() { colour = tint; }
";
    let mut draw = Draw::new(&target, vertex, fragment);
    draw.bindings = vec![
        vk::VertexInputBindingDescription {
            binding: 0,
            stride: 8,
            input_rate: vk::VertexInputRate::VERTEX,
        },
        vk::VertexInputBindingDescription {
            binding: 2,
            stride: 12,
            input_rate: vk::VertexInputRate::INSTANCE,
        },
    ];
    let attribute = |location, binding, format, offset| vk::VertexInputAttributeDescription {
        location,
        binding,
        format,
        offset,
    };
    draw.attributes = vec![
        attribute(0, 0, vk::Format::R32G32_SFLOAT, 0),
        attribute(1, 2, vk::Format::R8G8B8A8_UNORM, 8),
        attribute(2, 2, vk::Format::R32G32_SFLOAT, 0),
    ];
    let pipeline = s.graphics(&draw)?;
    let usage = vk::BufferUsageFlags::VERTEX_BUFFER;
    let corners = [[-0.9_f32, -0.9], [-0.2, -0.9], [-0.5, 0.1]];
    let at = s.buffer_for(24, usage)?;
    at.write(
        0,
        &corners
            .concat()
            .iter()
            .flat_map(|f| f.to_le_bytes())
            .collect::<Vec<_>>(),
    );
    let instances = s.buffer_for(48, usage)?;
    for (index, (offset, colour)) in [
        ([9.0_f32, 9.0], [1, 2, 3, 4]),
        ([0.0, 0.0], [255_u8, 0, 0, 255]),
        ([0.7, 0.3], [0, 255, 0, 128]),
        ([1.0, 0.9], [0, 0, 255, 0]),
    ]
    .into_iter()
    .enumerate()
    {
        let mut bytes = offset.map(f32::to_le_bytes).concat();
        bytes.extend(colour);
        instances.write(12 * index, &bytes);
    }
    s.render(commands, &target, vk::AttachmentLoadOp::CLEAR);
    let device = s.device();
    device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
    device.cmd_bind_vertex_buffers(commands, 0, &[at.handle], &[0]);
    device.cmd_bind_vertex_buffers(commands, 2, &[instances.handle], &[0]);
    device.cmd_draw(commands, 3, 3, 0, 1);
    finish(s, commands, &target, "instances").map(drop)
}

/// Indices of 16 and 32 bits, with a base vertex and restarts.
unsafe fn indexed(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = "
vec2 grid(int i) { return vec2(float(i % 5) * 0.4 - 0.8, float(i / 5) * 0.5 - 0.75); }
void main() { gl_Position = vec4(grid(gl_VertexIndex), 0.0, 1.0); }
";
    for (name, topology, wide, indices, base) in [
        (
            "list",
            vk::PrimitiveTopology::TRIANGLE_LIST,
            false,
            &[0_u32, 1, 5, 3, 4, 9, 12, 18, 11][..],
            0,
        ),
        (
            "strip with restarts",
            vk::PrimitiveTopology::TRIANGLE_STRIP,
            true,
            &[
                100,
                105,
                101,
                106,
                u32::MAX,
                103,
                104,
                108,
                109,
                113,
                u32::MAX,
                110,
                116,
            ],
            -100,
        ),
        (
            "fan",
            vk::PrimitiveTopology::TRIANGLE_FAN,
            false,
            &[7, 1, 3, 9, 13, 11, 5],
            0,
        ),
    ] {
        let commands = once(s)?;
        let target = target(s, commands)?;
        let mut draw = Draw::new(&target, vertex, RED);
        draw.topology = topology;
        draw.restart = topology != vk::PrimitiveTopology::TRIANGLE_LIST;
        let pipeline = s.graphics(&draw)?;
        let bytes: Vec<u8> = match wide {
            true => indices.iter().flat_map(|i| i.to_le_bytes()).collect(),
            false => indices
                .iter()
                .flat_map(|i| (*i as u16).to_le_bytes())
                .collect(),
        };
        let buffer = s.buffer_for(64 + bytes.len() as u64, vk::BufferUsageFlags::INDEX_BUFFER)?;
        buffer.write(8, &bytes);
        s.render(commands, &target, vk::AttachmentLoadOp::CLEAR);
        let device = s.device();
        device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
        let (kind, size) = match wide {
            true => (vk::IndexType::UINT32, 4),
            false => (vk::IndexType::UINT16, 2),
        };
        device.cmd_bind_index_buffer(commands, buffer.handle, 8 - size, kind);
        device.cmd_draw_indexed(commands, indices.len() as u32, 1, 1, base, 0);
        finish(s, commands, &target, name)?;
    }
    Ok(())
}

/// Triangles that hide one another, and what the depth attachment holds.
unsafe fn depth(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = "
layout(location = 0) flat out vec4 colour;
void main() {
    float z[3] = float[](0.75, 0.25, 0.5);
    vec4 tints[3] = vec4[](vec4(1, 0, 0, 1), vec4(0, 1, 0, 1), vec4(0, 0, 1, 1));
    vec2 corners[3] = vec2[](vec2(-0.9, -0.8), vec2(0.7, -0.6), vec2(-0.2, 0.9));
    int n = gl_InstanceIndex;
    gl_Position = vec4(corners[gl_VertexIndex] + vec2(float(n) * 0.15, float(n) * -0.1), z[n], 1.0);
    colour = tints[n];
}
";
    let fragment = "
layout(location = 0) flat in vec4 tint;
layout(location = 0) out vec4 colour;
void main() { colour = tint; }
";
    for (format, bytes) in [(vk::Format::D32_SFLOAT, 4), (vk::Format::D16_UNORM, 2)] {
        for compare in [
            vk::CompareOp::LESS,
            vk::CompareOp::GREATER_OR_EQUAL,
            vk::CompareOp::ALWAYS,
        ] {
            let commands = once(s)?;
            let mut target = target(s, commands)?;
            let value = vk::ClearDepthStencilValue {
                depth: 0.5,
                stencil: 0,
            };
            target.depth = Some(s.depth_stencil(format, SIZE, value, commands)?);
            let mut draw = Draw::new(&target, vertex, fragment);
            draw.depth = draw
                .depth
                .depth_test_enable(true)
                .depth_write_enable(true)
                .depth_compare_op(compare);
            let pipeline = s.graphics(&draw)?;
            s.render(commands, &target, vk::AttachmentLoadOp::CLEAR);
            let device = s.device();
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
            device.cmd_draw(commands, 3, 3, 0, 0);
            device.cmd_end_rendering(commands);
            let colour = s.read_back(commands, target.colour[0].image)?;
            let Some(attachment) = target.depth else {
                continue;
            };
            let depth = s.read_back(commands, attachment.image)?;
            s.finish(commands)?;
            let name = format!("{format:?} {compare:?}");
            s.report.result(&format!("{name}: colour"), colour.bytes());
            if bytes == 4 {
                s.report.result(&format!("{name}: depth"), depth.bytes());
            }
        }
    }
    Ok(())
}

/// Blending whose results are exact: factors of zero and one, minimum, maximum, write masks.
unsafe fn blend(s: &Scope<'_>) -> anyhow::Result<()> {
    use vk::{BlendFactor as F, BlendOp as O};
    let state = |src, dst, op, mask| vk::PipelineColorBlendAttachmentState {
        blend_enable: vk::TRUE,
        src_color_blend_factor: src,
        dst_color_blend_factor: dst,
        color_blend_op: op,
        src_alpha_blend_factor: src,
        dst_alpha_blend_factor: dst,
        alpha_blend_op: op,
        color_write_mask: mask,
    };
    let all = vk::ColorComponentFlags::RGBA;
    let fragment = "
layout(location = 0) out vec4 colour;
void main() { colour = vec4(1.0, 0.0, 0.2, 1.0); }
";
    for (at, state) in [
        state(F::ONE, F::ONE, O::ADD, all),
        state(F::ONE, F::ONE, O::SUBTRACT, all),
        state(F::ONE, F::ONE, O::REVERSE_SUBTRACT, all),
        state(F::ZERO, F::ONE, O::MIN, all),
        state(F::ZERO, F::ZERO, O::MAX, all),
        state(F::SRC_ALPHA, F::ONE_MINUS_SRC_ALPHA, O::ADD, all),
        state(
            F::ONE,
            F::ZERO,
            O::ADD,
            vk::ColorComponentFlags::G | vk::ColorComponentFlags::A,
        ),
        state(F::ZERO, F::SRC_COLOR, O::ADD, all),
    ]
    .into_iter()
    .enumerate()
    {
        let commands = once(s)?;
        let target = target(s, commands)?;
        let mut draw = Draw::new(&target, CORNERS, fragment);
        draw.blend = vec![state];
        let pipeline = s.graphics(&draw)?;
        s.render(commands, &target, vk::AttachmentLoadOp::CLEAR);
        let device = s.device();
        device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
        device.cmd_draw(commands, 3, 1, 0, 0);
        finish(s, commands, &target, &format!("blend {at}"))?;
    }
    Ok(())
}

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
