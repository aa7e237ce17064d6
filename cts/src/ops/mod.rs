// SPDX-License-Identifier: MIT
//! Tests of single SPIR-V operations: each on every type and vector width that it has, with operands
//! at the edges and random ones, compared with references written from the specifications.
//!
//! [`all`] gives the tests, [`run_on`] runs them on a device.

mod inputs;
mod lanes;
mod module;
mod reference;
mod run;
mod table;
mod test;
mod types;

pub use run::{Failure, run_on};
pub use table::all;
pub use test::OpTest;
pub use types::{Scalar, Ty};
