// SPDX-License-Identifier: MIT
//! The launch programs of draws, used again while nothing that they depend on changes.
//!
//! Programs are kept in a table by the shader's address: draws that alternate between a few pipelines find
//! theirs again, and pipelines with a shader in common share what was written for it. A change of what
//! one stage alone uses writes that stage again, not the other.

use std::sync::Arc;

use agx_hw::window::LauncherAddress;

use super::buffer::CommandBuffer;
use super::changes::Time;
use super::chunk::Use;
use super::dispatch::put_words;
use super::draw::{Bases, Parameters};
use super::root::Special;
use crate::error::VkResult;
use crate::pipeline::{Dynamic, GraphicsPipeline, MAX_VERTEX_BUFFERS, View};
use crate::program::Program;

/// Slots of the table.
const SLOTS: usize = 8;

/// Launch programs that were written, and what they are made of.
#[derive(Default)]
pub(super) struct Launchers {
    slots: [Option<Written>; SLOTS],
    vertex_buffers: Option<VertexBuffers>,
    blend_constants: Option<Table>,
}

/// A launch program.
#[derive(Clone, Copy)]
struct Written {
    /// Whose: never read, and alive as long as the command buffer may be recorded.
    program: *const Program,
    launcher: LauncherAddress,
    at: Time,
    /// Of the draw that it was written for.
    parameters: Parameters,
    /// Its textures and samplers.
    tables: (u64, u64),
    tables_at: Time,
}

/// Words that shaders read.
#[derive(Clone, Copy)]
struct Table {
    address: u64,
    at: Time,
}

/// The table of vertex buffers, with what commands alone do not tell of it.
#[derive(Clone, Copy)]
struct VertexBuffers {
    table: Table,
    count: usize,
    strides: [u32; MAX_VERTEX_BUFFERS],
}

impl Written {
    /// Whether it holds for a draw's parameters.
    fn is_for(&self, program: &Program, parameters: &Parameters) -> bool {
        let uses = &program.uses;
        (!uses.draw_parameters || self.parameters.bases == parameters.bases)
            && (!uses.draw_number || self.parameters.number == parameters.number)
    }
}

/// The slot of a program.
fn slot(program: *const Program) -> usize {
    // Multiplication by the golden ratio spreads addresses that differ in few bits (Knuth, 6.4).
    let hash = (program.addr() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (hash >> (u64::BITS - SLOTS.ilog2())) as usize
}

impl CommandBuffer {
    /// The launch programs of both stages for a draw.
    pub(super) fn launchers(
        &mut self,
        pipeline: &GraphicsPipeline,
        view: &View,
        parameters: Parameters,
    ) -> VkResult<[LauncherAddress; 2]> {
        Ok([
            self.launcher_of(&view.vertex, pipeline, parameters)?,
            self.launcher_of(&view.fragment, pipeline, parameters)?,
        ])
    }

    fn launcher_of(
        &mut self,
        program: &Arc<Program>,
        pipeline: &GraphicsPipeline,
        parameters: Parameters,
    ) -> VkResult<LauncherAddress> {
        let uses = &program.uses;
        let mut last = self.drawing.bound.changes.of_record(uses);
        last = last.max(self.drawing.bound.changes.of_sets(uses.table_sets));
        let mut special = Special::default();
        if uses.vertex_buffers {
            let table = self.vertex_buffers(pipeline)?;
            (special.vertex_buffers, last) = (table.address, last.max(table.at));
        }
        if uses.blend_constants {
            let words = self.blend_constants()?;
            (special.blend_constants, last) = (words.address, last.max(words.at));
        }
        let address = Arc::as_ptr(program);
        let slot = slot(address);
        let known = self.drawing.launchers.slots[slot].filter(|known| known.program == address);
        if let Some(known) = known
            && known.at >= last
            && known.is_for(program, &parameters)
        {
            return Ok(known.launcher);
        }
        let now = self.drawing.bound.changes.now();
        let (tables, tables_at) = match known {
            Some(Written {
                tables, tables_at, ..
            }) if tables_at >= self.drawing.bound.changes.of_sets(uses.table_sets) => {
                (tables, tables_at)
            }
            _ => (self.graphics_binding_tables(program)?, now),
        };
        (special.textures, special.samplers) = tables;
        special.draw_parameters = match parameters.bases {
            Bases::At(address) => address,
            Bases::Values(values) if uses.draw_parameters => self.words(&values)?,
            Bases::Values(_) => 0,
        };
        if uses.draw_number {
            special.draw_number = self.words(&[parameters.number])?;
        }
        let own = self.drawing.own_constants;
        let own = own.map(|words| words.map(u32::to_le_bytes));
        special.constants = own.as_ref().map(|bytes| bytes.as_flattened());
        let launcher = self.write_root(program, &special)?;
        self.drawing.launchers.slots[slot] = Some(Written {
            program: address,
            launcher,
            at: now,
            parameters,
            tables,
            tables_at,
        });
        Ok(launcher)
    }

    /// Memory with words that a shader reads; its address.
    fn words(&mut self, words: &[u32]) -> VkResult<u64> {
        let piece = self.take(Use::Data, 4 * words.len(), 16)?;
        // SAFETY: just taken.
        put_words(unsafe { piece.bytes() }, words);
        Ok(piece.address)
    }

    fn blend_constants(&mut self) -> VkResult<Table> {
        let changed = self.drawing.blend_constants_changed;
        let known = self.drawing.launchers.blend_constants;
        if let Some(known) = known.filter(|known| known.at >= changed) {
            return Ok(known);
        }
        let constants = self.drawing.state.blend_constants.map(f32::to_bits);
        let words = Table {
            address: self.words(&constants)?,
            at: self.drawing.bound.changes.now(),
        };
        self.drawing.launchers.blend_constants = Some(words);
        Ok(words)
    }

    /// The table of the vertex buffers that a pipeline reads.
    fn vertex_buffers(&mut self, pipeline: &GraphicsPipeline) -> VkResult<Table> {
        let count = pipeline.vertex_buffers.min(MAX_VERTEX_BUFFERS);
        // Commands may set strides that the pipeline does not take from them.
        let strides = match pipeline.dynamic.contains(Dynamic::STRIDE) {
            true => &self.drawing.state.strides,
            false => &pipeline.state.strides,
        };
        let changed = self.drawing.buffers_changed;
        if let Some(known) = &self.drawing.launchers.vertex_buffers
            && known.table.at >= changed
            && known.count >= count
            && known.strides[..count] == strides[..count]
        {
            return Ok(known.table);
        }
        let strides = *strides;
        let piece = self.take(Use::Data, (16 * count).max(16), 16)?;
        // SAFETY: just taken.
        let bytes = unsafe { piece.bytes() };
        let drawing = &mut self.drawing;
        let buffers = drawing.vertex_buffers.iter().zip(strides);
        for ((buffer, stride), to) in buffers.zip(bytes.chunks_exact_mut(16)).take(count) {
            let [low, high] = [buffer.address as u32, (buffer.address >> 32) as u32];
            put_words(to, &[low, high, buffer.size, stride]);
        }
        let table = Table {
            address: piece.address,
            at: drawing.bound.changes.now(),
        };
        drawing.launchers.vertex_buffers = Some(VertexBuffers {
            table,
            count,
            strides,
        });
        Ok(table)
    }
}
