// SPDX-License-Identifier: MIT
//! GET_TIME (section 6).

use super::layout::abi_struct;

abi_struct! {
    /// Argument of GET_TIME.
    pub struct GetTime = "drm_asahi_get_time", 16 {
        /// Must be 0.
        0 => flags: u64,
        /// Out: now, in nanoseconds, in the domain of the timestamps that commands write.
        8 => gpu_timestamp: u64,
    }
}
