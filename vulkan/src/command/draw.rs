// SPDX-License-Identifier: MIT
//! Draws: a launch program for either stage, a record of fixed-function state, and the draw itself in the
//! vertex stream (graphics, 3.10). Programs and record are used again while nothing they depend on changes.

use std::ptr::NonNull;

use agx_hw::depth_bias::DepthBias;
use agx_hw::ppp::{
    Compare, Cull, Face, Face2, Fragment, FragmentControl, FragmentControl2, Indices as Entries,
    Kind, LineWidth, ObjectType, Outputs, PassType, PolygonMode, RECORD_SIZE, Record as State,
    RegionClip, Stencil, StencilOp, VaryingCounts, Viewport, Viewports, Visibility, WClamp,
};
use agx_hw::scissor::Scissor;
use agx_hw::vdm::{
    Draw, IndexSize, Indices, IndirectAddress, Primitive, Record, Update, VertexState, Vertices,
};
use agx_hw::window::{CodeAddress, ContextAddress, LauncherAddress};
use agx_hw::{depth_bias, scissor};
use ash::vk;

use super::bound::Bound;
use super::buffer::CommandBuffer;
use super::chunk::{CHUNK, Use};
use super::dispatch::put_words;
use super::render::Pass;
use super::replay::record_inside;
use super::root::Special;
use crate::buffer::Buffer;
use crate::debug;
use crate::error::{self, VkResult};
use crate::host::push;
use crate::object;
use crate::pipeline::{self, GraphicsPipeline, MAX_VERTEX_BUFFERS, Pipeline, View};

/// Bytes of a draw with everything in front of it.
const DRAW: usize = 28 + 9 * 8 + 8 + 28;

/// What draws use.
pub(super) struct Drawing {
    pub(super) bound: Bound,
    pub(super) pipeline: Option<NonNull<Pipeline>>,
    pub(super) state: pipeline::State,
    pub(super) vertex_buffers: [VertexBuffer; MAX_VERTEX_BUFFERS],
    pub(super) index_buffer: Option<IndexBuffer>,
    /// The pass that is being recorded.
    pub(super) pass: Option<Pass>,
    /// Whether state changed since the record was written.
    pub(super) state_changed: bool,
    /// Whether vertex buffers changed since the programs were written.
    pub(super) buffers_changed: bool,
    /// The counter that draws count for, and how.
    pub(super) occlusion: Option<(u16, Visibility)>,
    /// Constants of a draw of the driver itself, in place of those that were pushed.
    pub(super) own_constants: Option<[u32; 4]>,
    record: Option<ContextAddress>,
    /// The piece of its viewports, if they are several.
    viewports: Option<Update>,
    launchers: Option<[LauncherAddress; 2]>,
    parameters: Option<Parameters>,
}

/// A vertex buffer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct VertexBuffer {
    pub(super) address: u64,
    pub(super) size: u32,
}

/// An index buffer, at its address in the execution window.
#[derive(Clone, Copy, Debug)]
pub(super) struct IndexBuffer {
    pub(super) address: u64,
    pub(super) size: u64,
    pub(super) index: IndexSize,
}

/// What shaders may ask about a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parameters {
    /// Base vertex and base instance.
    pub(super) bases: Bases,
    /// The number of the draw among those of its command.
    pub(super) number: u32,
}

/// Base vertex and base instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bases {
    /// They are these.
    Values([u32; 2]),
    /// They are at an address: of an indirect draw.
    At(u64),
}

impl Parameters {
    /// Those of a direct draw.
    pub(super) fn of_values(base_vertex: u32, base_instance: u32) -> Parameters {
        Parameters {
            bases: Bases::Values([base_vertex, base_instance]),
            number: 0,
        }
    }
}

