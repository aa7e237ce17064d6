// SPDX-License-Identifier: MIT
//! Draws with few changes between them, in an order that is drawn by lot: what a driver keeps from draw to
//! draw must be what the draw would have made itself.
//!
//! Each draw colours a cell of the picture with the sum of what it can read: its vertex, push constants of
//! either stage, a uniform buffer of each of two sets. Numbers are whole bytes, so that sums are exact.

use std::cell::Cell;

use ash::vk;

use super::pictures::{Picture, SIDE};
use super::scenario;
use crate::picture::Draw;
use crate::scenario::Scenario;
use crate::scope::{Buffer, Scope};

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("reuse.order", order),
    scenario("reuse.passes", passes),
    scenario("reuse.indirect", indirect),
];

/// Pixels of a cell's side.
const CELL: u32 = 4;
/// Cells of the picture's side.
const CELLS: u32 = SIDE / CELL;
/// Buffers of uniforms, each with as many colours as a dynamic offset can choose.
const UNIFORMS: usize = 3;
/// Colours in a buffer of uniforms, and the bytes between them: any device's alignment.
const COLOURS: u32 = 4;
const APART: u32 = 256;
/// Vertices of a cell.
const CORNERS: u32 = 4;

/// A cell's corner, by its instance.
const PLACE: &str = "
vec4 place() {
    vec2 cell = vec2(gl_InstanceIndex % 16, gl_InstanceIndex / 16);
    vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1 & 1);
    return vec4((cell + corner) / 8.0 - 1.0, 0.5, 1.0);
}
";

/// The vertex's colour is pushed.
const PUSHED: &str = "
layout(push_constant) uniform P { vec4 tint; };
layout(location = 0) flat out vec4 colour;
void main() { gl_Position = place(); colour = tint; }
";

/// The vertex's colour is of two buffers.
const BUFFERED: &str = "
layout(location = 0) in vec4 first;
layout(location = 1) in vec4 second;
layout(location = 0) flat out vec4 colour;
void main() { gl_Position = place(); colour = first + second; }
";

/// Reads everything.
const SUM: &str = "
layout(location = 0) flat in vec4 colour;
layout(push_constant) uniform P { layout(offset = 16) vec4 tint; };
layout(set = 0, binding = 0) uniform A { vec4 a; };
layout(set = 1, binding = 0) uniform B { vec4 b; };
layout(location = 0) out vec4 result;
void main() { result = colour + tint + a + b; }
";

/// Reads one set alone.
const ONE_SET: &str = "
layout(location = 0) flat in vec4 colour;
layout(set = 1, binding = 0) uniform B { vec4 b; };
layout(location = 0) out vec4 result;
void main() { result = colour + b; }
";

/// Numbers by lot (Knuth's MMIX generator), the same on every driver.
struct Lot(u64);

impl Lot {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = (self.0)
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(end)) as u32
    }

    /// A colour of bytes that can be added four times.
    fn colour(&mut self) -> [f32; 4] {
        [(); 4].map(|()| self.below(51) as f32 / 255.0)
    }
}

/// What draws choose from.
struct Supply {
    layout: vk::PipelineLayout,
    /// With whether commands set their blend constants.
    pipelines: Vec<(vk::Pipeline, bool)>,
    /// The one that is bound.
    bound: Cell<usize>,
    /// Of the first set layout, then of the second, with dynamic offsets.
    sets: [Vec<vk::DescriptorSet>; 2],
    vertices: Buffer,
    arguments: Buffer,
}

/// Bytes of colours.
fn bytes_of(colours: &[[f32; 4]]) -> Vec<u8> {
    let floats = colours.as_flattened().iter();
    floats.flat_map(|value| value.to_le_bytes()).collect()
}

impl Supply {
    unsafe fn new(s: &Scope<'_>, picture: &Picture<'_, '_>, lot: &mut Lot) -> anyhow::Result<Self> {
        use vk::DescriptorType as T;
        let types = [T::UNIFORM_BUFFER, T::UNIFORM_BUFFER_DYNAMIC];
        let mut layouts = Vec::new();
        for ty in types {
            layouts.push(Self::set_layout(s, ty)?);
        }
        let mut sets = [Vec::new(), Vec::new()];
        for _ in 0..UNIFORMS {
            let usage = vk::BufferUsageFlags::UNIFORM_BUFFER;
            let uniforms = s.buffer_for(u64::from(COLOURS * APART), usage)?;
            for at in 0..COLOURS {
                uniforms.write((at * APART) as usize, &bytes_of(&[lot.colour()]));
            }
            for ((sets, layout), ty) in sets.iter_mut().zip(&layouts).zip(types) {
                let set = s.set(*layout)?;
                s.write(set, 0, ty, 0, &[uniforms.part(0, 16)]);
                sets.push(set);
            }
        }
        let ranges = [
            (vk::ShaderStageFlags::VERTEX, 0),
            (vk::ShaderStageFlags::FRAGMENT, 16),
        ]
        .map(|(stage_flags, offset)| vk::PushConstantRange {
            stage_flags,
            offset,
            size: 16,
        });
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&layouts)
            .push_constant_ranges(&ranges);
        let layout = s.device().create_pipeline_layout(&info, None)?;
        s.at_end(move |device| device.destroy_pipeline_layout(layout, None));

