// SPDX-License-Identifier: MIT
//! A simulated M4 (G16G) or A18 Pro (G17P): the kernel's interface, its checks, and the GPU behind it.
//!
//! The rooms of the house:
//!
//! * [`shader`]: the shader core;
//! * [`memory`]: buffers in host memory and what the GPU sees of them;
//! * [`processor`]: the seam between the kernel model, which accepts commands and keeps their order,
//!   and the GPU model, which executes them;
//! * [`gpu`]: the command processor, which executes commands on the shader core;
//! * [`fault`]: what goes wrong, said precisely.
//!
//! Everything follows `docs/hw`; nothing here knows what a driver or compiler of ours emits.

pub mod fault;
pub mod gpu;
pub mod memory;
pub mod processor;
pub mod shader;
