// SPDX-License-Identifier: MIT
//! Records of fixed-function state (graphics, 6), used again while nothing that they depend on changes.
//!
//! A record is of a pipeline, of the state that commands set, of the pass, whose scissors and depth biases
//! it names, and of the fragment shader's launch program. The last records of a few pipelines are kept; when
//! only the launch program is another one, as after push constants, or only viewport and scissor are, a record
//! is a copy with these replaced.

use agx_hw::depth_bias::DepthBias;
use agx_hw::ppp::{
    Compare, Cull, Face, Face2, Fragment, FragmentControl, FragmentControl2, Indices as Entries,
    LineWidth, ObjectType, Outputs, PassType, PolygonMode, RECORD_SIZE, Record as State,
    RegionClip, Stencil, StencilOp, Template, VaryingCounts, Viewport, Viewports, Visibility,
    WClamp,
};
use agx_hw::scissor::Scissor;
use agx_hw::vdm::{Primitive, Update};
use agx_hw::window::{CodeAddress, ContextAddress, LauncherAddress};
use agx_hw::{depth_bias, scissor};
use ash::vk;

use super::buffer::CommandBuffer;
use super::changes::Time;
use super::chunk::Use;
use super::render::Pass;
use crate::debug;
use crate::error::{self, VkResult};
use crate::host::push;
use crate::pipeline::{self, GraphicsPipeline, MAX_VIEWPORTS};

/// Slots of the table of records.
const SLOTS: usize = 4;

/// How many of the last scissors of a pass are used again.
const RECENT: usize = 32;

/// Records that were written.
#[derive(Default)]
pub(super) struct Records {
    slots: [Option<Kept>; SLOTS],
    /// The slot that is overwritten next.
    next: usize,
}

/// A record that was written.
struct Kept {
    /// Whose: never read, and alive as long as the command buffer may be recorded.
    pipeline: *const GraphicsPipeline,
    at: Time,
    fragment: LauncherAddress,
    written: Written,
    /// Its depth bias in the array of the pass.
    depth_bias: u16,
    template: Template,
}

/// Where a record lies.
#[derive(Clone, Copy)]
pub(super) struct Written {
    pub(super) record: ContextAddress,
    /// The piece of its viewports, if they are several.
    pub(super) viewports: Option<Update>,
}

impl Kept {
    /// Whether it is a pipeline's, and still right.
    fn is_of(&self, pipeline: *const GraphicsPipeline, changed: Time) -> bool {
        std::ptr::eq(self.pipeline, pipeline) && self.at >= changed
    }
}

impl Records {
    /// Where a pipeline's record is, or is to be.
    fn slot(&mut self, pipeline: *const GraphicsPipeline) -> usize {
        let is_its = |slot: &Option<Kept>| {
            let kept = slot.as_ref();
            kept.is_some_and(|kept| std::ptr::eq(kept.pipeline, pipeline))
        };
        let known = self.slots.iter().position(is_its);
        known.unwrap_or_else(|| {
            self.next = (self.next + 1) % SLOTS;
            self.next
        })
    }
}

impl CommandBuffer {
    /// The record of fixed-function state.
    pub(super) fn fixed_state(
        &mut self,
        pipeline: &GraphicsPipeline,
        fragment: LauncherAddress,
    ) -> VkResult<Written> {
        let drawing = &mut self.drawing;
        let slot = drawing.records.slot(pipeline);
        let kept = drawing.records.slots[slot].as_ref();
        let kept = kept.filter(|kept| kept.is_of(pipeline, drawing.state_changed));
        let is_moved = kept.is_some_and(|kept| kept.at < drawing.viewports_changed);
        match kept {
            Some(kept) if !is_moved && kept.fragment == fragment => Ok(kept.written),
            Some(_) if !is_moved || viewport_count(&drawing.state, pipeline) == 1 => {
                self.write_changed(fragment, slot)
            }
            _ => {
                let kept = self.write_state(pipeline, fragment)?;
                let written = kept.written;
                self.drawing.records.slots[slot] = Some(kept);
                Ok(written)
            }
        }
    }

    /// Writes a record that differs from the one before in its launch program, or in its only viewport.
    fn write_changed(&mut self, fragment: LauncherAddress, slot: usize) -> VkResult<Written> {
        let piece = self.take(Use::Context, RECORD_SIZE, 64)?;
        let drawing = &mut self.drawing;
        let (Some(kept), Some(pass)) = (&mut drawing.records.slots[slot], &mut drawing.pass) else {
            return Err(vk::Result::ERROR_UNKNOWN);
        };
        if kept.at < drawing.viewports_changed {
            let (viewport, scissor) = placed(pass, &drawing.state, 0)?;
            kept.template.set_viewport(&viewport);
            kept.template.set_indices(Entries {
                scissor: scissors_at(pass, &[scissor])?,
                depth_bias: kept.depth_bias,
            });
        }
        kept.template.set_launcher(fragment);
        // SAFETY: just taken.
        let bytes = unsafe { piece.bytes() };
        kept.template.write(bytes).map_err(error::record)?;
        kept.fragment = fragment;
        kept.at = drawing.bound.changes.now();
        kept.written.record = ContextAddress::new(piece.address).map_err(error::record)?;
        Ok(kept.written)
    }

