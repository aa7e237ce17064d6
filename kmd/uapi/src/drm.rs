// SPDX-License-Identifier: MIT
//! The typed interface over any DRM file.

use core::ops::Range;
use std::fmt;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::string::{String, ToString};
use std::vec::Vec;

use crate::abi::{self, DmaBufAccess, ParamsGlobal, ioctl, limits};
use crate::{
    Abi, Bind, Caching, Deadline, Errno, FenceStatus, GemHandle, Kernel, Mapping, Node, Priority,
    QueueId, Submit, SyncHandle, SyncPoint, TimestampHandle, VmId, WaitFlags,
};

/// [`Kernel`] over a [`Node`]: each method is one request, filled from its typed arguments.
///
/// Requests that end with EINTR or EAGAIN are repeated, as libdrm does; deadlines are absolute, so
/// repeating does not prolong a wait.
#[derive(Debug)]
pub struct Drm<N> {
    node: N,
}

/// What a DRM file says about its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// The driver's name.
    pub name: String,
    /// Major, minor, patch level.
    pub number: [i32; 3],
}

impl Version {
    /// Asks a DRM file.
    ///
    /// # Errors
    ///
    /// Those of VERSION: ENOTTY when the file is no DRM file.
    pub fn of(node: &impl Node) -> Result<Version, Errno> {
        let mut name = [0u8; 64];
        let mut args = abi::DrmVersion {
            name_len: name.len() as u64,
            name: user_mut(&mut name),
            ..abi::DrmVersion::default()
        };
        // SAFETY: the name's buffer is valid for its length, the other lengths are 0.
        unsafe { repeat(&mut args, |arg| node.ioctl(ioctl::VERSION, arg)) }?;
        // The kernel returns the full length even when it copied less.
        let len = usize::try_from(args.name_len)
            .unwrap_or(usize::MAX)
            .min(name.len());
        Ok(Version {
            name: String::from_utf8_lossy(&name[..len]).to_string(),
            number: [
                args.version_major,
                args.version_minor,
                args.version_patchlevel,
            ],
        })
    }
}

/// Why a DRM file is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriverError {
    /// VERSION failed; ENOTTY says that the file is no DRM file.
    Version(Errno),
    /// The driver is another one.
    OtherDriver(String),
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DriverError::Version(Errno::ENOTTY) => f.write_str("not a DRM file"),
            DriverError::Version(errno) => write!(f, "cannot ask for the driver's name: {errno}"),
            DriverError::OtherDriver(name) => {
                write!(
                    f,
                    "the driver is \"{name}\", not \"{}\"",
                    limits::DRIVER_NAME
                )
            }
        }
    }
}

impl std::error::Error for DriverError {}

/// Runs a request until it is not interrupted.
fn repeat<T: Abi>(
    args: &mut T,
    mut request: impl FnMut(*mut core::ffi::c_void) -> Result<(), Errno>,
) -> Result<(), Errno> {
    loop {
        match request((&raw mut *args).cast()) {
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            result => return result,
        }
    }
}

/// The user address of memory that a request reads; 0 when there is none.
fn user<T>(memory: &[T]) -> u64 {
    if memory.is_empty() {
        0
    } else {
        memory.as_ptr().expose_provenance() as u64
    }
}

/// The user address of memory that a request writes; 0 when there is none.
fn user_mut<T>(memory: &mut [T]) -> u64 {
    if memory.is_empty() {
        0
    } else {
        memory.as_mut_ptr().expose_provenance() as u64
    }
}

/// A count field. Lists that do not fit are refused as the kernel refuses too long ones.
fn count<T>(list: &[T]) -> Result<u32, Errno> {
    u32::try_from(list.len()).map_err(|_| Errno::EINVAL)
}

fn raw_handles(syncs: &[SyncHandle]) -> Vec<u32> {
    syncs.iter().map(|sync| sync.raw()).collect()
}

impl<N: Node> Drm<N> {
    /// Takes a DRM file of the Asahi driver.
    ///
    /// # Errors
    ///
    /// [`DriverError`] when the file's driver has another name or none.
    pub fn new(node: N) -> Result<Drm<N>, DriverError> {
        let version = Version::of(&node).map_err(DriverError::Version)?;
        if version.name != limits::DRIVER_NAME {
            return Err(DriverError::OtherDriver(version.name));
        }
        Ok(Drm { node })
    }

    /// The DRM file.
    pub fn node(&self) -> &N {
        &self.node
    }

