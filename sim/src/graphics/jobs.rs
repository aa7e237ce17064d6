// SPDX-License-Identifier: MIT
//! Numbered jobs over the threads of the GPU, and the first fault among them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::fault::Fault;
use crate::gpu::Gpu;

/// Numbers to hand out, and what went wrong.
pub(super) struct Jobs {
    next: AtomicU64,
    total: u64,
    /// The first job known to have faulted.
    faulted: AtomicU64,
    fault: Mutex<Option<(u64, Box<Fault>)>>,
}

impl Jobs {
    /// Runs `worker` on the calling thread and on those that come to help, for so many jobs. Workers take
    /// jobs until there are none.
    pub(super) fn run(
        gpu: &Gpu,
        total: u64,
        worker: &(dyn Fn(&Jobs) + Sync),
    ) -> Result<(), Box<Fault>> {
        let jobs = Jobs {
            next: AtomicU64::new(0),
            total,
            faulted: AtomicU64::new(u64::MAX),
            fault: Mutex::new(None),
        };
        let threads = (gpu.config.threads as u64).min(total);
        match &gpu.helpers {
            Some(helpers) if threads > 1 => helpers.run(threads as usize - 1, &|| worker(&jobs)),
            _ => worker(&jobs),
        }
        match jobs
            .fault
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
        {
            Some((_, fault)) => Err(fault),
            None => Ok(()),
        }
    }

    /// The next job; `None` when there is none, or none that counts behind a fault.
    pub(super) fn next(&self) -> Option<u64> {
        let job = self.next.fetch_add(1, Ordering::Relaxed);
        (job < self.total && job < self.faulted.load(Ordering::Relaxed)).then_some(job)
    }

    /// A job has faulted. That of the first job is reported.
    #[cold]
    pub(super) fn report(&self, job: u64, fault: Box<Fault>) {
        let mut first = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|(at, _)| job < *at) {
            *first = Some((job, fault));
            self.faulted.store(job, Ordering::Relaxed);
        }
    }
}
