// SPDX-License-Identifier: MIT
//! VM_CREATE, VM_DESTROY, VM_BIND: address spaces (section 7).

use super::layout::{abi_flags, abi_struct};

abi_struct! {
    /// Argument of VM_CREATE (section 7.1).
    pub struct VmCreate = "drm_asahi_vm_create", 24 {
        /// First address of the kernel's window; 16 KiB aligned.
        0 => kernel_start: u64,
        /// End of the window, exclusive; 16 KiB aligned.
        8 => kernel_end: u64,
        /// Out: the new VM.
        16 => vm_id: u32,
        /// Must be 0.
        20 => pad: u32,
    }
}

abi_struct! {
    /// Argument of VM_DESTROY (section 7.4).
    pub struct VmDestroy = "drm_asahi_vm_destroy", 8 {
        /// The VM.
        0 => vm_id: u32,
        /// Must be 0.
        4 => pad: u32,
    }
}

abi_struct! {
    /// Argument of VM_BIND (section 7.5). Input only.
    pub struct VmBind = "drm_asahi_vm_bind", 24 {
        /// The VM.
        0 => vm_id: u32,
        /// Number of records.
        4 => num_binds: u32,
        /// Bytes from one record to the next: the caller's size of [`GemBindOp`].
        8 => stride: u32,
        /// Must be 0.
        12 => pad: u32,
        /// User address of the records.
        16 => userptr: u64,
    }
}

abi_struct! {
    /// One record of VM_BIND (section 7.5). Applied in order, each at once; an error leaves the
    /// earlier ones applied.
    pub struct GemBindOp = "drm_asahi_gem_bind_op", 32 {
        /// What to do.
        0 => flags: BindFlags,
        /// The buffer; 0 to unbind.
        4 => handle: u32,
        /// Byte offset in the buffer, 16 KiB aligned; 0 to unbind.
        8 => offset: u64,
        /// Bytes of address space, nonzero, 16 KiB aligned.
        16 => range: u64,
        /// First address, 16 KiB aligned.
        24 => addr: u64,
    }
}

abi_flags! {
    /// What a [`GemBindOp`] does (section 7.5).
    pub struct BindFlags: u32 {
        /// Remove the mappings of the range; stands alone.
        const UNBIND = 1 << 0;
        /// The GPU may read.
        const READ = 1 << 1;
        /// The GPU may write.
        const WRITE = 1 << 2;
        /// Show the one page at `offset` at every page of the range.
        const SINGLE_PAGE = 1 << 3;
    }
}
