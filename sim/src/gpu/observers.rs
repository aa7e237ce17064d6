// SPDX-License-Identifier: MIT
//! Which observer watches a program.
//!
//! Every thread that works on a dispatch, and every launch program, gets an observer of its own
//! from an [`ObserverFactory`] and gives it back at the end, so observers need no locks.

use std::sync::atomic::AtomicBool;

use super::Gpu;
use crate::fault::Fault;
use crate::processor::ComputeCommand;
use crate::shader::{Dispatch, NoObserver, Observer, Program, Workgroup};

/// Makes observers, tells them what they cannot see themselves, and collects them.
pub trait ObserverFactory: Sync {
    /// What it makes.
    type Observer: Observer;

    /// An observer for a thread's share of a dispatch, or for a launch program.
    fn begin(&self, dispatch: &Dispatch<'_>, program: &Program) -> Self::Observer;

    /// A workgroup starts on the observer's thread: its SIMD groups and its threadgroup memory are
    /// new.
    fn workgroup(&self, _observer: &mut Self::Observer, _group: &Workgroup<'_>) {}

    /// All SIMD groups of the workgroup that have not ended have reached a barrier and go on.
    fn rendezvous(&self, _observer: &mut Self::Observer, _group: &Workgroup<'_>) {}

    /// The observer's work is done, whether or not it ended with a fault.
    fn finish(&self, _observer: Self::Observer) {}
}

/// Nobody watches.
pub struct Unobserved;

impl ObserverFactory for Unobserved {
    type Observer = NoObserver;

    fn begin(&self, _: &Dispatch<'_>, _: &Program) -> NoObserver {
        NoObserver
    }
}

/// Runs a command under the observers that the configuration asks for.
pub(super) fn by_config(
    gpu: &Gpu,
    command: &ComputeCommand,
    cancel: &AtomicBool,
) -> Result<(), Box<Fault>> {
    gpu.compute_observed(command, cancel, &Unobserved)
}
