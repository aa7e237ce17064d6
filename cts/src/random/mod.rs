// SPDX-License-Identifier: MIT
//! Random compute programs whose results are known.
//!
//! [`program`] makes a tree from a seed; [`Program::case`] is the shader, [`Program::expected`] what it must leave
//! in memory by the interpreter of the tree, which knows nothing of SPIR-V. [`check()`] does it all for a device.

pub mod check;
pub mod config;
pub mod emit;
pub mod float;
pub mod generate;
pub mod interpret;
mod module;
pub mod print;
pub mod rng;
pub mod shrink;
pub mod tree;

pub use check::{Failure, check};
pub use config::Config;
pub use generate::program;
pub use tree::Program;
