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

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use agx_uapi::command::{Barrier, Barriers};
use agx_uapi::{Chip, Errno};

use super::fence::{Fence, Outcome, Waiter};
use super::time::{self, Deadline};
use super::timestamp::Slot;
use crate::fault::{Fault, FaultKind};
use crate::processor::{ComputeCommand, Processor};

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
}

/// Where a command's times go (kernel-uapi, 9).
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    pub(crate) start: Option<Slot>,
    pub(crate) end: Option<Slot>,
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

/// An accepted submit that waits for its inputs or for the jobs before it.
struct Pending {
    id: u64,
    /// Inputs not signalled yet, and one for the submitter until it has registered all of them.
    inputs: usize,
    /// The error of an input, where that goes on to the outputs (A18 Pro).
    failed: Option<Errno>,
    commands: Vec<Command>,
}

/// A published command in its ring.
struct Item {
    job: u64,
    /// Position in the command list, for messages.
    index: usize,
    /// How far the rings must have come first.
    after: [u64; 2],
    work: Work,
    times: Times,
}

#[derive(Default)]
struct Ring {
    items: VecDeque<Item>,
    /// Commands ever published.
    published: u64,
    /// Commands ever finished; they finish in order.
    finished: u64,
    running: bool,
}

struct Queue {
    urgency: Urgency,
    pending: VecDeque<Pending>,
    rings: [Ring; 2],
    /// Published jobs and how many of their commands are left.
    published: BTreeMap<u64, usize>,
    /// No handle names it any more; it goes when its work is done.
    closed: bool,
}

/// A job whose fence is not signalled.
struct Outstanding {
    fence: Arc<Fence>,
    queue: QueueKey,
    vm: u64,
}

/// A command in a worker's hands.
struct Run {
    queue: QueueKey,
    subqueue: Subqueue,
    item: Item,
}

#[derive(Default)]
struct State {
    queues: HashMap<QueueKey, Queue>,
    outstanding: BTreeMap<u64, Outstanding>,
    /// By [`Urgency`].
    ready: [VecDeque<Run>; 2],
    next_queue: u64,
    next_job: u64,
    /// Workers with nothing to do; the last to come is the first to go, its caches being warm.
    idle: Vec<Arc<Desk>>,
    workers: Vec<JoinHandle<()>>,
    lost: Option<Errno>,
    stop: bool,
}

/// Where an idle worker gets its next order.
struct Desk {
    order: Mutex<Option<Order>>,
    waiter: Arc<Waiter>,
}

enum Order {
    Run(Run),
    Stop,
}

impl Desk {
    /// For the calling thread.
    fn new() -> Arc<Desk> {
        Arc::new(Desk {
            order: Mutex::new(None),
            waiter: Waiter::new(),
        })
    }

    fn give(&self, order: Order) {
        *self.order.lock().unwrap() = Some(order);
        self.waiter.wake();
    }

    fn take(&self) -> Order {
        loop {
            if let Some(order) = self.order.lock().unwrap().take() {
                return order;
            }
            let _ = self.waiter.sleep(Deadline::NEVER);
        }
    }
}

impl State {
    /// Removes a job and has its fence signalled.
    fn end_job(&mut self, id: u64, outcome: Outcome, afterwards: &mut Afterwards) {
        if let Some(job) = self.outstanding.remove(&id) {
            afterwards.signals.push((job.fence, outcome));
        }
    }

    fn forget_if_done(&mut self, key: QueueKey) {
        let done = self.queues.get(&key).is_some_and(|queue| {
            queue.closed && queue.pending.is_empty() && queue.published.is_empty()
        });
        if done {
            self.queues.remove(&key);
        }
    }

