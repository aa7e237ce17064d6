// SPDX-License-Identifier: MIT
//! The library's rig with what tests want besides: programs as text, and failures as panics.

// Each test binary uses its own part of this.
#![allow(dead_code, unreachable_pub, unused_imports)]

use std::ops::{Deref, DerefMut};

use agx_isa::asm::assemble;
pub use agx_sim::rig::{CODE, DATA};
use agx_sim::shader::{Exit, NoObserver, Observer, Wave};

/// One SIMD group of a 32 x 1 x 1 workgroup.
pub struct Rig(agx_sim::rig::Rig);

impl Deref for Rig {
    type Target = agx_sim::rig::Rig;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Rig {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl Rig {
    /// A rig for assembly text; a final `stop` is added.
    pub fn new(text: &str) -> Rig {
        Rig::bytes(assemble(&format!("{text}\nstop\n")).unwrap_or_else(|e| panic!("{e}\n{text}")))
    }

    /// A rig for machine code as it is.
    pub fn bytes(code: Vec<u8>) -> Rig {
        Rig(agx_sim::rig::Rig::with(code, 1 << 16).unwrap())
    }

    /// Hexadecimal machine code as it is.
    pub fn hex(text: &str) -> Rig {
        let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
        let byte =
            |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        Rig::bytes(digits.chunks(2).map(byte).collect())
    }

    /// Runs to the end; `before` sets registers up, `after` looks at them.
    pub fn run<R>(
        &self,
        before: impl FnOnce(&mut Wave<'_>),
        after: impl FnOnce(&Wave<'_>, Exit) -> R,
    ) -> R {
        self.run_observed(&mut NoObserver, before, after)
    }

    /// The same under an observer.
    pub fn run_observed<O: Observer, R>(
        &self,
        observer: &mut O,
        before: impl FnOnce(&mut Wave<'_>),
        after: impl FnOnce(&Wave<'_>, Exit) -> R,
    ) -> R {
        self.0.execute_observed(observer, before, after).unwrap()
    }
}

/// The exit of a program that must end.
pub fn stopped(exit: Exit) {
    assert!(matches!(exit, Exit::Stop), "{exit:?}");
}
