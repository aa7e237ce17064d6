// SPDX-License-Identifier: MIT
//! The simulated M4.
//!
//! A case goes the whole way that a driver's dispatch goes: buffers and descriptors are bound
//! through the kernel's interface, an entry, a launch program and a command stream are written, a
//! submit is waited for. The simulator is strict: what hardware would let pass although results
//! depend on it is an error of the run. So is every access outside of buffers: an unmapped page
//! follows each, and what lies before it in its page is compared afterwards.

mod count;
mod images;
mod machine;
mod memory;

use std::sync::{Arc, Mutex, PoisonError};

use agx_compiler::binary::ShaderBinary;
use agx_sim::config::SimConfig;
use agx_sim::kernel::SimDevice;
use agx_sim::shader::strict;
use agx_uapi::Errno;
use anyhow::Context as _;

use self::count::Counter;
use self::machine::Machine;
use super::layout::Layout;
use crate::case::{Case, Device};

/// Makes machine code of a case's shader.
pub trait Compiler {
    /// The shader for descriptors in that layout.
    ///
    /// # Errors
    /// When the compiler refuses the shader.
    fn compile(&self, case: &Case, layout: &Layout) -> anyhow::Result<ShaderBinary>;
}

/// How to simulate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Host threads that execute workgroups; 0 = one for each core. Small cases are fastest with
    /// one.
    pub threads: usize,
    /// Instructions that a SIMD group may execute before the run counts as hung.
    pub watchdog: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            threads: 1,
            watchdog: 1 << 26,
        }
    }
}

/// Simulated GPUs that run what a compiler makes. Runs from several threads work side by side, each
/// on a GPU of its own; these are kept for later runs.
pub struct SimulatedDevice<C> {
    compiler: C,
    config: SimConfig,
    idle: Mutex<Vec<Machine>>,
}

impl<C> SimulatedDevice<C> {
    /// A device for the compiler's code.
    #[must_use]
    pub fn new(compiler: C, options: Options) -> SimulatedDevice<C> {
        let mut config = SimConfig::m4();
        config.gpu.strict = Some(strict::Options::COMPILER);
        config.gpu.threads = options.threads;
        config.gpu.watchdog = options.watchdog;
        SimulatedDevice {
            compiler,
            config,
            idle: Mutex::default(),
        }
    }

    /// The compiler.
    pub fn compiler(&self) -> &C {
        &self.compiler
    }

    /// Runs machine code on the case's data; the case's module is not looked at.
    ///
    /// # Errors
    /// When the launch cannot be written, the GPU faults, or something outside the buffers was
    /// written.
    pub fn run_binary(
        &self,
        binary: &ShaderBinary,
        case: &Case,
        layout: &Layout,
    ) -> anyhow::Result<Vec<Vec<u8>>> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let machine = idle().pop();
        let mut machine = match machine {
            Some(machine) => machine,
            None => SimDevice::simulated(self.config.clone())
                .map_err(anyhow::Error::from)
                .and_then(Machine::new)
                .context("the simulated GPU")?,
        };
        let result = machine.run(binary, case, layout);
        if !machine.is_lost() {
            idle().push(machine);
        }
        result.with_context(|| format!("{} on the simulated GPU", case.name))
    }

    /// The same, and how many instructions of the shader all subgroups executed together.
    ///
    /// # Errors
    /// As [`SimulatedDevice::run_binary`].
    pub fn run_counted(
        &self,
        binary: &ShaderBinary,
        case: &Case,
        layout: &Layout,
    ) -> anyhow::Result<(Vec<Vec<u8>>, u64)> {
        let counter = Arc::new(Counter::new(self.config.gpu.clone())?);
        let mut machine = Machine::new(SimDevice::new(self.config.clone(), counter.clone()))?;
        let results = machine
            .run(binary, case, layout)
            .with_context(|| format!("{} on the simulated GPU", case.name))?;
        Ok((results, counter.executed_from(machine::BODY)))
    }
}

impl<C: Compiler> Device for SimulatedDevice<C> {
    fn run(&self, case: &Case) -> anyhow::Result<Vec<Vec<u8>>> {
        let layout = Layout::of(case)?;
        let binary = self.compiler.compile(case, &layout)?;
        self.run_binary(&binary, case, &layout)
    }
}

/// An errno with the request that gave it.
fn refused(request: &'static str) -> impl Fn(Errno) -> anyhow::Error {
    move |errno| anyhow::anyhow!("{request}: {errno}")
}

#[cfg(test)]
mod tests;
