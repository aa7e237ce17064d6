// SPDX-License-Identifier: MIT
//! What the DRM core, dma-buf and sync files offer and this interface relies on (section 2).
//!
//! Layouts as in `drm/drm.h`, `linux/dma-buf.h` and `linux/sync_file.h` of Linux 6.16, the first with the Asahi header.
//! Older kernels take the longer structures too: what they do not know is zero here.

use super::layout::{abi_flags, abi_struct};

abi_struct! {
    /// Argument of VERSION, as 64-bit processes see it. Lengths are capacities on the way in and
    /// full lengths on the way out, without a terminating zero.
    pub struct DrmVersion = "drm_version", 64 {
        /// Out: major version.
        0 => version_major: i32,
        /// Out: minor version.
        4 => version_minor: i32,
        /// Out: patch level.
        8 => version_patchlevel: i32,
        /// Padding of the header's structure.
        12 => pad: u32,
        /// Length of the driver's name.
        16 => name_len: u64,
        /// User address for the name.
        24 => name: u64,
        /// Length of the date.
        32 => date_len: u64,
        /// User address for the date.
        40 => date: u64,
        /// Length of the description.
        48 => desc_len: u64,
        /// User address for the description.
        56 => desc: u64,
    }
}

abi_struct! {
    /// Argument of GEM_CLOSE.
    pub struct GemClose = "drm_gem_close", 8 {
        /// The buffer.
        0 => handle: u32,
        /// Must be 0.
        4 => pad: u32,
    }
}

abi_struct! {
    /// Argument of PRIME_HANDLE_TO_FD and PRIME_FD_TO_HANDLE.
    pub struct PrimeHandle = "drm_prime_handle", 12 {
        /// The buffer.
        0 => handle: u32,
        /// For the direction to a file only.
        4 => flags: PrimeFlags,
        /// The dma-buf.
        8 => fd: i32,
    }
}

abi_flags! {
    /// Flags of [`PrimeHandle`]; values of `O_RDWR` and `O_CLOEXEC` on x86-64 and aarch64.
    pub struct PrimeFlags: u32 {
        /// The dma-buf may be mapped writable.
        const RDWR = 0o2;
        /// The file closes on exec.
        const CLOEXEC = 0o2_000_000;
    }
}

abi_struct! {
    /// Argument of SYNCOBJ_CREATE.
    pub struct SyncobjCreate = "drm_syncobj_create", 8 {
        /// Out: the sync object.
        0 => handle: u32,
        /// Initial state.
        4 => flags: SyncobjCreateFlags,
    }
}

abi_flags! {
    /// Flags of [`SyncobjCreate`].
    pub struct SyncobjCreateFlags: u32 {
        /// Begins with a signalled fence.
        const SIGNALED = 1 << 0;
    }
}

abi_struct! {
    /// Argument of SYNCOBJ_DESTROY.
    pub struct SyncobjDestroy = "drm_syncobj_destroy", 8 {
        /// The sync object.
        0 => handle: u32,
        /// Must be 0.
        4 => pad: u32,
    }
}

abi_struct! {
    /// Argument of SYNCOBJ_HANDLE_TO_FD and SYNCOBJ_FD_TO_HANDLE. (`flags` are
    /// [`HandleToFdFlags`] or [`FdToHandleFlags`].)
    pub struct SyncobjHandle = "drm_syncobj_handle", 24 {
        /// The sync object.
        0 => handle: u32,
        /// What the file is.
        4 => flags: u32,
        /// The file.
        8 => fd: i32,
        /// Must be 0.
        12 => pad: u32,
        /// Point of a sync file on a timeline; since Linux 6.16 and only with the TIMELINE flags.
        16 => point: u64,
    }
}

abi_flags! {
    /// Flags of SYNCOBJ_HANDLE_TO_FD.
    pub struct HandleToFdFlags: u32 {
        /// Export the present fence as a sync file instead of the object.
        const EXPORT_SYNC_FILE = 1 << 0;
        /// `point` is meant.
        const TIMELINE = 1 << 1;
    }
}

abi_flags! {
    /// Flags of SYNCOBJ_FD_TO_HANDLE.
    pub struct FdToHandleFlags: u32 {
        /// The file is a sync file; its fence goes into the object `handle`.
        const IMPORT_SYNC_FILE = 1 << 0;
        /// `point` is meant.
        const TIMELINE = 1 << 1;
    }
}

abi_struct! {
    /// Argument of SYNCOBJ_TRANSFER. Point 0 means the binary payload.
    pub struct SyncobjTransfer = "drm_syncobj_transfer", 32 {
        /// Taken from.
        0 => src_handle: u32,
        /// Put into.
        4 => dst_handle: u32,
        /// Point on the source's timeline.
        8 => src_point: u64,
        /// Point on the destination's timeline.
        16 => dst_point: u64,
        /// Only [`SyncobjWaitFlags::FOR_SUBMIT`].
        24 => flags: SyncobjWaitFlags,
        /// Must be 0.
        28 => pad: u32,
    }
}

