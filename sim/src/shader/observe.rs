// SPDX-License-Identifier: MIT
//! The hook around every micro-op.

use super::program::Program;
use super::wave::Wave;
use crate::fault::FaultKind;

/// Sees each instruction before and after it executes: strict checks, traces, profiles.
pub trait Observer {
    /// False lets the compiler drop the hook.
    const ACTIVE: bool = true;

    /// Before micro-op `index`.
    ///
    /// # Errors
    /// A fault ends the command there.
    fn before(&mut self, wave: &Wave<'_>, program: &Program, index: usize)
    -> Result<(), FaultKind>;

    /// After micro-op `index`, which did not fault.
    fn after(&mut self, _wave: &Wave<'_>, _program: &Program, _index: usize) {}
}

/// Sees nothing.
pub struct NoObserver;

impl Observer for NoObserver {
    const ACTIVE: bool = false;

    fn before(&mut self, _: &Wave<'_>, _: &Program, _: usize) -> Result<(), FaultKind> {
        Ok(())
    }
}
