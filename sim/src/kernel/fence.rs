// SPDX-License-Identifier: MIT
//! Fences: one event that happens once, with or without an error.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread::Thread;
use std::time::{Duration, Instant};

use agx_uapi::Errno;

use super::time::Deadline;

/// How what a fence stands for ended.
pub(crate) type Outcome = Result<(), Errno>;

const PENDING: i32 = 1;

/// An event that happens once. Each submit has its own (kernel-uapi, 11.2).
#[derive(Debug)]
pub(crate) struct Fence {
    /// [`PENDING`], 0 or a negative error number.
    status: AtomicI32,
    /// What it stands for when it was made by [`Fence::both`]; nothing once signalled.
    parts: Mutex<Option<[Arc<Fence>; 2]>>,
    watchers: Mutex<Watchers>,
}

#[derive(Default)]
struct Watchers {
    next: u64,
    list: Vec<(u64, Watcher)>,
}

enum Watcher {
    Wake(Arc<Waiter>),
    Call(Box<dyn FnOnce(Outcome) + Send>),
}

impl std::fmt::Debug for Watchers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} watchers", self.list.len())
    }
}

type Signals = VecDeque<(Arc<Fence>, Outcome)>;

thread_local! {
    /// Fences that callbacks of this thread signalled while it was signalling another.
    static SIGNALLING: RefCell<Option<Signals>> = const { RefCell::new(None) };
}

impl Fence {
    /// A fence that has yet to be signalled.
    #[must_use]
    pub(crate) fn new() -> Arc<Fence> {
        Fence::with(PENDING, None)
    }

    /// A fence of something that is over.
    #[must_use]
    pub(crate) fn signalled() -> Arc<Fence> {
        Fence::with(0, None)
    }

    fn with(status: i32, parts: Option<[Arc<Fence>; 2]>) -> Arc<Fence> {
        Arc::new(Fence {
            status: AtomicI32::new(status),
            parts: Mutex::new(parts),
            watchers: Mutex::default(),
        })
    }

    /// A fence that is signalled when both are, with the outcome of `last`.
    #[must_use]
    pub(crate) fn both(first: &Arc<Fence>, last: &Arc<Fence>) -> Arc<Fence> {
        if first.outcome().is_some() {
            return last.clone();
        }
        let both = Fence::with(PENDING, Some([first.clone(), last.clone()]));
        let remaining = Arc::new(AtomicUsize::new(2));
        for fence in [first, last] {
            let (both, last, remaining) = (both.clone(), last.clone(), remaining.clone());
            fence.on_signal(move |_| {
                if remaining.fetch_sub(1, Ordering::AcqRel) == 1 {
                    both.signal(last.outcome().unwrap_or(Ok(())));
                }
            });
        }
        both
    }

