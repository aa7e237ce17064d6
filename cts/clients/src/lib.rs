// SPDX-License-Identifier: MIT
//! Vulkan programs as applications write them: each scenario runs on any driver that the loader
//! finds and says what it computed, so that two drivers can be compared.

pub mod compositor;
pub mod drivers;
pub mod failing;
pub mod gpu;
pub mod image;
pub mod model;
pub mod outcome;
pub mod picture;
pub mod resources;
pub mod sample;
pub mod sampling;
pub mod scenario;
pub mod scenarios;
pub mod scope;
pub mod shader;
pub mod sharing_server;
pub mod texel;
pub mod window;
