// SPDX-License-Identifier: MIT
//! What the tests of the kernel model share: a GPU model that does as it is told, and a device with
//! some memory mapped.

#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::{HashMap, HashSet};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use agx_sim::config::SimConfig;
use agx_sim::fault::{Fault, FaultKind};
use agx_sim::kernel::{SimDevice, SimKernel, SimNode};
use agx_sim::memory::Mappings;
use agx_sim::processor::{ComputeCommand, Processor, RenderCommand};
use agx_uapi::abi::{self, ioctl, limits};
use agx_uapi::command::{Barriers, CommandBuffer};
use agx_uapi::{
    Abi, Access, Bind, Caching, Chip, Deadline, Errno, GemHandle, Kernel, Mapping, Node, Priority,
    QueueId, Submit, SyncHandle, SyncPoint, VmId, WaitFlags,
};

/// What a command did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Start(u64),
    End(u64),
}

#[derive(Default)]
struct MockState {
    events: Vec<Event>,
    closed: HashSet<u64>,
    failing: HashMap<u64, FaultKind>,
    mappings: HashMap<u64, Arc<Mappings>>,
    keep_mappings: bool,
}

/// A GPU model that records, blocks and fails. A command's name is its stream's address.
#[derive(Default)]
pub(crate) struct Mock {
    state: Mutex<MockState>,
    changed: Condvar,
    pub(crate) running: AtomicUsize,
    pub(crate) most_running: AtomicUsize,
}

impl Mock {
    /// Makes a command block until [`Mock::open`], or until it is cancelled.
    pub(crate) fn close(&self, stream: u64) {
        self.state.lock().unwrap().closed.insert(stream);
    }

    /// Lets a command go on.
    pub(crate) fn open(&self, stream: u64) {
        self.state.lock().unwrap().closed.remove(&stream);
        self.changed.notify_all();
    }

    /// Makes a command fail.
    pub(crate) fn fail(&self, stream: u64, kind: FaultKind) {
        self.state.lock().unwrap().failing.insert(stream, kind);
    }

    /// Keeps what commands see; keeps memory alive, too.
    pub(crate) fn keep_mappings(&self, keep: bool) {
        let mut state = self.state.lock().unwrap();
        state.keep_mappings = keep;
        state.mappings.clear();
    }

    /// What the last command of that name saw.
    pub(crate) fn mappings(&self, stream: u64) -> Arc<Mappings> {
        self.state.lock().unwrap().mappings[&stream].clone()
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.state.lock().unwrap().events.clone()
    }

    pub(crate) fn happened(&self, event: Event) -> bool {
        self.state.lock().unwrap().events.contains(&event)
    }

    /// Waits until something has happened.
    pub(crate) fn wait_for(&self, event: Event) {
        let state = self.state.lock().unwrap();
        let (state, timeout) = self
            .changed
            .wait_timeout_while(state, Duration::from_secs(60), |state| {
                !state.events.contains(&event)
            })
            .unwrap();
        assert!(
            !timeout.timed_out(),
            "{event:x?} never happened: {:x?}",
            state.events
        );
    }
}

impl Processor for Mock {
    fn compute(&self, command: &ComputeCommand, cancel: &AtomicBool) -> Result<(), Box<Fault>> {
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_running.fetch_max(running, Ordering::SeqCst);
        let mut state = self.state.lock().unwrap();
        state.events.push(Event::Start(command.stream));
        if state.keep_mappings {
            state
                .mappings
                .insert(command.stream, command.mappings.clone());
        }
        self.changed.notify_all();
        while state.closed.contains(&command.stream) && !cancel.load(Ordering::Acquire) {
            // Cancelling makes no noise.
            state = self
                .changed
                .wait_timeout(state, Duration::from_millis(1))
                .unwrap()
                .0;
        }
        state.events.push(Event::End(command.stream));
        self.changed.notify_all();
        self.running.fetch_sub(1, Ordering::SeqCst);
        match state.failing.get(&command.stream) {
            Some(kind) => Err(Box::new(Fault::new(kind.clone()))),
            None => Ok(()),
        }
    }

    fn render(
        &self,
        _: &RenderCommand,
        _: &AtomicBool,
        tiled: &mut dyn FnMut(),
    ) -> Result<(), Box<Fault>> {
        tiled();
        Ok(())
    }
}

