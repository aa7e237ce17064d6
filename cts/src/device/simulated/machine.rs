// SPDX-License-Identifier: MIT
//! A simulated GPU, reached through the kernel's interface only, that runs one launch after another.

use std::sync::Arc;

use agx_compiler::binary::{Pointer, ShaderBinary};
use agx_hw::arena::{Block, BlockOffset, HEADER_SIZE, Header, Kind, Target};
use agx_hw::cdm::{CdmStream, Geometry, Grid, Launch, LocalSize};
use agx_hw::launcher::{Frame, Launcher, MIN_POINTERS, SLOT_SIZE, Storage};
use agx_hw::root::{GROUPS_OFFSET, RECORD_SIZE, THREADGROUP_ROOT};
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
    pool: Pool,
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
        Ok(machine)
    }

    /// Maps an object that the GPU only reads.
    fn bind(&self, addr: u64, object: &Object) -> anyhow::Result<()> {
        let bind = Bind::Object {
            addr,
            size: object.size() as u64,
            gem: object.gem,
            offset: 0,
            access: Access::Read,
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
                .collect());
        }
        let local = LocalSize::new(binary.workgroup_size.map(u32::from))?;
        let grid = Grid::of_groups(case.groups, local)?;
        self.put_body(&binary.code)?;
        let places = self.put_data(binary, case, layout)?;
        let end = self.put_launch(binary, case, &places, grid)?;
        self.pool.bind(&self.kernel, self.vm)?;
        self.submit(end)?;
        let broken = self.pool.broken_canary();
        let results = places.buffers.iter().map(|place| self.pool.read(place));
        let results = results.collect();
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
        let groups = case
            .groups
            .iter()
            .try_fold(1usize, |all, n| all.checked_mul(*n as usize));
        let workgroup_bytes = groups
            .and_then(|groups| groups.checked_mul(binary.workgroup_buffer_bytes as usize))
            .filter(|bytes| *bytes <= 1 << 30)
            .context("more than 1 GiB for workgroup variables")?;
        let buffers: usize = case.buffers.iter().map(|buffer| buffer.bytes.len()).sum();
        let allocations = case.buffers.len() + binary.pointers.len();
        let sets = layout.bindings().last().map_or(0, |last| last.set + 1);
        let sets: usize = (0..sets).map(|set| layout.set_size(set)).sum();
        let bytes = buffers + workgroup_bytes + case.push_constants.len() + sets;
        self.pool.clear(&self.kernel, self.vm)?;
        self.pool.reserve(&self.kernel, allocations, bytes)?;

        let mut places = Places::default();
        for buffer in &case.buffers {
            let access = match buffer.kind {
                BufferKind::Uniform => Access::Read,
                BufferKind::Storage | BufferKind::Address => Access::ReadWrite,
            };
            let place = self.pool.place(&buffer.bytes, ALIGN, access);
            places.buffers.push(place);
        }
        let address = |index: usize| places.buffers[index].address;
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
                    let memory = layout.set_memory(set.into(), case, address);
                    (memory, Access::Read)
                }
                Pointer::WorkgroupBuffer => (vec![POISON; workgroup_bytes], Access::ReadWrite),
                Pointer::DynamicBuffers => {
                    bail!("the shader wants dynamic buffers, which no case has")
                }
            };
            if content.is_empty() {
                // Nothing may be reached through it.
                places.pointers.push(0);
                continue;
            }
            let place = self.pool.place(&content, ALIGN, access);
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
    /// The shader's pointers, in its order.
    pointers: Vec<u64>,
}
