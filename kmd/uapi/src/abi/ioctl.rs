// SPDX-License-Identifier: MIT
//! Request numbers (section 3), encoded as x86-64 and aarch64 do.

use super::*;

/// Direction: the kernel only reads the argument.
const IN: u32 = 1;
/// Direction: the kernel reads the argument and writes it back.
const IN_OUT: u32 = 3;

/// Type byte of DRM requests.
pub const TYPE_DRM: u8 = b'd';
/// Type byte of dma-buf requests.
pub const TYPE_DMA_BUF: u8 = b'b';
/// Type byte of sync file requests.
pub const TYPE_SYNC_FILE: u8 = b'>';
/// Number of the first driver-specific DRM request.
pub const COMMAND_BASE: u8 = 0x40;

/// Encodes a request: direction (31:30), argument size (29:16), type (15:8), number (7:0).
const fn ioc(direction: u32, kind: u8, number: u8, size: usize) -> u32 {
    assert!(size < 1 << 14);
    direction << 30 | (size as u32) << 16 | (kind as u32) << 8 | number as u32
}

/// The number of a request. With [`kind`] it names the operation; the size may differ between
/// versions of an interface, and the DRM core allows that (section 4).
#[must_use]
pub const fn number(request: u32) -> u8 {
    request as u8
}

/// The type byte of a request.
#[must_use]
pub const fn kind(request: u32) -> u8 {
    (request >> 8) as u8
}

/// The size in bytes of a request's argument.
#[must_use]
pub const fn size(request: u32) -> usize {
    (request >> 16 & 0x3fff) as usize
}

/// Whether the kernel writes the argument back.
#[must_use]
pub const fn writes_back(request: u32) -> bool {
    request >> 30 & 2 != 0
}

/// The name of a request in the kernel's headers; sizes are not compared.
#[must_use]
pub fn name(request: u32) -> Option<&'static str> {
    REQUESTS
        .iter()
        .find(|(_, r)| kind(*r) == kind(request) && number(*r) == number(request))
        .map(|(name, _)| *name)
}

