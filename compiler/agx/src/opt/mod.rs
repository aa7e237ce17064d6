// SPDX-License-Identifier: MIT
//! Passes on the SSA form that make the code better.

mod dce;
mod schedule;

pub use dce::eliminate_dead_code;
pub use schedule::schedule;
