// SPDX-License-Identifier: MIT
//! A simulated GPU, reached through the kernel's interface only, that runs one launch after another.

use std::sync::Arc;

use agx_compiler::binary::{Pointer, SamplerSlot, ShaderBinary, TextureSlot};
use agx_hw::arena::{Block, BlockOffset, HEADER_SIZE, Header, Kind, Target};
use agx_hw::cdm::{CdmStream, Geometry, Grid, Launch, LocalSize};
use agx_hw::launcher::{Frame, Launcher, MIN_POINTERS, SLOT_SIZE, Storage};
use agx_hw::root::{GROUPS_OFFSET, RECORD_SIZE, THREADGROUP_ROOT};
use agx_hw::sampler::{SLOT_SIZE as SAMPLER_SLOT, Sampler};
use agx_hw::texture::RECORD_SIZE as TEXTURE_SLOT;
use agx_hw::window::{CodeAddress, LauncherAddress, USC_BASE};
use agx_sim::kernel::{SimDevice, SimNode};
use agx_uapi::abi::CmdCompute;
use agx_uapi::abi::limits::PAGE_SIZE;
use agx_uapi::command::{Barriers, CommandBuffer};
use agx_uapi::{
    Access, Bind, Deadline, Drm, Kernel as _, Priority, QueueId, Submit, SyncHandle, SyncPoint,
    VmId, WaitFlags,
};
use anyhow::{Context as _, bail, ensure};
use mesa_nir::{MOST_SLICES, SINK_PAGE, ZERO_PAGE};

use super::images::Laid;
use super::memory::{Object, Place, Pool};
use super::refused;
use crate::case::{BufferKind, Case};
use crate::device::layout::Layout;

/// The kernel's own window, where the proven driver puts it (kernel-uapi, 7.1).
const KERNEL_WINDOW: std::ops::Range<u64> = 0x10_e000_0000..0x11_0000_0000;
/// The entry arena; one shader needs one page of it.
const ARENA: u64 = USC_BASE;
/// The launch program, and the root record behind it.
const LAUNCHER: u64 = USC_BASE + 0x80_0000;
const RECORD: u64 = LAUNCHER + SLOT_SIZE as u64;
/// The shader's code, with an unmapped page before it.
pub(super) const BODY: u64 = USC_BASE + 0x90_0000;
const STREAM: u64 = 0x20_0000_0000;
const DATA: u64 = 0x21_0000_0000;

/// Where the three words of the base workgroup lie in the record: behind the counts.
const BASE_OFFSET: usize = GROUPS_OFFSET + 16;
/// What device memory for workgroup variables holds at first: they are undefined.
const POISON: u8 = 0xcd;

/// What addresses of images are multiples of, and those of the tables (images, 1 and 7.8).
const IMAGE_ALIGN: usize = 128;
const TABLE_ALIGN: usize = 64;

/// What addresses of buffers are multiples of: as much as the front end may assume.
const ALIGN: usize = 16;

/// A GPU with an address space and a queue.
pub(super) struct Machine {
    device: Arc<SimDevice>,
    kernel: Drm<SimNode>,
    vm: VmId,
    queue: QueueId,
    done: SyncHandle,
    body: Object,
    /// Bytes of the body's object that may not be zero.
    body_used: usize,
    launcher: Object,
    stream: Object,
    /// Where accesses out of bounds go.
    _bounds: [Object; 2],
    pool: Pool,
}

/// The workgroups that are launched: a row of some, for a shader with workgroup variables in device memory.
fn launched(binary: &ShaderBinary, case: &Case) -> [u32; 3] {
    if binary.workgroup_buffer_bytes == 0 {
        return case.groups;
    }
    let all = (case.groups.iter()).fold(1_u32, |all, n| all.saturating_mul(*n));
    [all.min(MOST_SLICES), 1, 1]
}

