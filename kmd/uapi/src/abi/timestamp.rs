// SPDX-License-Identifier: MIT
//! GEM_BIND_OBJECT: timestamp objects, and where commands name them (section 9).

use super::layout::{abi_flags, abi_struct};

abi_struct! {
    /// Argument of GEM_BIND_OBJECT (section 9).
    pub struct GemBindObject = "drm_asahi_gem_bind_object", 40 {
        /// One of [`bind_object_op`].
        0 => op: u32,
        /// Exactly [`BindObjectFlags::USAGE_TIMESTAMPS`] to bind, 0 to unbind.
        4 => flags: BindObjectFlags,
        /// The buffer; 0 to unbind.
        8 => handle: u32,
        /// Must be 0.
        12 => vm_id: u32,
        /// Byte offset in the buffer, 16 KiB aligned; 0 to unbind.
        16 => offset: u64,
        /// Bytes, nonzero, 16 KiB aligned; 0 to unbind.
        24 => range: u64,
        /// Out of a bind, in to an unbind: the object.
        32 => object_handle: u32,
        /// Must be 0.
        36 => pad: u32,
    }
}

/// Values of [`GemBindObject::op`] (section 9).
pub mod bind_object_op {
    /// Bind a buffer as an object.
    pub const BIND: u32 = 0;
    /// Drop the object.
    pub const UNBIND: u32 = 1;
}

abi_flags! {
    /// Flags of [`GemBindObject`] (section 9).
    pub struct BindObjectFlags: u32 {
        /// The firmware may write timestamps to the buffer.
        const USAGE_TIMESTAMPS = 1 << 0;
    }
}

abi_struct! {
    /// Where a command writes one timestamp: eight bytes of a timestamp object.
    pub struct Timestamp = "drm_asahi_timestamp", 8 {
        /// The object, or 0 for no timestamp.
        0 => handle: u32,
        /// Byte offset in the object's range, a multiple of 8; 0 when `handle` is 0.
        4 => offset: u32,
    }
}

abi_struct! {
    /// The timestamps of an operation; either may be left out.
    pub struct Timestamps = "drm_asahi_timestamps", 16 {
        /// Written when the operation starts.
        0 => start: Timestamp,
        /// Written when it ends.
        8 => end: Timestamp,
    }
}
