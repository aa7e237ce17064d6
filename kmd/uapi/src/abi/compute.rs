// SPDX-License-Identifier: MIT
//! Payload of a compute command (section 13).

use super::layout::abi_struct;
use super::{HelperProgram, Timestamps};

abi_struct! {
    /// Runs a CDM stream: any number of dispatches.
    pub struct CmdCompute = "drm_asahi_cmd_compute", 64 {
        /// Must be 0.
        0x00 => flags: u32,
        /// Sampler states behind `sampler_heap`, 0 to 1024; 0 exactly when that is 0.
        0x04 => sampler_count: u32,
        /// First record of the CDM stream; 4-byte aligned.
        0x08 => cdm_ctrl_stream_base: u64,
        /// Just behind the terminator word of the first contiguous segment; 4-byte aligned.
        0x10 => cdm_ctrl_stream_end: u64,
        /// Array of 8-byte sampler states, or 0.
        0x18 => sampler_heap: u64,
        /// Must be all zero: the kernel supplies private memory itself.
        0x20 => helper: HelperProgram,
        /// Timestamps around the whole command.
        0x30 => ts: Timestamps,
    }
}
