// SPDX-License-Identifier: MIT
//! A simulated GPU with one program in its memory, reached through the kernel's interface only.

use std::io::Write;
use std::sync::Arc;

use agx_hw::arena::{Block, BlockOffset, HEADER_SIZE, Header, Kind, Target};
use agx_hw::cdm::{CdmStream, Geometry, Grid, IndirectAddress, Launch, LocalSize, READ_AHEAD};
use agx_hw::launcher::{Frame, InlineWord, Launcher, SLOT_SIZE, Storage};
use agx_hw::root::{Direct, Groups, RECORD_SIZE, THREADGROUP_ROOT};
use agx_hw::window::{CodeAddress, LauncherAddress, USC_BASE};
use agx_sim::config::SimConfig;
use agx_sim::kernel::{SimDevice, SimKernel};
use agx_sim::shader::strict;
use agx_uapi::abi::CmdCompute;
use agx_uapi::abi::limits::PAGE_SIZE;
use agx_uapi::command::{Barriers, CommandBuffer};
use agx_uapi::{
    Access, Bind, Caching, Deadline, Errno, Kernel as _, Mapping, Priority, Submit, SyncPoint,
    VmId, WaitFlags,
};
use anyhow::{Context as _, bail, ensure};

use super::watch::Watch;
use super::{Device, Launch as LaunchMode, Options};

/// The kernel's own window, where the proven driver puts it (kernel-uapi, 7.1).
const KERNEL_WINDOW: std::ops::Range<u64> = 0x10_e000_0000..0x11_0000_0000;
/// The entry arena: one page of it is enough for one shader.
const ARENA: u64 = USC_BASE;
// These addresses are those of the worked example (launch, 12.1), so that its bytes come out.
const BODY: u64 = USC_BASE + 0x80_0000;
/// The launch program; further up behind a body that does not fit. The root record follows it.
const LAUNCHER: u64 = USC_BASE + 0x90_0000;
const STREAM: u64 = 0x20_0000_0000;
const SMALL_BUFFER: u64 = 0x20_0001_0000;
const INDIRECT: u64 = 0x20_0002_0000;
/// Where buffers lie that do not fit between the two, and all but the first.
const BUFFERS: u64 = 0x21_0000_0000;
/// The largest buffer, and unmapped space behind it.
const BUFFER_STRIDE: u64 = 0x2_0000_0000;

/// The machine, ready to run.
pub(super) struct Machine<'o> {
    options: &'o Options,
    device: Arc<SimDevice>,
    kernel: SimKernel,
    watch: Arc<Watch>,
    vm: VmId,
    /// CPU mappings of the buffers.
    buffers: Vec<Mapping>,
}

/// How it ended.
pub(super) enum Done {
    /// The fence signalled.
    Completed,
    /// The device was lost; the text says why.
    Fault(String),
}