    /// How it ended, if it has.
    #[must_use]
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.own_outcome().or_else(|| self.outcome_of_parts())
    }

    fn own_outcome(&self) -> Option<Outcome> {
        match self.status.load(Ordering::Acquire) {
            PENDING => None,
            0 => Some(Ok(())),
            error => Some(Err(Errno(-error))),
        }
    }

    fn parts(&self) -> Option<[Arc<Fence>; 2]> {
        self.parts.lock().unwrap().clone()
    }

    /// The outcome of a fence of two that are over, the signaller of which has not come to this one
    /// yet: who has seen those must not find this one pending.
    fn outcome_of_parts(&self) -> Option<Outcome> {
        let Some([first, last]) = self.parts() else {
            // Signalled meanwhile, or pending.
            return self.own_outcome();
        };
        // Parts may have parts, in long chains. The later ones are rather pending: those first.
        let mut open = vec![first, last.clone()];
        let mut seen = HashMap::new();
        while let Some(fence) = open.pop() {
            if fence.own_outcome().is_some() || seen.contains_key(&Arc::as_ptr(&fence)) {
                continue;
            }
            match fence.parts() {
                Some(parts) => open.extend(parts),
                None if fence.own_outcome().is_none() => return None,
                None => {}
            }
            // Kept, so that no other comes to have its address.
            seen.insert(Arc::as_ptr(&fence), fence);
        }
        // All are over. The outcome is that of the last part of the last part.
        let mut last = last;
        loop {
            if let Some(outcome) = last.own_outcome() {
                return Some(outcome);
            }
            match last.parts() {
                Some([_, its_last]) => last = its_last,
                None => return last.own_outcome(),
            }
        }
    }

    /// True once signalled.
    #[must_use]
    pub(crate) fn is_signalled(&self) -> bool {
        self.outcome().is_some()
    }

    /// Signals the fence; the first outcome stays. Watchers run on this thread. What they signal in
    /// turn is signalled after they return, so that chains of fences need no deep stack.
    pub(crate) fn signal(self: &Arc<Self>, outcome: Outcome) {
        let outermost = SIGNALLING.with_borrow_mut(|queue| match queue {
            Some(queue) => {
                queue.push_back((self.clone(), outcome));
                false
            }
            None => {
                *queue = Some(Signals::new());
                true
            }
        });
        if !outermost {
            return;
        }
        self.signal_now(outcome);
        loop {
            let next = SIGNALLING.with_borrow_mut(|queue| {
                let next = queue.as_mut().and_then(VecDeque::pop_front);
                if next.is_none() {
                    *queue = None;
                }
                next
            });
            match next {
                Some((fence, outcome)) => fence.signal_now(outcome),
                None => return,
            }
        }
    }

    fn signal_now(&self, outcome: Outcome) {
        let status = match outcome {
            Ok(()) => 0,
            Err(errno) => -errno.0,
        };
        let list = {
            let mut watchers = self.watchers.lock().unwrap();
            if self.own_outcome().is_some() {
                return;
            }
            self.status.store(status, Ordering::Release);
            std::mem::take(&mut watchers.list)
        };
        // Chains must not grow with all that is over.
        let parts = self.parts.lock().unwrap().take();
        drop(parts);
        for (_, watcher) in list {
            match watcher {
                Watcher::Wake(waiter) => waiter.wake(),
                Watcher::Call(call) => call(outcome),
            }
        }
    }

    /// Calls back when the fence is signalled; at once when it already is.
    pub(crate) fn on_signal(&self, call: impl FnOnce(Outcome) + Send + 'static) {
        let mut watchers = self.watchers.lock().unwrap();
        match self.outcome() {
            Some(outcome) => {
                drop(watchers);
                call(outcome);
            }
            None => {
                let id = watchers.next;
                watchers.next += 1;
                watchers.list.push((id, Watcher::Call(Box::new(call))));
            }
        }
    }

    /// Has the waiter woken when the fence is signalled. `None`, and nothing is registered, when it
    /// already is; else a token for [`Fence::forget`].
    pub(crate) fn watch(&self, waiter: &Arc<Waiter>) -> Option<u64> {
        let mut watchers = self.watchers.lock().unwrap();
        if self.is_signalled() {
            return None;
        }
        let id = watchers.next;
        watchers.next += 1;
        watchers.list.push((id, Watcher::Wake(waiter.clone())));
        Some(id)
    }

    /// Takes a waiter off the list.
    pub(crate) fn forget(&self, token: u64) {
        let mut watchers = self.watchers.lock().unwrap();
        if let Some(index) = watchers.list.iter().position(|(id, _)| *id == token) {
            watchers.list.swap_remove(index);
        }
    }

    /// Waits until the fence is signalled; `None` when the deadline passes first.
    pub(crate) fn wait(&self, deadline: Deadline) -> Option<Outcome> {
        let waiter = Waiter::new();
        let token = self.watch(&waiter);
        if let Some(token) = token {
            while !self.is_signalled() {
                if !waiter.sleep(deadline) {
                    self.forget(token);
                    break;
                }
            }
        }
        self.outcome()
    }
}

/// A thread that sleeps until one of several things happens.
#[derive(Debug)]
pub(crate) struct Waiter {
    thread: Thread,
    woken: AtomicBool,
}

impl Waiter {
    /// A waiter for the calling thread.
    #[must_use]
    pub(crate) fn new() -> Arc<Waiter> {
        Arc::new(Waiter {
            thread: std::thread::current(),
            woken: AtomicBool::new(false),
        })
    }

    /// Wakes the thread, or keeps it from falling asleep.
    pub(crate) fn wake(&self) {
        self.woken.store(true, Ordering::Release);
        self.thread.unpark();
    }

    /// Sleeps until woken; false when the deadline has passed, never before it. Only for the thread
    /// that made the waiter.
    #[must_use]
    pub(crate) fn sleep(&self, deadline: Deadline) -> bool {
        self.spin(deadline);
        loop {
            if self.woken.swap(false, Ordering::Acquire) {
                return true;
            }
            match deadline.left() {
                // Anything may have unparked the thread: look again.
                Some(left) => std::thread::park_timeout(left),
                None => return false,
            }
        }
    }
}

/// How long a thread looks out for its wake-up before it falls asleep.
///
/// To wake a core that has gone idle takes 10 to 60 us, most on virtual machines, and the way from
/// a submit to its fence has two wake-ups: the worker's and the waiter's. Whoever works with a GPU does
/// so in rows: a thread that has just submitted or finished something is likely to be needed again
/// within that time.
const SPIN: Duration = Duration::from_micros(50);