    /// Performs a request of the DRM file.
    ///
    /// # Safety
    ///
    /// User addresses in `args` are valid as the request demands.
    unsafe fn call<T: Abi>(&self, request: u32, args: &mut T) -> Result<(), Errno> {
        // A wrong pair would let the node write outside of `args`.
        assert_eq!(ioctl::size(request), size_of::<T>());
        // SAFETY: the size is right; the caller vouches for the addresses.
        repeat(args, |arg| unsafe { self.node.ioctl(request, arg) })
    }

    /// Performs a request of a dma-buf.
    fn call_dma_buf<T: Abi>(
        &self,
        dma_buf: BorrowedFd<'_>,
        request: u32,
        args: &mut T,
    ) -> Result<(), Errno> {
        assert_eq!(ioctl::size(request), size_of::<T>());
        // SAFETY: the size is right; the structures of dma-buf hold no addresses.
        repeat(args, |arg| unsafe {
            self.node.dma_buf_ioctl(dma_buf, request, arg)
        })
    }

    fn handle_to_fd(
        &self,
        sync: SyncHandle,
        flags: abi::HandleToFdFlags,
    ) -> Result<OwnedFd, Errno> {
        let mut args = abi::SyncobjHandle {
            handle: sync.raw(),
            flags: flags.bits(),
            fd: -1,
            ..abi::SyncobjHandle::default()
        };
        // SAFETY: no addresses in the structure.
        unsafe { self.call(ioctl::SYNCOBJ_HANDLE_TO_FD, &mut args) }?;
        owned(args.fd)
    }

    fn syncobj_array(&self, request: u32, syncs: &[SyncHandle]) -> Result<(), Errno> {
        let handles = raw_handles(syncs);
        let mut args = abi::SyncobjArray {
            handles: user(&handles),
            count_handles: count(&handles)?,
            pad: 0,
        };
        // SAFETY: `handles` has as many elements as the count says.
        unsafe { self.call(request, &mut args) }
    }
}

