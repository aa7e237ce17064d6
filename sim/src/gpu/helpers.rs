// SPDX-License-Identifier: MIT
//! Threads that help the calling one, if they come in time.
//!
//! Nobody waits for a helper that has not begun: a dispatch that the calling thread finishes alone
//! is finished, even while all helpers are busy with other commands. That keeps small dispatches
//! cheap, and it keeps commands independent: one that spins on memory which another is going to
//! write does not hold up the other by occupying the helpers.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// Calls for help that may wait in the pool, for each of its threads, before no more are made.
const MAX_CALLS: usize = 4;

/// A pool of helpers.
pub(crate) struct Helpers {
    pool: ThreadPool,
    /// Calls for help that no thread has answered yet.
    calls: Arc<AtomicUsize>,
}

/// Lets helpers in to one piece of work while its caller is there.
struct Gate {
    state: Mutex<State>,
    left: Condvar,
}

struct State {
    open: bool,
    /// Helpers at work.
    inside: usize,
    panic: Option<Box<dyn Any + Send>>,
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes the gate and waits until everybody has left, also when the caller unwinds.
struct Close<'g>(&'g Gate);

impl Drop for Close<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.open = false;
        while state.inside != 0 {
            state = self
                .0
                .left
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Helpers {
    /// So many threads.
    ///
    /// # Errors
    /// When they cannot be started.
    pub(crate) fn new(threads: usize) -> io::Result<Helpers> {
        let builder = ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|index| format!("cortland-gpu-{index}"));
        Ok(Helpers {
            pool: builder.build().map_err(io::Error::other)?,
            calls: Arc::default(),
        })
    }

    /// Calls `work` on this thread, and on up to `count` helpers that become free meanwhile. `work`
    /// divides itself up; when the calling thread's part returns, nobody begins any more.
    ///
    /// # Panics
    /// When `work` does, on whichever thread.
    pub(crate) fn run(&self, count: usize, work: &(dyn Fn() + Sync)) {
        let gate = Arc::new(Gate {
            state: Mutex::new(State {
                open: true,
                inside: 0,
                panic: None,
            }),
            left: Condvar::new(),
        });
        {
            let _close = Close(&gate);
            // SAFETY: only the lifetime changes. Helpers use the reference between entering the open
            // gate and leaving it, and this block does not end, not even by unwinding, before
            // `Close` has closed the gate and all of them have left.
            let lent: &'static (dyn Fn() + Sync) = unsafe {
                std::mem::transmute::<&(dyn Fn() + Sync), &'static (dyn Fn() + Sync)>(work)
            };
            for _ in 0..count {
                if self.calls.load(Ordering::Relaxed) >= MAX_CALLS * self.pool.current_num_threads()
                {
                    break;
                }
                self.calls.fetch_add(1, Ordering::Relaxed);
                let (gate, calls) = (Arc::clone(&gate), Arc::clone(&self.calls));
                self.pool.spawn(move || {
                    calls.fetch_sub(1, Ordering::Relaxed);
                    help(&gate, lent);
                });
            }
            work();
        }
        let panic = gate.lock().panic.take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }
}

fn help(gate: &Gate, work: &(dyn Fn() + Sync)) {
    {
        let mut state = gate.lock();
        if !state.open {
            return;
        }
        state.inside += 1;
    }
    // What is broken by a panic is not looked at again: the caller panics too.
    let result = catch_unwind(AssertUnwindSafe(work));
    let mut state = gate.lock();
    state.inside -= 1;
    if let Err(panic) = result {
        state.panic = Some(panic);
    }
    if state.inside == 0 {
        gate.left.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn helpers_come() {
        let helpers = Helpers::new(3).unwrap();
        // Returns only when four threads are inside at the same time.
        let barrier = Barrier::new(4);
        helpers.run(3, &|| {
            barrier.wait();
        });
    }

    #[test]
    fn busy_helpers_are_not_waited_for() {
        let helpers = Helpers::new(1).unwrap();
        let (busy, done) = (AtomicUsize::new(0), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                helpers.run(1, &|| {
                    busy.fetch_add(1, Ordering::SeqCst);
                    while !done.load(Ordering::SeqCst) {
                        std::thread::yield_now();
                    }
                });
            });
            while busy.load(Ordering::SeqCst) != 2 {
                std::thread::yield_now();
            }
            let calls = AtomicUsize::new(0);
            for _ in 0..1000 {
                helpers.run(1, &|| {
                    calls.fetch_add(1, Ordering::SeqCst);
                });
            }
            assert_eq!(calls.into_inner(), 1000);
            assert!(helpers.calls.load(Ordering::SeqCst) <= MAX_CALLS);
            done.store(true, Ordering::SeqCst);
        });
    }

    #[test]
    fn panics_reach_the_caller() {
        let helpers = Helpers::new(1).unwrap();
        let caller = std::thread::current().id();
        for on_caller in [true, false] {
            let barrier = Barrier::new(2);
            let result = catch_unwind(AssertUnwindSafe(|| {
                helpers.run(1, &|| {
                    barrier.wait();
                    let here = std::thread::current().id() == caller;
                    assert!(here != on_caller, "on purpose");
                });
            }));
            assert!(result.is_err());
        }
        // The helper has survived.
        let barrier = Barrier::new(2);
        helpers.run(1, &|| {
            barrier.wait();
        });
    }
}
