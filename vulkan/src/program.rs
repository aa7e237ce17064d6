// SPDX-License-Identifier: MIT
//! Compiled shaders in the execution window, and the entry arena through which they are reached.
//!
//! A launch program names a shader by the offset of its *entry*: a block in the first 8 MiB of the
//! window whose code jumps to the shader's body, which lies anywhere in the window (launch, 3 and
//! 7). Blocks are immutable once written and given back when the shader goes.

use std::sync::{Arc, Mutex, PoisonError};

use agx_compiler::binary::{Pointer, SamplerSlot, ShaderBinary, TextureSlot};
use agx_hw::arena::{Block, BlockOffset, HEADER_SIZE, Header, Kind, THUNK_SIZE, Target};
use agx_hw::cdm::LocalSize;
use agx_hw::launcher::{Frame, Launcher, Storage, Template};
use agx_hw::window::CodeAddress;
use ash::vk;

use crate::debug;
use crate::error::{VkResult, record};
use crate::gpu::{Gpu, Slice, Zone};

/// What addresses of bodies are multiples of: even is enough (launch, 7; HW), a cache line is kind
/// to the instruction cache.
const BODY_ALIGN: u64 = 64;

/// A shader that can be launched.
pub(crate) struct Program {
    /// Its workgroup; of graphics stages it means nothing.
    pub(crate) local: LocalSize,
    /// The pointers it wants, in order.
    pub(crate) pointers: Box<[Pointer]>,
    /// What those pointers point to.
    pub(crate) uses: Uses,
    /// Its launch programs, all but the root record's address.
    pub(crate) launcher: Template,
    /// Where the records of its texture table come from.
    pub(crate) textures: Box<[TextureSlot]>,
    /// Where those of its sampler table come from.
    pub(crate) samplers: Box<[SamplerSlot]>,
    /// Bytes of device memory for each workgroup ([`Pointer::WorkgroupBuffer`]).
    pub(crate) workgroup_buffer_bytes: u32,
    arena: Arc<Arena>,
    block: BlockOffset,
    body: Slice,
}

/// Which memory a shader's pointers point to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Uses {
    pub(crate) push_constants: bool,
    pub(crate) dynamic_buffers: bool,
    pub(crate) workgroup_counts: bool,
    pub(crate) base_workgroup: bool,
    pub(crate) workgroup_buffer: bool,
    pub(crate) vertex_buffers: bool,
    pub(crate) draw_parameters: bool,
    pub(crate) draw_number: bool,
    pub(crate) blend_constants: bool,
    /// Descriptor sets, a bit for each.
    pub(crate) sets: u32,
    /// Those with the records of its texture and sampler tables.
    pub(crate) table_sets: u32,
}

impl Uses {
    fn of(pointers: &[Pointer], textures: &[TextureSlot], samplers: &[SamplerSlot]) -> Uses {
        let of_samplers = samplers.iter().filter_map(|slot| match slot {
            SamplerSlot::Fetch => None,
            SamplerSlot::Descriptor { set, .. } => Some(*set),
        });
        let of_tables = textures.iter().map(|slot| slot.set).chain(of_samplers);
        let uses = |pointer| pointers.contains(&pointer);
        let sets = (0..32).filter(|set| uses(Pointer::DescriptorSet(*set)));
        Uses {
            push_constants: uses(Pointer::PushConstants),
            dynamic_buffers: uses(Pointer::DynamicBuffers),
            workgroup_counts: uses(Pointer::WorkgroupCounts),
            base_workgroup: uses(Pointer::BaseWorkgroup),
            workgroup_buffer: uses(Pointer::WorkgroupBuffer),
            vertex_buffers: uses(Pointer::VertexBuffers),
            draw_parameters: uses(Pointer::DrawParameters),
            draw_number: uses(Pointer::DrawNumber),
            blend_constants: uses(Pointer::BlendConstants),
            sets: sets.fold(0, |all, set| all | 1 << set),
            table_sets: of_tables
                .filter(|set| *set < 32)
                .fold(0, |all, set| all | 1 << set),
        }
    }

    /// Whether it uses a descriptor set.
    pub(crate) fn set(&self, number: usize) -> bool {
        number < 32 && self.sets >> number & 1 != 0
    }
}

/// The entry arena of a device.
pub(crate) struct Arena {
    memory: Slice,
    blocks: Mutex<Blocks>,
}

/// Which blocks are taken. All are of one size: bodies lie elsewhere.
struct Blocks {
    /// Blocks that were given back.
    free: Vec<BlockOffset>,
    /// Where the next new one goes.
    next: u32,
}

