// SPDX-License-Identifier: MIT
//! The Asahi DRM user interface of Apple9 GPUs.
//!
//! * [`abi`]: every structure, flag, request number and constant, checked at compile time.
//! * [`command`]: the command buffer of a submit, taken apart (and, with `drm`, put together).
//! * [`Errno`]: the errors of the interface.
//!
//! The above needs neither `std` nor `alloc`, so kernel-side code can use it. The feature `drm`
//! (on by default) adds the caller's side:
//!
//! * `Node`: one open DRM file, raw. Real render nodes and the simulator implement it.
//! * `Kernel`: the typed interface that the Vulkan driver uses; `Drm` implements it once, over
//!   any `Node`.
//! * `DrmNode`, `DrmKernel`: real render nodes.
//!
//! Facts come from `docs/hw/kernel-uapi.md`; "section" without a chapter means a section of it.
#![no_std]

#[cfg(feature = "drm")]
extern crate std;

pub mod abi;
mod bytes;
mod chip;
pub mod command;
mod errno;

pub use bytes::{Abi, NonzeroTail};
pub use chip::Chip;
pub use errno::Errno;

#[cfg(feature = "drm")]
mod drm;
#[cfg(feature = "drm")]
mod kernel;
#[cfg(feature = "drm")]
mod mapping;
#[cfg(feature = "drm")]
mod node;
#[cfg(feature = "drm")]
mod render_node;

#[cfg(feature = "drm")]
pub use drm::{DriverError, Drm, Version};
#[cfg(feature = "drm")]
pub use kernel::{
    Access, Bind, Caching, Deadline, FenceStatus, GemHandle, Kernel, Priority, QueueId, Submit,
    SyncHandle, SyncPoint, TimestampHandle, VmId, WaitFlags,
};
#[cfg(feature = "drm")]
pub use mapping::Mapping;
#[cfg(feature = "drm")]
pub use node::Node;
#[cfg(feature = "drm")]
pub use render_node::{DrmKernel, DrmNode, OpenError};