    /// Publishes the jobs at the head of a queue whose inputs are there (kernel-uapi, 11.8).
    fn publish(&mut self, key: QueueKey, afterwards: &mut Afterwards) {
        loop {
            let Some(queue) = self.queues.get_mut(&key) else {
                return;
            };
            if queue.pending.front().is_none_or(|job| job.inputs > 0) {
                break;
            }
            let job = queue.pending.pop_front().expect("looked at");
            if let Some(errno) = job.failed {
                afterwards.dropped.extend(job.commands);
                self.end_job(job.id, Err(errno), afterwards);
                continue;
            }
            queue.published.insert(job.id, job.commands.len());
            let earlier = [queue.rings[0].published, queue.rings[1].published];
            for (index, command) in job.commands.into_iter().enumerate() {
                let Barriers { vdm, cdm } = command.barriers;
                let after =
                    [(vdm, earlier[0]), (cdm, earlier[1])].map(
                        |(barrier, earlier)| match barrier {
                            Barrier::None => 0,
                            Barrier::EarlierSubmits => earlier,
                            Barrier::Command(number) => earlier + u64::from(number.get()),
                        },
                    );
                let ring = &mut queue.rings[command.subqueue as usize];
                ring.published += 1;
                let Command { work, times, .. } = command;
                ring.items.push_back(Item {
                    job: job.id,
                    index,
                    after,
                    work,
                    times,
                });
            }
        }
        self.advance(key);
        self.forget_if_done(key);
    }

    /// Makes ready what stands at the head of a queue's rings and need not wait any longer.
    fn advance(&mut self, key: QueueKey) {
        let Some(queue) = self.queues.get_mut(&key) else {
            return;
        };
        let finished = [queue.rings[0].finished, queue.rings[1].finished];
        for subqueue in [Subqueue::Render, Subqueue::Compute] {
            let ring = &mut queue.rings[subqueue as usize];
            if ring.running {
                continue;
            }
            let may_run = |item: &Item| {
                item.after
                    .iter()
                    .zip(finished)
                    .all(|(after, finished)| *after <= finished)
            };
            if ring.items.front().is_some_and(may_run) {
                ring.running = true;
                let item = ring.items.pop_front().expect("looked at");
                self.ready[queue.urgency as usize].push_back(Run {
                    queue: key,
                    subqueue,
                    item,
                });
            }
        }
    }

    /// Takes a command off its ring.
    fn finish(&mut self, key: QueueKey, subqueue: Subqueue, id: u64, afterwards: &mut Afterwards) {
        let Some(queue) = self.queues.get_mut(&key) else {
            return;
        };
        let ring = &mut queue.rings[subqueue as usize];
        ring.running = false;
        ring.finished += 1;
        if let Some(left) = queue.published.get_mut(&id) {
            *left -= 1;
            if *left == 0 {
                queue.published.remove(&id);
                self.end_job(id, Ok(()), afterwards);
            }
        }
        self.advance(key);
        self.forget_if_done(key);
    }

    fn next_ready(&mut self) -> Option<Run> {
        let [medium, low] = &mut self.ready;
        medium.pop_front().or_else(|| low.pop_front())
    }
}

/// What to do once the lock is released: signal, and drop what may own memory.
#[derive(Default)]
struct Afterwards {
    signals: Vec<(Arc<Fence>, Outcome)>,
    dropped: Vec<Command>,
    runs: Vec<Run>,
    items: Vec<Item>,
}

impl Afterwards {
    /// Memory goes first: who sees the fence may count on it.
    fn act(self) {
        drop((self.dropped, self.runs, self.items));
        for (fence, outcome) in self.signals {
            fence.signal(outcome);
        }
    }
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

    /// Accepts a job. Never fails: when the device is lost or the queue closed meanwhile, the fence
    /// says so.
    pub(crate) fn submit(
        self: &Arc<Self>,
        key: QueueKey,
        vm: u64,
        inputs: &[Arc<Fence>],
        commands: Vec<Command>,
        fence: Arc<Fence>,
    ) {
        let mut state = self.lock();
        let refused = state.lost.or_else(|| match state.queues.get(&key) {
            Some(queue) if !queue.closed => None,
            _ => Some(Errno::ECANCELED),
        });
        if let Some(errno) = refused {
            drop(state);
            drop(commands);
            fence.signal(Err(errno));
            return;
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
            inputs: inputs.len() + 1,
            failed: None,
            commands,
        };
        state
            .queues
            .get_mut(&key)
            .expect("checked")
            .pending
            .push_back(job);
        if !inputs.is_empty() {
            drop(state);
            for input in inputs {
                let scheduler = self.clone();
                input.on_signal(move |outcome| scheduler.input_done(key, id, outcome));
            }
            state = self.lock();
        }
        self.input_done_locked(state, key, id, Ok(()));
    }

