// SPDX-License-Identifier: MIT
//! A device on a GPU model that does as it is told, or on the real one.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use agx_sim::config::SimConfig;
use agx_sim::fault::{Fault, FaultKind};
use agx_sim::kernel::SimDevice;
use agx_sim::processor::{ComputeCommand, Processor};
use ash::vk;

use crate::backend::Backend;
use crate::command::Segment;
use crate::device::{self, Device};
use crate::error::code;
use crate::gpu::{Slice, Zone};
use crate::host::HostAllocator;
use crate::physical_device::PhysicalDevice;
use crate::queue::Queue;
use crate::semaphore::Semaphore;
use crate::{fence, instance, object, queue, semaphore};

/// How long a test waits for what must come.
pub(super) const PATIENCE: u64 = 60_000_000_000;

/// A GPU model that records commands by their stream, and blocks and fails as it is told.
#[derive(Default)]
pub(super) struct Gates {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    closed: HashSet<u64>,
    failing: HashSet<u64>,
    ran: Vec<u64>,
}

impl Processor for Gates {
    fn compute(&self, command: &ComputeCommand, cancel: &AtomicBool) -> Result<(), Box<Fault>> {
        let stream = command.stream;
        let mut state = self.state.lock().unwrap();
        while state.closed.contains(&stream) && !cancel.load(Ordering::Acquire) {
            let millisecond = Duration::from_millis(1);
            (state, _) = self.changed.wait_timeout(state, millisecond).unwrap();
        }
        state.ran.push(stream);
        if state.failing.contains(&stream) {
            return Err(Box::new(Fault::new(FaultKind::Watchdog { limit: 1 })));
        }
        Ok(())
    }
}

/// A device with a queue.
pub(super) struct Rig {
    pub(super) gates: Arc<Gates>,
    pub(super) sim: Arc<SimDevice>,
    instance: vk::Instance,
    physical: vk::PhysicalDevice,
    pub(super) device: vk::Device,
    pub(super) queue: vk::Queue,
    /// Another one of the same device.
    pub(super) second: vk::Queue,
    memory: Option<Slice>,
}

// SAFETY: handles may go to other threads, which the tests do as the specification allows.
unsafe impl Sync for Rig {}

/// A point of a semaphore.
pub(super) type Point = (vk::Semaphore, u64);

/// Bytes from one segment to the next.
const STEP: u64 = 64;

impl Rig {
    /// On a model that does as it is told.
    pub(super) fn new() -> Rig {
        Rig::with_allocator(None)
    }

    /// The same, with host memory of the device from callbacks.
    pub(super) fn with_allocator(callbacks: Option<&vk::AllocationCallbacks<'_>>) -> Rig {
        let gates = Arc::new(Gates::default());
        let sim = SimDevice::new(SimConfig::m4(), gates.clone());
        Rig::on(sim, gates, callbacks)
    }

    /// On the simulated GPU.
    pub(super) fn real() -> Rig {
        let sim = SimDevice::simulated(SimConfig::m4()).unwrap();
        Rig::on(sim, Arc::default(), None)
    }