        let colours: Vec<_> = (0..16 * CORNERS).map(|_| lot.colour()).collect();
        let bytes = bytes_of(&colours);
        let vertices = s.buffer_for(bytes.len() as u64, vk::BufferUsageFlags::VERTEX_BUFFER)?;
        vertices.write(0, &bytes);
        let arguments = s.buffer_for(
            u64::from(16 * CELLS * CELLS),
            vk::BufferUsageFlags::INDIRECT_BUFFER,
        )?;
        for cell in 0..CELLS * CELLS {
            let words = [CORNERS, 1, 0, cell].map(u32::to_le_bytes);
            arguments.write(16 * cell as usize, words.as_flattened());
        }
        Ok(Supply {
            layout,
            pipelines: Self::pipelines(s, picture, layout)?,
            bound: Cell::new(0),
            sets,
            vertices,
            arguments,
        })
    }

    unsafe fn set_layout(
        s: &Scope<'_>,
        ty: vk::DescriptorType,
    ) -> anyhow::Result<vk::DescriptorSetLayout> {
        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(ty)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::FRAGMENT)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let layout = s.device().create_descriptor_set_layout(&info, None)?;
        s.at_end(move |device| device.destroy_descriptor_set_layout(layout, None));
        Ok(layout)
    }

    /// Pipelines that share shaders, or what they are bound to, but not both.
    unsafe fn pipelines(
        s: &Scope<'_>,
        picture: &Picture<'_, '_>,
        layout: vk::PipelineLayout,
    ) -> anyhow::Result<Vec<(vk::Pipeline, bool)>> {
        use vk::DynamicState as D;
        let (pushed, buffered) = ([PLACE, PUSHED].concat(), [PLACE, BUFFERED].concat());
        let plain = |vertex| {
            let mut draw = picture.quads(vertex);
            draw.fragment = Some(SUM);
            draw.layout = layout;
            draw.dynamic = vec![D::SCISSOR];
            draw
        };
        let with_buffers = |stride| {
            let mut draw: Draw<'_> = plain(&buffered);
            for binding in 0..2 {
                draw.bindings.push(vk::VertexInputBindingDescription {
                    binding,
                    // The second is of the instance: all corners alike.
                    stride,
                    input_rate: match binding {
                        0 => vk::VertexInputRate::VERTEX,
                        _ => vk::VertexInputRate::INSTANCE,
                    },
                });
                draw.attributes.push(vk::VertexInputAttributeDescription {
                    location: binding,
                    binding,
                    format: vk::Format::R32G32B32A32_SFLOAT,
                    offset: 0,
                });
            }
            draw
        };
        let mut all = vec![plain(&pushed), with_buffers(0), with_buffers(16)];
        // The instance's number is up to 255: it must not read behind the buffer.
        all[2].bindings[1].stride = 0;
        let mut one_set = plain(&pushed);
        one_set.fragment = Some(ONE_SET);
        all.push(one_set);
        let mut blended = plain(&pushed);
        for blend in &mut blended.blend {
            blend.blend_enable = vk::TRUE;
            blend.src_color_blend_factor = vk::BlendFactor::CONSTANT_COLOR;
            blend.src_alpha_blend_factor = vk::BlendFactor::ONE;
        }
        blended.dynamic.push(D::BLEND_CONSTANTS);
        all.push(blended);
        let mut of_its_own = all[4].clone();
        of_its_own.dynamic.pop();
        of_its_own.constants = [0.0, 1.0, 1.0, 1.0];
        all.push(of_its_own);
        let mut masked = plain(&pushed);
        masked.blend[0].color_write_mask = vk::ColorComponentFlags::G;
        all.push(masked);
        let mut pipelines = Vec::new();
        for draw in &all {
            let is_set = draw.dynamic.contains(&D::BLEND_CONSTANTS);
            pipelines.push((s.graphics(draw)?, is_set));
        }
        Ok(pipelines)
    }

    /// Binds and sets everything: no command buffer begins with anything.
    unsafe fn begin(&self, picture: &Picture<'_, '_>, lot: &mut Lot) {
        for change in 0..CHANGES {
            self.change(picture, lot, change);
        }
        self.bind_set(picture, lot, 0);
        self.bind_set(picture, lot, 1);
        self.push(picture, lot, false);
        self.push(picture, lot, true);
    }

    unsafe fn bind_set(&self, picture: &Picture<'_, '_>, lot: &mut Lot, number: u32) {
        let set = self.sets[number as usize][lot.below(UNIFORMS as u32) as usize];
        let offset = [lot.below(COLOURS) * APART];
        picture.s.device().cmd_bind_descriptor_sets(
            picture.commands,
            vk::PipelineBindPoint::GRAPHICS,
            self.layout,
            number,
            &[set],
            &offset[..number as usize],
        );
    }

    unsafe fn push(&self, picture: &Picture<'_, '_>, lot: &mut Lot, fragment: bool) {
        let (stage, offset) = match fragment {
            false => (vk::ShaderStageFlags::VERTEX, 0),
            true => (vk::ShaderStageFlags::FRAGMENT, 16),
        };
        let colour = bytes_of(&[lot.colour()]);
        let device = picture.s.device();
        device.cmd_push_constants(picture.commands, self.layout, stage, offset, &colour);
    }

    /// Changes something, of [`CHANGES`] kinds.
    unsafe fn change(&self, picture: &Picture<'_, '_>, lot: &mut Lot, kind: u32) {
        let (device, commands) = (picture.s.device(), picture.commands);
        match kind {
            0 => {
                let next = lot.below(self.pipelines.len() as u32) as usize;
                self.bound.set(next);
                let graphics = vk::PipelineBindPoint::GRAPHICS;
                device.cmd_bind_pipeline(commands, graphics, self.pipelines[next].0);
                // A pipeline without the state leaves it undefined for those with it.
                self.change(picture, lot, 4);
            }
            1 => {
                let number = lot.below(2);
                self.bind_set(picture, lot, number);
            }
            2 => {
                let fragment = lot.below(2) == 1;
                self.push(picture, lot, fragment);
            }
            3 => {
                let first = lot.below(2);
                let offsets = [(); 2].map(|()| u64::from(lot.below(15) * CORNERS * 16));
                let count = 2 - first as usize;
                let buffers = [self.vertices.handle; 2];
                device.cmd_bind_vertex_buffers(
                    commands,
                    first,
                    &buffers[..count],
                    &offsets[..count],
                );
            }
            4 => {
                let constants = [(); 4].map(|()| lot.below(2) as f32);
                if self.pipelines[self.bound.get()].1 {
                    device.cmd_set_blend_constants(commands, &constants);
                }
            }
            _ => {
                let (x, y) = (lot.below(2), lot.below(2));
                let extent = vk::Extent2D {
                    width: SIDE - 2 * x,
                    height: SIDE - y,
                };
                let offset = vk::Offset2D {
                    x: x as i32,
                    y: y as i32,
                };
                device.cmd_set_scissor(commands, 0, &[vk::Rect2D { offset, extent }]);
            }
        }
    }
}

