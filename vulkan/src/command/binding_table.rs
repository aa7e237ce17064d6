// SPDX-License-Identifier: MIT
//! Binding tables: the records that the texture unit reads, gathered from descriptor sets.
//!
//! Hardware takes textures and samplers by constant indices from two tables (isa-3, 2.9; HW). The compiler
//! says for each index where in the memory of which set the record is; the tables of a launch are
//! copies of those. Where a set's images may be written after it is bound, the copies are made again
//! when the command buffer is submitted: "the submission will use the most recently set descriptors"
//! (Vulkan 1.3, VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT).

use std::sync::Arc;

use agx_compiler::binary::{SamplerSlot, TextureSlot};
use agx_hw::sampler::{RECORD_SIZE as SAMPLER_BYTES, SLOT_SIZE, Sampler};
use agx_hw::texture::RECORD_SIZE;

use super::bound::Bound;
use super::buffer::CommandBuffer;
use super::chunk::{Piece, Use};
use crate::error::VkResult;
use crate::host::OUT_OF_HOST;
use crate::physical_device::limits;
use crate::program::Program;

/// Bytes of a slot in either table.
const SLOT: usize = RECORD_SIZE;
const _: () = assert!(SLOT == SLOT_SIZE);
/// What addresses of tables are multiples of (images, 1; HW).
const TABLE_ALIGN: u64 = 64;

/// A descriptor set as it is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BoundSet {
    /// For the GPU; 0 where none is bound.
    pub(super) address: u64,
    /// For the CPU.
    memory: *const u8,
    size: u32,
    /// Whether its images may be written until the command buffer is submitted.
    late: bool,
}

impl BoundSet {
    pub(super) const NONE: BoundSet = BoundSet {
        address: 0,
        memory: std::ptr::null(),
        size: 0,
        late: false,
    };

    /// A set whose memory lives as long as it is bound.
    pub(crate) fn new(address: u64, memory: *const u8, size: u32, late: bool) -> BoundSet {
        BoundSet {
            address,
            memory,
            size,
            late,
        }
    }

    /// Some bytes of its memory; zeros where there are none, which is what an entry that was never
    /// written holds (isa-4, 1.1; HW).
    fn bytes<const SIZE: usize>(&self, offset: u32) -> [u8; SIZE] {
        if u64::from(offset) + SIZE as u64 > self.size.into() {
            return [0; SIZE];
        }
        // SAFETY: inside the memory, which lives as long as the set is bound; nobody writes these
        // descriptors while commands that use them are recorded or submitted, by the specification.
        unsafe {
            let at = self.memory.add(offset as usize);
            at.cast::<[u8; SIZE]>().read_unaligned()
        }
    }
}

/// Sets by number.
pub(super) type Sets = [BoundSet; limits::SETS as usize];

/// Tables that are gathered once more when the command buffer is submitted.
#[derive(Clone)]
pub(super) struct Late {
    program: Arc<Program>,
    sets: Sets,
    /// Which set was pushed, whose memory is not what it was.
    pushed: Option<usize>,
    to: *mut u8,
}

impl Late {
    /// # Safety
    /// The command buffer that the tables are part of is not executed at the time in a way that
    /// reads what changes, and the sets live.
    pub(super) unsafe fn gather(&self) {
        let size = size(&self.program);
        // SAFETY: the caller's promise; the command buffer's memory lives as long as it does.
        let to = unsafe { std::slice::from_raw_parts_mut(self.to, size) };
        gather(&self.program, &self.sets, self.pushed, to);
    }
}

/// Bytes of a program's tables.
fn size(program: &Program) -> usize {
    SLOT * (program.textures.len() + program.samplers.len())
}

/// Where the textures and the samplers of a program's tables are.
fn addresses(program: &Program, tables: &Piece) -> (u64, u64) {
    let samplers = (SLOT * program.textures.len()) as u64;
    (tables.address, tables.address + samplers)
}

/// Fills the tables from all sets but one.
fn gather(program: &Program, sets: &Sets, except: Option<usize>, to: &mut [u8]) {
    let (textures, samplers) = to.split_at_mut(SLOT * program.textures.len());
    let set = |number: u8| {
        let number = usize::from(number);
        let set = sets.get(number).filter(|_| Some(number) != except);
        set.copied()
    };
    let slots = textures.chunks_exact_mut(SLOT);
    for (
        TextureSlot {
            set: number,
            offset,
        },
        to,
    ) in program.textures.iter().zip(slots)
    {
        if let Some(set) = set(*number) {
            to.copy_from_slice(&set.bytes::<SLOT>(*offset));
        }
    }
    let slots = samplers.chunks_exact_mut(SLOT);
    for (slot, to) in program.samplers.iter().zip(slots) {
        let record = match slot {
            SamplerSlot::Fetch => Sampler::fetch().bits().to_le_bytes(),
            SamplerSlot::Descriptor {
                set: number,
                offset,
            } => match set(*number) {
                Some(set) => set.bytes::<SAMPLER_BYTES>(*offset),
                None => continue,
            },
        };
        to[..SAMPLER_BYTES].copy_from_slice(&record);
    }
}

impl CommandBuffer {
    /// The tables of a launch of a program with what is bound: the addresses of textures and of
    /// samplers.
    pub(super) fn binding_tables(&mut self, program: &Arc<Program>) -> VkResult<(u64, u64)> {
        self.tables(program, |this| &this.bound)
    }

    /// The same for draws.
    pub(super) fn graphics_binding_tables(
        &mut self,
        program: &Arc<Program>,
    ) -> VkResult<(u64, u64)> {
        self.tables(program, |this| &this.drawing.bound)
    }

    fn tables(
        &mut self,
        program: &Arc<Program>,
        bound: impl Fn(&CommandBuffer) -> &Bound,
    ) -> VkResult<(u64, u64)> {
        if program.textures.is_empty() {
            return Ok((0, 0));
        }
        let bound = bound(self);
        let mut sets = bound.sets;
        let pushed = bound.pushed;
        if let Some(set) = pushed.and_then(|number| sets.get_mut(number)) {
            let memory = bound.pushed_memory();
            *set = BoundSet::new(0, memory.as_ptr(), memory.len() as u32, false);
        }
        let piece = self.gathered(program, &sets)?;
        if sets.iter().any(|set| set.late) {
            let late = Late {
                program: program.clone(),
                sets,
                pushed,
                // SAFETY: just taken.
                to: unsafe { piece.bytes() }.as_mut_ptr(),
            };
            self.late.try_reserve(1).map_err(|_| OUT_OF_HOST)?;
            self.late.push(late);
        }
        Ok(addresses(program, &piece))
    }

    /// Memory for the tables of a program, filled from sets.
    fn gathered(&mut self, program: &Program, sets: &Sets) -> VkResult<Piece> {
        let piece = self.take(Use::Data, size(program), TABLE_ALIGN)?;
        // SAFETY: just taken.
        let bytes = unsafe { piece.bytes() };
        bytes.fill(0);
        gather(program, sets, None, bytes);
        Ok(piece)
    }

    /// The tables of a launch of a shader of the driver with a set of its own.
    pub(super) fn own_binding_tables(
        &mut self,
        program: &Program,
        set: &[u8],
    ) -> VkResult<(u64, u64)> {
        if program.textures.is_empty() {
            return Ok((0, 0));
        }
        let mut sets = [BoundSet::NONE; limits::SETS as usize];
        sets[0] = BoundSet::new(0, set.as_ptr(), set.len() as u32, false);
        let piece = self.gathered(program, &sets)?;
        Ok(addresses(program, &piece))
    }
}
