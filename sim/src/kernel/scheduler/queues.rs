// SPDX-License-Identifier: MIT
//! The scheduler's books: jobs in their queues, commands in their rings.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::thread::JoinHandle;

use agx_uapi::Errno;
use agx_uapi::command::{Barrier, Barriers};

use super::workers::Desk;
use super::{Command, QueueKey, Subqueue, Times, Urgency, Work};
use crate::kernel::fence::{Fence, Outcome};

/// An accepted submit that waits for its inputs or for the jobs before it.
pub(super) struct Pending {
    pub(super) id: u64,
    /// Inputs not signalled yet, and one for the submitter until it has registered all of them.
    pub(super) inputs: usize,
    /// The error of an input, where that goes on to the outputs (A18 Pro).
    pub(super) failed: Option<Errno>,
    pub(super) commands: Vec<Command>,
}

/// A published command in its ring.
pub(super) struct Item {
    pub(super) job: u64,
    /// Position in the command list, for messages.
    pub(super) index: usize,
    /// How far the rings must have come first.
    pub(super) after: [u64; 2],
    pub(super) work: Work,
    pub(super) times: Times,
}

#[derive(Default)]
pub(super) struct Ring {
    pub(super) items: VecDeque<Item>,
    /// Commands ever published.
    pub(super) published: u64,
    /// Commands ever finished; they finish in order.
    pub(super) finished: u64,
    pub(super) running: bool,
}

pub(super) struct Queue {
    pub(super) urgency: Urgency,
    pub(super) pending: VecDeque<Pending>,
    pub(super) rings: [Ring; 2],
    /// Published jobs and how many of their commands are left.
    pub(super) published: BTreeMap<u64, usize>,
    /// No handle names it any more; it goes when its work is done.
    pub(super) closed: bool,
}

/// A job whose fence is not signalled.
pub(super) struct Outstanding {
    pub(super) fence: Arc<Fence>,
    pub(super) queue: QueueKey,
    pub(super) vm: u64,
}

/// A command in a worker's hands.
pub(super) struct Run {
    pub(super) queue: QueueKey,
    pub(super) subqueue: Subqueue,
    pub(super) item: Item,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) queues: HashMap<QueueKey, Queue>,
    pub(super) outstanding: BTreeMap<u64, Outstanding>,
    /// By [`Urgency`].
    pub(super) ready: [VecDeque<Run>; 2],
    pub(super) next_queue: u64,
    pub(super) next_job: u64,
    /// Workers with nothing to do; the last to come is the first to go, its caches being warm.
    pub(super) idle: Vec<Arc<Desk>>,
    pub(super) workers: Vec<JoinHandle<()>>,
    pub(super) lost: Option<Errno>,
    pub(super) stop: bool,
}

impl State {
    /// Removes a job and has its fence signalled.
    pub(super) fn end_job(&mut self, id: u64, outcome: Outcome, afterwards: &mut Afterwards) {
        if let Some(job) = self.outstanding.remove(&id) {
            afterwards.signals.push((job.fence, outcome));
        }
    }

    pub(super) fn forget_if_done(&mut self, key: QueueKey) {
        let done = self.queues.get(&key).is_some_and(|queue| {
            queue.closed && queue.pending.is_empty() && queue.published.is_empty()
        });
        if done {
            self.queues.remove(&key);
        }
    }

    /// Publishes the jobs at the head of a queue whose inputs are there (kernel-uapi, 11.8).
    pub(super) fn publish(&mut self, key: QueueKey, afterwards: &mut Afterwards) {
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
    pub(super) fn advance(&mut self, key: QueueKey) {
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
    pub(super) fn finish(
        &mut self,
        key: QueueKey,
        subqueue: Subqueue,
        id: u64,
        afterwards: &mut Afterwards,
    ) {
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

    pub(super) fn next_ready(&mut self) -> Option<Run> {
        let [medium, low] = &mut self.ready;
        medium.pop_front().or_else(|| low.pop_front())
    }
}

/// What to do once the lock is released: signal, and drop what may own memory.
#[derive(Default)]
pub(super) struct Afterwards {
    pub(super) signals: Vec<(Arc<Fence>, Outcome)>,
    pub(super) dropped: Vec<Command>,
    pub(super) runs: Vec<Run>,
    pub(super) items: Vec<Item>,
}

impl Afterwards {
    /// Memory goes first: who sees the fence may count on it.
    pub(super) fn act(self) {
        drop((self.dropped, self.runs, self.items));
        for (fence, outcome) in self.signals {
            fence.signal(outcome);
        }
    }
}
