// SPDX-License-Identifier: MIT
//! Tests of emission: what the code does on the simulated machine, strictly watched, against [`model`], an interpreter of
//! the register form that shares nothing with the emitter.

mod bench;
mod build;
mod control;
mod encoding;
mod model;
mod operations;
mod random;
mod stage;
mod straight;
mod texture;