impl Default for Drawing {
    fn default() -> Drawing {
        Drawing {
            bound: Bound::default(),
            pipeline: None,
            state: pipeline::State::default(),
            vertex_buffers: [VertexBuffer::default(); MAX_VERTEX_BUFFERS],
            index_buffer: None,
            pass: None,
            state_changed: true,
            buffers_changed: true,
            occlusion: None,
            own_constants: None,
            record: None,
            viewports: None,
            launchers: None,
            parameters: None,
        }
    }
}

impl Drawing {
    /// Nothing that was written is used again: it is of another pass.
    pub(super) fn forget(&mut self) {
        self.record = None;
        self.launchers = None;
        self.state_changed = true;
    }

    /// Nothing is bound or set any more; the pass goes on.
    pub(super) fn unbind(&mut self) {
        self.bound = Bound::default();
        self.pipeline = None;
        self.state = pipeline::State::default();
        self.vertex_buffers = [VertexBuffer::default(); MAX_VERTEX_BUFFERS];
        self.index_buffer = None;
        self.buffers_changed = true;
        self.forget();
    }

    /// Binds a pipeline.
    pub(super) fn bind(&mut self, pipeline: &Pipeline) {
        self.pipeline = Some(NonNull::from(pipeline));
        if let Some(graphics) = pipeline.graphics() {
            self.state.bind(&graphics.state, graphics.dynamic);
        }
        self.state_changed = true;
        self.buffers_changed = true;
    }

    fn graphics<'a>(&self) -> Option<&'a GraphicsPipeline> {
        // SAFETY: a pipeline lives as long as command buffers use it.
        let pipeline: &'a Pipeline = unsafe { self.pipeline?.as_ref() };
        pipeline.graphics()
    }
}

impl CommandBuffer {
    /// Draws, once for each view.
    pub(super) fn draw(&mut self, vertices: Vertices, parameters: Parameters) -> VkResult {
        let Some(pipeline) = self.drawing.graphics() else {
            debug::error(&"a draw without a graphics pipeline");
            return Err(vk::Result::ERROR_UNKNOWN);
        };
        if self.drawing.pass.is_none() {
            debug::error(&"a draw outside of rendering");
            return Err(vk::Result::ERROR_UNKNOWN);
        }
        let [view] = &pipeline.views[..] else {
            for view in &pipeline.views {
                // Programs of the view before are not its own.
                self.drawing.launchers = None;
                self.draw_view(pipeline, view, vertices, parameters)?;
            }
            self.drawing.launchers = None;
            return Ok(());
        };
        self.draw_view(pipeline, view, vertices, parameters)
    }

    fn draw_view(
        &mut self,
        pipeline: &GraphicsPipeline,
        view: &View,
        vertices: Vertices,
        parameters: Parameters,
    ) -> VkResult {
        let [vertex, fragment] = self.programs(pipeline, view, parameters)?;
        let state = self.fixed_state(pipeline, fragment)?;
        let primitive = self.drawing.state.topology;
        let outputs = pipeline.outputs.words().map_err(error::record)?;
        let restart = match vertices {
            Vertices::Indexed { indices, .. } | Vertices::IndexedIndirect { indices, .. } => {
                // All bits of an index (Vulkan 1.3, 20.1).
                Some(match indices.size {
                    IndexSize::U8 => 0xff,
                    IndexSize::U16 => 0xffff,
                    IndexSize::U32 => u32::MAX,
                })
            }
            _ => None,
        };
        let has_room = |pass: &Pass| pass.has_room(DRAW);
        if !self.drawing.pass.as_ref().is_some_and(has_room) {
            let chunk = self.take(Use::Context, CHUNK as usize, 64)?;
            if let Some(pass) = &mut self.drawing.pass {
                pass.go_on(chunk)?;
            }
        }
        let Some(pass) = &mut self.drawing.pass else {
            return Ok(());
        };
        pass.write(Record::Vertex(VertexState {
            launcher: vertex,
            outputs,
            provoking: pipeline.provoking,
            primitive_id: pipeline.fragment_info.uses_primitive_id,
        }))?;
        let updates = State::updates(state).map_err(error::record)?;
        for (update, kind) in updates.into_iter().zip(Kind::ALL) {
            let several = self.drawing.viewports.filter(|_| kind == Kind::Viewports);
            pass.write(Record::Update(several.unwrap_or(update)))?;
        }
        if let Some(restart) = restart {
            pass.write(Record::Restart(restart))?;
        }
        pass.write(Record::Draw(Draw {
            primitive,
            vertices,
        }))
    }

