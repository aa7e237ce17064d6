// SPDX-License-Identifier: MIT
//! Dispatches.
//!
//! A dispatch needs three things in memory: a root record with the pointers that the shader wants, a
//! launch program that publishes them, and a launch in the stream (launch, 1). Record and launch
//! program are used again while nothing that they depend on changes.

use std::sync::Arc;

use agx_compiler::binary::Pointer;
use agx_hw::cdm::{Barrier, Geometry, Grid, IndirectAddress, Launch, MAX_GROUPS, Record};
use agx_hw::root::{RECORD_ALIGN, THREADGROUP_ROOT};
use agx_hw::window::{CodeAddress, LauncherAddress};
use ash::vk;
use mesa_nir::MOST_SLICES;

use super::bound::Lengths;
use super::buffer::{CommandBuffer, record};
use super::chunk::Use;
use crate::buffer::Buffer;
use crate::debug;
use crate::descriptor::DESCRIPTOR_SIZE;
use crate::error::{self, VkResult};
use crate::gpu::Zone;
use crate::object;
use crate::pipeline::Pipeline;
use crate::program::Program;

/// How many workgroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Groups {
    /// So many.
    Direct([u32; 3]),
    /// As three words at this address say.
    Indirect(u64),
}

/// The launch program that was written last, and what it holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Written {
    launcher: LauncherAddress,
    /// Nothing when it does not matter.
    groups: Option<Groups>,
    base: Option<[u32; 3]>,
}

impl Written {
    /// The launch program, if it holds for these workgroups.
    pub(super) fn launcher_for(&self, groups: Groups, base: [u32; 3]) -> Option<LauncherAddress> {
        let holds =
            self.groups.is_none_or(|of| of == groups) && self.base.is_none_or(|of| of == base);
        holds.then_some(self.launcher)
    }
}

/// Bytes of the workgroup counts, and of the base workgroup, in a record.
const WORDS3: usize = 16;
/// Bytes of a buffer descriptor in the table of dynamic buffers.
pub(super) const DESCRIPTOR: usize = DESCRIPTOR_SIZE as usize;

/// Where things lie in the memory of a root record.
pub(super) struct Places {
    /// Of dispatches, as the base behind them.
    counts: usize,
    base: usize,
    pub(super) constants: usize,
    pub(super) dynamic: usize,
    pub(super) pushed: usize,
    pub(super) end: usize,
}

impl Places {
    /// `words`: bytes of the counts and the base, which records of draws have not.
    pub(super) fn new(pointers: usize, words: usize, lengths: Lengths) -> Places {
        // LDP loads pointers in pairs.
        let counts = (8 * pointers).next_multiple_of(16);
        let constants = counts + words;
        let dynamic = constants + lengths.constants.next_multiple_of(16);
        let pushed = dynamic + DESCRIPTOR * lengths.dynamic;
        Places {
            counts,
            base: counts + WORDS3,
            constants,
            dynamic,
            pushed,
            end: pushed + lengths.pushed,
        }
    }
}

impl CommandBuffer {
    /// Launches the bound pipeline.
    fn dispatch(&mut self, groups: Groups, base: [u32; 3]) -> VkResult {
        let Some(pipeline) = self.bound.pipeline else {
            debug::error(&"a dispatch without a pipeline");
            return Err(vk::Result::ERROR_UNKNOWN);
        };
        // SAFETY: a pipeline lives as long as command buffers use it.
        let pipeline: &Pipeline = unsafe { pipeline.as_ref() };
        let Some(pipeline) = pipeline.compute() else {
            debug::error(&"a dispatch with a graphics pipeline");
            return Err(vk::Result::ERROR_UNKNOWN);
        };
        let program = &pipeline.program;
        if let Groups::Direct(counts) = groups {
            if counts.contains(&0) {
                return Ok(());
            }
            if counts.iter().any(|count| *count > MAX_GROUPS) {
                debug::error(&format_args!(
                    "{counts:?} workgroups, of {MAX_GROUPS} on an axis"
                ));
                return Err(vk::Result::ERROR_UNKNOWN);
            }
        }
        let launcher = match self.bound.written(groups, base) {
            Some(launcher) => launcher,
            None => self.write_launcher(program, groups, base)?,
        };
        self.launch(program, launcher, groups)
    }