    /// Writes the record of a pipeline.
    fn write_state(
        &mut self,
        pipeline: &GraphicsPipeline,
        fragment: LauncherAddress,
    ) -> VkResult<Kept> {
        let mut state = self.state_record(pipeline, fragment)?;
        // Several viewports do not fit into a record and lie behind it (graphics, 7.2).
        let several = match state.viewports.0.as_slice() {
            [first, _, ..] => {
                let one = Viewports::one(*first);
                Some(std::mem::replace(&mut state.viewports, one))
            }
            _ => None,
        };
        let words = several.as_ref().map_or(0, Viewports::words);
        let piece = self.take(Use::Context, RECORD_SIZE + 4 * words, 64)?;
        // SAFETY: just taken.
        let (bytes, behind) = unsafe { piece.bytes() }.split_at_mut(RECORD_SIZE);
        let template = Template::new(&state).map_err(error::record)?;
        template.write(bytes).map_err(error::record)?;
        let viewports = match several {
            Some(several) => {
                several.pack(behind).map_err(error::record)?;
                let at = ContextAddress::new(piece.address + RECORD_SIZE as u64);
                let update = at.and_then(|at| Update::new(at, words as u8));
                Some(update.map_err(error::record)?)
            }
            None => None,
        };
        Ok(Kept {
            pipeline,
            at: self.drawing.bound.changes.now(),
            fragment,
            depth_bias: state.indices.depth_bias,
            written: Written {
                record: ContextAddress::new(piece.address).map_err(error::record)?,
                viewports,
            },
            template,
        })
    }

    fn state_record(
        &mut self,
        pipeline: &GraphicsPipeline,
        fragment: LauncherAddress,
    ) -> VkResult<State> {
        let drawing = &mut self.drawing;
        let state = &drawing.state;
        let Some(pass) = &mut drawing.pass else {
            return Err(vk::Result::ERROR_UNKNOWN);
        };
        let has_depth = pass.rendering.tested_depth().is_some();
        let has_stencil = pass.rendering.tested_stencil().is_some();
        let info = &pipeline.fragment_info;
        let (viewports, entries) = viewports(pass, state, pipeline)?;
        let bias = state.depth_bias_enable && state.topology_is_filled();
        let depth_bias = match bias {
            true => {
                let [constant, clamp, slope] = state.depth_bias;
                let mut packed = [0; depth_bias::ENTRY_SIZE];
                let entry = DepthBias {
                    constant,
                    slope,
                    clamp,
                };
                entry.pack(&mut packed).map_err(error::record)?;
                index_of(&mut pass.depth_biases, packed)?
            }
            false => 0,
        };
        let depth_test = state.depth_test && has_depth;
        let face = |stencil: &pipeline::StencilFace| Face {
            reference: stencil.reference,
            line_width: LineWidth::new(state.line_width),
            polygon: pipeline.polygon,
            depth_write: depth_test && state.depth_write,
            depth: match depth_test {
                true => compare(state.depth_compare),
                false => Compare::Always,
            },
            stencil: match state.stencil_test && has_stencil {
                true => stencil_test(stencil),
                false => Stencil::default(),
            },
        };
        let object = match (state.topology, pipeline.polygon) {
            (Primitive::Points, _) => ObjectType::PointUv01,
            (Primitive::Lines | Primitive::LineStrip | Primitive::LineLoop, _) => ObjectType::Line,
            (_, PolygonMode::Fill) => ObjectType::Triangle,
            (_, PolygonMode::Line) => ObjectType::LineFilled,
            (_, PolygonMode::Point) => ObjectType::PointFilled,
        };
        let face2 = Face2 {
            polygon: pipeline.polygon,
            shader_depth: pipeline.shader_depth,
            object,
            ..Face2::default()
        };
        let outlines = pipeline.polygon != PolygonMode::Fill;
        let many = pipeline.samples != agx_hw::launcher::Samples::One;
        let translucent = info.reads_tile
            || many
            || pipeline.shows_below
            || !info.writes_colour && info.has_side_effects;
        let (occlusion, visibility) = drawing.occlusion.unwrap_or((0, Visibility::None));
        Ok(State {
            varyings: VaryingCounts::all(pipeline.outputs.scalars),
            fragment: Fragment {
                bindings: pipeline.bindings,
                table: CodeAddress::new(pipeline.table.address()).map_err(error::record)?,
                launcher: fragment,
                resources: Fragment::resources(pipeline.outputs.scalars),
            },
            outputs: Outputs::new(&pipeline.outputs, info.uses_frag_z).map_err(error::record)?,
            control: FragmentControl {
                visibility,
                occlusion,
                scissor: true,
                depth_bias: bias,
                stencil: state.stencil_test && has_stencil,
                no_tag_write: state.discard,
                no_merge: outlines,
                front: face(&state.stencil[0]),
                back: face(&state.stencil[1]),
            },
            control2: FragmentControl2 {
                visibility,
                no_tag_write: state.discard,
                no_merge: info.late_tests
                    || info.needs_helpers
                    || info.has_side_effects
                    || object != ObjectType::Triangle,
                pass: PassType::new(translucent, info.late_tests),
                front: face2,
                back: face2,
                colour: info.writes_colour,
            },
            viewports,
            w_clamp: WClamp {
                primitive_id: info.uses_primitive_id,
                discard: state.discard,
                ..WClamp::default()
            },
            cull: Cull {
                front: state.cull.contains(vk::CullModeFlags::FRONT),
                back: state.cull.contains(vk::CullModeFlags::BACK),
                provoking: pipeline.provoking,
                depth_clip: pipeline.depth_clip,
                depth_clamp: pipeline.depth_clamp,
                primitive_msaa: object == ObjectType::Line && pipeline.bresenham,
                front_counter_clockwise: state.front == vk::FrontFace::COUNTER_CLOCKWISE,
                discard: state.discard,
            },
            indices: Entries {
                scissor: entries,
                depth_bias,
            },
        })
    }
}

