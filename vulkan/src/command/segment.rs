// SPDX-License-Identifier: MIT
//! What a command buffer hands to a queue.

use agx_uapi::TimestampHandle;
use agx_uapi::abi::CmdRender;

/// A stream of its own, which becomes one command of a submit. Command buffers are cut into several
/// where a timestamp is written, because those belong to commands (kernel-uapi, 9), where rendering
/// begins and ends, and where a chunk of memory ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    /// The work.
    pub(crate) work: Work,
    /// What is written when it begins.
    pub(crate) begun: Option<Stamp>,
    /// What is written when it has ended.
    pub(crate) ended: Option<Stamp>,
}

/// What a segment does.
#[derive(Clone, Copy, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "segments are few, and a pass is submitted as it is"
)]
pub(crate) enum Work {
    /// A compute stream.
    Compute {
        /// Address of the first record.
        start: u64,
        /// One behind the terminator (launch, 8.7).
        end: u64,
    },
    /// A render pass, whole but for its timestamps.
    Render(CmdRender),
}

/// A slot for a timestamp: 64-bit nanoseconds, written by the firmware (kernel-uapi, 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// The buffer as the kernel knows it.
    pub(crate) buffer: TimestampHandle,
    /// Byte offset in it, a multiple of 8.
    pub(crate) offset: u32,
}
