// SPDX-License-Identifier: MIT
//! Many threads, queues and VMs at once: what comes out depends on the dependencies alone.

mod kernel_support;
#[path = "../../hw/isa/tests/support/random.rs"]
#[allow(dead_code, reason = "the generator alone is wanted")]
mod random;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use agx_sim::fault::Fault;
use agx_sim::kernel::SimDevice;
use agx_sim::processor::{ComputeCommand, Processor};
use agx_uapi::abi::limits;
use agx_uapi::{Access, Bind, Caching, Chip, Kernel, Priority, Submit, SyncPoint, WaitFlags};
use kernel_support::{DATA, MIB, PAGE, bind_memory, computes, config, patience, stream};
use random::Rng;

/// Each command's result is made from those of the commands it depends on, which must be there.
struct Folding {
    depends_on: Vec<Vec<usize>>,
    results: Vec<AtomicU64>,
    delays: Vec<u64>,
}

fn number(stream_address: u64) -> usize {
    ((stream_address - stream(0)) / 0x40) as usize
}

fn fold(index: usize, inputs: impl Iterator<Item = u64>) -> u64 {
    let mut hasher = DefaultHasher::new();
    index.hash(&mut hasher);
    inputs.for_each(|input| input.hash(&mut hasher));
    hasher.finish() | 1
}

impl Processor for Folding {
    fn compute(&self, command: &ComputeCommand, _: &AtomicBool) -> Result<(), Box<Fault>> {
        let index = number(command.stream);
        match self.delays[index] {
            0..=3 => {}
            4..=8 => std::thread::yield_now(),
            delay => std::thread::sleep(Duration::from_micros(delay * 20)),
        }
        let inputs = self.depends_on[index].iter().map(|input| {
            let result = self.results[*input].load(Ordering::Relaxed);
            assert_ne!(result, 0, "{index} runs before {input}");
            result
        });
        let result = fold(index, inputs);
        let before = self.results[index].swap(result, Ordering::Relaxed);
        assert_eq!(before, 0, "{index} runs twice");
        Ok(())
    }
}