impl pipeline::State {
    /// Whether triangles are drawn: only they have a depth bias.
    fn topology_is_filled(&self) -> bool {
        matches!(
            self.topology,
            Primitive::Triangles | Primitive::TriangleStrip | Primitive::TriangleFan
        )
    }
}

/// How many viewports a pipeline's draws have: one, unless its shader chooses.
fn viewport_count(state: &pipeline::State, pipeline: &GraphicsPipeline) -> usize {
    match pipeline.vertex_info.viewport {
        true => state.viewports.len().clamp(1, MAX_VIEWPORTS),
        false => 1,
    }
}

/// Viewports with their scissors' first index.
fn viewports(
    pass: &mut Pass,
    state: &pipeline::State,
    pipeline: &GraphicsPipeline,
) -> VkResult<(Viewports, u16)> {
    let mut all = Viewports(Default::default());
    let mut scissors = arrayvec::ArrayVec::<_, MAX_VIEWPORTS>::new();
    for at in 0..viewport_count(state, pipeline) {
        let (viewport, scissor) = placed(pass, state, at)?;
        all.0.push(viewport);
        scissors.push(scissor);
    }
    Ok((all, scissors_at(pass, &scissors)?))
}

/// A viewport with its scissor's entry; nothing is drawn where none was set.
fn placed(
    pass: &Pass,
    state: &pipeline::State,
    at: usize,
) -> VkResult<(Viewport, [u8; scissor::ENTRY_SIZE])> {
    let viewport = state.viewports.get(at).copied().unwrap_or_default();
    let rectangle = state.scissors.get(at).copied().unwrap_or_default();
    let (min, max) = bounds(pass, &viewport, rectangle);
    let transform = Viewport::new(
        [viewport.x, viewport.y],
        [viewport.width, viewport.height],
        [viewport.min_depth, viewport.max_depth],
        RegionClip::of_pixels(min, max).map_err(error::record)?,
    );
    Ok((transform, scissor_entry(&viewport, min, max)?))
}

/// The scissor between two corners, with the depths of a viewport.
fn scissor_entry(
    viewport: &vk::Viewport,
    min: [u16; 2],
    max: [u16; 2],
) -> VkResult<[u8; scissor::ENTRY_SIZE]> {
    let depth = [viewport.min_depth, viewport.max_depth];
    let depth = match depth[0] <= depth[1] {
        true => depth,
        false => [depth[1], depth[0]],
    };
    let entry = Scissor::new(min, max, depth).map_err(error::record)?;
    let mut packed = [0; scissor::ENTRY_SIZE];
    entry.pack(&mut packed).map_err(error::record)?;
    Ok(packed)
}