    /// The launch programs of both stages.
    fn programs(
        &mut self,
        pipeline: &GraphicsPipeline,
        view: &View,
        parameters: Parameters,
    ) -> VkResult<[LauncherAddress; 2]> {
        let drawing = &self.drawing;
        let uses = &view.vertex.uses;
        let known = drawing.parameters;
        let same = (!uses.draw_parameters || known.map(|p| p.bases) == Some(parameters.bases))
            && (!uses.draw_number || known.map(|p| p.number) == Some(parameters.number));
        if let Some(launchers) = drawing.launchers
            && same
            && !drawing.bound.changed
            && !drawing.buffers_changed
        {
            return Ok(launchers);
        }
        let vertex_buffers = match uses.vertex_buffers {
            true => self.vertex_buffer_table(pipeline.vertex_buffers)?,
            false => 0,
        };
        let draw_parameters = match parameters.bases {
            Bases::At(address) => address,
            Bases::Values(values) if uses.draw_parameters => self.words(&values)?,
            Bases::Values(_) => 0,
        };
        let draw_number = match uses.draw_number {
            true => self.words(&[parameters.number])?,
            false => 0,
        };
        let blend_constants = match view.fragment.uses.blend_constants {
            true => self.words(&self.drawing.state.blend_constants.map(f32::to_bits))?,
            false => 0,
        };
        let mut launchers = [None; 2];
        let own_constants = self
            .drawing
            .own_constants
            .map(|words| words.map(u32::to_le_bytes));
        for (program, launcher) in [&view.vertex, &view.fragment]
            .into_iter()
            .zip(&mut launchers)
        {
            let (textures, samplers) = self.graphics_binding_tables(program)?;
            let special = Special {
                textures,
                samplers,
                vertex_buffers,
                draw_parameters,
                draw_number,
                blend_constants,
                constants: own_constants.as_ref().map(|bytes| bytes.as_flattened()),
            };
            *launcher = Some(self.write_root(program, &special)?);
        }
        let [Some(vertex), Some(fragment)] = launchers else {
            unreachable!("both were written");
        };
        let drawing = &mut self.drawing;
        drawing.launchers = Some([vertex, fragment]);
        drawing.parameters = Some(parameters);
        drawing.bound.changed = false;
        drawing.buffers_changed = false;
        // The record names the fragment's.
        drawing.record = None;
        Ok([vertex, fragment])
    }

    /// Memory with words that a shader reads; its address.
    fn words(&mut self, words: &[u32]) -> VkResult<u64> {
        let piece = self.take(Use::Data, 4 * words.len(), 16)?;
        // SAFETY: just taken.
        put_words(unsafe { piece.bytes() }, words);
        Ok(piece.address)
    }

    fn vertex_buffer_table(&mut self, count: usize) -> VkResult<u64> {
        let piece = self.take(Use::Data, (16 * count).max(16), 16)?;
        // SAFETY: just taken.
        let bytes = unsafe { piece.bytes() };
        let drawing = &self.drawing;
        let buffers = drawing.vertex_buffers.iter().zip(drawing.state.strides);
        for ((buffer, stride), to) in buffers.zip(bytes.chunks_exact_mut(16)) {
            let [low, high] = [buffer.address as u32, (buffer.address >> 32) as u32];
            put_words(to, &[low, high, buffer.size, stride]);
        }
        Ok(piece.address)
    }