/// Readable and writable megabyte.
pub(crate) const DATA: u64 = 0x20_0000_0000;
/// Write-only page.
pub(crate) const WRITE_ONLY: u64 = 0x21_0000_0000;
/// Read-only page.
pub(crate) const READ_ONLY: u64 = 0x22_0000_0000;
/// Readable and writable megabyte in the render context.
pub(crate) const CONTEXT: u64 = 0x10_4000_0000;
/// Read-only megabyte at the start of the shader window.
pub(crate) const CODE: u64 = limits::USC_WINDOW.start;
pub(crate) const PAGE: u64 = 0x4000;
pub(crate) const MIB: u64 = 1 << 20;

/// The n-th place for a stream.
pub(crate) fn stream(n: u64) -> u64 {
    DATA + 0x1_0000 + n * 0x40
}

/// A device with one open file, a VM, a queue and memory.
pub(crate) struct Rig {
    pub(crate) mock: Arc<Mock>,
    pub(crate) device: Arc<SimDevice>,
    pub(crate) kernel: SimKernel,
    pub(crate) vm: VmId,
    pub(crate) queue: QueueId,
    /// Behind [`DATA`].
    pub(crate) data: GemHandle,
}

pub(crate) fn config(chip: Chip) -> SimConfig {
    match chip {
        Chip::M4 => SimConfig::m4(),
        Chip::A18Pro => SimConfig::a18_pro(),
    }
}

/// As [`config`], with internal waits short enough to be waited for.
pub(crate) fn impatient(chip: Chip) -> SimConfig {
    SimConfig {
        internal_wait: Duration::from_millis(30),
        ..config(chip)
    }
}

impl Rig {
    pub(crate) fn new(chip: Chip) -> Rig {
        Rig::with(config(chip))
    }

    pub(crate) fn with(config: SimConfig) -> Rig {
        let mock = Arc::new(Mock::default());
        let device = SimDevice::new(config, mock.clone());
        let kernel = device.kernel();
        let vm = kernel.vm_create(limits::KERNEL_WINDOW).unwrap();
        let data = bind_memory(&kernel, vm);
        let queue = kernel.queue_create(vm, Priority::Medium).unwrap();
        Rig {
            mock,
            device,
            kernel,
            vm,
            queue,
            data,
        }
    }

    pub(crate) fn chip(&self) -> Chip {
        self.device.config().chip
    }

    pub(crate) fn node(&self) -> &SimNode {
        self.kernel.node()
    }

    pub(crate) fn sync(&self) -> SyncHandle {
        self.kernel.syncobj_create(false).unwrap()
    }

    /// Submits compute commands, one for each stream, without barriers.
    pub(crate) fn submit(
        &self,
        queue: QueueId,
        waits: &[SyncPoint],
        signals: &[SyncPoint],
        streams: &[u64],
    ) {
        let commands = computes(streams);
        self.kernel
            .submit(&Submit {
                queue,
                waits,
                signals,
                commands: commands.as_bytes(),
            })
            .unwrap();
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, stream: u64) {
        self.run_on(self.queue, stream);
    }

    /// Runs a command of a queue to its end.
    pub(crate) fn run_on(&self, queue: QueueId, stream: u64) {
        let sync = self.sync();
        self.submit(queue, &[], &[SyncPoint::Binary(sync)], &[stream]);
        self.wait(sync);
        self.kernel.syncobj_destroy(sync).unwrap();
    }

    /// Waits for a binary syncobj.
    pub(crate) fn wait(&self, sync: SyncHandle) {
        self.kernel
            .syncobj_wait(&[sync], WaitFlags::ALL, patience())
            .unwrap();
    }

    pub(crate) fn is_signalled(&self, sync: SyncHandle) -> bool {
        match self
            .kernel
            .syncobj_wait(&[sync], WaitFlags::ALL, Deadline::NOW)
        {
            Ok(_) => true,
            Err(Errno::ETIME) => false,
            Err(errno) => panic!("{errno}"),
        }
    }
}

/// Long enough for whatever should happen.
pub(crate) fn patience() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