impl Arena {
    /// The arena of a new address space, with its header.
    ///
    /// # Errors
    /// When there is no memory.
    pub(crate) fn new(gpu: &Arc<Gpu>) -> VkResult<Arc<Arena>> {
        let memory = gpu.arena()?;
        let mut header = [0; HEADER_SIZE];
        Header::default().pack(&mut header).map_err(record)?;
        // SAFETY: the GPU runs nothing of this address space yet.
        unsafe { memory.write(0, &header) };
        Ok(Arc::new(Arena {
            memory,
            blocks: Mutex::new(Blocks {
                free: Vec::new(),
                next: BlockOffset::FIRST.get(),
            }),
        }))
    }

    fn take(&self) -> VkResult<BlockOffset> {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(block) = blocks.free.pop() {
            return Ok(block);
        }
        let Ok(block) = BlockOffset::new(blocks.next) else {
            debug::error(&"there are more shaders than the entry arena holds");
            return Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
        };
        blocks.next += THUNK_SIZE as u32;
        Ok(block)
    }

    fn give_back(&self, block: BlockOffset) {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.free.push(block);
    }

    /// Writes the block of a body.
    fn write(&self, at: BlockOffset, kind: Kind, body: u64) -> VkResult {
        let block = Block {
            kind,
            target: Target::Jump(CodeAddress::new(body).map_err(record)?),
        };
        let mut packed = [0; THUNK_SIZE];
        block.pack(at, &mut packed).map_err(record)?;
        // SAFETY: the block is this program's alone, and nothing in flight enters it.
        unsafe { self.memory.write(at.get().into(), &packed) };
        Ok(())
    }
}

impl Program {
    /// Puts a compute shader where the GPU can run it.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub(crate) fn upload(
        gpu: &Arc<Gpu>,
        arena: &Arc<Arena>,
        binary: &ShaderBinary,
    ) -> VkResult<Program> {
        let storage = Storage::threadgroup(binary.threadgroup_bytes).map_err(record)?;
        let local = LocalSize::new(binary.workgroup_size.map(u32::from)).map_err(record)?;
        Program::place(gpu, arena, binary, Kind::Compute, storage, local)
    }

    /// The same for a shader of a graphics stage: fragment shaders and programs of tiles say what tile
    /// memory their pass has.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub(crate) fn upload_graphics(
        gpu: &Arc<Gpu>,
        arena: &Arc<Arena>,
        binary: &ShaderBinary,
        storage: Storage,
    ) -> VkResult<Program> {
        let local = LocalSize::new([1; 3]).map_err(record)?;
        Program::place(gpu, arena, binary, Kind::Graphics, storage, local)
    }

    fn place(
        gpu: &Arc<Gpu>,
        arena: &Arc<Arena>,
        binary: &ShaderBinary,
        kind: Kind,
        storage: Storage,
        local: LocalSize,
    ) -> VkResult<Program> {
        let body = gpu.allocate(Zone::Code, binary.code.len() as u64, BODY_ALIGN)?;
        // SAFETY: just allocated.
        unsafe { body.write(0, &binary.code) };
        let block = arena.take()?;
        let launcher = match template(binary, storage, block) {
            Ok(launcher) => launcher,
            Err(error) => {
                arena.give_back(block);
                return Err(record(error));
            }
        };
        let program = Program {
            local,
            pointers: binary.pointers.clone().into_boxed_slice(),
            uses: Uses::of(&binary.pointers, &binary.textures, &binary.samplers),
            launcher,
            textures: binary.textures.clone().into_boxed_slice(),
            samplers: binary.samplers.clone().into_boxed_slice(),
            workgroup_buffer_bytes: binary.workgroup_buffer_bytes,
            arena: arena.clone(),
            block,
            body,
        };
        arena.write(block, kind, program.body.address())?;
        Ok(program)
    }
}

fn template(
    binary: &ShaderBinary,
    storage: Storage,
    block: BlockOffset,
) -> agx_hw::Result<Template> {
    // The compiler has checked that there are not too many.
    let pointers = binary.pointers.len() as u8;
    let mut launcher = Launcher::new(0, pointers, block.entry());
    launcher.storage = storage;
    launcher.frame = Frame::new(
        binary.publications,
        binary.scratch_bytes,
        binary.spill_bytes,
    )?;
    Template::new(&launcher)
}

impl Drop for Program {
    fn drop(&mut self) {
        self.arena.give_back(self.block);
    }
}
