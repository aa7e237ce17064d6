// SPDX-License-Identifier: MIT
//! SUBMIT (section 11.1).

use super::layout::abi_struct;

abi_struct! {
    /// Argument of SUBMIT (section 11.1). Input only.
    pub struct SubmitArgs = "drm_asahi_submit", 40 {
        /// User address of `in_sync_count + out_sync_count` [`SyncRecord`](super::SyncRecord)s,
        /// inputs first.
        0 => syncs: u64,
        /// User address of the command buffer.
        8 => cmdbuf: u64,
        /// Must be 0.
        16 => flags: u32,
        /// The queue.
        20 => queue_id: u32,
        /// Records waited for before the first command starts.
        24 => in_sync_count: u32,
        /// Records signalled when the last command has completed.
        28 => out_sync_count: u32,
        /// Bytes of the command buffer.
        32 => cmdbuf_size: u32,
        /// Must be 0.
        36 => pad: u32,
    }
}
