// SPDX-License-Identifier: MIT
//! Facts about functions that several passes want.

mod dominators;
mod liveness;

pub use dominators::Dominators;
pub use liveness::{Liveness, ValueSet};
