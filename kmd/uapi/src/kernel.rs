// SPDX-License-Identifier: MIT
//! The typed interface that the Vulkan driver uses.

use core::ops::Range;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;
use std::vec::Vec;

use crate::abi::{self, DmaBufAccess, ParamsGlobal, SyncobjWaitFlags};
use crate::{Errno, Mapping};

macro_rules! handles {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(transparent)]
        pub struct $name(u32);

        impl $name {
            /// From the number in the interface.
            #[must_use]
            pub const fn from_raw(raw: u32) -> $name {
                $name(raw)
            }

            /// The number in the interface.
            #[must_use]
            pub const fn raw(self) -> u32 {
                self.0
            }
        }
    )*};
}

handles! {
    /// An address space (section 7).
    VmId;
    /// A queue (section 10).
    QueueId;
    /// A buffer (section 8).
    GemHandle;
    /// A sync object, binary or timeline.
    SyncHandle;
    /// A timestamp object (section 9), as commands name it.
    TimestampHandle;
}

/// How the CPU's mapping of a buffer is cached (section 8.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Caching {
    /// Fast to write in order, slow to read.
    WriteCombined,
    /// Cached; for what the CPU reads.
    WriteBack,
}

/// What the GPU may do with mapped memory (section 7.5). Execution is no separate permission;
/// shaders must be mapped [`Access::Read`] only (section 7.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Read only.
    Read,
    /// Write only.
    Write,
    /// Both.
    ReadWrite,
}

impl Access {
    pub(crate) const fn flags(self) -> abi::BindFlags {
        match self {
            Access::Read => abi::BindFlags::READ,
            Access::Write => abi::BindFlags::WRITE,
            Access::ReadWrite => abi::BindFlags::READ.union(abi::BindFlags::WRITE),
        }
    }
}

/// One change of an address space (section 7.5). Addresses, offsets and sizes are in bytes and
/// multiples of [`PAGE_SIZE`](abi::limits::PAGE_SIZE).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bind {
    /// Map a part of a buffer. The range must be free.
    Object {
        /// First address.
        addr: u64,
        /// Size of the range.
        size: u64,
        /// The buffer.
        gem: GemHandle,
        /// Where in the buffer the range begins.
        offset: u64,
        /// What the GPU may do.
        access: Access,
    },
    /// Map one page of a buffer again and again. The range must be free.
    Page {
        /// First address.
        addr: u64,
        /// Size of the range.
        size: u64,
        /// The buffer.
        gem: GemHandle,
        /// The page's offset in the buffer.
        offset: u64,
        /// What the GPU may do.
        access: Access,
    },
    /// Remove all mappings and parts of mappings in the range.
    Unbind {
        /// First address.
        addr: u64,
        /// Size of the range.
        size: u64,
    },
}

impl From<Bind> for abi::GemBindOp {
    fn from(bind: Bind) -> abi::GemBindOp {
        match bind {
            Bind::Object {
                addr,
                size,
                gem,
                offset,
                access,
            } => abi::GemBindOp {
                flags: access.flags(),
                handle: gem.raw(),
                offset,
                range: size,
                addr,
            },
            Bind::Page {
                addr,
                size,
                gem,
                offset,
                access,
            } => abi::GemBindOp {
                flags: access.flags() | abi::BindFlags::SINGLE_PAGE,
                handle: gem.raw(),
                offset,
                range: size,
                addr,
            },
            Bind::Unbind { addr, size } => abi::GemBindOp {
                flags: abi::BindFlags::UNBIND,
                range: size,
                addr,
                ..abi::GemBindOp::default()
            },
        }
    }
}

/// Priority of a queue; the two that the kernels accept (section 10.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Priority {
    /// Low.
    Low,
    /// Medium.
    Medium,
}

impl Priority {
    pub(crate) const fn raw(self) -> u32 {
        match self {
            Priority::Low => abi::priority::LOW,
            Priority::Medium => abi::priority::MEDIUM,
        }
    }
}

/// What can be waited for or signalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SyncPoint {
    /// The fence of a binary sync object.
    Binary(SyncHandle),
    /// A point on the timeline of a sync object.
    Timeline(SyncHandle, u64),
}

impl SyncPoint {
    /// The sync object.
    #[must_use]
    pub const fn handle(self) -> SyncHandle {
        match self {
            SyncPoint::Binary(handle) | SyncPoint::Timeline(handle, _) => handle,
        }
    }