impl<'o> Machine<'o> {
    /// A machine with the buffers in place.
    pub(super) fn new(options: &'o Options) -> anyhow::Result<Machine<'o>> {
        let mut config = match options.device {
            Device::M4 => SimConfig::m4(),
            Device::A18pro => SimConfig::a18_pro(),
        };
        let gpu = &mut config.gpu;
        if options.strict {
            gpu.strict = Some(if options.recorded {
                strict::Options::RECORDED
            } else {
                strict::Options::COMPILER
            });
        }
        gpu.watchdog = options.watchdog;
        // One thread executes in one order, which a trace can show.
        if options.trace {
            gpu.threads = 1;
        } else if options.host_threads != 0 {
            gpu.threads = options.host_threads;
        }
        let watch = Arc::new(Watch::new(options, gpu.clone())?);
        let device = SimDevice::new(config, watch.clone());
        let kernel = device.kernel();
        let vm = kernel
            .vm_create(KERNEL_WINDOW)
            .map_err(refused("VM_CREATE"))?;
        let mut machine = Machine {
            options,
            device,
            kernel,
            watch,
            vm,
            buffers: Vec::new(),
        };
        for (index, buffer) in options.buffers.iter().enumerate() {
            let mapping = machine
                .place(machine.address(index), &buffer.padded(), Access::ReadWrite)
                .with_context(|| format!("buffer {index}"))?;
            machine.buffers.push(mapping);
        }
        Ok(machine)
    }

    /// GPU address of a buffer.
    fn address(&self, index: usize) -> u64 {
        let size = self.options.buffers[index].mapped_size() as u64;
        if index == 0 && SMALL_BUFFER + size <= INDIRECT {
            SMALL_BUFFER
        } else {
            BUFFERS + index as u64 * BUFFER_STRIDE
        }
    }

    /// Places something that is written to the dump, too.
    fn place_named(&self, name: &str, address: u64, content: &[u8]) -> anyhow::Result<()> {
        if let Some(dir) = &self.options.dump {
            let path = dir.join(format!("{name}.bin"));
            std::fs::write(&path, content).with_context(|| path.display().to_string())?;
        }
        self.place(address, content, Access::Read).map(drop)
    }

    /// A new buffer object with this content, mapped at `address`; the CPU's mapping comes back.
    fn place(&self, address: u64, content: &[u8], access: Access) -> anyhow::Result<Mapping> {
        let size = content.len().max(1).next_multiple_of(PAGE_SIZE as usize);
        let gem = self
            .kernel
            .gem_create(size as u64, Caching::WriteBack, None)
            .map_err(refused("GEM_CREATE"))?;
        let mapping = self.kernel.gem_map(gem, size).map_err(refused("mmap"))?;
        // SAFETY: the mapping has `size` bytes, and nothing uses the new object yet.
        unsafe { std::ptr::copy_nonoverlapping(content.as_ptr(), mapping.as_ptr(), content.len()) };
        let bind = Bind::Object {
            addr: address,
            size: size as u64,
            gem,
            offset: 0,
            access,
        };
        self.kernel
            .vm_bind(self.vm, &[bind])
            .map_err(refused("VM_BIND"))?;
        Ok(mapping)
    }

    /// The bytes of a buffer now.
    pub(super) fn buffer(&self, index: usize) -> Vec<u8> {
        let mapping = &self.buffers[index];
        let mut bytes = vec![0; mapping.len()];
        // SAFETY: the mapping has that many bytes, and no command is running.
        unsafe { std::ptr::copy_nonoverlapping(mapping.as_ptr(), bytes.as_mut_ptr(), bytes.len()) };
        bytes
    }

    /// Writes all that the GPU needs to run `code`, submits it and waits.
    pub(super) fn execute(&self, code: &[u8]) -> anyhow::Result<Done> {
        let body_end = BODY + code.len() as u64;
        let launcher = LAUNCHER.max(body_end.next_multiple_of(PAGE_SIZE));
        let record = launcher + SLOT_SIZE as u64;
        let entry = BlockOffset::FIRST;
        let mut arena = vec![0; PAGE_SIZE as usize];
        Header::default().pack(&mut arena)?;
        let block = Block {
            kind: Kind::Compute,
            target: Target::Jump(CodeAddress::new(BODY)?),
        };
        block.pack(entry, &mut arena[HEADER_SIZE..])?;
        self.place_named("arena", ARENA, &arena)?;
        self.place_named("body", BODY, code)?;

        let local = LocalSize::new(self.options.local)?;
        let at = LauncherAddress::new(CodeAddress::new(launcher)?)?;
        let counts =
            std::array::from_fn(|axis| self.options.threads[axis].div_ceil(local.get()[axis]));
        let geometry = self.geometry(local, counts)?;
        let memory = self.launch_program(at, record, entry, counts)?;
        self.place_named("launcher", launcher, &memory)?;

        let mut stream = vec![0; 0x100 + READ_AHEAD as usize];
        let mut writer = CdmStream::new(&mut stream, STREAM)?;
        writer.launch(Launch::new(at, geometry))?;
        writer.barrier()?;
        let end = writer.terminate()?;
        self.place_named("stream", STREAM, &stream)?;
        self.submit(end)
    }

    fn geometry(&self, local: LocalSize, counts: [u32; 3]) -> anyhow::Result<Geometry> {
        let words: Vec<u32> = match self.options.launch {
            LaunchMode::Direct => {
                return Ok(Geometry::Direct(Grid::new(self.options.threads, local)?));
            }
            LaunchMode::IndirectGroups => counts.to_vec(),
            LaunchMode::IndirectThreads => [self.options.threads, local.get()].concat(),
        };
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.place_named("indirect", INDIRECT, &bytes)?;
        let arguments = IndirectAddress::new(INDIRECT)?;
        Ok(match self.options.launch {
            LaunchMode::IndirectGroups => Geometry::IndirectGlobal { arguments, local },
            _ => Geometry::IndirectLocal { arguments },
        })
    }

    /// The launch program, and behind it the root record that it reads.
    fn launch_program(
        &self,
        at: LauncherAddress,
        record_at: u64,
        entry: BlockOffset,
        counts: [u32; 3],
    ) -> anyhow::Result<Vec<u8>> {
        let mut memory = vec![0; SLOT_SIZE + RECORD_SIZE];
        let (program, record) = memory.split_at_mut(SLOT_SIZE);
        let buffers = 0..self.options.buffers.len();
        let addresses: Vec<u64> = buffers.map(|index| self.address(index)).collect();
        let constants = self.options.constants.as_ref();
        let constants = constants.map_or(&[][..], |constants| &constants.bytes[..]);
        let (words, rest) = constants.as_chunks::<4>();
        ensure!(rest.is_empty(), "constants must be whole words");
        let pointers = if self.options.bare {
            self.bare_record(record, &addresses, words)?
        } else {
            // A shader without buffers gets a dummy pointer (launch, 6.2).
            let addresses = if addresses.is_empty() {
                &[0][..]
            } else {
                &addresses
            };
            let mut root = Direct::new(Groups::Direct(counts), addresses)?;
            if self.options.threadgroup > 0 {
                root.buffers
                    .try_push(THREADGROUP_ROOT)
                    .map_err(|_| anyhow::anyhow!("no room for the threadgroup pointer"))?;
            }
            for word in words {
                root.constants
                    .try_push(u32::from_le_bytes(*word))
                    .map_err(|_| anyhow::anyhow!("too many constants"))?;
            }
            root.pack(record_at, record)?;
            root.pointers()
        };
        let mut launcher = Launcher::new(record_at, pointers, entry.entry());
        for index in 0..words.len() as u16 {
            let word = 2 * u16::from(pointers) + index;
            let inline = InlineWord {
                record: word,
                argument: u8::try_from(word)?,
            };
            launcher
                .inline
                .try_push(inline)
                .map_err(|_| anyhow::anyhow!("too many constants"))?;
        }
        launcher.storage = Storage::threadgroup(self.options.threadgroup)?;
        let scratch = self.options.scratch;
        launcher.frame = Frame::new(self.options.publications, scratch, scratch)?;
        launcher.pack(at, program)?;
        Ok(memory)
    }

    /// A record of buffers from pointer 0 on, the threadgroup pointer behind them, constants last.
    fn bare_record(
        &self,
        record: &mut [u8],
        addresses: &[u64],
        words: &[[u8; 4]],
    ) -> anyhow::Result<u8> {
        let mut pointers = addresses.to_vec();
        if self.options.threadgroup > 0 {
            pointers.push(THREADGROUP_ROOT);
        }
        // Launch programs publish at least two.
        pointers.resize(pointers.len().max(2), 0);
        let mut bytes: Vec<u8> = pointers.iter().flat_map(|p| p.to_le_bytes()).collect();
        bytes.extend(words.iter().flatten());
        ensure!(
            bytes.len() <= record.len(),
            "too many buffers and constants"
        );
        record[..bytes.len()].copy_from_slice(&bytes);
        Ok(u8::try_from(pointers.len())?)
    }

    fn submit(&self, end: u64) -> anyhow::Result<Done> {
        let queue = self
            .kernel
            .queue_create(self.vm, Priority::Medium)
            .map_err(refused("QUEUE_CREATE"))?;
        let done = self
            .kernel
            .syncobj_create(false)
            .map_err(refused("SYNCOBJ_CREATE"))?;
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
            queue,
            waits: &[],
            signals: &[SyncPoint::Binary(done)],
            commands: commands.as_bytes(),
        };
        self.kernel.submit(&submit).map_err(refused("SUBMIT"))?;
        self.kernel
            .syncobj_wait(&[done], WaitFlags::ALL, Deadline::NEVER)
            .map_err(refused("SYNCOBJ_WAIT"))?;
        if !self.device.is_lost() {
            return Ok(Done::Completed);
        }
        match self.device.last_fault() {
            Some(fault) => Ok(Done::Fault(fault.to_string())),
            None => bail!("the device was lost without a fault"),
        }
    }

    /// Prints what the observers saw.
    pub(super) fn report(&self, out: &mut impl Write) -> anyhow::Result<()> {
        self.watch.report(out)
    }
}

/// An errno with the request that gave it.
fn refused(request: &'static str) -> impl Fn(Errno) -> anyhow::Error {
    move |errno| anyhow::anyhow!("{request}: {errno}")
}
