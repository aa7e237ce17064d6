// SPDX-License-Identifier: MIT
//! The hook around every micro-op, and how several observers become one.
//!
//! A pair observes with both, the first one first; `Option` may be switched off at run time; `&mut`
//! lends an observer to one run; `Box<dyn DynObserver>` chooses its kind at run time. So
//! `(Option<Trace<_>>, (Strict, &mut Profile))` is an observer, and one with the trace in front shows
//! the instruction that the strict checks refuse.

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

/// Both, in order. When the first refuses an instruction the second does not see it.
impl<A: Observer, B: Observer> Observer for (A, B) {
    const ACTIVE: bool = A::ACTIVE || B::ACTIVE;

    #[inline]
    fn before(
        &mut self,
        wave: &Wave<'_>,
        program: &Program,
        index: usize,
    ) -> Result<(), FaultKind> {
        self.0.before(wave, program, index)?;
        self.1.before(wave, program, index)
    }

    #[inline]
    fn after(&mut self, wave: &Wave<'_>, program: &Program, index: usize) {
        self.0.after(wave, program, index);
        self.1.after(wave, program, index);
    }
}

/// Observes when there is one.
impl<O: Observer> Observer for Option<O> {
    const ACTIVE: bool = O::ACTIVE;

    #[inline]
    fn before(
        &mut self,
        wave: &Wave<'_>,
        program: &Program,
        index: usize,
    ) -> Result<(), FaultKind> {
        match self {
            Some(observer) => observer.before(wave, program, index),
            None => Ok(()),
        }
    }

    #[inline]
    fn after(&mut self, wave: &Wave<'_>, program: &Program, index: usize) {
        if let Some(observer) = self {
            observer.after(wave, program, index);
        }
    }
}

/// A borrowed observer.
impl<O: Observer> Observer for &mut O {
    const ACTIVE: bool = O::ACTIVE;

    #[inline]
    fn before(
        &mut self,
        wave: &Wave<'_>,
        program: &Program,
        index: usize,
    ) -> Result<(), FaultKind> {
        (**self).before(wave, program, index)
    }

    #[inline]
    fn after(&mut self, wave: &Wave<'_>, program: &Program, index: usize) {
        (**self).after(wave, program, index);
    }
}

/// [`Observer`] without its constant, so that it can be a trait object. Every observer is one.
pub trait DynObserver {
    /// As [`Observer::before`].
    ///
    /// # Errors
    /// A fault ends the command there.
    fn dyn_before(
        &mut self,
        wave: &Wave<'_>,
        program: &Program,
        index: usize,
    ) -> Result<(), FaultKind>;

    /// As [`Observer::after`].
    fn dyn_after(&mut self, wave: &Wave<'_>, program: &Program, index: usize);
}

impl<O: Observer> DynObserver for O {
    fn dyn_before(
        &mut self,
        wave: &Wave<'_>,
        program: &Program,
        index: usize,
    ) -> Result<(), FaultKind> {
        self.before(wave, program, index)
    }

    fn dyn_after(&mut self, wave: &Wave<'_>, program: &Program, index: usize) {
        self.after(wave, program, index);
    }
}

/// An observer whose kind is chosen at run time.
impl<D: DynObserver + ?Sized> Observer for Box<D> {
    fn before(
        &mut self,
        wave: &Wave<'_>,
        program: &Program,
        index: usize,
    ) -> Result<(), FaultKind> {
        (**self).dyn_before(wave, program, index)
    }

    fn after(&mut self, wave: &Wave<'_>, program: &Program, index: usize) {
        (**self).dyn_after(wave, program, index);
    }
}