    /// The point as the DRM core takes it: 0 for binary.
    #[must_use]
    pub const fn point(self) -> u64 {
        match self {
            SyncPoint::Binary(_) => 0,
            SyncPoint::Timeline(_, point) => point,
        }
    }
}

impl From<SyncPoint> for abi::SyncRecord {
    fn from(point: SyncPoint) -> abi::SyncRecord {
        abi::SyncRecord {
            sync_type: match point {
                SyncPoint::Binary(_) => abi::sync_type::SYNCOBJ,
                SyncPoint::Timeline(..) => abi::sync_type::TIMELINE_SYNCOBJ,
            },
            handle: point.handle().raw(),
            timeline_value: point.point(),
        }
    }
}

/// Work for a queue (section 11).
#[derive(Clone, Copy, Debug)]
pub struct Submit<'a> {
    /// Runs it.
    pub queue: QueueId,
    /// Waited for before the first command starts.
    pub waits: &'a [SyncPoint],
    /// Signalled when all commands have completed.
    pub signals: &'a [SyncPoint],
    /// Bytes of a [`CommandBuffer`](crate::command::CommandBuffer).
    pub commands: &'a [u8],
}

bitflags::bitflags! {
    /// How to wait for sync objects.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct WaitFlags: u32 {
        /// For all; otherwise for any.
        const ALL = SyncobjWaitFlags::ALL.bits();
        /// First for a fence to be attached; otherwise its absence is EINVAL.
        const FOR_SUBMIT = SyncobjWaitFlags::FOR_SUBMIT.bits();
        /// Only for a fence to be attached, not for its signal. Timeline waits only.
        const AVAILABLE = SyncobjWaitFlags::AVAILABLE.bits();
    }
}

/// When a wait gives up: nanoseconds of CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Deadline(i64);

impl Deadline {
    /// At once: the wait only looks.
    pub const NOW: Deadline = Deadline(0);
    /// Never.
    pub const NEVER: Deadline = Deadline(i64::MAX);

    /// At an absolute time. 0 and less are [`NOW`](Self::NOW).
    #[must_use]
    pub const fn at(nanoseconds: i64) -> Deadline {
        // The DRM core treats exactly 0 as a poll; times before boot mean the same.
        Deadline(if nanoseconds < 0 { 0 } else { nanoseconds })
    }

    /// A while from now; [`NEVER`](Self::NEVER) when that is beyond the clock, and
    /// [`NOW`](Self::NOW) for no time at all.
    #[must_use]
    pub fn after(timeout: Duration) -> Deadline {
        if timeout.is_zero() {
            return Deadline::NOW;
        }
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let now = i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec);
        let end = i128::try_from(timeout.as_nanos())
            .ok()
            .and_then(|t| now.checked_add(t));
        end.and_then(|end| i64::try_from(end).ok())
            .map_or(Deadline::NEVER, Deadline)
    }

    /// Nanoseconds of CLOCK_MONOTONIC.
    #[must_use]
    pub const fn nanoseconds(self) -> i64 {
        self.0
    }
}

/// How what a fence stands for ended, or nothing while it has not; or that there is no telling.
pub type FenceStatus = Result<Option<Result<(), Errno>>, Errno>;

/// A GPU behind the Asahi interface. One value is one open file: IDs and handles belong to it.
///
/// Methods return the kernel's errors unchanged; sections 4 to 15 say which and when.
pub trait Kernel: Send + Sync {
    /// What the device is (section 5).
    ///
    /// # Errors
    ///
    /// None is expected of a living file.
    fn params(&self) -> Result<ParamsGlobal, Errno>;

    /// Now, in nanoseconds, in the domain of the timestamps that commands write (section 6).
    ///
    /// # Errors
    ///
    /// EIO when the counter has no frequency.
    fn time(&self) -> Result<u64, Errno>;

    /// A new address space with a window for the kernel (section 7.1).
    ///
    /// # Errors
    ///
    /// EINVAL for a window that is unaligned, too small or outside the valid addresses.
    fn vm_create(&self, kernel: Range<u64>) -> Result<VmId, Errno>;

    /// Drops an address space (section 7.4).
    ///
    /// # Errors
    ///
    /// ENOENT; on the A18 Pro EBUSY while queues or mappings exist.
    fn vm_destroy(&self, vm: VmId) -> Result<(), Errno>;

