// SPDX-License-Identifier: MIT
//! Batches that wait for what has not been submitted yet.
//!
//! Vulkan lets a batch wait for a point of a timeline that something later signals; the kernel
//! takes no wait without a fence (kernel-uapi, 11.2). Such a batch goes to a thread of the queue,
//! which waits until there is one; those after it follow it, until the thread has nothing to do
//! any more. There is no thread before the first such batch.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use agx_uapi::{Deadline, Errno};
use ash::vk;

use super::batch::Batch;
use super::line::Line;
use crate::debug;
use crate::device::Device;
use crate::error::VkResult;
use crate::host::{HostAllocator, HostVec, OUT_OF_HOST};
use crate::object;
use crate::sync::SLICE;

/// The batches, and the thread that has them.
pub(super) struct Deferred {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    line: Arc<Line>,
    /// Outlives the thread: it is joined before.
    device: vk::Device,
    state: Mutex<State>,
    /// There is a batch, or the end.
    work: Condvar,
    /// A batch is done.
    done: Condvar,
}

struct State {
    /// In order; nothing for the one that the thread has. Only the application's threads may call
    /// its allocator, so it is they who free what is done.
    batches: HostVec<Option<Batch>>,
    /// The first that is not done.
    next: usize,
    stop: bool,
}

impl Deferred {
    pub(super) fn new(line: &Arc<Line>, device: vk::Device, host: HostAllocator) -> Deferred {
        let state = State {
            batches: host.vec(),
            next: 0,
            stop: false,
        };
        Deferred {
            shared: Arc::new(Shared {
                line: line.clone(),
                device,
                state: Mutex::new(state),
                work: Condvar::new(),
                done: Condvar::new(),
            }),
            thread: Mutex::default(),
        }
    }

    /// Makes room for batches.
    ///
    /// # Errors
    /// When there is no memory.
    pub(super) fn reserve(&self, count: usize) -> VkResult {
        let mut state = self.shared.lock();
        let done = state.next;
        state.batches.drain(..done);
        state.next = 0;
        state.batches.try_reserve(count).map_err(|_| OUT_OF_HOST)
    }

    /// Whether there are batches that are not done.
    pub(super) fn is_busy(&self) -> bool {
        self.shared.lock().is_busy()
    }

    /// Starts the thread unless it runs.
    ///
    /// # Errors
    /// When there can be none.
    pub(super) fn start(&self) -> VkResult {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_some() {
            return Ok(());
        }
        let shared = self.shared.clone();
        let builder = std::thread::Builder::new().name("cortland submit".into());
        let started = builder.spawn(move || shared.run()).map_err(|error| {
            debug::error(&format_args!("no thread for submits: {error}"));
            OUT_OF_HOST
        })?;
        *thread = Some(started);
        Ok(())
    }

    /// Has a batch executed when what it waits for is there. There must be room and a thread.
    pub(super) fn push(&self, batch: Batch) {
        let mut state = self.shared.lock();
        debug_assert!(state.batches.len() < state.batches.capacity());
        state.batches.push(Some(batch));
        self.shared.work.notify_one();
    }

    /// Waits until all batches are done.
    ///
    /// # Errors
    /// When the device is lost.
    pub(super) fn drain(&self, device: &Device) -> VkResult {
        let mut state = self.shared.lock();
        while state.is_busy() {
            let waited = self.shared.done.wait_timeout(state, SLICE);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            device.check()?;
        }
        Ok(())
    }
}

impl State {
    fn is_busy(&self) -> bool {
        self.next < self.batches.len()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        // SAFETY: the device outlives its queues, and those join their threads.
        let device = unsafe { object::get::<Device>(self.device) };
        let mut state = self.lock();
        loop {
            while !state.is_busy() && !state.stop {
                state = self
                    .work
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            if state.stop {
                return;
            }
            let next = state.next;
            let Some(mut batch) = state.batches[next].take() else {
                unreachable!("only this thread takes them");
            };
            drop(state);
            let stopped = !self.execute(device, &mut batch);
            state = self.lock();
            // Others may have removed what was done before.
            let next = state.next;
            state.batches[next] = Some(batch);
            if stopped {
                return;
            }
            state.next += 1;
            self.done.notify_all();
        }
    }

    /// False when the queue is destroyed before it comes to that.
    fn execute(&self, device: &Device, batch: &mut Batch) -> bool {
        loop {
            if device.check().is_err() {
                self.line.abandon(batch);
                return true;
            }
            match self.line.await_waits(batch, Deadline::after(SLICE)) {
                Ok(()) => break,
                Err(Errno::ETIME) => {
                    // Errors are found by the check above.
                    let _ = device.inspect();
                }
                Err(errno) => {
                    let _ = device.lose(&format_args!("SYNCOBJ_TIMELINE_WAIT: {errno}"));
                }
            }
            if self.lock().stop {
                return false;
            }
        }
        if let Err(refused) = self.line.execute(batch) {
            let _ = device.lose(&format_args!("{}: {}", refused.call, refused.errno));
            self.line.abandon(batch);
        }
        true
    }
}

impl Deferred {
    /// Ends the thread, whatever it waits for.
    pub(super) fn stop(&self) {
        self.shared.lock().stop = true;
        self.shared.work.notify_all();
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = thread.take()
            && thread.join().is_err()
        {
            debug::error(&"the thread for submits panicked");
        }
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        self.stop();
        let mut state = self.shared.lock();
        let next = state.next;
        for batch in state.batches[next..].iter_mut().flatten() {
            self.shared.line.abandon(batch);
        }
        // Now, on a thread of the application's; the shared part goes with it, being the last one.
        state.batches.clear();
        state.batches.shrink_to_fit();
    }
}
