// SPDX-License-Identifier: MIT
//! The compiler's intermediate representation: SSA before register allocation, the same operations on registers
//! behind it.
//!
//! [`ops`] has one struct for each operation, [`cfg`] blocks and structured control flow, [`value`] operands,
//! [`print`] the text form, [`validate`] the rules.

pub mod cfg;
pub mod ops;
pub mod print;
pub mod validate;
pub mod value;

pub use cfg::{Block, BlockData, Closes, End, Function, Phi};
pub use ops::*;
pub use value::{Dst, Ref, Src, Value};
