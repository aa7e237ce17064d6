// SPDX-License-Identifier: MIT
//! The texture unit: instructions run on the rig, against models of their own.

#![expect(
    clippy::needless_range_loop,
    reason = "lane and component numbers index several arrays alike"
)]

mod bench;
mod examples;
mod fetch;
mod filter;
mod format;
mod model;
mod store;

#[path = "../support/mod.rs"]
mod support;
