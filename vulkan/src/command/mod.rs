// SPDX-License-Identifier: MIT
//! VkCommandPool and VkCommandBuffer: recording into memory that the GPU reads as it is.

mod segment;

pub(crate) use self::segment::{Segment, Stamp};