impl Machine {
    pub(super) fn new(device: Arc<SimDevice>) -> anyhow::Result<Machine> {
        let kernel = device.kernel();
        let vm = kernel
            .vm_create(KERNEL_WINDOW)
            .map_err(refused("VM_CREATE"))?;
        let queue = kernel
            .queue_create(vm, Priority::Medium)
            .map_err(refused("QUEUE_CREATE"))?;
        let done = kernel
            .syncobj_create(false)
            .map_err(refused("SYNCOBJ_CREATE"))?;
        let page = PAGE_SIZE as usize;
        let mut arena = Object::new(&kernel, page)?;
        Header::default().pack(arena.bytes())?;
        let block = Block {
            kind: Kind::Compute,
            target: Target::Jump(CodeAddress::new(BODY)?),
        };
        block.pack(BlockOffset::FIRST, &mut arena.bytes()[HEADER_SIZE..])?;
        let machine = Machine {
            body: Object::new(&kernel, 4 * page)?,
            body_used: 0,
            launcher: Object::new(&kernel, page)?,
            stream: Object::new(&kernel, page)?,
            _bounds: [Object::new(&kernel, page)?, Object::new(&kernel, page)?],
            pool: Pool::new(&kernel, DATA, 64 * page)?,
            device,
            kernel,
            vm,
            queue,
            done,
        };
        machine.bind(ARENA, &arena)?;
        machine.bind(BODY, &machine.body)?;
        machine.bind(LAUNCHER, &machine.launcher)?;
        machine.bind(STREAM, &machine.stream)?;
        let [zero, sink] = &machine._bounds;
        // Coherent loads are atomics.
        machine.bind_for(ZERO_PAGE, zero, Access::ReadWrite)?;
        machine.bind_for(SINK_PAGE, sink, Access::ReadWrite)?;
        Ok(machine)
    }

    /// Maps an object that the GPU only reads.
    fn bind(&self, addr: u64, object: &Object) -> anyhow::Result<()> {
        self.bind_for(addr, object, Access::Read)
    }

    fn bind_for(&self, addr: u64, object: &Object, access: Access) -> anyhow::Result<()> {
        let bind = Bind::Object {
            addr,
            size: object.size() as u64,
            gem: object.gem,
            offset: 0,
            access,
        };
        self.kernel
            .vm_bind(self.vm, &[bind])
            .map_err(refused("VM_BIND"))
    }

    /// True when a fault has lost the device.
    pub(super) fn is_lost(&self) -> bool {
        self.device.is_lost()
    }

    /// Runs a shader and returns the bytes of the case's buffers.
    pub(super) fn run(
        &mut self,
        binary: &ShaderBinary,
        case: &Case,
        layout: &Layout,
    ) -> anyhow::Result<Vec<Vec<u8>>> {
        if case.groups.contains(&0) {
            // Vulkan allows it, and nothing happens.
            return Ok(case
                .buffers
                .iter()
                .map(|buffer| buffer.bytes.clone())
                .chain(case.images.iter().map(|image| image.texels.clone()))
                .collect());
        }
        let local = LocalSize::new(binary.workgroup_size.map(u32::from))?;
        let grid = Grid::of_groups(launched(binary, case), local)?;
        self.put_body(&binary.code)?;
        let places = self.put_data(binary, case, layout)?;
        let end = self.put_launch(binary, case, &places, grid)?;
        self.pool.bind(&self.kernel, self.vm)?;
        self.submit(end)?;
        let broken = self.pool.broken_canary();
        let mut results: Vec<_> = places
            .buffers
            .iter()
            .map(|place| self.pool.read(place))
            .collect();
        for ((image, laid), place) in case.images.iter().zip(&places.laid).zip(&places.images) {
            results.push(laid.texels(image, &self.pool.read(place)));
        }
        self.pool.clear(&self.kernel, self.vm)?;
        if let Some((address, byte)) = broken {
            bail!("the shader wrote {byte:#04x} to {address:#x}, which is outside all buffers");
        }
        Ok(results)
    }

    fn put_body(&mut self, code: &[u8]) -> anyhow::Result<()> {
        ensure!(!code.is_empty(), "the shader has no code");
        if code.len() > self.body.size() {
            let object = Object::new(&self.kernel, code.len().next_power_of_two())?;
            let size = self.body.size() as u64;
            let unbind = Bind::Unbind { addr: BODY, size };
            self.kernel
                .vm_bind(self.vm, &[unbind])
                .map_err(refused("unbind"))?;
            let old = std::mem::replace(&mut self.body, object);
            self.kernel
                .gem_close(old.gem)
                .map_err(refused("GEM_CLOSE"))?;
            self.bind(BODY, &self.body)?;
            self.body_used = 0;
        }
        let body = self.body.bytes();
        body[..code.len()].copy_from_slice(code);
        if let Some(rest) = body.get_mut(code.len()..self.body_used) {
            // No code of another shader behind it.
            rest.fill(0);
        }
        self.body_used = code.len();
        Ok(())
    }