fn stress(chip: Chip, seed: u64) {
    const THREADS: usize = 4;
    const QUEUES: usize = 12;
    const JOBS: usize = 900;
    let mut random = Rng::new(seed);
    // Job n goes to queue n % QUEUES, which belongs to thread n % THREADS: a queue gets its jobs in
    // order, and each depends on the one before by that alone. Other dependencies are syncobjs.
    let mut waits: Vec<Vec<usize>> = vec![Vec::new(); JOBS];
    let mut depends_on = vec![Vec::new(); JOBS];
    for job in 0..JOBS {
        for _ in 0..random.below(4) {
            if job > 0 {
                let back = 1 + random.below(job.min(40) as u64) as usize;
                waits[job].push(job - back);
            }
        }
        depends_on[job] = waits[job].clone();
        if job >= QUEUES {
            depends_on[job].push(job - QUEUES);
        }
    }
    let mut expected: Vec<u64> = Vec::new();
    for (job, inputs) in depends_on.iter().enumerate() {
        expected.push(fold(job, inputs.iter().map(|input| expected[*input])));
    }
    let processor = Arc::new(Folding {
        depends_on,
        results: (0..JOBS).map(|_| AtomicU64::new(0)).collect(),
        delays: (0..JOBS).map(|_| random.below(12)).collect(),
    });
    let device = SimDevice::new(config(chip), processor.clone());
    let kernel = device.kernel();
    let vms: Vec<_> = (0..3)
        .map(|_| {
            let vm = kernel.vm_create(limits::KERNEL_WINDOW).unwrap();
            bind_memory(&kernel, vm);
            vm
        })
        .collect();
    let queues: Vec<_> = (0..QUEUES)
        .map(|n| {
            let priority = if n % 2 == 0 {
                Priority::Low
            } else {
                Priority::Medium
            };
            kernel.queue_create(vms[n % 3], priority).unwrap()
        })
        .collect();
    let timeline = kernel.syncobj_create(false).unwrap();
    let syncs: Vec<_> = (0..JOBS)
        .map(|_| kernel.syncobj_create(false).unwrap())
        .collect();
    let stop_binding = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (kernel, syncs, queues, waits) = (&kernel, &syncs, &queues, &waits);
            scope.spawn(move || {
                for job in (thread..JOBS).step_by(THREADS) {
                    let inputs: Vec<_> = waits[job]
                        .iter()
                        .map(|n| SyncPoint::Binary(syncs[*n]))
                        .collect();
                    if !inputs.is_empty() {
                        // Another thread may not have submitted it yet.
                        let flags = WaitFlags::ALL | WaitFlags::AVAILABLE;
                        kernel
                            .syncobj_timeline_wait(&inputs, flags, patience())
                            .unwrap();
                    }
                    let signals = [SyncPoint::Binary(syncs[job])];
                    let commands = computes(&[stream(job as u64)]);
                    let submit = Submit {
                        queue: queues[job % QUEUES],
                        waits: &inputs,
                        signals: &signals,
                        commands: commands.as_bytes(),
                    };
                    kernel.submit(&submit).unwrap();
                }
            });
        }
        // Meanwhile mappings come and go.
        scope.spawn(|| {
            let gem = kernel.gem_create(MIB, Caching::WriteBack, None).unwrap();
            for n in 0u64.. {
                if stop_binding.load(Ordering::Relaxed) {
                    break;
                }
                let (addr, size) = (DATA + 0x1_0000_0000 + n % 32 * PAGE, PAGE);
                let bind = Bind::Object {
                    addr,
                    size,
                    gem,
                    offset: n % 64 * PAGE,
                    access: Access::Read,
                };
                let vm = vms[n as usize % 3];
                if kernel.vm_bind(vm, &[bind]).is_err() {
                    // There; it goes, waiting for the VM's work or finding it busy.
                    let _ = kernel.vm_bind(vm, &[Bind::Unbind { addr, size }]);
                }
            }
        });
        kernel
            .syncobj_wait(&syncs, WaitFlags::ALL | WaitFlags::FOR_SUBMIT, patience())
            .unwrap();
        stop_binding.store(true, Ordering::Relaxed);
    });
    let results: Vec<u64> = processor
        .results
        .iter()
        .map(|result| result.load(Ordering::Relaxed))
        .collect();
    assert_eq!(results, expected);
    assert!(!device.is_lost());
    kernel.syncobj_destroy(timeline).unwrap();
    drop(kernel);
    assert_eq!(device.memory_in_use(), (0, 0));
    drop(device);
    assert_eq!(Arc::strong_count(&processor), 1);
}

#[test]
fn results_depend_on_dependencies_alone() {
    for seed in 1..=3 {
        stress(Chip::M4, seed);
        stress(Chip::A18Pro, seed + 100);
    }
}

/// Files that come and go with work in flight.
#[test]
fn files_come_and_go() {
    let device = SimDevice::new(config(Chip::M4), Arc::new(kernel_support::Mock::default()));
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let device = &device;
            scope.spawn(move || {
                for round in 0..25u64 {
                    let kernel = device.kernel();
                    let vm = kernel.vm_create(limits::KERNEL_WINDOW).unwrap();
                    bind_memory(&kernel, vm);
                    let queue = kernel.queue_create(vm, Priority::Medium).unwrap();
                    let sync = kernel.syncobj_create(false).unwrap();
                    for n in 0..round % 5 {
                        let point = [SyncPoint::Timeline(sync, n + 1)];
                        let earlier = [SyncPoint::Timeline(sync, n)];
                        let waits: &[SyncPoint] = if n == 0 { &[] } else { &earlier };
                        let commands = computes(&[stream(thread * 100 + n)]);
                        let commands = commands.as_bytes();
                        kernel
                            .submit(&Submit {
                                queue,
                                waits,
                                signals: &point,
                                commands,
                            })
                            .unwrap();
                    }
                    if round % 3 == 0 {
                        kernel.vm_destroy(vm).unwrap();
                    }
                    if round % 2 == 0 {
                        kernel.queue_destroy(queue).unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(device.memory_in_use(), (0, 0));
}