    fn launch(&mut self, program: &Program, launcher: LauncherAddress, groups: Groups) -> VkResult {
        let launched = match program.uses.workgroup_buffer {
            true => Groups::Direct([slices(groups), 1, 1]),
            false => groups,
        };
        let geometry = match launched {
            Groups::Direct(counts) => {
                Geometry::Direct(Grid::of_groups(counts, program.local).map_err(error::record)?)
            }
            Groups::Indirect(address) => Geometry::IndirectGlobal {
                arguments: IndirectAddress::new(address).map_err(error::record)?,
                local: program.local,
            },
        };
        self.push([
            Record::Launch(Launch::new(launcher, geometry)),
            Record::Barrier(Barrier::FULL),
        ])
    }

    /// Writes a root record and a launch program for the bound state.
    fn write_launcher(
        &mut self,
        program: &Arc<Program>,
        groups: Groups,
        base: [u32; 3],
    ) -> VkResult<LauncherAddress> {
        let (pointers, uses) = (&program.pointers, &program.uses);
        let lengths = self.bound.lengths(uses);
        let places = Places::new(pointers.len(), 2 * WORDS3, lengths);
        let workgroup_memory = match uses.workgroup_buffer {
            true => self.workgroup_memory(program, groups)?,
            false => 0,
        };
        let (textures, samplers) = self.binding_tables(program)?;
        let piece = self.take(Use::Data, places.end, RECORD_ALIGN)?;
        let at = |offset: usize| piece.address + offset as u64;
        // SAFETY: just taken.
        let bytes = unsafe { piece.bytes() };
        for (pointer, word) in pointers.iter().zip(bytes.chunks_exact_mut(8)) {
            let value = match *pointer {
                Pointer::TextureTable => textures,
                Pointer::SamplerTable => samplers,
                Pointer::WorkgroupCounts => match groups {
                    Groups::Direct(_) => at(places.counts),
                    Groups::Indirect(address) => address,
                },
                Pointer::ThreadgroupRoot => THREADGROUP_ROOT,
                Pointer::PushConstants => at(places.constants),
                Pointer::BaseWorkgroup => at(places.base),
                Pointer::DynamicBuffers => at(places.dynamic),
                Pointer::WorkgroupBuffer => workgroup_memory,
                Pointer::DescriptorSet(set) => self.bound.set_address(set, at(places.pushed)),
                Pointer::Unused => 0,
                Pointer::VertexBuffers
                | Pointer::DrawParameters
                | Pointer::DrawNumber
                | Pointer::BlendConstants => {
                    debug::error(&format_args!("a compute shader wants {pointer:?}"));
                    return Err(vk::Result::ERROR_UNKNOWN);
                }
            };
            word.copy_from_slice(&value.to_le_bytes());
        }
        bytes[8 * pointers.len()..places.constants].fill(0);
        if let Groups::Direct(counts) = groups {
            put_words(&mut bytes[places.counts..places.base], &counts);
        }
        put_words(&mut bytes[places.base..places.constants], &base);
        bytes[places.constants..][..lengths.constants]
            .copy_from_slice(&self.bound.constants()[..lengths.constants]);
        self.bound.put_sets(&places, bytes);
        let launcher = self.put_launcher(program, piece.address)?;
        let counted = uses.workgroup_counts || uses.workgroup_buffer;
        self.bound.remember(Written {
            launcher,
            groups: counted.then_some(groups),
            base: uses.base_workgroup.then_some(base),
        });
        Ok(launcher)
    }

    /// Writes the launch program for the record at `table`.
    pub(super) fn put_launcher(
        &mut self,
        program: &Program,
        table: u64,
    ) -> VkResult<LauncherAddress> {
        let size = program.launcher.size().next_multiple_of(64);
        let piece = self.take(Use::Code, size, LauncherAddress::ALIGN.into())?;
        // SAFETY: just taken.
        let bytes = unsafe { piece.bytes() };
        program
            .launcher
            .write(table, bytes)
            .map_err(error::record)?;
        let address = CodeAddress::new(piece.address).map_err(error::record)?;
        LauncherAddress::new(address).map_err(error::record)
    }

    /// Launches a shader of the driver with push constants only.
    pub(super) fn launch_internal(
        &mut self,
        program: &Program,
        constants: &[u8],
        groups: [u32; 3],
    ) -> VkResult {
        self.launch_own(program, constants, &[], groups)
    }