    /// Buffers, and the memory behind the pointers that the shader wants.
    fn put_data(
        &mut self,
        binary: &ShaderBinary,
        case: &Case,
        layout: &Layout,
    ) -> anyhow::Result<Places> {
        let workgroups = launched(binary, case)[0] as usize;
        let workgroup_bytes = workgroups
            .checked_mul(binary.workgroup_buffer_bytes as usize)
            .filter(|bytes| *bytes <= 1 << 30)
            .context("more than 1 GiB for workgroup variables")?;
        let buffers: usize = case.buffers.iter().map(|buffer| buffer.bytes.len()).sum();
        let allocations = case.buffers.len() + case.images.len() + binary.pointers.len();
        let sets = layout.bindings().last().map_or(0, |last| last.set + 1);
        let set_bytes: usize = (0..sets).map(|set| layout.set_size(set)).sum();
        let laid = case.images.iter().map(Laid::of);
        let laid = laid.collect::<anyhow::Result<Vec<_>>>()?;
        let images: Vec<_> = case
            .images
            .iter()
            .zip(&laid)
            .map(|(i, l)| l.memory(i))
            .collect();
        let bytes = buffers
            + images.iter().map(Vec::len).sum::<usize>()
            + TEXTURE_SLOT * binary.textures.len()
            + SAMPLER_SLOT * binary.samplers.len()
            + workgroup_bytes
            + case.push_constants.len()
            + set_bytes;
        self.pool.clear(&self.kernel, self.vm)?;
        self.pool.reserve(&self.kernel, allocations, bytes)?;

        let mut places = Places {
            laid,
            ..Places::default()
        };
        for (image, memory) in case.images.iter().zip(&images) {
            let access = match image.kind.is_written() {
                true => Access::ReadWrite,
                false => Access::Read,
            };
            let place = self.pool.place(memory, IMAGE_ALIGN, access);
            places.images.push(place);
        }
        for buffer in &case.buffers {
            let access = match buffer.kind {
                BufferKind::Uniform => Access::Read,
                BufferKind::Storage | BufferKind::Address => Access::ReadWrite,
            };
            let place = self.pool.place(&buffer.bytes, ALIGN, access);
            places.buffers.push(place);
        }
        let address = |index: usize| places.buffers[index].address;
        let set_memory = |set: u32| {
            let mut memory = layout.set_memory(set, case, address);
            for ((image, laid), place) in case.images.iter().zip(&places.laid).zip(&places.images) {
                let at = layout.descriptor(image.set, image.binding, image.element);
                if let Some(at) = at.filter(|_| image.set == set) {
                    let descriptor = laid.descriptor(image, place.address)?;
                    memory[at..at + descriptor.len()].copy_from_slice(&descriptor);
                }
            }
            anyhow::Ok(memory)
        };
        let sets = (0..sets).map(set_memory);
        let sets = sets.collect::<anyhow::Result<Vec<_>>>()?;
        for pointer in &binary.pointers {
            let (content, access) = match *pointer {
                Pointer::WorkgroupCounts => {
                    places.pointers.push(RECORD + GROUPS_OFFSET as u64);
                    continue;
                }
                Pointer::BaseWorkgroup => {
                    places.pointers.push(RECORD + BASE_OFFSET as u64);
                    continue;
                }
                Pointer::ThreadgroupRoot => {
                    places.pointers.push(THREADGROUP_ROOT);
                    continue;
                }
                Pointer::Unused => {
                    places.pointers.push(0);
                    continue;
                }
                Pointer::PushConstants => (case.push_constants_with(address)?, Access::Read),
                Pointer::DescriptorSet(set) => {
                    let memory = sets.get(usize::from(set)).cloned().unwrap_or_default();
                    (memory, Access::Read)
                }
                Pointer::TextureTable => (texture_table(&binary.textures, &sets)?, Access::Read),
                Pointer::SamplerTable => (sampler_table(&binary.samplers, &sets)?, Access::Read),
                Pointer::WorkgroupBuffer => (vec![POISON; workgroup_bytes], Access::ReadWrite),
                Pointer::DynamicBuffers => {
                    bail!("the shader wants dynamic buffers, which no case has")
                }
                Pointer::VertexBuffers
                | Pointer::DrawParameters
                | Pointer::DrawNumber
                | Pointer::BlendConstants => {
                    bail!("the shader wants what draws have, and cases are dispatches")
                }
            };
            if content.is_empty() {
                // Nothing may be reached through it.
                places.pointers.push(0);
                continue;
            }
            let table = matches!(pointer, Pointer::TextureTable | Pointer::SamplerTable);
            let align = if table { TABLE_ALIGN } else { ALIGN };
            let place = self.pool.place(&content, align, access);
            places.pointers.push(place.address);
        }
        Ok(places)
    }

