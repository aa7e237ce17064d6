// SPDX-License-Identifier: MIT
//! GET_PARAMS: what the device is (section 5).

use super::layout::{abi_flags, abi_struct};

abi_struct! {
    /// Argument of GET_PARAMS. Input only: the kernel copies `min(size, 592)` bytes to `pointer` and
    /// never writes this structure back.
    pub struct GetParams = "drm_asahi_get_params", 24 {
        /// Must be 0: the global parameters.
        0 => param_group: u32,
        /// Must be 0.
        4 => pad: u32,
        /// User address of a [`ParamsGlobal`].
        8 => pointer: u64,
        /// Bytes that may be written there; 0 is legal.
        16 => size: u64,
    }
}

abi_struct! {
    /// The global parameters (section 5.1).
    pub struct ParamsGlobal = "drm_asahi_params_global", 592 {
        /// Optional abilities.
        0 => features: Features,
        /// 16 for G16G, 17 for G17P.
        8 => gpu_generation: u32,
        /// A letter: 'G' or 'P'.
        12 => gpu_variant: u32,
        /// Revision in BCD; always 0 on the M4.
        16 => gpu_revision: u32,
        /// 0x8132 (M4) or 0x8140 (A18 Pro).
        20 => chip_id: u32,
        /// Dies; 1.
        24 => num_dies: u32,
        /// Clusters on all dies; 1.
        28 => num_clusters_total: u32,
        /// Cores of a cluster, present or not; 10 on the M4.
        32 => num_cores_per_cluster: u32,
        /// Highest clock in kHz.
        36 => max_frequency_khz: u32,
        /// Present cores by cluster.
        40 => core_masks: [u64; 64],
        /// First valid address.
        552 => vm_start: u64,
        /// End of the valid addresses, exclusive.
        560 => vm_end: u64,
        /// Smallest kernel window of [`VmCreate`](super::VmCreate), in bytes.
        568 => vm_kernel_min_size: u64,
        /// Most hardware commands in a submit.
        576 => max_commands_per_submission: u32,
        /// Most records in an attachment command.
        580 => max_attachments: u32,
        /// Ticks per second of the timestamps that commands write.
        584 => command_timestamp_frequency_hz: u64,
    }
}

abi_flags! {
    /// Abilities that differ between kernels (section 5.1). No Apple9 kernel examined has one.
    pub struct Features: u64 {
        /// Shader loads from unmapped addresses read 0 and stores there are dropped.
        const SOFT_FAULTS = 1 << 0;
        /// [`RenderFlags::VDM_BARRIER_FRAGMENT`](super::RenderFlags) is accepted.
        const FRAGMENT_BARRIER = 1 << 1;
    }
}