    fn on(
        sim: Arc<SimDevice>,
        gates: Arc<Gates>,
        callbacks: Option<&vk::AllocationCallbacks<'_>>,
    ) -> Rig {
        let host = HostAllocator::global(vk::SystemAllocationScope::INSTANCE);
        let callbacks = callbacks.map_or(std::ptr::null(), std::ptr::from_ref);
        let mut made = vk::Instance::null();
        let mut device = vk::Device::null();
        let (mut queue, mut second) = (vk::Queue::null(), vk::Queue::null());
        // SAFETY: valid arguments.
        let physical = unsafe {
            let info = vk::InstanceCreateInfo::default();
            let result =
                instance::create_instance(&raw const info, std::ptr::null(), &raw mut made);
            assert_eq!(result, vk::Result::SUCCESS);
            let backend = Backend::Simulated(sim.clone());
            let physical = PhysicalDevice::new(made, backend).unwrap();
            let physical = object::create(host, physical).unwrap();
            let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0, 0.0])];
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
            let result =
                device::create_device(physical, &raw const info, callbacks, &raw mut device);
            assert_eq!(result, vk::Result::SUCCESS);
            queue::get_device_queue(device, 0, 0, &raw mut queue);
            queue::get_device_queue(device, 0, 1, &raw mut second);
            physical
        };
        let mut rig = Rig {
            gates,
            sim,
            instance: made,
            physical,
            device,
            queue,
            second,
            memory: None,
        };
        let memory = rig.device().gpu.allocate(Zone::Upload, 1024 * STEP, STEP);
        rig.memory = Some(memory.unwrap());
        rig
    }

    pub(super) fn device(&self) -> &Device {
        // SAFETY: destroyed with the rig.
        unsafe { object::get(self.device) }
    }

    pub(super) fn queue(&self) -> &Queue {
        // SAFETY: destroyed with the rig.
        unsafe { object::get(self.queue) }
    }

    pub(super) fn memory(&self) -> &Slice {
        self.memory.as_ref().unwrap()
    }

    /// The n-th command.
    pub(super) fn segment(&self, n: u64) -> Segment {
        let start = self.memory().address() + n * STEP;
        Segment {
            start,
            end: start + 4,
            begun: None,
            ended: None,
        }
    }

    /// Makes a command wait when it runs.
    pub(super) fn close(&self, n: u64) {
        let stream = self.segment(n).start;
        self.gates.state.lock().unwrap().closed.insert(stream);
    }

    /// Lets it go on.
    pub(super) fn open(&self, n: u64) {
        let stream = self.segment(n).start;
        self.gates.state.lock().unwrap().closed.remove(&stream);
        self.gates.changed.notify_all();
    }

    /// Makes a command lose the device.
    pub(super) fn fail(&self, n: u64) {
        let stream = self.segment(n).start;
        self.gates.state.lock().unwrap().failing.insert(stream);
    }

    /// The commands that have run, in their order.
    pub(super) fn ran(&self) -> Vec<u64> {
        let start = self.memory().address();
        let state = self.gates.state.lock().unwrap();
        let number = |stream: &u64| (stream - start) / STEP;
        state.ran.iter().map(number).collect()
    }

    /// Submits batches of waits, commands and signals, as the entry points do with command buffers.
    pub(super) fn submit_all(
        &self,
        submits: &[(&[Point], &[u64], &[Point])],
        fence: vk::Fence,
    ) -> vk::Result {
        self.submit_all_to(self.queue, submits, fence)
    }

    fn submit_all_to(
        &self,
        queue: vk::Queue,
        submits: &[(&[Point], &[u64], &[Point])],
        fence: vk::Fence,
    ) -> vk::Result {
        // SAFETY: destroyed with the rig.
        let queue = unsafe { object::get::<Queue>(queue) };
        let submit = || {
            let mut batches = queue.batches();
            for (waits, commands, signals) in submits {
                batches.begin(!waits.is_empty())?;
                for (semaphore, value) in *waits {
                    // SAFETY: live by the test's doing.
                    batches.wait(unsafe { object::get::<Semaphore>(*semaphore) }, *value)?;
                }
                for n in *commands {
                    batches.segment(&self.segment(*n))?;
                }
                for (semaphore, value) in *signals {
                    // SAFETY: as above.
                    let semaphore = unsafe { object::get::<Semaphore>(*semaphore) };
                    batches.signal(semaphore.point(*value).unwrap())?;
                }
            }
            // SAFETY: as above.
            unsafe { queue.finish(batches, fence) }
        };
        code(submit())
    }

    /// Submits to the second queue, which is how the loss of the device is noticed.
    pub(super) fn submit_second_lost(&self, commands: &[u64]) {
        let submits = [(&[][..], commands, &[][..])];
        let result = self.submit_all_to(self.second, &submits, vk::Fence::null());
        assert_eq!(result, vk::Result::ERROR_DEVICE_LOST);
    }

    /// Submits one batch to the second queue, which must work.
    pub(super) fn submit_second(
        &self,
        waits: &[Point],
        commands: &[u64],
        signals: &[Point],
        fence: vk::Fence,
    ) {
        let result = self.submit_all_to(self.second, &[(waits, commands, signals)], fence);
        assert_eq!(result, vk::Result::SUCCESS);
    }

    /// Submits one batch, which must work.
    pub(super) fn submit(
        &self,
        waits: &[Point],
        commands: &[u64],
        signals: &[Point],
        fence: vk::Fence,
    ) {
        let result = self.submit_all(&[(waits, commands, signals)], fence);
        assert_eq!(result, vk::Result::SUCCESS);
    }

    pub(super) fn fence(&self, signalled: bool) -> vk::Fence {
        let flags = if signalled {
            vk::FenceCreateFlags::SIGNALED
        } else {
            vk::FenceCreateFlags::empty()
        };
        let info = vk::FenceCreateInfo::default().flags(flags);
        let mut fence = vk::Fence::null();
        // SAFETY: valid arguments.
        let result = unsafe {
            fence::create_fence(
                self.device,
                &raw const info,
                std::ptr::null(),
                &raw mut fence,
            )
        };
        assert_eq!(result, vk::Result::SUCCESS);
        fence
    }

    pub(super) fn semaphore(&self) -> vk::Semaphore {
        self.semaphore_with(&vk::SemaphoreCreateInfo::default())
    }

    pub(super) fn timeline(&self, value: u64) -> vk::Semaphore {
        let mut kind = vk::SemaphoreTypeCreateInfo::default()
            .semaphore_type(vk::SemaphoreType::TIMELINE)
            .initial_value(value);
        self.semaphore_with(&vk::SemaphoreCreateInfo::default().push_next(&mut kind))
    }

    fn semaphore_with(&self, info: &vk::SemaphoreCreateInfo<'_>) -> vk::Semaphore {
        let mut made = vk::Semaphore::null();
        // SAFETY: valid arguments.
        let result = unsafe {
            semaphore::create_semaphore(self.device, info, std::ptr::null(), &raw mut made)
        };
        assert_eq!(result, vk::Result::SUCCESS);
        made
    }

    /// Destroys fences and semaphores.
    pub(super) fn destroy(&self, fences: &[vk::Fence], semaphores: &[vk::Semaphore]) {
        // SAFETY: the test does not use them any more.
        unsafe {
            for fence in fences {
                fence::destroy_fence(self.device, *fence, std::ptr::null());
            }
            for semaphore in semaphores {
                semaphore::destroy_semaphore(self.device, *semaphore, std::ptr::null());
            }
        }
    }

    pub(super) fn status(&self, fence: vk::Fence) -> vk::Result {
        // SAFETY: live by the test's doing.
        unsafe { fence::get_fence_status(self.device, fence) }
    }

    pub(super) fn wait(&self, fences: &[vk::Fence], all: bool, timeout: u64) -> vk::Result {
        let count = fences.len() as u32;
        // SAFETY: live by the test's doing.
        unsafe { fence::wait_for_fences(self.device, count, fences.as_ptr(), all.into(), timeout) }
    }

    pub(super) fn reset(&self, fence: vk::Fence) {
        // SAFETY: live by the test's doing.
        let result = unsafe { fence::reset_fences(self.device, 1, &raw const fence) };
        assert_eq!(result, vk::Result::SUCCESS);
    }

    pub(super) fn wait_points(&self, points: &[Point], any: bool, timeout: u64) -> vk::Result {
        let (semaphores, values): (Vec<_>, Vec<_>) = points.iter().copied().unzip();
        let mut info = vk::SemaphoreWaitInfo::default()
            .semaphores(&semaphores)
            .values(&values);
        if any {
            info = info.flags(vk::SemaphoreWaitFlags::ANY);
        }
        // SAFETY: live by the test's doing.
        unsafe { semaphore::wait_semaphores(self.device, &raw const info, timeout) }
    }

    pub(super) fn signal(&self, semaphore: vk::Semaphore, value: u64) -> vk::Result {
        let info = vk::SemaphoreSignalInfo::default()
            .semaphore(semaphore)
            .value(value);
        // SAFETY: live by the test's doing.
        unsafe { semaphore::signal_semaphore(self.device, &raw const info) }
    }

    pub(super) fn counter(&self, semaphore: vk::Semaphore) -> u64 {
        let mut value = u64::MAX;
        // SAFETY: live by the test's doing.
        let result = unsafe {
            semaphore::get_semaphore_counter_value(self.device, semaphore, &raw mut value)
        };
        assert_eq!(result, vk::Result::SUCCESS);
        value
    }

    pub(super) fn idle(&self) -> vk::Result {
        // SAFETY: valid arguments.
        unsafe { queue::queue_wait_idle(self.queue) }
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        {
            let mut state = self.gates.state.lock().unwrap();
            state.closed.clear();
            self.gates.changed.notify_all();
        }
        if std::thread::panicking() {
            // Batches may wait for what the test would have signalled.
            let _ = self.device().lose(&"a test failed");
        }
        self.memory = None;
        let host = HostAllocator::global(vk::SystemAllocationScope::INSTANCE);
        // SAFETY: nothing uses them any more; the device destroys its queue with its own callbacks.
        unsafe {
            let _ = queue::device_wait_idle(self.device);
            device::destroy_device(self.device, std::ptr::null());
            object::destroy::<PhysicalDevice>(host, self.physical);
            instance::destroy_instance(self.instance, std::ptr::null());
        }
    }
}
