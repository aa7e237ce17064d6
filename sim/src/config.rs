// SPDX-License-Identifier: MIT
//! Which GPU to be, and how.

use std::time::Duration;

use agx_uapi::Chip;

use crate::gpu::GpuConfig;

/// The parameters of the hardware that GET_PARAMS reports and that differ between boards
/// (kernel-uapi, 5.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hardware {
    /// gpu_revision. 0 on the M4, whatever the identification register says (kernel-uapi, 18 row 2).
    pub revision: u32,
    /// Cores of the one cluster, present or not.
    pub cores: u32,
    /// The cores that are present; never 0.
    pub core_mask: u64,
    /// The highest clock in kHz.
    pub max_frequency_khz: u32,
}

/// A simulated GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimConfig {
    /// Whose kernel driver's rules apply.
    pub chip: Chip,
    /// The board.
    pub hardware: Hardware,
    /// The GPU model. Its limit of instructions stands in place of the 10 s after which the kernel
    /// declares the device lost (kernel-uapi, 15).
    pub gpu: GpuConfig,
    /// How long the kernel waits inside UNBIND, VM_DESTROY, QUEUE_DESTROY and GEM_BIND_OBJECT for
    /// each fence (kernel-uapi, 15).
    pub internal_wait: Duration,
    /// Bytes that all buffers of the device together may have; GEM_CREATE beyond them is ENOMEM.
    pub memory_limit: u64,
    /// A buffer once bound stays in memory until its VM is destroyed, as with the M4 driver
    /// (kernel-uapi, 7.5). Without it, until it is neither mapped nor named by a handle.
    pub pin: bool,
}

impl SimConfig {
    /// An M4 with all ten cores (kernel-uapi, 5.1). The clock is a choice of this model: the
    /// reference names no board's ladder.
    #[must_use]
    pub fn m4() -> SimConfig {
        SimConfig {
            chip: Chip::M4,
            hardware: Hardware {
                revision: 0,
                cores: 10,
                core_mask: 0x3ff,
                max_frequency_khz: 1_470_000,
            },
            ..SimConfig::common()
        }
    }

    /// An A18 Pro. Cores, revision and clock are choices of this model: the driver reads them from
    /// registers of which the reference has no values.
    #[must_use]
    pub fn a18_pro() -> SimConfig {
        SimConfig {
            chip: Chip::A18Pro,
            hardware: Hardware {
                revision: 0x11,
                cores: 6,
                core_mask: 0x3f,
                max_frequency_khz: 1_490_000,
            },
            pin: false,
            ..SimConfig::common()
        }
    }

    fn common() -> SimConfig {
        SimConfig {
            chip: Chip::M4,
            hardware: Hardware {
                revision: 0,
                cores: 1,
                core_mask: 1,
                max_frequency_khz: 0,
            },
            gpu: GpuConfig::from_env(),
            internal_wait: Duration::from_secs(35),
            memory_limit: u64::MAX,
            pin: true,
        }
    }
}
