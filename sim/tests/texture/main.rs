// SPDX-License-Identifier: MIT
//! The texture unit: instructions run on the rig, against models of their own.

mod bench;
mod fetch;
mod filter;
mod format;
mod model;
mod store;

#[path = "../support/mod.rs"]
mod support;
