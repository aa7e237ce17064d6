// SPDX-License-Identifier: MIT
//! VkBuffer.

use ash::vk;

use crate::object::Object;

/// A buffer.
pub(crate) struct Buffer {
    /// The GPU's address of its first byte.
    pub(crate) address: u64,
    /// Bytes.
    pub(crate) size: u64,
}

impl Object for Buffer {
    type Handle = vk::Buffer;
}
