// SPDX-License-Identifier: MIT
//! The shader compiler for Apple9 GPUs: NIR in, machine code out.
//!
//! It is a function: it knows no Vulkan object and no kernel, and the same input gives the same bytes.

pub mod analysis;
pub mod binary;
mod compile;
pub mod emit;
mod error;
mod formats;
pub mod ir;
mod legalize;
mod opt;
pub mod regalloc;
pub mod select;
pub mod spill;
pub mod tile;

pub use compile::{
    CompileKey, Listing, compile, compile_fragment, compile_program, compile_vertex,
    compile_with_listing,
};
pub use error::Error;
pub use formats::colour_format;
