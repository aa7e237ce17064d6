// SPDX-License-Identifier: MIT
//! What a submit waits for and signals (section 11.2).

use super::layout::abi_struct;

abi_struct! {
    /// A sync object of a submit.
    pub struct SyncRecord = "drm_asahi_sync", 16 {
        /// One of [`sync_type`].
        0 => sync_type: u32,
        /// The sync object.
        4 => handle: u32,
        /// The point on a timeline; 0 for a binary sync object.
        8 => timeline_value: u64,
    }
}

/// Values of [`SyncRecord::sync_type`].
pub mod sync_type {
    /// Binary.
    pub const SYNCOBJ: u32 = 0;
    /// Timeline.
    pub const TIMELINE_SYNCOBJ: u32 = 1;
}