macro_rules! requests {
    ($($(#[$meta:meta])* $name:ident = $c_name:literal, $direction:ident, $kind:ident,
        $number:expr, $argument:ty, $encoded:literal;)*) => {
        $(
            $(#[$meta])*
            #[doc = concat!("\n\nArgument: [`", stringify!($argument), "`].")]
            pub const $name: u32 = ioc($direction, $kind, $number, size_of::<$argument>());
            const _: () = assert!($name == $encoded);
        )*

        /// Every request with its name in the kernel's headers.
        pub const REQUESTS: &[(&str, u32)] = &[$(($c_name, $name),)*];
    };
}

requests! {
    /// What the device is (section 5).
    GET_PARAMS = "DRM_IOCTL_ASAHI_GET_PARAMS", IN, TYPE_DRM, COMMAND_BASE, GetParams, 0x4018_6440;
    /// The time (section 6).
    GET_TIME = "DRM_IOCTL_ASAHI_GET_TIME", IN_OUT, TYPE_DRM, COMMAND_BASE + 1, GetTime, 0xc010_6441;
    /// New address space (section 7.1).
    VM_CREATE = "DRM_IOCTL_ASAHI_VM_CREATE", IN_OUT, TYPE_DRM, COMMAND_BASE + 2, VmCreate, 0xc018_6442;
    /// Drops an address space (section 7.4).
    VM_DESTROY = "DRM_IOCTL_ASAHI_VM_DESTROY", IN, TYPE_DRM, COMMAND_BASE + 3, VmDestroy, 0x4008_6443;
    /// Changes mappings (section 7.5).
    VM_BIND = "DRM_IOCTL_ASAHI_VM_BIND", IN, TYPE_DRM, COMMAND_BASE + 4, VmBind, 0x4018_6444;
    /// New buffer (section 8.1).
    GEM_CREATE = "DRM_IOCTL_ASAHI_GEM_CREATE", IN_OUT, TYPE_DRM, COMMAND_BASE + 5, GemCreate, 0xc018_6445;
    /// Where to map a buffer (section 8.2).
    GEM_MMAP_OFFSET = "DRM_IOCTL_ASAHI_GEM_MMAP_OFFSET", IN_OUT, TYPE_DRM, COMMAND_BASE + 6, GemMmapOffset, 0xc010_6446;
    /// New or dropped timestamp object (section 9).
    GEM_BIND_OBJECT = "DRM_IOCTL_ASAHI_GEM_BIND_OBJECT", IN_OUT, TYPE_DRM, COMMAND_BASE + 7, GemBindObject, 0xc028_6447;
    /// New queue (section 10.1).
    QUEUE_CREATE = "DRM_IOCTL_ASAHI_QUEUE_CREATE", IN_OUT, TYPE_DRM, COMMAND_BASE + 8, QueueCreate, 0xc018_6448;
    /// Drops a queue (section 10.2).
    QUEUE_DESTROY = "DRM_IOCTL_ASAHI_QUEUE_DESTROY", IN, TYPE_DRM, COMMAND_BASE + 9, QueueDestroy, 0x4008_6449;
    /// Runs commands (section 11).
    SUBMIT = "DRM_IOCTL_ASAHI_SUBMIT", IN, TYPE_DRM, COMMAND_BASE + 10, SubmitArgs, 0x4028_644a;

    /// The driver's name and version.
    VERSION = "DRM_IOCTL_VERSION", IN_OUT, TYPE_DRM, 0x00, DrmVersion, 0xc040_6400;
    /// Drops a buffer handle.
    GEM_CLOSE = "DRM_IOCTL_GEM_CLOSE", IN, TYPE_DRM, 0x09, GemClose, 0x4008_6409;
    /// Buffer to dma-buf.
    PRIME_HANDLE_TO_FD = "DRM_IOCTL_PRIME_HANDLE_TO_FD", IN_OUT, TYPE_DRM, 0x2d, PrimeHandle, 0xc00c_642d;
    /// dma-buf to buffer.
    PRIME_FD_TO_HANDLE = "DRM_IOCTL_PRIME_FD_TO_HANDLE", IN_OUT, TYPE_DRM, 0x2e, PrimeHandle, 0xc00c_642e;
    /// New sync object.
    SYNCOBJ_CREATE = "DRM_IOCTL_SYNCOBJ_CREATE", IN_OUT, TYPE_DRM, 0xbf, SyncobjCreate, 0xc008_64bf;
    /// Drops a sync object handle.
    SYNCOBJ_DESTROY = "DRM_IOCTL_SYNCOBJ_DESTROY", IN_OUT, TYPE_DRM, 0xc0, SyncobjDestroy, 0xc008_64c0;
    /// Sync object, or its fence, to a file.
    SYNCOBJ_HANDLE_TO_FD = "DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD", IN_OUT, TYPE_DRM, 0xc1, SyncobjHandle, 0xc018_64c1;
    /// File to a sync object, or its fence.
    SYNCOBJ_FD_TO_HANDLE = "DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE", IN_OUT, TYPE_DRM, 0xc2, SyncobjHandle, 0xc018_64c2;
    /// Waits for binary payloads.
    SYNCOBJ_WAIT = "DRM_IOCTL_SYNCOBJ_WAIT", IN_OUT, TYPE_DRM, 0xc3, SyncobjWait, 0xc028_64c3;
    /// Removes fences.
    SYNCOBJ_RESET = "DRM_IOCTL_SYNCOBJ_RESET", IN_OUT, TYPE_DRM, 0xc4, SyncobjArray, 0xc010_64c4;
    /// Puts in signalled fences.
    SYNCOBJ_SIGNAL = "DRM_IOCTL_SYNCOBJ_SIGNAL", IN_OUT, TYPE_DRM, 0xc5, SyncobjArray, 0xc010_64c5;
    /// Waits for points of timelines.
    SYNCOBJ_TIMELINE_WAIT = "DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT", IN_OUT, TYPE_DRM, 0xca, SyncobjTimelineWait, 0xc030_64ca;
    /// How far timelines are.
    SYNCOBJ_QUERY = "DRM_IOCTL_SYNCOBJ_QUERY", IN_OUT, TYPE_DRM, 0xcb, SyncobjTimelineArray, 0xc018_64cb;
    /// Copies a fence.
    SYNCOBJ_TRANSFER = "DRM_IOCTL_SYNCOBJ_TRANSFER", IN_OUT, TYPE_DRM, 0xcc, SyncobjTransfer, 0xc020_64cc;
    /// Signals points of timelines.
    SYNCOBJ_TIMELINE_SIGNAL = "DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL", IN_OUT, TYPE_DRM, 0xcd, SyncobjTimelineArray, 0xc018_64cd;

    /// Fences of a dma-buf to a sync file; on the dma-buf.
    DMA_BUF_EXPORT_SYNC_FILE = "DMA_BUF_IOCTL_EXPORT_SYNC_FILE", IN_OUT, TYPE_DMA_BUF, 2, DmaBufExportSyncFile, 0xc008_6202;
    /// Sync file to a fence of a dma-buf; on the dma-buf.
    DMA_BUF_IMPORT_SYNC_FILE = "DMA_BUF_IOCTL_IMPORT_SYNC_FILE", IN, TYPE_DMA_BUF, 3, DmaBufImportSyncFile, 0x4008_6203;

    /// How far a sync file is; on the sync file.
    SYNC_FILE_INFO = "SYNC_IOC_FILE_INFO", IN_OUT, TYPE_SYNC_FILE, 4, SyncFileInfo, 0xc038_3e04;
}
