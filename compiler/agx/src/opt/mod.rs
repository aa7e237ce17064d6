// SPDX-License-Identifier: MIT
//! Passes on the SSA form that make the code better.

mod dce;

pub use dce::eliminate_dead_code;