    /// The record of fixed-function state.
    fn fixed_state(
        &mut self,
        pipeline: &GraphicsPipeline,
        fragment: LauncherAddress,
    ) -> VkResult<ContextAddress> {
        if let Some(record) = self.drawing.record
            && !self.drawing.state_changed
        {
            return Ok(record);
        }
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
        state.pack(bytes).map_err(error::record)?;
        self.drawing.viewports = None;
        if let Some(several) = several {
            several.pack(behind).map_err(error::record)?;
            let at = ContextAddress::new(piece.address + RECORD_SIZE as u64);
            let update = at.and_then(|at| Update::new(at, words as u8));
            self.drawing.viewports = Some(update.map_err(error::record)?);
        }
        let record = ContextAddress::new(piece.address).map_err(error::record)?;
        self.drawing.record = Some(record);
        self.drawing.state_changed = false;
        Ok(record)
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
        let has_depth = pass.rendering.depth.is_some();
        let has_stencil = pass.rendering.stencil.is_some();
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
        let translucent = info.reads_tile || many || !info.writes_colour && info.has_side_effects;
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

    /// The index buffer's part that a draw may read.
    pub(super) fn indices(&self, first: u32, count: Option<u32>) -> VkResult<Option<Indices>> {
        let Some(buffer) = self.drawing.index_buffer else {
            debug::error(&"an indexed draw without an index buffer");
            return Ok(None);
        };
        let skip = u64::from(first) * u64::from(buffer.index.bytes());
        let left = buffer.size.saturating_sub(skip);
        if left < u64::from(buffer.index.bytes()) {
            return Ok(None);
        }
        let address = CodeAddress::new(buffer.address + skip).map_err(error::record)?;
        let restart = self.drawing.state.restart;
        let made = match count {
            Some(count) => Indices::of_draw(address, buffer.index, restart, left, count),
            None => Indices::new(address, buffer.index, restart, left),
        };
        made.map(Some).map_err(error::record)
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

/// Viewports with their scissors' first index.
fn viewports(
    pass: &mut Pass,
    state: &pipeline::State,
    pipeline: &GraphicsPipeline,
) -> VkResult<(Viewports, u16)> {
    let count = match pipeline.vertex_info.viewport {
        true => state.viewports.len().max(1),
        false => 1,
    };
    let mut all = Viewports(Default::default());
    let mut packed_all = arrayvec::ArrayVec::<[u8; scissor::ENTRY_SIZE], 16>::new();
    for at in 0..count.min(16) {
        let viewport = state.viewports.get(at).copied().unwrap_or_default();
        let rectangle = state.scissors.get(at).copied().unwrap_or_default();
        let (min, max) = bounds(pass, &viewport, rectangle);
        let depth = [viewport.min_depth, viewport.max_depth];
        let depth = match depth[0] <= depth[1] {
            true => depth,
            false => [depth[1], depth[0]],
        };
        let entry = Scissor::new(min, max, depth).map_err(error::record)?;
        let mut packed = [0; scissor::ENTRY_SIZE];
        entry.pack(&mut packed).map_err(error::record)?;
        packed_all.push(packed);
        let region = RegionClip::of_pixels(min, max).map_err(error::record)?;
        all.0.push(Viewport::new(
            [viewport.x, viewport.y],
            [viewport.width, viewport.height],
            [viewport.min_depth, viewport.max_depth],
            region,
        ));
    }
    // Entries of one draw follow one another.
    let known = pass
        .scissors
        .windows(packed_all.len())
        .rposition(|entries| entries == &packed_all[..]);
    let first = match known {
        Some(first) => first,
        None => {
            let first = pass.scissors.len();
            for packed in packed_all {
                push(&mut pass.scissors, packed)?;
            }
            first
        }
    };
    if first + count > scissor::MAX_ENTRIES {
        debug::error(&"more scissors than a pass can have");
        return Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
    }
    Ok((all, first as u16))
}

/// The pixels that a draw may touch: in the viewport, the scissor, and the area that is rendered.
fn bounds(pass: &Pass, viewport: &vk::Viewport, rectangle: vk::Rect2D) -> ([u16; 2], [u16; 2]) {
    let area = pass.rendering.area;
    let clamp = |value: f64, axis: usize| value.clamp(0.0, pass.size[axis].into());
    let axis = |axis: usize, view: [f32; 2], cut: [i64; 2], within: [i64; 2]| {
        let (low, high) = (f64::from(view[0]), f64::from(view[0]) + f64::from(view[1]));
        let (low, high) = (low.min(high).floor(), low.max(high).ceil());
        let min = clamp(low, axis).max(clamp(cut[0] as f64, axis));
        let max = clamp(high, axis).min(clamp(cut[1] as f64, axis));
        let min = min.max(clamp(within[0] as f64, axis));
        let max = max.min(clamp(within[1] as f64, axis));
        (min as u16, max as u16)
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

/// vkCmdDraw.
pub(crate) unsafe extern "system" fn cmd_draw(
    buffer: vk::CommandBuffer,
    count: u32,
    instances: u32,
    first: u32,
    first_instance: u32,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record_inside("vkCmdDraw", buffer, move |this| {
            if count == 0 || instances == 0 {
                return Ok(());
            }
            let vertices = Vertices::Direct {
                first,
                count,
                instances,
            };
            this.draw(vertices, Parameters::of_values(first, first_instance))
        });
    }
}

/// vkCmdDrawIndexed.
pub(crate) unsafe extern "system" fn cmd_draw_indexed(
    buffer: vk::CommandBuffer,
    count: u32,
    instances: u32,
    first: u32,
    base: i32,
    first_instance: u32,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record_inside("vkCmdDrawIndexed", buffer, move |this| {
            if count == 0 || instances == 0 {
                return Ok(());
            }
            let Some(indices) = this.indices(first, Some(count))? else {
                return Ok(());
            };
            let vertices = Vertices::Indexed {
                indices,
                base,
                count,
                instances,
            };
            let parameters = Parameters::of_values(base.cast_unsigned(), first_instance);
            this.draw(vertices, parameters)
        });
    }
}

/// vkCmdDrawIndirect.
pub(crate) unsafe extern "system" fn cmd_draw_indirect(
    buffer: vk::CommandBuffer,
    arguments: vk::Buffer,
    offset: vk::DeviceSize,
    count: u32,
    stride: u32,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record_inside("vkCmdDrawIndirect", buffer, move |this| {
            let address = object::get::<Buffer>(arguments).address + offset;
            for number in 0..count {
                let address = address + u64::from(number) * u64::from(stride);
                let vertices = Vertices::Indirect {
                    arguments: IndirectAddress::new(address).map_err(error::record)?,
                };
                // First vertex and first instance are the last two of the arguments.
                let bases = Bases::At(address + 8);
                this.draw(vertices, Parameters { bases, number })?;
            }
            Ok(())
        });
    }
}

/// vkCmdDrawIndexedIndirect.
pub(crate) unsafe extern "system" fn cmd_draw_indexed_indirect(
    buffer: vk::CommandBuffer,
    arguments: vk::Buffer,
    offset: vk::DeviceSize,
    count: u32,
    stride: u32,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record_inside("vkCmdDrawIndexedIndirect", buffer, move |this| {
            let address = object::get::<Buffer>(arguments).address + offset;
            let Some(indices) = this.indices(0, None)? else {
                return Ok(());
            };
            for number in 0..count {
                let address = address + u64::from(number) * u64::from(stride);
                let vertices = Vertices::IndexedIndirect {
                    indices,
                    arguments: IndirectAddress::new(address).map_err(error::record)?,
                };
                let bases = Bases::At(address + 12);
                this.draw(vertices, Parameters { bases, number })?;
            }
            Ok(())
        });
    }
}
