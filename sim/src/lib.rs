// SPDX-License-Identifier: MIT
//! A simulated M4 (G16G) or A18 Pro (G17P): the kernel's interface, its checks, and the GPU behind it.
//!
//! The rooms of the house:
//!
//! * [`config`]: which GPU to be;
//! * [`kernel`]: the kernel driver's model, which accepts commands and keeps their order;
//! * [`processor`]: the seam between that and the GPU model, which executes commands;
//! * [`gpu`]: the command processor: streams, launch programs, workgroups;
//! * [`graphics`]: the graphics pipeline: from draws to pixels;
//! * [`shader`]: the shader core;
//! * [`texture`]: the texture unit;
//! * [`memory`]: buffers in host memory and what the GPU sees of them;
//! * [`rig`]: one SIMD group on a bench;
//! * [`fault`]: what goes wrong, said precisely.
//!
//! Everything follows `docs/hw`; nothing here knows what a driver or compiler of ours emits.

pub mod config;
pub mod fault;
pub mod gpu;
pub mod graphics;
pub mod kernel;
pub mod memory;
pub mod processor;
pub mod rig;
pub mod shader;
pub mod texture;