/// The index of the first of a draw's scissors, which follow one another in the array of a pass.
fn scissors_at(pass: &mut Pass, entries: &[[u8; scissor::ENTRY_SIZE]]) -> VkResult<u16> {
    // Those of long ago are not looked for: that would take longer with each.
    let old = pass.scissors.len().saturating_sub(RECENT);
    let known = pass.scissors[old..]
        .windows(entries.len())
        .rposition(|known| known == entries);
    let first = match known {
        Some(first) => old + first,
        None => {
            let first = pass.scissors.len();
            for entry in entries {
                push(&mut pass.scissors, *entry)?;
            }
            first
        }
    };
    if first + entries.len() > scissor::MAX_ENTRIES {
        debug::error(&"more scissors than a pass can have");
        return Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
    }
    Ok(first as u16)
}

/// The pixels that a draw may touch: in the viewport, the scissor, and the area that is rendered.
fn bounds(pass: &Pass, viewport: &vk::Viewport, rectangle: vk::Rect2D) -> ([u16; 2], [u16; 2]) {
    let area = pass.rendering.area;
    let axis = |axis: usize, view: [f32; 2], cut: [i64; 2], within: [i64; 2]| {
        let size = pass.size[axis];
        let (low, high) = (f64::from(view[0]), f64::from(view[0]) + f64::from(view[1]));
        let (low, high) = (low.min(high), low.max(high));
        // Of what is not negative a conversion is the floor.
        let clamped = |value: f64| value.clamp(0.0, size.into());
        let ceiling = |value: f64| value as u16 + u16::from(f64::from(value as u16) < value);
        let inside = |value: i64| value.clamp(0, size.into()) as u16;
        let min = (clamped(low) as u16)
            .max(inside(cut[0]))
            .max(inside(within[0]));
        let max = ceiling(clamped(high))
            .min(inside(cut[1]))
            .min(inside(within[1]));
        (min, max)
    };
    let span =
        |offset: i32, extent: u32| [i64::from(offset), i64::from(offset) + i64::from(extent)];
    let x = axis(
        0,
        [viewport.x, viewport.width],
        span(rectangle.offset.x, rectangle.extent.width),
        span(area.offset.x, area.extent.width),
    );
    let y = axis(
        1,
        [viewport.y, viewport.height],
        span(rectangle.offset.y, rectangle.extent.height),
        span(area.offset.y, area.extent.height),
    );
    if x.0 >= x.1 || y.0 >= y.1 {
        // Empty (graphics, 7.4; HW).
        return ([0; 2], [0; 2]);
    }
    ([x.0, y.0], [x.1, y.1])
}

/// The index of an entry in the array of a pass; a new one unless the last is the same.
fn index_of<const SIZE: usize>(
    all: &mut crate::host::HostVec<[u8; SIZE]>,
    entry: [u8; SIZE],
) -> VkResult<u16> {
    if all.last() != Some(&entry) {
        push(all, entry)?;
    }
    u16::try_from(all.len() - 1).map_err(|_| {
        debug::error(&"more depth biases than a pass can have");
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
    })
}

fn compare(op: vk::CompareOp) -> Compare {
    match op {
        vk::CompareOp::LESS => Compare::Less,
        vk::CompareOp::EQUAL => Compare::Equal,
        vk::CompareOp::LESS_OR_EQUAL => Compare::LessOrEqual,
        vk::CompareOp::GREATER => Compare::Greater,
        vk::CompareOp::NOT_EQUAL => Compare::NotEqual,
        vk::CompareOp::GREATER_OR_EQUAL => Compare::GreaterOrEqual,
        vk::CompareOp::ALWAYS => Compare::Always,
        _ => Compare::Never,
    }
}

fn stencil_op(op: vk::StencilOp) -> StencilOp {
    match op {
        vk::StencilOp::ZERO => StencilOp::Zero,
        vk::StencilOp::REPLACE => StencilOp::Replace,
        vk::StencilOp::INCREMENT_AND_CLAMP => StencilOp::IncrementClamp,
        vk::StencilOp::DECREMENT_AND_CLAMP => StencilOp::DecrementClamp,
        vk::StencilOp::INVERT => StencilOp::Invert,
        vk::StencilOp::INCREMENT_AND_WRAP => StencilOp::IncrementWrap,
        vk::StencilOp::DECREMENT_AND_WRAP => StencilOp::DecrementWrap,
        _ => StencilOp::Keep,
    }
}

fn stencil_test(face: &pipeline::StencilFace) -> Stencil {
    Stencil {
        write_mask: face.write_mask,
        read_mask: face.compare_mask,
        pass: stencil_op(face.pass),
        depth_fail: stencil_op(face.depth_fail),
        fail: stencil_op(face.fail),
        compare: compare(face.compare),
    }
}
