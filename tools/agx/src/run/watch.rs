// SPDX-License-Identifier: MIT
//! The GPU behind the machine, with the observers that the options ask for.

use std::io::Write;
use std::sync::atomic::AtomicBool;

use agx_sim::config::SimConfig;
use agx_sim::fault::Fault;
use agx_sim::gpu::{Gpu, GpuConfig};
use agx_sim::processor::{ComputeCommand, Processor};

use super::Options;

/// A processor that watches.
pub(super) struct Watch {
    gpu: Gpu,
}

impl Watch {
    /// A GPU as the options say.
    pub(super) fn new(_: &Options, config: &SimConfig) -> anyhow::Result<Watch> {
        let gpu = Gpu::new(GpuConfig {
            threads: config.threads,
            watchdog: config.instruction_limit,
            strict: config.strict,
            ..GpuConfig::default()
        })?;
        Ok(Watch { gpu })
    }

    /// Prints what was seen.
    pub(super) fn report(&self, _: &mut impl Write) -> anyhow::Result<()> {
        Ok(())
    }
}

impl Processor for Watch {
    fn compute(&self, command: &ComputeCommand, cancel: &AtomicBool) -> Result<(), Box<Fault>> {
        self.gpu.compute(command, cancel)
    }
}