    /// A new buffer of at least `size` bytes, rounded up to whole GPU pages (section 8.1). A
    /// buffer that is private to a VM cannot be exported.
    ///
    /// # Errors
    ///
    /// EINVAL for size 0, ENOENT for an unknown VM, ENOMEM.
    fn gem_create(
        &self,
        size: u64,
        caching: Caching,
        private_to: Option<VmId>,
    ) -> Result<GemHandle, Errno>;

    /// Drops a buffer handle. On the M4 mappings in address spaces stay; on the A18 Pro they go
    /// (section 7.5).
    ///
    /// # Errors
    ///
    /// EINVAL or ENOENT from the DRM core for an unknown handle.
    fn gem_close(&self, gem: GemHandle) -> Result<(), Errno>;

    /// Maps the first `len` bytes of a buffer for the CPU (section 8.2). The mapping outlives the
    /// handle.
    ///
    /// # Errors
    ///
    /// ENOENT, or those of mmap.
    fn gem_map(&self, gem: GemHandle, len: usize) -> Result<Mapping, Errno>;

    /// Changes an address space, one entry after another, each at once; after an error the
    /// entries before the failing one stay applied (section 7.5).
    ///
    /// Lists longer than the kernel takes are passed on in pieces. An empty list does nothing.
    ///
    /// # Errors
    ///
    /// ENOENT; EINVAL for bad ranges; EEXIST (M4) or EINVAL (A18 Pro) for a range that is not
    /// free; EIO when the device is lost; ETIMEDOUT or EBUSY from an unbind under running work.
    fn vm_bind(&self, vm: VmId, binds: &[Bind]) -> Result<(), Errno>;

    /// Lets commands write timestamps to `bytes` of a buffer, in whole GPU pages (section 9).
    ///
    /// # Errors
    ///
    /// ENOENT, EINVAL for a bad range, ENOSPC when the device's aperture is full.
    fn timestamp_bind(&self, gem: GemHandle, bytes: Range<u64>) -> Result<TimestampHandle, Errno>;

    /// Drops a timestamp object (section 9).
    ///
    /// # Errors
    ///
    /// ENOENT, ETIMEDOUT.
    fn timestamp_unbind(&self, timestamps: TimestampHandle) -> Result<(), Errno>;

    /// A new queue on an address space, with the shader window at its only place (sections 7.3,
    /// 10.1).
    ///
    /// # Errors
    ///
    /// ENOENT for an unknown VM; on the A18 Pro EINVAL when the shader window does not fit it.
    fn queue_create(&self, vm: VmId, priority: Priority) -> Result<QueueId, Errno>;

    /// Drops a queue (section 10.2).
    ///
    /// # Errors
    ///
    /// ENOENT, ETIMEDOUT.
    fn queue_destroy(&self, queue: QueueId) -> Result<(), Errno>;

