// SPDX-License-Identifier: MIT
//! Vulkan for Apple9 GPUs: one module per family of objects.
//!
//! Two modules are not about objects of the application: [`entry`] is the boundary, `gpu` the
//! memory. What the loader needs is in the crate `cortland`, which only hands out this crate's
//! functions.

pub mod entry;
pub mod extensions;

mod backend;
mod buffer;
mod buffer_view;
mod calibration;
mod command;
mod debug;
mod debug_utils;
mod descriptor;
mod device;
mod error;
mod event;
mod fence;
mod gpu;
mod graphics;
mod host;
mod image;
mod instance;
mod internal;
mod memory;
mod object;
mod physical_device;
mod pipeline;
mod pipeline_layout;
mod private_data;
mod program;
mod query_pool;
mod queue;
mod quirks;
mod rendering;
mod sampler;
mod semaphore;
mod shader_module;
mod shared;
mod sync;
#[cfg(test)]
mod testing;
