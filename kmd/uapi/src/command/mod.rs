// SPDX-License-Identifier: MIT
//! The command buffer of a submit: what the caller writes and the kernel takes apart (sections
//! 11.3 to 11.6).
//!
//! [`parse`] is the kernel's side. `CommandBuffer` (feature `drm`) is the caller's side; what it
//! builds, [`parse`] accepts.

mod barrier;
#[cfg(feature = "drm")]
mod build;
mod parse;

pub use barrier::{Barrier, Barriers, Index, Stage};
#[cfg(feature = "drm")]
pub use build::{BuildError, CommandBuffer};
pub use parse::{Attachments, Command, Commands, Payload, parse};