/// Gives a VM the memory that the constants of this module name.
pub(crate) fn bind_memory(kernel: &SimKernel, vm: VmId) -> GemHandle {
    let gem = |size| kernel.gem_create(size, Caching::WriteBack, None).unwrap();
    let data = gem(MIB);
    let page = gem(PAGE);
    let object = |addr, size, gem, access| Bind::Object {
        addr,
        size,
        gem,
        offset: 0,
        access,
    };
    let binds = [
        object(DATA, MIB, data, Access::ReadWrite),
        object(WRITE_ONLY, PAGE, page, Access::Write),
        object(READ_ONLY, PAGE, page, Access::Read),
        object(CONTEXT, MIB, gem(MIB), Access::ReadWrite),
        object(CODE, MIB, gem(MIB), Access::Read),
    ];
    kernel.vm_bind(vm, &binds).unwrap();
    data
}

/// A compute command that every check lets pass.
pub(crate) fn compute(stream: u64) -> abi::CmdCompute {
    abi::CmdCompute {
        cdm_ctrl_stream_base: stream,
        cdm_ctrl_stream_end: stream + 0x30,
        ..Default::default()
    }
}

pub(crate) fn computes(streams: &[u64]) -> CommandBuffer {
    let mut commands = CommandBuffer::new();
    for stream in streams {
        commands.compute(Barriers::NONE, &compute(*stream)).unwrap();
    }
    commands
}

/// A render command that every check lets pass (kernel-uapi, 14.2).
pub(crate) fn render() -> abi::CmdRender {
    let program = |usc| abi::BgEot {
        usc,
        rsrc_spec: 0x10c,
    };
    abi::CmdRender {
        flags: abi::RenderFlags::PROCESS_EMPTY_TILES,
        vdm_ctrl_stream_base: CONTEXT,
        isp_scissor_base: CONTEXT + 0x1_0000,
        isp_dbias_base: CONTEXT + 0x1_0100,
        ppp_multisamplectl: 0x88,
        ppp_ctrl: 0x202,
        width_px: 64,
        height_px: 64,
        layers: 1,
        utile_width_px: 32,
        utile_height_px: 32,
        samples: 1,
        sample_size_b: 4,
        bg: program(0x1_0004),
        eot: program(0x1_0104),
        partial_bg: program(0x1_0204),
        partial_eot: program(0x1_0304),
        ..Default::default()
    }
}

/// One request, raw.
pub(crate) fn raw<T: Abi>(node: &SimNode, request: u32, args: &mut T) -> Result<(), Errno> {
    assert!(ioctl::size(request) <= size_of::<T>());
    // SAFETY: the argument is as large as the request says; addresses in it are the test's, which
    // keeps what they point to.
    unsafe { node.ioctl(request, (&raw mut *args).cast::<c_void>()) }
}

/// A request with another size of its argument.
pub(crate) fn resized(request: u32, size: usize) -> u32 {
    request & !(0x3fff << 16) | (size as u32) << 16
}

/// One request with the argument's bytes as given.
pub(crate) fn raw_bytes(node: &SimNode, request: u32, args: &mut [u8]) -> Result<(), Errno> {
    // SAFETY: as in `raw`.
    unsafe { node.ioctl(resized(request, args.len()), args.as_mut_ptr().cast()) }
}

/// The user address of something to read.
pub(crate) fn user<T>(memory: &[T]) -> u64 {
    memory.as_ptr().expose_provenance() as u64
}

/// The user address of something to write.
pub(crate) fn user_mut<T>(memory: &mut [T]) -> u64 {
    memory.as_mut_ptr().expose_provenance() as u64
}

/// Reads a word of mapped memory.
pub(crate) fn load(mapping: &Mapping, offset: usize) -> u64 {
    assert!(offset + 8 <= mapping.len());
    // SAFETY: inside the mapping; only tests that have waited for the writer look.
    unsafe { mapping.as_ptr().add(offset).cast::<u64>().read_volatile() }
}

/// Writes a word of mapped memory.
pub(crate) fn store(mapping: &Mapping, offset: usize, value: u64) {
    assert!(offset + 8 <= mapping.len());
    // SAFETY: inside the mapping; nobody else looks meanwhile.
    unsafe {
        mapping
            .as_ptr()
            .add(offset)
            .cast::<u64>()
            .write_volatile(value)
    }
}
