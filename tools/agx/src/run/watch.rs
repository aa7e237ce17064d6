// SPDX-License-Identifier: MIT
//! The GPU behind the machine, with the observers that the options ask for.

use std::io::Write;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

use agx_sim::fault::Fault;
use agx_sim::gpu::{Checks, Gpu, GpuConfig, Profiles, Traces};
use agx_sim::processor::{ComputeCommand, Processor};
use agx_sim::shader::trace::Filter;

use super::Options;

/// Most bytes of trace that are kept for each thread.
const TRACE_LIMIT: u64 = 64 << 20;

type Observers = (Option<Traces>, (Option<Checks>, Option<Profiles>));

/// A processor that watches.
pub(super) struct Watch {
    gpu: Gpu,
    observers: Mutex<Observers>,
}

impl Watch {
    /// A GPU with the observers of the options.
    pub(super) fn new(options: &Options, config: GpuConfig) -> anyhow::Result<Watch> {
        let filter = Filter {
            limit: TRACE_LIMIT,
            ..Filter::ALL
        };
        let observers = (
            options.trace.then(|| Traces::new(filter)),
            (
                config.strict.map(Checks),
                options.profile.then(Profiles::default),
            ),
        );
        Ok(Watch {
            gpu: Gpu::new(config)?,
            observers: Mutex::new(observers),
        })
    }

    fn observers(&self) -> MutexGuard<'_, Observers> {
        self.observers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints what was seen since the last time.
    pub(super) fn report(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let (traces, (_, profiles)) = &mut *self.observers();
        if let Some(traces) = traces.take() {
            out.write_all(traces.into_text().as_bytes())?;
        }
        if let Some(profiles) = profiles.take() {
            write!(out, "{}", profiles.into_inner())?;
        }
        Ok(())
    }
}

impl Processor for Watch {
    fn compute(&self, command: &ComputeCommand, cancel: &AtomicBool) -> Result<(), Box<Fault>> {
        let observers = self.observers();
        match &*observers {
            (None, (None, None)) => self.gpu.compute(command, cancel),
            observers => self.gpu.compute_observed(command, cancel, observers),
        }
    }
}