/// Takes over a descriptor that a request returned.
fn owned(fd: i32) -> Result<OwnedFd, Errno> {
    if fd < 0 {
        return Err(Errno::EBADF);
    }
    // SAFETY: a Node returns new descriptors that belong to the caller.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

impl<N: Node> Kernel for Drm<N> {
    fn params(&self) -> Result<ParamsGlobal, Errno> {
        let mut params = [ParamsGlobal::default()];
        let mut args = abi::GetParams {
            pointer: user_mut(&mut params),
            size: size_of_val(&params) as u64,
            ..abi::GetParams::default()
        };
        // SAFETY: `params` is valid for writes of the size passed.
        unsafe { self.call(ioctl::GET_PARAMS, &mut args) }?;
        Ok(params[0])
    }

    fn time(&self) -> Result<u64, Errno> {
        let mut args = abi::GetTime::default();
        // SAFETY: no addresses in the structure.
        unsafe { self.call(ioctl::GET_TIME, &mut args) }?;
        Ok(args.gpu_timestamp)
    }

    fn vm_create(&self, kernel: Range<u64>) -> Result<VmId, Errno> {
        let mut args = abi::VmCreate {
            kernel_start: kernel.start,
            kernel_end: kernel.end,
            ..abi::VmCreate::default()
        };
        // SAFETY: no user addresses in the structure.
        unsafe { self.call(ioctl::VM_CREATE, &mut args) }?;
        Ok(VmId::from_raw(args.vm_id))
    }

    fn vm_destroy(&self, vm: VmId) -> Result<(), Errno> {
        let mut args = abi::VmDestroy {
            vm_id: vm.raw(),
            pad: 0,
        };
        // SAFETY: no addresses in the structure.
        unsafe { self.call(ioctl::VM_DESTROY, &mut args) }
    }

    fn gem_create(
        &self,
        size: u64,
        caching: Caching,
        private_to: Option<VmId>,
    ) -> Result<GemHandle, Errno> {
        let mut flags = abi::GemFlags::empty();
        flags.set(abi::GemFlags::WRITEBACK, caching == Caching::WriteBack);
        flags.set(abi::GemFlags::VM_PRIVATE, private_to.is_some());
        let mut args = abi::GemCreate {
            size,
            flags,
            vm_id: private_to.map_or(0, VmId::raw),
            ..abi::GemCreate::default()
        };
        // SAFETY: no addresses in the structure.
        unsafe { self.call(ioctl::GEM_CREATE, &mut args) }?;
        Ok(GemHandle::from_raw(args.handle))
    }

    fn gem_close(&self, gem: GemHandle) -> Result<(), Errno> {
        let mut args = abi::GemClose {
            handle: gem.raw(),
            pad: 0,
        };
        // SAFETY: no addresses in the structure.
        unsafe { self.call(ioctl::GEM_CLOSE, &mut args) }
    }

    fn gem_map(&self, gem: GemHandle, len: usize) -> Result<Mapping, Errno> {
        let mut args = abi::GemMmapOffset {
            handle: gem.raw(),
            ..abi::GemMmapOffset::default()
        };
        // SAFETY: no addresses in the structure.
        unsafe { self.call(ioctl::GEM_MMAP_OFFSET, &mut args) }?;
        self.node.mmap(args.offset, len)
    }

    fn vm_bind(&self, vm: VmId, binds: &[Bind]) -> Result<(), Errno> {
        // Nothing is lost by cutting: the kernel applies entry by entry in any case. A request that a
        // signal interrupts is repeated as a whole, and unbinding, which waits, is where that happens:
        // no bind may stand in front, or it would meet its own mapping the second time (section 7.5).
        let bound = |bind: &Bind| !matches!(bind, Bind::Unbind { .. });
        let repeatable = binds.chunk_by(|before, after| !bound(before) || bound(after));
        for piece in repeatable.flat_map(|list| list.chunks(limits::MAX_BINDS as usize)) {
            let records: Vec<_> = piece
                .iter()
                .map(|bind| abi::GemBindOp::from(*bind))
                .collect();
            let mut args = abi::VmBind {
                vm_id: vm.raw(),
                num_binds: count(&records)?,
                stride: size_of::<abi::GemBindOp>() as u32,
                pad: 0,
                userptr: user(&records),
            };
            // SAFETY: `records` has as many elements of that stride as the count says.
            unsafe { self.call(ioctl::VM_BIND, &mut args) }?;
        }
        Ok(())
    }

    fn timestamp_bind(&self, gem: GemHandle, bytes: Range<u64>) -> Result<TimestampHandle, Errno> {
        let mut args = abi::GemBindObject {
            op: abi::bind_object_op::BIND,
            flags: abi::BindObjectFlags::USAGE_TIMESTAMPS,
            handle: gem.raw(),
            offset: bytes.start,
            range: bytes.end.checked_sub(bytes.start).ok_or(Errno::EINVAL)?,
            ..abi::GemBindObject::default()
        };
        // SAFETY: no addresses in the structure.
        unsafe { self.call(ioctl::GEM_BIND_OBJECT, &mut args) }?;
        Ok(TimestampHandle::from_raw(args.object_handle))
    }

    fn timestamp_unbind(&self, timestamps: TimestampHandle) -> Result<(), Errno> {
        let mut args = abi::GemBindObject {
            op: abi::bind_object_op::UNBIND,
            object_handle: timestamps.raw(),
            ..abi::GemBindObject::default()
        };
        // SAFETY: no addresses in the structure.
        unsafe { self.call(ioctl::GEM_BIND_OBJECT, &mut args) }
    }

    fn queue_create(&self, vm: VmId, priority: Priority) -> Result<QueueId, Errno> {
        let mut args = abi::QueueCreate {
            vm_id: vm.raw(),
            priority: priority.raw(),
            usc_exec_base: limits::USC_WINDOW.start,
            ..abi::QueueCreate::default()
        };
        // SAFETY: no user addresses in the structure.
        unsafe { self.call(ioctl::QUEUE_CREATE, &mut args) }?;
        Ok(QueueId::from_raw(args.queue_id))
    }

    fn queue_destroy(&self, queue: QueueId) -> Result<(), Errno> {
        let mut args = abi::QueueDestroy {
            queue_id: queue.raw(),
            pad: 0,
        };
        // SAFETY: no addresses in the structure.
        unsafe { self.call(ioctl::QUEUE_DESTROY, &mut args) }
    }

    fn submit(&self, submit: &Submit<'_>) -> Result<(), Errno> {
        let points = submit.waits.iter().chain(submit.signals);
        let syncs: Vec<_> = points.map(|point| abi::SyncRecord::from(*point)).collect();
        let mut args = abi::SubmitArgs {
            syncs: user(&syncs),
            cmdbuf: user(submit.commands),
            flags: 0,
            queue_id: submit.queue.raw(),
            in_sync_count: count(submit.waits)?,
            out_sync_count: count(submit.signals)?,
            cmdbuf_size: count(submit.commands)?,
            pad: 0,
        };
        // SAFETY: `syncs` and the commands are as long as the counts say.
        unsafe { self.call(ioctl::SUBMIT, &mut args) }
    }

    fn gem_export(&self, gem: GemHandle) -> Result<OwnedFd, Errno> {
        let mut args = abi::PrimeHandle {
            handle: gem.raw(),
            flags: abi::PrimeFlags::RDWR | abi::PrimeFlags::CLOEXEC,
            fd: -1,
        };
        // SAFETY: no addresses in the structure.
        unsafe { self.call(ioctl::PRIME_HANDLE_TO_FD, &mut args) }?;
        owned(args.fd)
    }

    fn gem_import(&self, dma_buf: BorrowedFd<'_>) -> Result<GemHandle, Errno> {
        let mut args = abi::PrimeHandle {
            fd: dma_buf.as_raw_fd(),
            ..abi::PrimeHandle::default()
        };
        // SAFETY: no addresses in the structure.
        unsafe { self.call(ioctl::PRIME_FD_TO_HANDLE, &mut args) }?;
        Ok(GemHandle::from_raw(args.handle))
    }

    fn dma_buf_export_sync_file(
        &self,
        dma_buf: BorrowedFd<'_>,
        access: DmaBufAccess,
    ) -> Result<OwnedFd, Errno> {
        let mut args = abi::DmaBufExportSyncFile {
            flags: access,
            fd: -1,
        };
        self.call_dma_buf(dma_buf, ioctl::DMA_BUF_EXPORT_SYNC_FILE, &mut args)?;
        owned(args.fd)
    }

    fn dma_buf_import_sync_file(
        &self,
        dma_buf: BorrowedFd<'_>,
        access: DmaBufAccess,
        sync_file: BorrowedFd<'_>,
    ) -> Result<(), Errno> {
        let mut args = abi::DmaBufImportSyncFile {
            flags: access,
            fd: sync_file.as_raw_fd(),
        };
        self.call_dma_buf(dma_buf, ioctl::DMA_BUF_IMPORT_SYNC_FILE, &mut args)
    }

    fn syncobj_create(&self, signalled: bool) -> Result<SyncHandle, Errno> {
        let mut flags = abi::SyncobjCreateFlags::empty();
        flags.set(abi::SyncobjCreateFlags::SIGNALED, signalled);
        let mut args = abi::SyncobjCreate { handle: 0, flags };
        // SAFETY: no addresses in the structure.
        unsafe { self.call(ioctl::SYNCOBJ_CREATE, &mut args) }?;
        Ok(SyncHandle::from_raw(args.handle))
    }

    fn syncobj_destroy(&self, sync: SyncHandle) -> Result<(), Errno> {
        let mut args = abi::SyncobjDestroy {
            handle: sync.raw(),
            pad: 0,
        };
        // SAFETY: no addresses in the structure.
        unsafe { self.call(ioctl::SYNCOBJ_DESTROY, &mut args) }
    }

    fn syncobj_wait(
        &self,
        syncs: &[SyncHandle],
        flags: WaitFlags,
        deadline: Deadline,
    ) -> Result<u32, Errno> {
        let handles = raw_handles(syncs);
        let mut args = abi::SyncobjWait {
            handles: user(&handles),
            timeout_nsec: deadline.nanoseconds(),
            count_handles: count(&handles)?,
            flags: abi::SyncobjWaitFlags::from_bits_retain(flags.bits()),
            ..abi::SyncobjWait::default()
        };
        // SAFETY: `handles` has as many elements as the count says.
        unsafe { self.call(ioctl::SYNCOBJ_WAIT, &mut args) }?;
        Ok(args.first_signaled)
    }

    fn syncobj_timeline_wait(
        &self,
        points: &[SyncPoint],
        flags: WaitFlags,
        deadline: Deadline,
    ) -> Result<u32, Errno> {
        let handles: Vec<_> = points.iter().map(|point| point.handle().raw()).collect();
        let points: Vec<_> = points.iter().map(|point| point.point()).collect();
        let mut args = abi::SyncobjTimelineWait {
            handles: user(&handles),
            points: user(&points),
            timeout_nsec: deadline.nanoseconds(),
            count_handles: count(&handles)?,
            flags: abi::SyncobjWaitFlags::from_bits_retain(flags.bits()),
            ..abi::SyncobjTimelineWait::default()
        };
        // SAFETY: `handles` and `points` have as many elements as the count says.
        unsafe { self.call(ioctl::SYNCOBJ_TIMELINE_WAIT, &mut args) }?;
        Ok(args.first_signaled)
    }

    fn syncobj_reset(&self, syncs: &[SyncHandle]) -> Result<(), Errno> {
        self.syncobj_array(ioctl::SYNCOBJ_RESET, syncs)
    }

    fn syncobj_signal(&self, syncs: &[SyncHandle]) -> Result<(), Errno> {
        self.syncobj_array(ioctl::SYNCOBJ_SIGNAL, syncs)
    }

    fn syncobj_timeline_signal(&self, points: &[(SyncHandle, u64)]) -> Result<(), Errno> {
        let handles: Vec<_> = points.iter().map(|(sync, _)| sync.raw()).collect();
        let points: Vec<_> = points.iter().map(|(_, point)| *point).collect();
        let mut args = abi::SyncobjTimelineArray {
            handles: user(&handles),
            points: user(&points),
            count_handles: count(&handles)?,
            flags: abi::SyncobjQueryFlags::empty(),
        };
        // SAFETY: `handles` and `points` have as many elements as the count says.
        unsafe { self.call(ioctl::SYNCOBJ_TIMELINE_SIGNAL, &mut args) }
    }

    fn syncobj_query(&self, syncs: &[SyncHandle], last_submitted: bool) -> Result<Vec<u64>, Errno> {
        let handles = raw_handles(syncs);
        let mut points = std::vec![0u64; handles.len()];
        let mut flags = abi::SyncobjQueryFlags::empty();
        flags.set(abi::SyncobjQueryFlags::LAST_SUBMITTED, last_submitted);
        let mut args = abi::SyncobjTimelineArray {
            handles: user(&handles),
            points: user_mut(&mut points),
            count_handles: count(&handles)?,
            flags,
        };
        // SAFETY: `handles` and `points` have as many elements as the count says.
        unsafe { self.call(ioctl::SYNCOBJ_QUERY, &mut args) }?;
        Ok(points)
    }

    fn syncobj_transfer(
        &self,
        from: SyncPoint,
        to: SyncPoint,
        for_submit: bool,
    ) -> Result<(), Errno> {
        let mut flags = abi::SyncobjWaitFlags::empty();
        flags.set(abi::SyncobjWaitFlags::FOR_SUBMIT, for_submit);
        let mut args = abi::SyncobjTransfer {
            src_handle: from.handle().raw(),
            dst_handle: to.handle().raw(),
            src_point: from.point(),
            dst_point: to.point(),
            flags,
            pad: 0,
        };
        // SAFETY: no addresses in the structure.
        unsafe { self.call(ioctl::SYNCOBJ_TRANSFER, &mut args) }
    }

    fn syncobj_export(&self, sync: SyncHandle) -> Result<OwnedFd, Errno> {
        self.handle_to_fd(sync, abi::HandleToFdFlags::empty())
    }

    fn syncobj_import(&self, file: BorrowedFd<'_>) -> Result<SyncHandle, Errno> {
        let mut args = abi::SyncobjHandle {
            fd: file.as_raw_fd(),
            ..abi::SyncobjHandle::default()
        };
        // SAFETY: no addresses in the structure.
        unsafe { self.call(ioctl::SYNCOBJ_FD_TO_HANDLE, &mut args) }?;
        Ok(SyncHandle::from_raw(args.handle))
    }

    fn sync_file_export(&self, sync: SyncHandle) -> Result<OwnedFd, Errno> {
        self.handle_to_fd(sync, abi::HandleToFdFlags::EXPORT_SYNC_FILE)
    }

    fn sync_file_import(&self, sync: SyncHandle, file: BorrowedFd<'_>) -> Result<(), Errno> {
        let mut args = abi::SyncobjHandle {
            handle: sync.raw(),
            flags: abi::FdToHandleFlags::IMPORT_SYNC_FILE.bits(),
            fd: file.as_raw_fd(),
            ..abi::SyncobjHandle::default()
        };
        // SAFETY: no addresses in the structure.
        unsafe { self.call(ioctl::SYNCOBJ_FD_TO_HANDLE, &mut args) }
    }

    fn syncobj_status(&self, sync: SyncHandle) -> FenceStatus {
        match self.node.syncobj_status(sync.raw()) {
            Some(status) => status,
            None => self.sync_file_status(self.sync_file_export(sync)?.as_fd()),
        }
    }

    fn sync_file_status(&self, sync_file: BorrowedFd<'_>) -> FenceStatus {
        // Room for no fence: the status of all together is wanted.
        let mut args = abi::SyncFileInfo::zeroed();
        assert_eq!(ioctl::size(ioctl::SYNC_FILE_INFO), size_of_val(&args));
        // SAFETY: the size is right; without room for fences no address is used.
        repeat(&mut args, |arg| unsafe {
            self.node
                .sync_file_ioctl(sync_file, ioctl::SYNC_FILE_INFO, arg)
        })?;
        Ok(match args.status {
            0 => None,
            error if error < 0 => Some(Err(Errno(error.saturating_neg()))),
            _ => Some(Ok(())),
        })
    }
}
