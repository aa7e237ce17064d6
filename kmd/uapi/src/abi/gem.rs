// SPDX-License-Identifier: MIT
//! GEM_CREATE, GEM_MMAP_OFFSET: buffers (section 8).

use super::layout::{abi_flags, abi_struct};

abi_struct! {
    /// Argument of GEM_CREATE (section 8.1).
    pub struct GemCreate = "drm_asahi_gem_create", 24 {
        /// Bytes, nonzero; the kernel rounds up to 16 KiB without updating this field.
        0 => size: u64,
        /// How the buffer is mapped and shared.
        8 => flags: GemFlags,
        /// The owner when [`GemFlags::VM_PRIVATE`], else 0.
        12 => vm_id: u32,
        /// Out: the buffer.
        16 => handle: u32,
        /// Must be 0.
        20 => pad: u32,
    }
}

abi_struct! {
    /// Argument of GEM_MMAP_OFFSET (section 8.2).
    pub struct GemMmapOffset = "drm_asahi_gem_mmap_offset", 16 {
        /// The buffer.
        0 => handle: u32,
        /// Must be 0.
        4 => flags: u32,
        /// Out: offset to pass to mmap on the DRM file.
        8 => offset: u64,
    }
}

abi_flags! {
    /// Flags of [`GemCreate`] (section 8.1).
    pub struct GemFlags: u32 {
        /// The CPU's mapping is cached; otherwise it is write-combined.
        const WRITEBACK = 1 << 0;
        /// Only the VM `vm_id` may bind the buffer, and it cannot be exported.
        const VM_PRIVATE = 1 << 1;
    }
}
