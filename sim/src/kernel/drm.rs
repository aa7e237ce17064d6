// SPDX-License-Identifier: MIT
//! What the DRM core does without the driver: version, capabilities, unknown requests.

use agx_uapi::abi::{DrmVersion, GetParams, GetTime, ParamsGlobal, ioctl, limits};
use agx_uapi::{Abi, Chip, Errno};

use super::node::SimNode;
use super::{time, user};

/// GET_CAP, which only asks what the features of the driver imply; its argument is a capability and
/// its value.
pub(super) const GET_CAP: u32 = 0xc010_640c;

/// VERSION.
///
/// # Safety
/// As for [`agx_uapi::Node::ioctl`].
pub(super) unsafe fn version(args: &mut DrmVersion) -> Result<(), Errno> {
    (
        args.version_major,
        args.version_minor,
        args.version_patchlevel,
    ) = (0, 0, 0);
    for (len, address, text) in [
        (&mut args.name_len, args.name, limits::DRIVER_NAME),
        (&mut args.date_len, args.date, "0"),
        (&mut args.desc_len, args.desc, "Simulated Apple9 GPU"),
    ] {
        let room = usize::try_from(*len).unwrap_or(usize::MAX).min(text.len());
        *len = text.len() as u64;
        if address != 0 {
            // SAFETY: the caller vouches for as many bytes as the length said.
            unsafe { user::write_bytes(address, &text.as_bytes()[..room])? };
        }
    }
    Ok(())
}

/// GET_CAP: PRIME in both directions, monotonic time, syncobjs with timelines; all others belong to
/// displays.
pub(super) fn get_cap(args: &mut [u64; 2]) -> Result<(), Errno> {
    const PRIME: u64 = 5;
    const TIMESTAMP_MONOTONIC: u64 = 6;
    const SYNCOBJ: u64 = 0x13;
    const SYNCOBJ_TIMELINE: u64 = 0x14;
    args[1] = match args[0] {
        PRIME => 3,
        TIMESTAMP_MONOTONIC | SYNCOBJ | SYNCOBJ_TIMELINE => 1,
        _ => return Err(Errno::EOPNOTSUPP),
    };
    Ok(())
}

/// The answer to a request that this file does not have: requests that the DRM core knows but a
/// render node may not use are refused as such.
pub(super) fn unknown(number: u8) -> Errno {
    // GET_UNIQUE, GET_MAGIC, GET_CLIENT, GET_STATS, SET_VERSION, GEM_FLINK, GEM_OPEN,
    // SET_CLIENT_CAP, AUTH_MAGIC, SET_MASTER, DROP_MASTER, and what sets display modes.
    const NOT_FOR_RENDER: [u8; 11] = [
        0x01, 0x02, 0x05, 0x06, 0x07, 0x0a, 0x0b, 0x0d, 0x11, 0x1e, 0x1f,
    ];
    const MODE: std::ops::RangeInclusive<u8> = 0xa0..=0xbe;
    if NOT_FOR_RENDER.contains(&number) || MODE.contains(&number) {
        Errno::EACCES
    } else {
        Errno::EINVAL
    }
}

impl SimNode {
    /// GET_PARAMS (kernel-uapi, 5).
    ///
    /// # Safety
    /// As for [`agx_uapi::Node::ioctl`].
    pub(super) unsafe fn get_params(&self, args: &GetParams) -> Result<(), Errno> {
        if args.param_group != 0 || args.pad != 0 {
            return Err(Errno::EINVAL);
        }
        let (generation, variant, chip_id) = match self.chip() {
            Chip::M4 => (16, b'G', 0x8132),
            Chip::A18Pro => (17, b'P', 0x8140),
        };
        let hardware = &self.device.config.hardware;
        let mut params = ParamsGlobal {
            gpu_generation: generation,
            gpu_variant: u32::from(variant),
            gpu_revision: hardware.revision,
            chip_id,
            num_dies: 1,
            num_clusters_total: 1,
            num_cores_per_cluster: hardware.cores,
            max_frequency_khz: hardware.max_frequency_khz,
            vm_start: limits::VM_START,
            vm_end: limits::VM_END,
            vm_kernel_min_size: limits::VM_KERNEL_MIN_SIZE,
            max_commands_per_submission: limits::MAX_COMMANDS,
            max_attachments: limits::MAX_ATTACHMENTS,
            command_timestamp_frequency_hz: limits::TIMESTAMP_FREQUENCY_HZ,
            ..ParamsGlobal::default()
        };
        params.core_masks[0] = hardware.core_mask;
        let size = args.size.min(size_of::<ParamsGlobal>() as u64) as usize;
        // SAFETY: the caller vouches for `size` bytes.
        unsafe { user::write_bytes(args.pointer, &params.as_bytes()[..size]) }
    }

    /// GET_TIME (kernel-uapi, 6).
    pub(super) fn get_time(&self, args: &mut GetTime) -> Result<(), Errno> {
        if args.flags != 0 {
            return Err(Errno::EINVAL);
        }
        args.gpu_timestamp = time::now();
        Ok(())
    }
}

const _: () =
    assert!(ioctl::number(GET_CAP) == 0x0c && ioctl::size(GET_CAP) == size_of::<[u64; 2]>());