    /// The root record, the launch program and the stream; returns the stream's end.
    fn put_launch(
        &mut self,
        binary: &ShaderBinary,
        case: &Case,
        places: &Places,
        grid: Grid,
    ) -> anyhow::Result<u64> {
        let mut pointers = places.pointers.clone();
        pointers.resize(pointers.len().max(MIN_POINTERS.into()), 0);
        ensure!(
            8 * pointers.len() <= GROUPS_OFFSET,
            "the shader wants {} pointers",
            pointers.len()
        );
        ensure!(
            case.base_group == [0; 3] || binary.pointers.contains(&Pointer::BaseWorkgroup),
            "the case has a base workgroup, but the shader was compiled without"
        );
        let at = LauncherAddress::new(CodeAddress::new(LAUNCHER)?)?;
        let count = u8::try_from(pointers.len())?;
        let mut launcher = Launcher::new(RECORD, count, BlockOffset::FIRST.entry());
        launcher.storage = Storage::threadgroup(binary.threadgroup_bytes)?;
        launcher.frame = Frame::new(
            binary.publications,
            binary.scratch_bytes,
            binary.spill_bytes,
        )?;
        let memory = self.launcher.bytes();
        let (program, rest) = memory.split_at_mut(SLOT_SIZE);
        launcher.pack(at, program)?;
        let record = &mut rest[..RECORD_SIZE];
        record.fill(0);
        for (pointer, word) in pointers.iter().zip(record.chunks_exact_mut(8)) {
            word.copy_from_slice(&pointer.to_le_bytes());
        }
        let words = case
            .groups
            .iter()
            .zip(record[GROUPS_OFFSET..].chunks_exact_mut(4));
        words.for_each(|(count, word)| word.copy_from_slice(&count.to_le_bytes()));
        let words = case
            .base_group
            .iter()
            .zip(record[BASE_OFFSET..].chunks_exact_mut(4));
        words.for_each(|(base, word)| word.copy_from_slice(&base.to_le_bytes()));

        let mut stream = CdmStream::new(self.stream.bytes(), STREAM)?;
        stream.launch(Launch::new(at, Geometry::Direct(grid)))?;
        stream.barrier()?;
        Ok(stream.terminate()?)
    }

    fn submit(&self, end: u64) -> anyhow::Result<()> {
        let mut commands = CommandBuffer::new();
        let compute = CmdCompute {
            cdm_ctrl_stream_base: STREAM,
            cdm_ctrl_stream_end: end,
            ..CmdCompute::default()
        };
        commands
            .compute(Barriers::default(), &compute)
            .map_err(|error| anyhow::anyhow!("command buffer: {error:?}"))?;
        let submit = Submit {
            queue: self.queue,
            waits: &[],
            signals: &[SyncPoint::Binary(self.done)],
            commands: commands.as_bytes(),
        };
        self.kernel.submit(&submit).map_err(refused("SUBMIT"))?;
        let waited = self
            .kernel
            .syncobj_wait(&[self.done], WaitFlags::ALL, Deadline::NEVER);
        if self.device.is_lost() {
            match self.device.last_fault() {
                Some(fault) => bail!("{fault}"),
                None => bail!("the device was lost without a fault"),
            }
        }
        waited.map_err(refused("SYNCOBJ_WAIT"))?;
        Ok(())
    }
}

/// Where a run's data lies.
#[derive(Default)]
struct Places {
    /// The case's buffers.
    buffers: Vec<Place>,
    /// Its images.
    images: Vec<Place>,
    laid: Vec<Laid>,
    /// The shader's pointers, in its order.
    pointers: Vec<u64>,
}

/// Bytes of a descriptor in the memory of its set.
fn record(sets: &[Vec<u8>], set: u8, offset: u32, length: usize) -> anyhow::Result<&[u8]> {
    let memory = sets.get(usize::from(set));
    let bytes = memory.and_then(|memory| memory.get(offset as usize..)?.get(..length));
    bytes.with_context(|| {
        format!("the shader names byte {offset} of set {set}, which has no descriptor there")
    })
}

/// The records of the textures, one behind the other.
fn texture_table(slots: &[TextureSlot], sets: &[Vec<u8>]) -> anyhow::Result<Vec<u8>> {
    let records = slots
        .iter()
        .map(|slot| record(sets, slot.set, slot.offset, TEXTURE_SLOT));
    Ok(records.collect::<anyhow::Result<Vec<_>>>()?.concat())
}

/// The records of the samplers in their slots.
fn sampler_table(slots: &[SamplerSlot], sets: &[Vec<u8>]) -> anyhow::Result<Vec<u8>> {
    let mut table = vec![0; SAMPLER_SLOT * slots.len()];
    for (slot, bytes) in slots.iter().zip(table.chunks_exact_mut(SAMPLER_SLOT)) {
        match *slot {
            SamplerSlot::Descriptor { set, offset } => {
                bytes[..8].copy_from_slice(record(sets, set, offset, 8)?);
            }
            SamplerSlot::Fetch => Sampler::fetch().pack(bytes)?,
        }
    }
    Ok(table)
}
