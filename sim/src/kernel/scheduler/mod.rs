// SPDX-License-Identifier: MIT
//! When which command runs.
//!
//! A *job* is an accepted submit. Each queue keeps its jobs in order: the first is *published* when
//! its inputs are signalled, and only then is the next one looked at (kernel-uapi, 11.8). Publishing
//! puts the job's commands into the queue's two rings, render and compute. A ring executes its
//! commands one after another; a barrier holds a command back until its ring, or the other ring of
//! the queue, has come to a certain command (11.4). Nothing else orders commands, so the rings of a
//! queue, and different queues, run at the same time.
//!
//! There is no dispatching thread: whoever makes a command ready (the submitter, the signaller of an
//! input, the worker that finished the command before) hands it to a worker, and the worker that
//! finishes a job signals its fence. An idle worker is woken, or one is started, up to
//! [`MAX_WORKERS`].

mod queues;
#[cfg(test)]
mod tests;
mod workers;

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use agx_uapi::command::Barriers;
use agx_uapi::{Chip, Errno};

use self::queues::{Afterwards, Outstanding, Pending, Queue, State};
use self::workers::Order;
use super::fence::{Fence, Outcome};
use super::time::Deadline;
use super::timestamp::Slot;
use crate::fault::Fault;
use crate::processor::{ComputeCommand, Processor, RenderCommand};

/// Commands that run at the same time at most: one for each queue that can have work in flight
/// (kernel-uapi, 15).
const MAX_WORKERS: usize = 32;

/// The two subqueues of a queue (kernel-uapi, 10.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subqueue {
    Render = 0,
    Compute = 1,
}

/// What a command does.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    Compute(ComputeCommand),
    Render(Box<RenderCommand>),
}

/// Where a command's times go (kernel-uapi, 9).
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    pub(crate) start: Option<Slot>,
    pub(crate) end: Option<Slot>,
    /// Between the vertex and the fragment work of a render: the end of the one, the start of the other.
    pub(crate) between: [Option<Slot>; 2],
}

/// One hardware command of a job.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub(crate) subqueue: Subqueue,
    pub(crate) barriers: Barriers,
    pub(crate) work: Work,
    pub(crate) times: Times,
}

/// Names a queue to the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct QueueKey(u64);

/// Scheduler run queues: which queues' commands go first (kernel-uapi, 10.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Urgency {
    Medium = 0,
    Low = 1,
}

/// The scheduler, shared by the device and its workers.
pub(crate) struct Scheduler {
    chip: Chip,
    processor: Arc<dyn Processor>,
    state: Mutex<State>,
    /// Tells running commands to stop.
    cancel: AtomicBool,
    fault: Mutex<Option<Fault>>,
}

