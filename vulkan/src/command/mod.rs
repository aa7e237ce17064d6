// SPDX-License-Identifier: MIT
//! VkCommandPool and VkCommandBuffer: recording into memory that the GPU reads as it is.

mod segment;

pub(crate) use self::segment::{Segment, Stamp};

use ash::vk;

use crate::host::HostVec;
use crate::object::Object;

/// A command buffer.
pub(crate) struct CommandBuffer {
    pub(crate) segments: HostVec<Segment>,
}

impl Object for CommandBuffer {
    type Handle = vk::CommandBuffer;
}

impl CommandBuffer {
    /// What a queue runs.
    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }
}
