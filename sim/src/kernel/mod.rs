// SPDX-License-Identifier: MIT
//! The kernel driver's model: what user space sees of it, byte for byte (`docs/hw/kernel-uapi.md`).
//!
//! [`SimDevice`] is the hardware with its driver, [`SimNode`] an open file of it, and [`SimKernel`]
//! the typed interface over such a file. One module for each kind of object carries both the object
//! and the requests that concern it:
//!
//! * `node`: an open file, its tables, from request numbers to methods;
//! * `drm`: version, capabilities, parameters, time;
//! * `vm`, `address_space`: address spaces and binding;
//! * `gem`, `prime`, `timestamp`: buffers, their sharing, and times written into them;
//! * `queue`, `submit`, `scheduler`: accepting work and running it;
//! * `fence`, `timeline`, `syncobj`, `syncobj_ioctl`, `files`, `sync_file`: what is waited for.

mod address_space;
mod device;
mod drm;
mod fence;
mod files;
mod gem;
mod handles;
mod node;
mod prime;
mod queue;
mod scheduler;
mod submit;
mod sync_file;
mod syncobj;
mod syncobj_ioctl;
mod time;
mod timeline;
mod timestamp;
mod user;
mod vm;

pub use device::SimDevice;
pub use node::{SimKernel, SimNode};
