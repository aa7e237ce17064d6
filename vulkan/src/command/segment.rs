// SPDX-License-Identifier: MIT
//! What a command buffer hands to a queue.

use agx_uapi::TimestampHandle;

/// A stream of its own, which becomes one compute command of a submit. Command buffers are cut
/// into several where a timestamp is written, because those belong to commands (kernel-uapi, 9),
/// and where a chunk of memory ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Address of the first record.
    pub(crate) start: u64,
    /// One behind the terminator (launch, 8.7).
    pub(crate) end: u64,
    /// What is written when it begins.
    pub(crate) begun: Option<Stamp>,
    /// What is written when it has ended.
    pub(crate) ended: Option<Stamp>,
}

/// A slot for a timestamp: 64-bit nanoseconds, written by the firmware (kernel-uapi, 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// The buffer as the kernel knows it.
    pub(crate) buffer: TimestampHandle,
    /// Byte offset in it, a multiple of 8.
    pub(crate) offset: u32,
}
