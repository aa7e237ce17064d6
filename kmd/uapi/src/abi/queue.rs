// SPDX-License-Identifier: MIT
//! QUEUE_CREATE, QUEUE_DESTROY (section 10).

use super::layout::abi_struct;

abi_struct! {
    /// Argument of QUEUE_CREATE (section 10.1).
    pub struct QueueCreate = "drm_asahi_queue_create", 24 {
        /// Must be 0.
        0 => flags: u32,
        /// The VM in which the queue's commands run.
        4 => vm_id: u32,
        /// One of [`priority`].
        8 => priority: u32,
        /// Out: the queue.
        12 => queue_id: u32,
        /// Base of shader addresses; only [`USC_WINDOW`](super::limits::USC_WINDOW)'s start.
        16 => usc_exec_base: u64,
    }
}

/// Values of [`QueueCreate::priority`] (section 10.1).
pub mod priority {
    /// Low.
    pub const LOW: u32 = 0;
    /// Medium.
    pub const MEDIUM: u32 = 1;
    /// Reserved; both chips answer EINVAL.
    pub const HIGH: u32 = 2;
    /// Reserved; both chips answer EINVAL.
    pub const REALTIME: u32 = 3;
}

abi_struct! {
    /// Argument of QUEUE_DESTROY (section 10.2).
    pub struct QueueDestroy = "drm_asahi_queue_destroy", 8 {
        /// The queue.
        0 => queue_id: u32,
        /// Must be 0.
        4 => pad: u32,
    }
}
