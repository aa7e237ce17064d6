// SPDX-License-Identifier: MIT
//! A simulated GPU that counts what it executes.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use agx_sim::fault::Fault;
use agx_sim::gpu::{Checks, Gpu, GpuConfig, Profiles};
use agx_sim::processor::{ComputeCommand, Processor};
use agx_sim::shader::profile::Profile;

/// The GPU, and what it has executed so far.
pub(super) struct Counter {
    gpu: Gpu,
    sum: Mutex<Profile>,
}

impl Counter {
    pub(super) fn new(config: GpuConfig) -> std::io::Result<Counter> {
        Ok(Counter {
            gpu: Gpu::new(config)?,
            sum: Mutex::default(),
        })
    }

    /// Instructions at this address and above that were executed, by all subgroups together.
    pub(super) fn executed_from(&self, first: u64) -> u64 {
        let sum = self.sum.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = sum.by_address().into_iter();
        let body = lines.filter(|(address, ..)| *address >= first);
        body.map(|(_, _, count)| count.executed).sum()
    }
}

impl Processor for Counter {
    fn compute(&self, command: &ComputeCommand, cancel: &AtomicBool) -> Result<(), Box<Fault>> {
        let profiles = Profiles::default();
        let checks = self.gpu.config().strict.map(Checks);
        let result = self
            .gpu
            .compute_observed(command, cancel, &(checks, &profiles));
        let mut sum = self.sum.lock().unwrap_or_else(PoisonError::into_inner);
        sum.merge(&profiles.into_inner());
        result
    }
}
