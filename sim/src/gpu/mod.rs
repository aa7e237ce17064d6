// SPDX-License-Identifier: MIT
//! The GPU behind the kernel's interface: executes compute commands here, render commands in
//! [`crate::graphics`].
//!
//! ```text
//!  command --(cdm)--> launch --(launcher)--> argument window, sizes, entry
//!                                               |
//!                          (dispatch) workgroups, in order, over threads
//!                                               |
//!                          (workgroup) SIMD groups in turn, barriers
//! ```
//!
//! The model is that of launch, 11 (INFERRED as a combination): records execute one after the
//! other and each launch runs to its end before the next record is read, so every barrier is
//! satisfied before it is reached. A launch program runs once per launch with one lane (launch,
//! 5.5; INFERRED).
//!
//! What real hardware would let pass silently although results depend on it is checked in *strict*
//! mode only: see [`GpuConfig::strict`].

mod cdm;
mod dispatch;
pub(crate) mod flight;
mod helpers;
pub(crate) mod launcher;
mod observers;
mod workgroup;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use self::helpers::Helpers;
pub use self::observers::{Checks, ObserverFactory, Profiles, Traces, Unobserved};
use crate::fault::Fault;
use crate::memory::Mappings;
use crate::processor::{ComputeCommand, Processor, RenderCommand};
use crate::shader::cache::ProgramCache;
use crate::shader::strict::Options;
use crate::shader::{Dispatch, Stage};

/// How the simulated GPU is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuConfig {
    /// Threads that execute workgroups, the calling one included; 0 = as many as the host has
    /// cores for this process.
    pub threads: usize,
    /// Instructions that one SIMD group may execute before the command faults.
    pub watchdog: u64,
    /// Records that one command may have before it faults: streams may link in circles. (An old
    /// kernel refuses more than 4096, launch, 8.8; the newest counts none, kernel-uapi, 13.)
    pub max_records: u64,
    /// Fault on what the hardware lets pass silently although results depend on it: accesses
    /// outside mappings; missing waits, undefined registers and the like, as these options say
    /// ([`crate::shader::strict`]); barriers that not all of a workgroup reach; code that is mapped
    /// writable or changes in flight; streams whose `end` is not their end.
    pub strict: Option<Options>,
    /// Have a partial render after every so many draws of a pass, as if parameter memory were full
    /// (graphics, 12): it must not change any picture.
    pub partial_renders: Option<u32>,
    /// Words of memory for binned vertices and primitives of a pass; when they do not suffice there is a
    /// partial render.
    pub parameter_words: usize,
}

impl Default for GpuConfig {
    /// All cores, not strict.
    fn default() -> GpuConfig {
        GpuConfig {
            threads: 0,
            watchdog: 1 << 30,
            max_records: 1 << 24,
            strict: None,
            partial_renders: None,
            parameter_words: 1 << 26,
        }
    }
}

impl GpuConfig {
    /// The default, changed by `CORTLAND_SIM_THREADS` (a number), `CORTLAND_SIM_STRICT` (set and
    /// neither empty nor 0: strict as for a compiler's code; `recorded`: as for programs recorded
    /// elsewhere) and `CORTLAND_SIM_PARTIAL` (a number of draws).
    #[must_use]
    pub fn from_env() -> GpuConfig {
        let mut config = GpuConfig::default();
        if let Some(threads) = std::env::var("CORTLAND_SIM_THREADS")
            .ok()
            .and_then(|text| text.parse().ok())
        {
            config.threads = threads;
        }
        config.partial_renders = std::env::var("CORTLAND_SIM_PARTIAL")
            .ok()
            .and_then(|text| text.parse().ok())
            .filter(|&draws| draws > 0);
        config.strict = match std::env::var("CORTLAND_SIM_STRICT").as_deref() {
            Err(_) | Ok("" | "0") => None,
            Ok("recorded") => Some(Options::RECORDED),
            Ok(_) => Some(Options::COMPILER),
        };
        config
    }
}

/// The simulated GPU. Several threads may give it commands at the same time.
pub struct Gpu {
    pub(crate) config: GpuConfig,
    /// Help the calling thread; `None` when that is the only one.
    pub(crate) helpers: Option<Helpers>,
    pub(crate) cache: ProgramCache,
}

