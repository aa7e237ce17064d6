// SPDX-License-Identifier: MIT
//! The threads that run commands.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use agx_uapi::Errno;

use super::queues::{Afterwards, Item, Run, State};
use super::{MAX_WORKERS, Scheduler, Urgency, Work};
use crate::fault::FaultKind;
use crate::kernel::fence::Waiter;
use crate::kernel::time::{self, Deadline};

/// Where an idle worker gets its next order.
pub(super) struct Desk {
    order: Mutex<Option<Order>>,
    waiter: Arc<Waiter>,
}

pub(super) enum Order {
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

    pub(super) fn give(&self, order: Order) {
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

impl Scheduler {
    /// Finds hands for what is ready.
    pub(super) fn start(self: &Arc<Self>, state: &mut State) {
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
            Work::Render(command) => self.processor.render(command, &self.cancel, &mut || {
                for slot in times.between.iter().flatten() {
                    slot.write(time::now());
                }
            }),
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
}
