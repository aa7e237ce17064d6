// SPDX-License-Identifier: MIT
//! What the kernel model itself costs: commands that do nothing, and an empty dispatch from submit to
//! fence. Two threads are woken for each: a worker and the waiter; that is most of the time.

#[path = "../tests/machine/mod.rs"]
mod machine;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use agx_hw::cdm::{Grid, LocalSize};
use agx_hw::root::Groups;
use agx_sim::config::SimConfig;
use agx_sim::fault::Fault;
use agx_sim::gpu::{Gpu, GpuConfig};
use agx_sim::kernel::{SimDevice, SimKernel};
use agx_sim::processor::{ComputeCommand, Processor};
use agx_uapi::abi::{CmdCompute, limits};
use agx_uapi::command::{Barriers, CommandBuffer};
use agx_uapi::{
    Access, Bind, Caching, Deadline, Kernel, Priority, QueueId, Submit, SyncHandle, SyncPoint,
    WaitFlags,
};
use divan::Bencher;

struct Nothing;

impl Processor for Nothing {
    fn compute(&self, _: &ComputeCommand, _: &AtomicBool) -> Result<(), Box<Fault>> {
        Ok(())
    }
}

/// Runs one dispatch of one thread that ends at once, whatever the command.
struct EmptyDispatch {
    gpu: Gpu,
    command: ComputeCommand,
}

impl EmptyDispatch {
    fn new() -> EmptyDispatch {
        let mut machine = machine::Machine::new();
        let entry = machine.shader("stop");
        let grid = Grid::new([1, 1, 1], LocalSize::new([1, 1, 1]).unwrap()).unwrap();
        let launcher = machine.launcher(entry, Groups::Direct(grid.groups()), |_| {});
        let end = machine.records(&[machine::direct(launcher, grid)]);
        EmptyDispatch {
            gpu: Gpu::new(GpuConfig::default()).unwrap(),
            command: machine.command(end),
        }
    }
}

impl Processor for EmptyDispatch {
    fn compute(&self, _: &ComputeCommand, cancel: &AtomicBool) -> Result<(), Box<Fault>> {
        self.gpu.compute(&self.command, cancel)
    }
}

struct Bench {
    kernel: SimKernel,
    queue: QueueId,
    timeline: SyncHandle,
    point: u64,
    commands: CommandBuffer,
}

const DATA: u64 = 0x20_0000_0000;

impl Bench {
    fn new() -> Bench {
        Bench::with(Arc::new(Nothing))
    }

    fn with(processor: Arc<dyn Processor>) -> Bench {
        let kernel = SimDevice::new(SimConfig::m4(), processor).kernel();
        let vm = kernel.vm_create(limits::KERNEL_WINDOW).unwrap();
        let gem = kernel.gem_create(0x4000, Caching::WriteBack, None).unwrap();
        let access = Access::ReadWrite;
        let bind = Bind::Object {
            addr: DATA,
            size: 0x4000,
            gem,
            offset: 0,
            access,
        };
        kernel.vm_bind(vm, &[bind]).unwrap();
        let queue = kernel.queue_create(vm, Priority::Medium).unwrap();
        let timeline = kernel.syncobj_create(false).unwrap();
        let mut commands = CommandBuffer::new();
        let command = CmdCompute {
            cdm_ctrl_stream_base: DATA,
            cdm_ctrl_stream_end: DATA + 0x30,
            ..Default::default()
        };
        commands
            .compute(Barriers::EARLIER_SUBMITS, &command)
            .unwrap();
        Bench {
            kernel,
            queue,
            timeline,
            point: 0,
            commands,
        }
    }

    fn submit(&mut self) {
        self.point += 1;
        let signals = [SyncPoint::Timeline(self.timeline, self.point)];
        let commands = self.commands.as_bytes();
        self.kernel
            .submit(&Submit {
                queue: self.queue,
                waits: &[],
                signals: &signals,
                commands,
            })
            .unwrap();
    }

    fn wait(&self) {
        let points = [SyncPoint::Timeline(self.timeline, self.point)];
        self.kernel
            .syncobj_timeline_wait(&points, WaitFlags::ALL, Deadline::NEVER)
            .unwrap();
    }
}

/// From the start of a submit to the return of the wait for it.
#[divan::bench(sample_count = 2000, sample_size = 1)]
fn submit_and_wait(bencher: Bencher<'_, '_>) {
    let mut bench = Bench::new();
    bencher.bench_local(|| {
        bench.submit();
        bench.wait();
    });
}

/// The same with a real dispatch of one thread.
#[divan::bench(sample_count = 2000, sample_size = 1)]
fn empty_dispatch_and_wait(bencher: Bencher<'_, '_>) {
    let mut bench = Bench::with(Arc::new(EmptyDispatch::new()));
    bencher.bench_local(|| {
        bench.submit();
        bench.wait();
    });
}

/// As above, with a pause in front that lets every thread fall asleep.
#[divan::bench(sample_count = 500, sample_size = 1)]
fn submit_and_wait_from_rest(bencher: Bencher<'_, '_>) {
    let mut bench = Bench::new();
    bencher
        .with_inputs(|| std::thread::sleep(std::time::Duration::from_millis(1)))
        .bench_local_values(|()| {
            bench.submit();
            bench.wait();
        });
}

/// 64 submits, then one wait; per batch.
#[divan::bench(sample_count = 200)]
fn submit_64_and_wait(bencher: Bencher<'_, '_>) {
    let mut bench = Bench::new();
    bencher.bench_local(|| {
        for _ in 0..64 {
            bench.submit();
        }
        bench.wait();
    });
}

fn main() {
    divan::main();
}
