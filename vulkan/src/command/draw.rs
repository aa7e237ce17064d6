// SPDX-License-Identifier: MIT
//! Draws: a launch program for either stage, a record of fixed-function state, and the draw itself in the
//! vertex stream (graphics, 3.10).
//!
//! Programs and record are used again while nothing they depend on changes. What stands in front of a draw
//! in the stream is kept, too: every draw has all of it, as in proven streams (3.10; HW), and whether
//! hardware would keep it from draw to draw is not known. A draw after no change is a copy of 100 bytes.

use std::ptr::NonNull;

use agx_hw::ppp::{Kind, Visibility};
use agx_hw::vdm::{
    Draw, IndexSize, Indices, IndirectAddress, Record, Template as Front, VertexState, Vertices,
};
use agx_hw::window::{CodeAddress, LauncherAddress};
use ash::vk;

use super::bound::Bound;
use super::buffer::CommandBuffer;
use super::changes::Time;
use super::chunk::{CHUNK, Use};
use super::fixed_state::Records;
use super::launchers::Launchers;
use super::render::Pass;
use super::replay::record_inside;
use crate::buffer::Buffer;
use crate::debug;
use crate::error::{self, VkResult};
use crate::object;
use crate::pipeline::{self, Dynamic, GraphicsPipeline, MAX_VERTEX_BUFFERS, Pipeline};

/// Bytes of a draw with everything in front of it: a restart index, and the draw.
const DRAW: usize = Front::SIZE + 8 + Record::MAX_SIZE;
/// Where in front of a draw the update with its viewports is.
const VIEWPORTS: usize = VertexState::SIZE + 8 * Kind::Viewports as usize;

/// What draws use.
pub(super) struct Drawing {
    pub(super) bound: Bound,
    pub(super) pipeline: Option<NonNull<Pipeline>>,
    /// When it was bound.
    pipeline_bound: Time,
    pub(super) state: pipeline::State,
    pub(super) vertex_buffers: [VertexBuffer; MAX_VERTEX_BUFFERS],
    pub(super) index_buffer: Option<IndexBuffer>,
    /// The pass that is being recorded.
    pub(super) pass: Option<Pass>,
    /// When state of records changed that is not of their pipeline, but for viewports and scissors.
    pub(super) state_changed: Time,
    /// When these changed.
    pub(super) viewports_changed: Time,
    /// When vertex buffers or their strides changed.
    pub(super) buffers_changed: Time,
    pub(super) blend_constants_changed: Time,
    /// The counter that draws count for, and how.
    pub(super) occlusion: Option<(u16, Visibility)>,
    /// Constants of a draw of the driver itself, in place of those that were pushed.
    pub(super) own_constants: Option<[u32; 4]>,
    pub(super) launchers: Launchers,
    pub(super) records: Records,
    /// What stands in front of the next draw.
    front: [u8; Front::SIZE],
    /// What it was made for, if it may be used again.
    ready: Option<Ready>,
}

/// What the front of a draw was made for.
struct Ready {
    at: Time,
    launchers: [LauncherAddress; 2],
    /// What shaders were told of the draw, if they want to know.
    parameters: Option<Parameters>,
}

impl Ready {
    /// Whether it is right for a draw, as far as shaders know draws.
    #[inline]
    fn is_for(&self, parameters: &Parameters) -> bool {
        self.parameters.is_none_or(|known| known == *parameters)
    }
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
        let bound = Bound::default();
        let now = bound.changes.now();
        Drawing {
            bound,
            pipeline: None,
            pipeline_bound: now,
            state: pipeline::State::default(),
            vertex_buffers: [VertexBuffer::default(); MAX_VERTEX_BUFFERS],
            index_buffer: None,
            pass: None,
            state_changed: now,
            viewports_changed: now,
            buffers_changed: now,
            blend_constants_changed: now,
            occlusion: None,
            own_constants: None,
            launchers: Launchers::default(),
            records: Records::default(),
            front: [0; Front::SIZE],
            ready: None,
        }
    }
}

impl Drawing {
    /// Nothing that was written is used again: it is of another pass.
    pub(super) fn forget(&mut self) {
        self.launchers = Launchers::default();
        self.records = Records::default();
        self.ready = None;
        self.state_changed();
    }

    /// Nothing is bound or set any more; the pass goes on.
    pub(super) fn unbind(&mut self) {
        *self = Drawing {
            pass: self.pass.take(),
            occlusion: self.occlusion,
            ..Drawing::default()
        };
    }

    /// Viewports or scissors changed.
    pub(super) fn viewports_changed(&mut self) {
        self.viewports_changed = self.bound.changes.change();
    }

    /// State of records changed that is neither viewports nor scissors.
    pub(super) fn state_changed(&mut self) {
        self.state_changed = self.bound.changes.change();
    }

    /// Vertex buffers or their strides changed.
    pub(super) fn buffers_changed(&mut self) {
        self.buffers_changed = self.bound.changes.change();
    }

    /// Blend constants changed.
    pub(super) fn blend_constants_changed(&mut self) {
        self.blend_constants_changed = self.bound.changes.change();
    }