impl Gpu {
    /// A GPU with threads of its own.
    ///
    /// # Errors
    /// When threads cannot be started.
    pub fn new(mut config: GpuConfig) -> io::Result<Gpu> {
        if config.threads == 0 {
            config.threads = std::thread::available_parallelism().map_or(1, usize::from);
        }
        let helpers = match config.threads {
            1 => None,
            threads => Some(Helpers::new(threads - 1)?),
        };
        Ok(Gpu {
            config,
            helpers,
            cache: ProgramCache::new(),
        })
    }

    /// How it is set up; `threads` is the actual number.
    #[must_use]
    pub fn config(&self) -> &GpuConfig {
        &self.config
    }

    /// Runs one compute command under observers of the caller's choice: for tools. The strict
    /// checks of the shader core are such observers ([`Checks`]); the others of a strict GPU stay.
    ///
    /// # Errors
    /// What went wrong first: of the faults of a launch, that of the first workgroup.
    pub fn compute_observed<F: ObserverFactory>(
        &self,
        command: &ComputeCommand,
        cancel: &AtomicBool,
        factory: &F,
    ) -> Result<(), Box<Fault>> {
        let mappings = &*command.mappings;
        let mut flight = flight::Flight::new(self.config.strict.is_some());
        let mut stream = cdm::Stream::new(command, &self.config)?;
        while !cancel.load(Ordering::Relaxed) {
            let Some(launch) = stream.next()? else {
                return flight.check(mappings);
            };
            self.launch(&launch, mappings, cancel, factory, &mut flight)
                .map_err(|mut fault| {
                    fault.record = Some(launch.record);
                    fault
                })?;
        }
        Ok(())
    }

    /// Runs a stream that lies in `mappings`: [`Gpu::compute_observed`] without the ceremony.
    ///
    /// # Errors
    /// As there.
    pub fn run<F: ObserverFactory>(
        &self,
        mappings: Arc<Mappings>,
        stream: u64,
        stream_end: u64,
        factory: &F,
    ) -> Result<(), Box<Fault>> {
        let command = ComputeCommand {
            stream,
            stream_end,
            mappings,
        };
        self.compute_observed(&command, &AtomicBool::new(false), factory)
    }

    fn launch<F: ObserverFactory>(
        &self,
        launch: &cdm::Launch,
        mappings: &Mappings,
        cancel: &AtomicBool,
        factory: &F,
        flight: &mut flight::Flight,
    ) -> Result<(), Box<Fault>> {
        let program = self.cache.get(mappings, launch.launcher);
        flight.enter(mappings, &program)?;
        let Some(setup) = launcher::run(&self.config, mappings, &program, cancel, factory)? else {
            return Ok(());
        };
        let body = self.cache.get(mappings, setup.entry);
        flight.enter(mappings, &body)?;
        flight.check_apart(&program, &body)?;
        let dispatch = Dispatch {
            stage: Stage::Compute,
            uniforms: &setup.uniforms,
            global: launch.grid.global(),
            local: launch.grid.local().get(),
            groups: launch.grid.groups(),
            scratch_bytes: setup.scratch_bytes,
            threadgroup_bytes: setup.threadgroup_bytes()?,
            watchdog: self.config.watchdog,
            cancel,
            strict: self.config.strict.is_some(),
            late_tests: false,
        };
        dispatch::run(self, mappings, &body, &dispatch, factory)?;
        flight.check_these(mappings, &[&program, &body])
    }
}

impl Processor for Gpu {
    fn compute(&self, command: &ComputeCommand, cancel: &AtomicBool) -> Result<(), Box<Fault>> {
        match self.config.strict {
            Some(options) => self.compute_observed(command, cancel, &Checks(options)),
            None => self.compute_observed(command, cancel, &Unobserved),
        }
    }

    fn render(
        &self,
        command: &RenderCommand,
        cancel: &AtomicBool,
        tiled: &mut dyn FnMut(),
    ) -> Result<(), Box<Fault>> {
        match self.config.strict {
            Some(options) => self.render_observed(command, cancel, &Checks(options), tiled),
            None => self.render_observed(command, cancel, &Unobserved, tiled),
        }
    }
}
