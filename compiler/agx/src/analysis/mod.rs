// SPDX-License-Identifier: MIT
//! Facts about functions that several passes want.

mod dominators;
mod liveness;
mod loops;

pub use dominators::Dominators;
pub use liveness::{Liveness, ValueSet};
pub use loops::loop_headers;
