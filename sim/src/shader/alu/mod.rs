// SPDX-License-Identifier: MIT
//! Arithmetic and logic, one module for each family of instructions.

pub mod bits;
pub mod compare;
pub mod convert;
pub mod cube;
mod each;
pub mod float16;
pub mod float32;
pub mod half;
pub mod integer;
pub mod logic;
pub mod moves;
pub mod pack;
pub mod shift;
pub mod special;
pub mod sysreg;