    /// Launches a shader of the driver with push constants and the memory of set 0.
    pub(super) fn launch_own(
        &mut self,
        program: &Program,
        constants: &[u8],
        set: &[u8],
        groups: [u32; 3],
    ) -> VkResult {
        let (textures, samplers) = self.own_binding_tables(program, set)?;
        let lengths = Lengths {
            constants: constants.len(),
            dynamic: 0,
            pushed: set.len(),
        };
        let places = Places::new(program.pointers.len(), 2 * WORDS3, lengths);
        let piece = self.take(Use::Data, places.end, RECORD_ALIGN)?;
        // SAFETY: just taken.
        let bytes = unsafe { piece.bytes() };
        bytes.fill(0);
        let at = |offset: usize| piece.address + offset as u64;
        for (pointer, word) in program.pointers.iter().zip(bytes.chunks_exact_mut(8)) {
            let address = match *pointer {
                Pointer::PushConstants => at(places.constants),
                Pointer::WorkgroupCounts => at(places.counts),
                Pointer::TextureTable => textures,
                Pointer::SamplerTable => samplers,
                Pointer::DescriptorSet(0) => at(places.pushed),
                Pointer::Unused => continue,
                other => {
                    debug::error(&format_args!("a shader of the driver wants {other:?}"));
                    return Err(vk::Result::ERROR_UNKNOWN);
                }
            };
            word.copy_from_slice(&address.to_le_bytes());
        }
        put_words(&mut bytes[places.counts..places.base], &groups);
        bytes[places.constants..][..constants.len()].copy_from_slice(constants);
        bytes[places.pushed..].copy_from_slice(set);
        let launcher = self.put_launcher(program, piece.address)?;
        self.launch(program, launcher, Groups::Direct(groups))
    }

    /// Memory for the workgroup variables of a dispatch. Dispatches of a command buffer run one
    /// after the other, so one piece serves all.
    fn workgroup_memory(&mut self, program: &Program, groups: Groups) -> VkResult<u64> {
        let need = u64::from(program.workgroup_buffer_bytes) * u64::from(slices(groups));
        if let Some((address, size)) = self.workgroup_memory
            && size >= need
        {
            return Ok(address);
        }
        let slice = self.device().gpu.allocate(Zone::Scratch, need, 64)?;
        let address = slice.address();
        self.keep(slice)?;
        self.workgroup_memory = Some((address, need));
        Ok(address)
    }
}

/// How many workgroups are launched of a shader with workgroup variables in device memory: they do the work of
/// all.
fn slices(groups: Groups) -> u32 {
    match groups {
        Groups::Direct(counts) => counts
            .iter()
            .try_fold(1_u32, |all, count| all.checked_mul(*count))
            .map_or(MOST_SLICES, |all| all.min(MOST_SLICES)),
        Groups::Indirect(_) => MOST_SLICES,
    }
}

/// Puts words at the start of bytes; what is behind them stays as it is.
pub(super) fn put_words(to: &mut [u8], words: &[u32]) {
    for (word, to) in words.iter().zip(to.chunks_exact_mut(4)) {
        to.copy_from_slice(&word.to_le_bytes());
    }
}

/// vkCmdDispatch.
pub(crate) unsafe extern "system" fn cmd_dispatch(
    buffer: vk::CommandBuffer,
    x: u32,
    y: u32,
    z: u32,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdDispatch", buffer, |this| {
            this.dispatch(Groups::Direct([x, y, z]), [0; 3])
        });
    }
}

/// vkCmdDispatchBase.
pub(crate) unsafe extern "system" fn cmd_dispatch_base(
    buffer: vk::CommandBuffer,
    base_x: u32,
    base_y: u32,
    base_z: u32,
    x: u32,
    y: u32,
    z: u32,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdDispatchBase", buffer, |this| {
            this.dispatch(Groups::Direct([x, y, z]), [base_x, base_y, base_z])
        });
    }
}

/// vkCmdDispatchIndirect.
pub(crate) unsafe extern "system" fn cmd_dispatch_indirect(
    buffer: vk::CommandBuffer,
    arguments: vk::Buffer,
    offset: vk::DeviceSize,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdDispatchIndirect", buffer, |this| {
            let address = object::get::<Buffer>(arguments).address + offset;
            this.dispatch(Groups::Indirect(address), [0; 3])
        });
    }
}
