// SPDX-License-Identifier: MIT
//! Framing of the command buffer (section 11.3).

use super::layout::abi_struct;

abi_struct! {
    /// Stands in front of each command's payload.
    pub struct CmdHeader = "drm_asahi_cmd_header", 8 {
        /// One of [`cmd_type`].
        0 => cmd_type: u16,
        /// Payload bytes that follow.
        2 => size: u16,
        /// Render command to wait for (section 11.4): [`BARRIER_NONE`],
        /// [`BARRIER_EARLIER_SUBMITS`], or n for the n-th of this submit.
        4 => vdm_barrier: u16,
        /// Compute command to wait for, likewise.
        6 => cdm_barrier: u16,
    }
}

/// Values of [`CmdHeader::cmd_type`].
pub mod cmd_type {
    /// A [`CmdRender`](crate::abi::CmdRender).
    pub const RENDER: u16 = 0;
    /// A [`CmdCompute`](crate::abi::CmdCompute).
    pub const COMPUTE: u16 = 1;
    /// [`Attachment`](crate::abi::Attachment)s that vertex shaders write.
    pub const SET_VERTEX_ATTACHMENTS: u16 = 2;
    /// Attachments that fragment shaders and tile programs write.
    pub const SET_FRAGMENT_ATTACHMENTS: u16 = 3;
    /// Attachments that compute shaders write.
    pub const SET_COMPUTE_ATTACHMENTS: u16 = 4;
}

/// Barrier value: wait for nothing on that subqueue (section 11.4).
pub const BARRIER_NONE: u16 = 0xffff;
/// Barrier value: wait for all earlier submits of the queue to that subqueue (section 11.4).
pub const BARRIER_EARLIER_SUBMITS: u16 = 0;