    fn input_done(self: &Arc<Self>, key: QueueKey, id: u64, outcome: Outcome) {
        let state = self.lock();
        self.input_done_locked(state, key, id, outcome);
    }

    fn input_done_locked(
        self: &Arc<Self>,
        mut state: MutexGuard<'_, State>,
        key: QueueKey,
        id: u64,
        outcome: Outcome,
    ) {
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
        if job.inputs == 0 && index == 0 {
            state.publish(key, &mut afterwards);
            self.start(&mut state);
        }
        drop(state);
        afterwards.act();
    }

    /// Finds hands for what is ready.
    fn start(self: &Arc<Self>, state: &mut State) {
        while let Some(run) = state.next_ready() {
            if let Some(desk) = state.idle.pop() {
                desk.give(Order::Run(run));
                continue;
            }
            // A worker that finishes will look again.
            let urgency = state
                .queues
                .get(&run.queue)
                .map_or(Urgency::Low, |queue| queue.urgency);
            state.ready[urgency as usize].push_front(run);
            if state.workers.len() >= MAX_WORKERS {
                return;
            }
            let scheduler = self.clone();
            let thread = std::thread::Builder::new().name("agx-sim command".into());
            match thread.spawn(move || scheduler.work()) {
                // It takes what is ready as soon as it gets the lock.
                Ok(worker) => state.workers.push(worker),
                // A worker that is there, or the next submit, comes back to what is ready.
                Err(error) => log::error!("no further worker thread: {error}"),
            }
            return;
        }
    }

    /// A worker's life.
    fn work(self: Arc<Self>) {
        let desk = Desk::new();
        let mut state = self.lock();
        loop {
            if let Some(run) = state.next_ready() {
                // More than one command may have become ready at once.
                self.start(&mut state);
                drop(state);
                self.run(run);
                state = self.lock();
            } else if state.stop {
                return;
            } else {
                state.idle.push(desk.clone());
                drop(state);
                match desk.take() {
                    Order::Run(run) => self.run(run),
                    Order::Stop => return,
                }
                state = self.lock();
            }
        }
    }

    /// Runs a command and signals what is finished with it.
    fn run(&self, run: Run) {
        let Run {
            queue,
            subqueue,
            item,
        } = run;
        let Item {
            job,
            index,
            work,
            times,
            ..
        } = item;
        if let Some(slot) = &times.start {
            slot.write(time::now());
        }
        let result = catch_unwind(AssertUnwindSafe(|| match &work {
            Work::Compute(command) => self.processor.compute(command, &self.cancel),
        }));
        if let (Some(slot), Ok(Ok(()))) = (&times.end, &result) {
            slot.write(time::now());
        }
        // The mappings are held until now and no longer.
        drop((work, times));
        match result {
            Ok(Ok(())) => {}
            // What is left of a command whose device is lost says nothing new.
            _ if self.is_lost() => {}
            Ok(Err(fault)) => {
                log::error!("command {index} of job {job} on queue {}: {fault}", queue.0);
                let errno = match fault.kind {
                    FaultKind::Watchdog { .. } => Errno::ETIMEDOUT,
                    _ => Errno::EIO,
                };
                self.lose(errno, Some(*fault));
            }
            Err(_) => {
                log::error!(
                    "command {index} of job {job} on queue {}: the GPU model panicked",
                    queue.0
                );
                self.lose(Errno::EIO, None);
            }
        }
        let mut afterwards = Afterwards::default();
        self.lock().finish(queue, subqueue, job, &mut afterwards);
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

#[cfg(test)]
mod tests;