/// Kinds of changes.
const CHANGES: u32 = 6;

/// Draws all cells, with none to three changes before each; between passes, if there are several, and from
/// memory, if arguments are.
unsafe fn cells(s: &Scope<'_>, seed: u64, passes: u32, indirect: bool) -> anyhow::Result<()> {
    let mut lot = Lot(seed);
    let picture = Picture::plain(s)?;
    let supply = Supply::new(s, &picture, &mut lot)?;
    let (device, commands) = (s.device(), picture.commands);
    picture.clear();
    supply.begin(&picture, &mut lot);
    for cell in 0..CELLS * CELLS {
        if cell != 0 && cell % (CELLS * CELLS / passes) == 0 {
            device.cmd_end_rendering(commands);
            picture.begin(vk::AttachmentLoadOp::LOAD);
        }
        for _ in 0..lot.below(4) {
            let kind = lot.below(CHANGES);
            supply.change(&picture, &mut lot, kind);
        }
        match indirect && lot.below(2) == 0 {
            true => {
                let offset = u64::from(16 * cell);
                device.cmd_draw_indirect(commands, supply.arguments.handle, offset, 1, 16);
            }
            false => device.cmd_draw(commands, CORNERS, 1, 0, cell),
        }
    }
    picture.end(&format!("seed {seed}"))?;
    Ok(())
}

unsafe fn order(s: &Scope<'_>) -> anyhow::Result<()> {
    (1..5).try_for_each(|seed| cells(s, seed, 1, false))
}

unsafe fn passes(s: &Scope<'_>) -> anyhow::Result<()> {
    (5..8).try_for_each(|seed| cells(s, seed, 8, false))
}

unsafe fn indirect(s: &Scope<'_>) -> anyhow::Result<()> {
    (8..11).try_for_each(|seed| cells(s, seed, 2, true))
}