    /// Hands commands to a queue and returns when the signals have fences, before the commands
    /// run (sections 11.7, 11.8). After an error nothing has happened.
    ///
    /// # Errors
    ///
    /// EINVAL and 524 or 95 for commands that the kernel refuses, ENOENT, EIO when the device is
    /// lost or the VM broken.
    fn submit(&self, submit: &Submit<'_>) -> Result<(), Errno>;

    /// A dma-buf of a buffer, closed on exec and mappable writable.
    ///
    /// # Errors
    ///
    /// EINVAL for a buffer that is private to a VM (section 2), ENOENT.
    fn gem_export(&self, gem: GemHandle) -> Result<OwnedFd, Errno>;

    /// The buffer of a dma-buf. Importing the same buffer again gives the same handle, without
    /// counting: one [`gem_close`](Self::gem_close) drops it.
    ///
    /// # Errors
    ///
    /// EBADF, EINVAL for other files, ENOMEM.
    fn gem_import(&self, dma_buf: BorrowedFd<'_>) -> Result<GemHandle, Errno>;

    /// The fences of a dma-buf that an access must wait for, as a sync file.
    ///
    /// # Errors
    ///
    /// ENOTTY when the file is no dma-buf, EINVAL, ENOMEM.
    fn dma_buf_export_sync_file(
        &self,
        dma_buf: BorrowedFd<'_>,
        access: DmaBufAccess,
    ) -> Result<OwnedFd, Errno>;

    /// Makes later users of a dma-buf wait for a sync file, as for an access.
    ///
    /// # Errors
    ///
    /// ENOTTY when the file is no dma-buf, EINVAL, ENOMEM.
    fn dma_buf_import_sync_file(
        &self,
        dma_buf: BorrowedFd<'_>,
        access: DmaBufAccess,
        sync_file: BorrowedFd<'_>,
    ) -> Result<(), Errno>;

    /// A new sync object, without a fence or with a signalled one.
    ///
    /// # Errors
    ///
    /// ENOMEM.
    fn syncobj_create(&self, signalled: bool) -> Result<SyncHandle, Errno>;

    /// Drops a sync object handle.
    ///
    /// # Errors
    ///
    /// EINVAL for an unknown handle.
    fn syncobj_destroy(&self, sync: SyncHandle) -> Result<(), Errno>;

    /// Waits for binary sync objects. Returns the index of a signalled one when waiting for any.
    ///
    /// # Errors
    ///
    /// ETIME at the deadline, EINVAL without a fence unless [`WaitFlags::FOR_SUBMIT`], ENOENT.
    fn syncobj_wait(
        &self,
        syncs: &[SyncHandle],
        flags: WaitFlags,
        deadline: Deadline,
    ) -> Result<u32, Errno>;

    /// Waits for points, which may be of both kinds. Returns the index of one that is reached when
    /// waiting for any.
    ///
    /// # Errors
    ///
    /// As for [`syncobj_wait`](Self::syncobj_wait).
    fn syncobj_timeline_wait(
        &self,
        points: &[SyncPoint],
        flags: WaitFlags,
        deadline: Deadline,
    ) -> Result<u32, Errno>;

    /// Removes fences.
    ///
    /// # Errors
    ///
    /// ENOENT; EINVAL for an empty list.
    fn syncobj_reset(&self, syncs: &[SyncHandle]) -> Result<(), Errno>;

    /// Puts signalled fences into binary sync objects.
    ///
    /// # Errors
    ///
    /// ENOENT; EINVAL for an empty list.
    fn syncobj_signal(&self, syncs: &[SyncHandle]) -> Result<(), Errno>;

    /// Signals points of timelines.
    ///
    /// # Errors
    ///
    /// ENOENT; EINVAL for an empty list.
    fn syncobj_timeline_signal(&self, points: &[(SyncHandle, u64)]) -> Result<(), Errno>;

    /// The last signalled point of each timeline, or with `last_submitted` the last one that has
    /// a fence.
    ///
    /// # Errors
    ///
    /// ENOENT; EINVAL for an empty list.
    fn syncobj_query(&self, syncs: &[SyncHandle], last_submitted: bool) -> Result<Vec<u64>, Errno>;

    /// Copies a fence. With `for_submit` waits until the source has one.
    ///
    /// # Errors
    ///
    /// ENOENT; EINVAL when the source has no fence.
    fn syncobj_transfer(
        &self,
        from: SyncPoint,
        to: SyncPoint,
        for_submit: bool,
    ) -> Result<(), Errno>;

    /// A file that stands for the sync object itself.
    ///
    /// # Errors
    ///
    /// EINVAL for an unknown handle, EMFILE.
    fn syncobj_export(&self, sync: SyncHandle) -> Result<OwnedFd, Errno>;

    /// A new handle of the sync object behind a file.
    ///
    /// # Errors
    ///
    /// EINVAL for other files.
    fn syncobj_import(&self, file: BorrowedFd<'_>) -> Result<SyncHandle, Errno>;

    /// The present fence of a binary sync object as a sync file.
    ///
    /// # Errors
    ///
    /// EINVAL without a fence, ENOENT.
    fn sync_file_export(&self, sync: SyncHandle) -> Result<OwnedFd, Errno>;

    /// Puts the fence of a sync file into a binary sync object.
    ///
    /// # Errors
    ///
    /// EINVAL for other files, ENOENT.
    fn sync_file_import(&self, sync: SyncHandle, file: BorrowedFd<'_>) -> Result<(), Errno>;

    /// How what a sync file stands for ended; nothing while it has not. The one way to learn of a
    /// failed submit: waits only tell that it is over (section 15).
    ///
    /// # Errors
    ///
    /// ENOTTY when the file is no sync file.
    fn sync_file_status(&self, sync_file: BorrowedFd<'_>) -> FenceStatus;

    /// As [`sync_file_status`](Self::sync_file_status), for the present fence of a binary sync
    /// object. Timelines do not keep the errors of their fences.
    ///
    /// # Errors
    ///
    /// EINVAL without a fence, ENOENT, EMFILE.
    fn syncobj_status(&self, sync: SyncHandle) -> FenceStatus;
}
