// SPDX-License-Identifier: MIT
//! Programs whose host allocations fail at the nth call, for every n: each either succeeds or says
//! `VK_ERROR_OUT_OF_HOST_MEMORY`, and whatever happens, all memory is given back.

mod host;
mod objects;
mod whole;

use anyhow::{bail, ensure};
use ash::vk;

use self::host::{Host, When};
use crate::gpu::{Gpu, Options};
use crate::scenario::Report;
use crate::scope::Scope;

/// A program.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    /// What it makes.
    pub name: &'static str,
    run: Run,
}

#[derive(Debug, Clone, Copy)]
enum Run {
    /// Creates and destroys objects of a device that is open.
    Objects(unsafe fn(&Scope<'_>, &vk::AllocationCallbacks<'_>) -> Result<(), vk::Result>),
    /// From instance to results, and back.
    Whole(unsafe fn(&ash::Entry, &vk::AllocationCallbacks<'_>) -> Result<(), vk::Result>),
}

/// Every program.
#[must_use]
pub fn programs() -> Vec<Program> {
    [objects::PROGRAMS, whole::PROGRAMS].concat()
}

/// What [`check`] says among other things when all is well.
pub const SUCCESS: &str = ", each failed in turn";

/// No program makes more calls than this.
const MOST_CALLS: u64 = 100_000;

/// Runs a program with every call failing in turn, alone and together with all that follow; says
/// how many there are.
///
/// # Errors
/// At which call what went wrong.
pub fn check(program: &Program) -> anyhow::Result<String> {
    match program.run {
        Run::Objects(run) => {
            let gpu = Gpu::open(Options::default())?;
            let report = Report::default();
            let scope = Scope::new(&gpu, &report);
            // SAFETY: the device is open; the program keeps to Vulkan's rules.
            let said = each_call(|callbacks| unsafe { run(&scope, callbacks) });
            drop(scope);
            let _ = gpu.close();
            said
        }
        Run::Whole(run) => {
            // SAFETY: the system's Vulkan loader is what its name says.
            let entry = unsafe { ash::Entry::load() }?;
            // SAFETY: the entry is loaded; the program keeps to Vulkan's rules.
            each_call(|callbacks| unsafe { run(&entry, callbacks) })
        }
    }
}

fn each_call(
    run: impl Fn(&vk::AllocationCallbacks<'_>) -> Result<(), vk::Result>,
) -> anyhow::Result<String> {
    let (mut calls, mut survived) = (0, 0);
    for when in [When::Once, When::FromThenOn] {
        for nth in 0.. {
            ensure!(nth < MOST_CALLS, "more than {MOST_CALLS} calls");
            let host = Host::new(nth, when);
            let result = run(&host.callbacks());
            let at = format!("{when:?}, call {nth}: {result:?}");
            let problems = host.problems();
            ensure!(problems.is_empty(), "{at}: {}", problems.join("; "));
            match result {
                Ok(()) if !host.has_failed() => {
                    calls = nth;
                    break;
                }
                Ok(()) => survived += 1,
                Err(vk::Result::ERROR_OUT_OF_HOST_MEMORY) if host.has_failed() => {}
                Err(error) => bail!("{at}: {error} is not the error of an allocation"),
            }
        }
    }
    Ok(format!(
        "{calls} calls{SUCCESS}; {survived} of them can fail without consequences"
    ))
}
