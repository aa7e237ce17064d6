// SPDX-License-Identifier: MIT
//! What Apple9 hardware reads from memory besides shader code: command streams, launch programs,
//! entry blocks and descriptors.
//!
//! One module per structure; each has a typed value with `pack` (the driver's side) and `unpack` (the
//! simulator's side) beside each other. The two are inverse: `pack` refuses what hardware is not
//! known to take, `unpack` refuses what `pack` does not write. Neither panics, whatever the input.
//! Facts come from `docs/hw`; each item names chapter and section and its mark.

pub mod arena;
mod bits;
mod bytes;
pub mod cdm;
mod codes;
pub mod coefficient;
pub mod depth_bias;
mod descriptor;
mod error;
pub mod format;
mod indirect;
pub mod launcher;
pub mod layout;
pub mod lint;
pub mod pass;
pub mod ppp;
mod provoking;
pub mod root;
pub mod sampler;
pub mod scissor;
pub mod store;
pub mod texture;
pub mod tile;
pub mod uvs;
pub mod vdm;
pub mod window;

pub use error::{Error, Result};

/// The examples of the README, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
