// SPDX-License-Identifier: MIT
//! The shader compiler for Apple9 GPUs: NIR in, machine code out.
//!
//! It is a function: it knows no Vulkan object and no kernel, and the same input gives the same bytes.

pub mod analysis;
pub mod binary;
pub mod ir;
pub mod regalloc;
pub mod spill;