impl Scheduler {
    /// A scheduler without workers; they come with the work.
    pub(crate) fn new(chip: Chip, processor: Arc<dyn Processor>) -> Arc<Scheduler> {
        Arc::new(Scheduler {
            chip,
            processor,
            state: Mutex::default(),
            cancel: AtomicBool::new(false),
            fault: Mutex::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// A new queue.
    pub(crate) fn open_queue(&self, urgency: Urgency) -> QueueKey {
        let mut state = self.lock();
        let key = QueueKey(state.next_queue);
        state.next_queue += 1;
        let queue = Queue {
            urgency,
            pending: VecDeque::new(),
            rings: Default::default(),
            published: BTreeMap::new(),
            closed: false,
        };
        state.queues.insert(key, queue);
        key
    }

    /// Whether a queue has a name or work.
    pub(crate) fn knows_queue(&self, key: QueueKey) -> bool {
        self.lock().queues.contains_key(&key)
    }

    /// Takes no more jobs for a queue; what is accepted goes on.
    pub(crate) fn close_queue(&self, key: QueueKey) {
        let mut state = self.lock();
        if let Some(queue) = state.queues.get_mut(&key) {
            queue.closed = true;
        }
        state.forget_if_done(key);
    }

    /// Cancels the jobs of queues that are not published: their fences get `ECANCELED`. None of
    /// them runs because another one's cancellation signals its input.
    pub(crate) fn cancel_pending(&self, keys: &[QueueKey]) {
        let mut afterwards = Afterwards::default();
        let mut state = self.lock();
        for key in keys {
            let Some(queue) = state.queues.get_mut(key) else {
                continue;
            };
            for job in std::mem::take(&mut queue.pending) {
                state.end_job(job.id, Err(Errno::ECANCELED), &mut afterwards);
                afterwards.dropped.extend(job.commands);
            }
            state.forget_if_done(*key);
        }
        drop(state);
        afterwards.act();
    }

    /// Accepts a job, which waits until [`Scheduler::release`] says for what. Between the two its
    /// fence is shown around: whoever has seen that finds the job in its place in the queue. Never
    /// fails: when the device is lost or the queue closed meanwhile, the fence says so, and there is
    /// nothing to release.
    pub(crate) fn accept(
        &self,
        key: QueueKey,
        vm: u64,
        inputs: usize,
        commands: Vec<Command>,
        fence: Arc<Fence>,
    ) -> Option<u64> {
        let mut state = self.lock();
        let refused = state.lost.or_else(|| match state.queues.get(&key) {
            Some(queue) if !queue.closed => None,
            _ => Some(Errno::ECANCELED),
        });
        if let Some(errno) = refused {
            drop(state);
            drop(commands);
            fence.signal(Err(errno));
            return None;
        }
        let id = state.next_job;
        state.next_job += 1;
        state.outstanding.insert(
            id,
            Outstanding {
                fence,
                queue: key,
                vm,
            },
        );
        let job = Pending {
            id,
            inputs: inputs + 1,
            failed: None,
            commands,
        };
        state
            .queues
            .get_mut(&key)
            .expect("checked")
            .pending
            .push_back(job);
        Some(id)
    }

    /// Lets an accepted job go as soon as its inputs are signalled.
    pub(crate) fn release(self: &Arc<Self>, key: QueueKey, id: u64, inputs: &[Arc<Fence>]) {
        for input in inputs {
            let scheduler = self.clone();
            input.on_signal(move |outcome| scheduler.input_done(key, id, outcome));
        }
        self.input_done(key, id, Ok(()));
    }

    fn input_done(self: &Arc<Self>, key: QueueKey, id: u64, outcome: Outcome) {
        let mut state = self.lock();
        let mut afterwards = Afterwards::default();
        // Not found: cancelled, or the device is lost.
        let Some(queue) = state.queues.get_mut(&key) else {
            return;
        };
        let Ok(index) = queue.pending.binary_search_by_key(&id, |job| job.id) else {
            return;
        };
        let job = &mut queue.pending[index];
        job.inputs -= 1;
        if self.chip == Chip::A18Pro && job.failed.is_none() {
            job.failed = outcome.err();
        }
        if job.inputs == 0 {
            state.publish(key, &mut afterwards);
            self.start(&mut state);
        }
        drop(state);
        afterwards.act();
    }

    /// Declares the device lost, for ever: all accepted fences get the error (kernel-uapi, 15).
    pub(crate) fn lose(&self, errno: Errno, fault: Option<Fault>) {
        let mut afterwards = Afterwards::default();
        let mut state = self.lock();
        if state.lost.is_some() {
            return;
        }
        *self.fault.lock().unwrap() = fault;
        state.lost = Some(errno);
        self.cancel.store(true, Ordering::Release);
        log::error!("the device is lost; all submits fail from now on");
        for (_, job) in std::mem::take(&mut state.outstanding) {
            afterwards.signals.push((job.fence, Err(errno)));
        }
        for ready in &mut state.ready {
            afterwards.runs.extend(ready.drain(..));
        }
        for queue in state.queues.values_mut() {
            for job in queue.pending.drain(..) {
                afterwards.dropped.extend(job.commands);
            }
            for ring in &mut queue.rings {
                afterwards.items.extend(ring.items.drain(..));
            }
            queue.published.clear();
        }
        state.queues.retain(|_, queue| !queue.closed);
        drop(state);
        afterwards.act();
    }

    /// True once the device is lost.
    pub(crate) fn is_lost(&self) -> bool {
        self.cancel.load(Ordering::Acquire)
    }

    /// The fault that lost the device.
    pub(crate) fn last_fault(&self) -> Option<Fault> {
        self.fault.lock().unwrap().clone()
    }

    fn fences(&self, of: impl Fn(&Outstanding) -> bool) -> Vec<Arc<Fence>> {
        let state = self.lock();
        state
            .outstanding
            .values()
            .filter(|job| of(job))
            .map(|job| job.fence.clone())
            .collect()
    }

    /// Waits for all that is accepted now, for each fence up to `limit`.
    ///
    /// # Errors
    /// `ETIMEDOUT`.
    pub(crate) fn wait_device(&self, limit: Duration) -> Result<(), Errno> {
        wait_each(&self.fences(|_| true), limit)
    }

    /// As [`Scheduler::wait_device`], for the jobs of one VM.
    pub(crate) fn wait_vm(&self, vm: u64, limit: Duration) -> Result<(), Errno> {
        wait_each(&self.fences(|job| job.vm == vm), limit)
    }

    /// As [`Scheduler::wait_device`], for the jobs of one queue.
    pub(crate) fn wait_queue(&self, key: QueueKey, limit: Duration) -> Result<(), Errno> {
        wait_each(&self.fences(|job| job.queue == key), limit)
    }

    /// True when a job of the VM is not finished.
    pub(crate) fn vm_is_busy(&self, vm: u64) -> bool {
        self.lock().outstanding.values().any(|job| job.vm == vm)
    }

    /// Ends the workers. Jobs that are not published are cancelled, running commands told to stop.
    pub(crate) fn stop(&self) {
        let keys: Vec<_> = self.lock().queues.keys().copied().collect();
        self.cancel_pending(&keys);
        self.cancel.store(true, Ordering::Release);
        let (idle, workers) = {
            let mut state = self.lock();
            state.stop = true;
            (
                std::mem::take(&mut state.idle),
                std::mem::take(&mut state.workers),
            )
        };
        for desk in idle {
            desk.give(Order::Stop);
        }
        for worker in workers {
            // The last owner of the device may be dropped by a callback on a worker.
            if worker.thread().id() != std::thread::current().id() {
                let _ = worker.join();
            }
        }
    }
}

fn wait_each(fences: &[Arc<Fence>], limit: Duration) -> Result<(), Errno> {
    for fence in fences {
        if fence.wait(Deadline::after(limit)).is_none() {
            return Err(Errno::ETIMEDOUT);
        }
    }
    Ok(())
}
