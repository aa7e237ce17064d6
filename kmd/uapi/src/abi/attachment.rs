// SPDX-License-Identifier: MIT
//! Memory that shaders write, named ahead (section 11.6).

use super::layout::abi_struct;

abi_struct! {
    /// One record of an attachment command: a hint, but the range must be mapped for GPU writes.
    pub struct Attachment = "drm_asahi_attachment", 24 {
        /// First address.
        0 => pointer: u64,
        /// Bytes, nonzero.
        8 => size: u64,
        /// Must be 0.
        16 => pad: u32,
        /// Must be 0.
        20 => flags: u32,
    }
}