/// Threads that may spin at the same time: one core must be left for those that have work.
fn max_spinners() -> usize {
    static MAX: LazyLock<usize> =
        LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from) - 1);
    *MAX
}

impl Waiter {
    /// Returns when woken, or after a short while.
    fn spin(&self, deadline: Deadline) {
        static SPINNERS: AtomicUsize = AtomicUsize::new(0);
        if SPINNERS.fetch_add(1, Ordering::Relaxed) < max_spinners() {
            let start = Instant::now();
            'spin: while start.elapsed() < SPIN && deadline.left().is_some() {
                for _ in 0..16 {
                    if self.woken.load(Ordering::Relaxed) {
                        break 'spin;
                    }
                    std::hint::spin_loop();
                }
                // Whoever is going to wake this thread may have been put on the same core.
                std::thread::yield_now();
            }
        }
        SPINNERS.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_outcome_stays() {
        let fence = Fence::new();
        assert_eq!(fence.outcome(), None);
        fence.signal(Err(Errno::EIO));
        fence.signal(Ok(()));
        assert_eq!(fence.outcome(), Some(Err(Errno::EIO)));
    }

    #[test]
    fn watchers_are_called_once_and_late_ones_at_once() {
        let fence = Fence::new();
        let calls = Arc::new(Mutex::new(Vec::new()));
        for number in 0..3 {
            let calls = calls.clone();
            fence.on_signal(move |outcome| calls.lock().unwrap().push((number, outcome)));
        }
        fence.signal(Ok(()));
        let late = calls.clone();
        fence.on_signal(move |outcome| late.lock().unwrap().push((3, outcome)));
        let expected: Vec<_> = (0..4).map(|number| (number, Ok(()))).collect();
        assert_eq!(*calls.lock().unwrap(), expected);
    }

    #[test]
    fn both_takes_the_outcome_of_the_last() {
        for last_first in [false, true] {
            let (first, last) = (Fence::new(), Fence::new());
            let both = Fence::both(&first, &last);
            let mut order = [(&first, Err(Errno::EIO)), (&last, Err(Errno::ECANCELED))];
            if last_first {
                order.reverse();
            }
            order[0].0.signal(order[0].1);
            assert_eq!(both.outcome(), None);
            order[1].0.signal(order[1].1);
            assert_eq!(both.outcome(), Some(Err(Errno::ECANCELED)));
        }
    }

    /// A chain as long as a busy timeline's must not overflow the stack of who signals its start.
    #[test]
    fn long_chains_need_no_deep_stack() {
        let links: Vec<_> = (0..100_000).map(|_| Fence::new()).collect();
        for pair in links.windows(2) {
            let next = pair[1].clone();
            pair[0].on_signal(move |outcome| next.signal(outcome));
        }
        links[0].signal(Err(Errno::EIO));
        assert_eq!(links[99_999].outcome(), Some(Err(Errno::EIO)));
    }

    /// Neither does looking at a chain all of which is over but for its start.
    #[test]
    fn long_chains_can_be_looked_at() {
        let start = Fence::new();
        let own: Vec<_> = (0..20_000).map(|_| Fence::new()).collect();
        let last = own
            .iter()
            .fold(start.clone(), |before, own| Fence::both(&before, own));
        // Each part twice: as many paths as there are fences in the world.
        let last = (0..64).fold(last, |last, _| Fence::both(&last, &last));
        for own in &own {
            own.signal(Ok(()));
        }
        assert_eq!(last.outcome(), None);
        let seen = Arc::new(Mutex::new(None));
        let (first_seen, at_once) = (seen.clone(), last.clone());
        let early = Fence::both(&start, &own[0]);
        start.on_signal(move |_| *first_seen.lock().unwrap() = Some(at_once.outcome()));
        start.signal(Err(Errno::EIO));
        assert_eq!(*seen.lock().unwrap(), Some(Some(Ok(()))));
        assert_eq!(last.own_outcome(), Some(Ok(())));
        assert!(last.parts().is_none() && early.is_signalled());
    }

    #[test]
    fn a_wait_ends_at_the_signal_or_not_before_its_deadline() {
        let fence = Fence::new();
        let before = super::super::time::now();
        assert_eq!(fence.wait(Deadline::after(Duration::from_millis(5))), None);
        assert!(super::super::time::now() - before >= 5_000_000);
        assert!(fence.watchers.lock().unwrap().list.is_empty());
        let signaller = fence.clone();
        let thread = std::thread::spawn(move || signaller.signal(Err(Errno::ENOMEM)));
        assert_eq!(fence.wait(Deadline::NEVER), Some(Err(Errno::ENOMEM)));
        thread.join().unwrap();
    }
}