    /// Binds a pipeline.
    pub(super) fn bind(&mut self, pipeline: &Pipeline) {
        let at = NonNull::from(pipeline);
        let changed = self.state_changed.max(self.viewports_changed);
        if self.pipeline == Some(at) && self.pipeline_bound >= changed {
            return;
        }
        self.pipeline = Some(at);
        self.pipeline_bound = self.bound.changes.change();
        let Some(graphics) = pipeline.graphics() else {
            return;
        };
        let (of, dynamic) = (&graphics.state, graphics.dynamic);
        // Records and strides are of a pipeline anyway; these are not.
        if !dynamic.contains(Dynamic::BLEND_CONSTANTS)
            && of.blend_constants != self.state.blend_constants
        {
            self.blend_constants_changed = self.pipeline_bound;
        }
        self.state.bind(of, dynamic);
    }

    fn graphics<'a>(&self) -> Option<&'a GraphicsPipeline> {
        // SAFETY: a pipeline lives as long as command buffers use it.
        let pipeline: &'a Pipeline = unsafe { self.pipeline?.as_ref() };
        pipeline.graphics()
    }

    /// Whether what stands in front of draws is right for one.
    #[inline]
    fn is_ready(&self, parameters: &Parameters) -> bool {
        let ready = self.ready.as_ref();
        ready.is_some_and(|ready| ready.at == self.bound.changes.now() && ready.is_for(parameters))
    }

    /// The launch programs of the draw before, if they are right for one that follows.
    #[inline]
    fn launchers_again(&self, parameters: &Parameters) -> Option<[LauncherAddress; 2]> {
        let changed = (self.bound.changes.bound())
            .max(self.pipeline_bound)
            .max(self.buffers_changed)
            .max(self.blend_constants_changed);
        let ready = self.ready.as_ref();
        let again = ready.filter(|ready| ready.at >= changed && ready.is_for(parameters));
        again.map(|ready| ready.launchers)
    }
}

impl CommandBuffer {
    /// Draws, once for each view.
    pub(super) fn draw(&mut self, vertices: Vertices, parameters: Parameters) -> VkResult {
        if self.drawing.is_ready(&parameters) {
            return self.write_draw(vertices);
        }
        let Some(mut pipeline) = self.drawing.graphics() else {
            debug::error(&"a draw without a graphics pipeline");
            return Err(vk::Result::ERROR_UNKNOWN);
        };
        let Some(pass) = &self.drawing.pass else {
            debug::error(&"a draw outside of rendering");
            return Err(vk::Result::ERROR_UNKNOWN);
        };
        // Those of the driver are for the attachments as they are in the tile.
        let is_own = self.drawing.own_constants.is_some();
        let merged = pass.rendering.merged.as_ref();
        if !is_own && !pipeline.is_for(merged) {
            let other = pipeline.elsewhere(self.device(), merged)?;
            // SAFETY: it lives as long as the pipeline that is bound.
            pipeline = unsafe { other.as_ref() };
        }
        let [view] = &pipeline.views[..] else {
            for view in &pipeline.views {
                let launchers = self.launchers(pipeline, view, parameters)?;
                self.write_front(pipeline, launchers)?;
                self.write_draw(vertices)?;
            }
            // The next draw begins with the first again.
            self.drawing.ready = None;
            return Ok(());
        };
        let launchers = match self.drawing.launchers_again(&parameters) {
            Some(launchers) => launchers,
            None => self.launchers(pipeline, view, parameters)?,
        };
        self.write_front(pipeline, launchers)?;
        self.drawing.ready = Some(Ready {
            at: self.drawing.bound.changes.now(),
            launchers,
            parameters: view.tells_of_draws().then_some(parameters),
        });
        self.write_draw(vertices)
    }

    /// Makes what stands in front of a draw.
    fn write_front(
        &mut self,
        pipeline: &GraphicsPipeline,
        [vertex, fragment]: [LauncherAddress; 2],
    ) -> VkResult {
        let written = self.fixed_state(pipeline, fragment)?;
        let front = &mut self.drawing.front;
        let made = pipeline.front.write(vertex, written.record, front);
        made.map_err(error::record)?;
        if let Some(several) = written.viewports {
            let made = Record::Update(several).pack(&mut front[VIEWPORTS..]);
            made.map_err(error::record)?;
        }
        Ok(())
    }

    /// Writes a draw and what stands in front of it.
    fn write_draw(&mut self, vertices: Vertices) -> VkResult {
        let has_room = |pass: &Pass| pass.has_room(DRAW);
        if !self.drawing.pass.as_ref().is_some_and(has_room) {
            let chunk = self.take(Use::Context, CHUNK as usize, 64)?;
            if let Some(pass) = &mut self.drawing.pass {
                pass.go_on(chunk)?;
            }
        }
        let drawing = &mut self.drawing;
        let Some(pass) = &mut drawing.pass else {
            return Ok(());
        };
        let room = pass.rest();
        let (front, rest) = room.split_at_mut(Front::SIZE);
        front.copy_from_slice(&drawing.front);
        let mut size = 0;
        if let Vertices::Indexed { indices, .. } | Vertices::IndexedIndirect { indices, .. } =
            vertices
        {
            // All bits of an index (Vulkan 1.3, 20.1).
            let restart = Record::Restart(match indices.size {
                IndexSize::U8 => 0xff,
                IndexSize::U16 => 0xffff,
                IndexSize::U32 => u32::MAX,
            });
            size += restart.pack(rest).map_err(error::record)?;
        }
        let draw = Record::Draw(Draw {
            primitive: drawing.state.topology,
            vertices,
        });
        size += draw.pack(&mut rest[size..]).map_err(error::record)?;
        pass.advance(Front::SIZE + size);
        Ok(())
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
