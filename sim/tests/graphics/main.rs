// SPDX-License-Identifier: MIT
//! The graphics pipeline, from a render command to pixels.
//!
//! `studio` lays out memory and records passes as a driver does, `shaders` has the programs, `reference` is
//! the independent rasteriser that pictures are compared with.

mod clip;
mod depth;
mod draws;
mod faults;
mod hostile;
mod kernel;
mod passes;
mod points_and_lines;
mod reference;
mod shaders;
mod studio;
mod triangles;
mod worked;
