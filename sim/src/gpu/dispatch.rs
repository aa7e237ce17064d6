// SPDX-License-Identifier: MIT
//! A grid, workgroup by workgroup, over the threads of the GPU.
//!
//! Workgroups start in the order of their linear index, x fastest ("any order", launch, 11; in order
//! is the friendliest: a workgroup that waits for an earlier one always gets what it waits for; one
//! that waits for a later one may wait until the watchdog ends it).
//! Threads take them in short runs from a shared counter, so nothing is allocated per workgroup,
//! and one thread's run is long enough to make its SIMD groups and its threadgroup memory once.
//!
//! Threadgroup memory is undefined at the start of a workgroup (isa-2, 3.1); here it is zero, so
//! that results do not depend on which thread ran which workgroup before.
//!
//! The fault that is reported is that of the first workgroup, in order, that faults: workgroups
//! behind it are given up, those before it go on to their end and may still replace it. A program
//! without races therefore gives the same bytes or the same fault whatever the number of threads; how
//! much workgroups behind the faulting one have stored depends on it.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::observers::ObserverFactory;
use super::{Gpu, workgroup};
use crate::fault::Fault;
use crate::memory::{Mappings, Tlb};
use crate::shader::{Dispatch, Program, Workgroup};

/// Most workgroups that a thread takes at once.
const MAX_RUN: u64 = 64;
/// Runs for each thread that a grid is at least cut into, when there are enough workgroups.
const RUNS_PER_THREAD: u64 = 8;

struct Shared<'s, F> {
    mappings: &'s Mappings,
    program: &'s Program,
    dispatch: &'s Dispatch<'s>,
    factory: &'s F,
    /// Index of the next workgroup that no thread has taken.
    next: AtomicU64,
    total: u64,
    /// Workgroups that a thread takes at once.
    run: u64,
    /// Index of the first workgroup known to have faulted.
    faulted: AtomicU64,
    fault: Mutex<Option<(u64, Box<Fault>)>>,
}

/// Runs all workgroups.
pub(super) fn run<F: ObserverFactory>(
    gpu: &Gpu,
    mappings: &Mappings,
    program: &Program,
    dispatch: &Dispatch<'_>,
    factory: &F,
) -> Result<(), Box<Fault>> {
    let total: u64 = dispatch.groups.iter().map(|n| u64::from(*n)).product();
    let threads = (gpu.config.threads as u64).min(total);
    let shared = Shared {
        mappings,
        program,
        dispatch,
        factory,
        next: AtomicU64::new(0),
        total,
        run: (total / (threads.max(1) * RUNS_PER_THREAD)).clamp(1, MAX_RUN),
        faulted: AtomicU64::new(u64::MAX),
        fault: Mutex::new(None),
    };
    match &gpu.helpers {
        Some(helpers) if threads > 1 => helpers.run(threads as usize - 1, &|| shared.work()),
        _ => shared.work(),
    }
    let fault = shared
        .fault
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    match fault {
        Some((_, fault)) => Err(fault),
        None => Ok(()),
    }
}

impl<F: ObserverFactory> Shared<'_, F> {
    /// One thread's share.
    fn work(&self) {
        let tlb = Tlb::new(self.mappings);
        let words = self.dispatch.threadgroup_bytes.div_ceil(4) as usize;
        let memory = vec![Cell::new(0); words];
        let mut observer = None;
        loop {
            let start = self.next.fetch_add(self.run, Ordering::Relaxed);
            if start >= self.total || self.halted(start) {
                break;
            }
            let end = (start + self.run).min(self.total);
            let observer =
                observer.get_or_insert_with(|| self.factory.begin(self.dispatch, self.program));
            self.run(start..end, &tlb, &memory, observer);
        }
        if let Some(observer) = observer {
            self.factory.finish(observer);
        }
    }

    fn run(
        &self,
        range: std::ops::Range<u64>,
        tlb: &Tlb<'_>,
        memory: &[Cell<u32>],
        observer: &mut F::Observer,
    ) {
        let [width, height, _] = self.dispatch.groups.map(u64::from);
        let groups: Vec<Workgroup<'_>> = range
            .clone()
            .map(|index| Workgroup {
                dispatch: self.dispatch,
                tlb,
                id: [
                    (index % width) as u32,
                    (index / width % height) as u32,
                    (index / (width * height)) as u32,
                ],
                shared: memory,
            })
            .collect();
        let mut waves = workgroup::Waves::new();
        for (index, group) in range.zip(&groups) {
            let halted = || self.halted(index);
            if halted() {
                break;
            }
            for word in memory {
                word.set(0);
            }
            let ended = workgroup::run(
                group,
                self.program,
                &mut waves,
                self.factory,
                observer,
                halted,
            );
            if let Err(fault) = ended {
                self.report(index, fault);
                break;
            }
        }
    }

    /// Does nobody want this workgroup any more?
    fn halted(&self, index: u64) -> bool {
        self.faulted.load(Ordering::Relaxed) <= index
            || self.dispatch.cancel.load(Ordering::Relaxed)
    }

    #[cold]
    fn report(&self, index: u64, fault: Box<Fault>) {
        let mut first = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|(at, _)| index < *at) {
            *first = Some((index, fault));
            self.faulted.store(index, Ordering::Relaxed);
        }
    }
}
