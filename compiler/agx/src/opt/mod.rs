// SPDX-License-Identifier: MIT
//! Passes on the SSA form that make the code better.

mod dce;
mod rotates;
mod schedule;

pub(crate) use dce::eliminate_dead_code;
pub(crate) use rotates::factor_rotates;
pub(crate) use schedule::schedule;