abi_struct! {
    /// Argument of SYNCOBJ_WAIT.
    pub struct SyncobjWait = "drm_syncobj_wait", 40 {
        /// User address of u32 handles.
        0 => handles: u64,
        /// Absolute CLOCK_MONOTONIC nanoseconds; 0 polls.
        8 => timeout_nsec: i64,
        /// Number of handles.
        16 => count_handles: u32,
        /// How to wait.
        20 => flags: SyncobjWaitFlags,
        /// Out: index of a signalled handle, when not waiting for all.
        24 => first_signaled: u32,
        /// Must be 0.
        28 => pad: u32,
        /// A hint for the fences, only with [`SyncobjWaitFlags::DEADLINE`].
        32 => deadline_nsec: u64,
    }
}

abi_struct! {
    /// Argument of SYNCOBJ_TIMELINE_WAIT.
    pub struct SyncobjTimelineWait = "drm_syncobj_timeline_wait", 48 {
        /// User address of u32 handles.
        0 => handles: u64,
        /// User address of u64 points, one for each handle; 0 for a binary sync object.
        8 => points: u64,
        /// Absolute CLOCK_MONOTONIC nanoseconds; 0 polls.
        16 => timeout_nsec: i64,
        /// Number of handles.
        24 => count_handles: u32,
        /// How to wait.
        28 => flags: SyncobjWaitFlags,
        /// Out: index of a signalled handle, when not waiting for all.
        32 => first_signaled: u32,
        /// Must be 0.
        36 => pad: u32,
        /// A hint for the fences, only with [`SyncobjWaitFlags::DEADLINE`].
        40 => deadline_nsec: u64,
    }
}

abi_flags! {
    /// How SYNCOBJ_WAIT and SYNCOBJ_TIMELINE_WAIT wait.
    pub struct SyncobjWaitFlags: u32 {
        /// For all; otherwise for any.
        const ALL = 1 << 0;
        /// First for a fence to be attached; otherwise its absence is EINVAL.
        const FOR_SUBMIT = 1 << 1;
        /// Only for the fence to be attached, not for its signal; timelines only.
        const AVAILABLE = 1 << 2;
        /// `deadline_nsec` is set; since Linux 6.6.
        const DEADLINE = 1 << 3;
    }
}

abi_struct! {
    /// Argument of SYNCOBJ_RESET and SYNCOBJ_SIGNAL.
    pub struct SyncobjArray = "drm_syncobj_array", 16 {
        /// User address of u32 handles.
        0 => handles: u64,
        /// Number of handles.
        8 => count_handles: u32,
        /// Must be 0.
        12 => pad: u32,
    }
}

abi_struct! {
    /// Argument of SYNCOBJ_QUERY and SYNCOBJ_TIMELINE_SIGNAL.
    pub struct SyncobjTimelineArray = "drm_syncobj_timeline_array", 24 {
        /// User address of u32 handles.
        0 => handles: u64,
        /// User address of u64 points, read by SIGNAL and written by QUERY.
        8 => points: u64,
        /// Number of handles.
        16 => count_handles: u32,
        /// For QUERY only.
        20 => flags: SyncobjQueryFlags,
    }
}

abi_flags! {
    /// Flags of SYNCOBJ_QUERY.
    pub struct SyncobjQueryFlags: u32 {
        /// The last point that has a fence, instead of the last signalled one.
        const LAST_SUBMITTED = 1 << 0;
    }
}

abi_struct! {
    /// Argument of EXPORT_SYNC_FILE, on a dma-buf.
    pub struct DmaBufExportSyncFile = "dma_buf_export_sync_file", 8 {
        /// The access that the caller plans: READ gives the writers' fences, WRITE all fences.
        0 => flags: DmaBufAccess,
        /// Out: the sync file.
        4 => fd: i32,
    }
}

abi_struct! {
    /// Argument of IMPORT_SYNC_FILE, on a dma-buf.
    pub struct DmaBufImportSyncFile = "dma_buf_import_sync_file", 8 {
        /// The access whose end the fence marks.
        0 => flags: DmaBufAccess,
        /// The sync file.
        4 => fd: i32,
    }
}

abi_flags! {
    /// Access to a dma-buf.
    pub struct DmaBufAccess: u32 {
        /// Read.
        const READ = 1 << 0;
        /// Write.
        const WRITE = 1 << 1;
    }
}

abi_struct! {
    /// Argument of FILE_INFO, on a sync file.
    pub struct SyncFileInfo = "sync_file_info", 56 {
        /// Out: a name for people.
        0 => name: [u8; 32],
        /// Out: 0 pending, 1 signalled, or a negative error number.
        32 => status: i32,
        /// Must be 0.
        36 => flags: u32,
        /// Room for so many records, and out: how many fences there are. 0 asks for the file as a
        /// whole.
        40 => num_fences: u32,
        /// Must be 0.
        44 => pad: u32,
        /// User address of [`SyncFenceInfo`] records.
        48 => sync_fence_info: u64,
    }
}

abi_struct! {
    /// One fence of a sync file.
    pub struct SyncFenceInfo = "sync_fence_info", 80 {
        /// Its timeline's name.
        0 => obj_name: [u8; 32],
        /// Its driver's name.
        32 => driver_name: [u8; 32],
        /// As in [`SyncFileInfo`].
        64 => status: i32,
        /// 0.
        68 => flags: u32,
        /// When it was signalled, in nanoseconds.
        72 => timestamp_ns: u64,
    }
}
