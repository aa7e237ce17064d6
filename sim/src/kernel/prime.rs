// SPDX-License-Identifier: MIT
//! Buffers shared between open files, devices and processes as dma-bufs.
//!
//! A dma-buf is here the sealed memfd of the buffer itself: whoever has it can map the pages and
//! hand it on. Its identity is the file's. What the process knows about a dma-buf beyond its pages,
//! the object in memory and the fences of users who rely on implicit synchronisation, is looked up
//! by that identity.

use std::collections::HashMap;
use std::os::fd::{BorrowedFd, IntoRawFd};
use std::sync::{Arc, LazyLock, Mutex, Weak};

use agx_uapi::Errno;
use agx_uapi::abi::{
    DmaBufAccess, DmaBufExportSyncFile, DmaBufImportSyncFile, PrimeFlags, PrimeHandle,
};
use rustix::fs::{SealFlags, fcntl_get_seals};
use rustix::io::{dup, fcntl_dupfd_cloexec};

use super::fence::Fence;
use super::files::{self, Identity, Shared};
use super::gem::allocation_error;
use super::node::SimNode;
use super::user::with_fd;
use crate::memory::Bo;

#[derive(Default)]
struct DmaBuf {
    bo: Weak<Bo>,
    /// Fences of implicit users, and whether they write.
    fences: Vec<(Arc<Fence>, bool)>,
}

static DMA_BUFS: LazyLock<Mutex<HashMap<Identity, DmaBuf>>> = LazyLock::new(Mutex::default);

fn with_dma_buf<R>(identity: Identity, act: impl FnOnce(&mut DmaBuf) -> R) -> R {
    let mut dma_bufs = DMA_BUFS.lock().unwrap();
    if !dma_bufs.contains_key(&identity) {
        // Something new comes: a good time to forget what is gone.
        dma_bufs.retain(|_, dma_buf| {
            dma_buf.fences.retain(|(fence, _)| !fence.is_signalled());
            dma_buf.bo.strong_count() > 0 || !dma_buf.fences.is_empty()
        });
    }
    let dma_buf = dma_bufs.entry(identity).or_default();
    dma_buf.fences.retain(|(fence, _)| !fence.is_signalled());
    act(dma_buf)
}

/// Whether a file can be a dma-buf of this or another process: a memfd that cannot shrink.
fn is_dma_buf(file: BorrowedFd<'_>) -> bool {
    fcntl_get_seals(file).is_ok_and(|seals| seals.contains(SealFlags::SHRINK))
}

impl SimNode {
    /// PRIME_HANDLE_TO_FD. Buffers private to a VM cannot be exported: `EINVAL` (kernel-uapi, 2).
    pub(super) fn prime_handle_to_fd(&self, args: &mut PrimeHandle) -> Result<(), Errno> {
        if args.flags.unknown() != 0 {
            return Err(Errno::EINVAL);
        }
        let gem = self.gem(args.handle)?;
        let (None, Some(file)) = (gem.private_to, gem.bo.file()) else {
            return Err(Errno::EINVAL);
        };
        let identity = Identity::of(file)?;
        let file = if args.flags.contains(PrimeFlags::CLOEXEC) {
            fcntl_dupfd_cloexec(file, 0)?
        } else {
            dup(file)?
        };
        with_dma_buf(identity, |dma_buf| dma_buf.bo = Arc::downgrade(&gem.bo));
        self.device.share(identity, &gem);
        let mut tables = self.tables();
        // Another thread may have closed the handle, and a third got the number for another buffer.
        let same = |other| Arc::ptr_eq(other, &gem);
        if tables.gems.get(args.handle).is_some_and(same) {
            tables.by_identity.insert(identity, args.handle);
        }
        drop(tables);
        args.fd = file.into_raw_fd();
        Ok(())
    }

    /// PRIME_FD_TO_HANDLE. A buffer that the open file has already keeps its handle.
    pub(super) fn prime_fd_to_handle(&self, args: &mut PrimeHandle) -> Result<(), Errno> {
        args.handle = with_fd(args.fd, |file| {
            let identity = Identity::of(file)?;
            if let Some(handle) = self.tables().by_identity.get(&identity) {
                return Ok(*handle);
            }
            if !is_dma_buf(file) {
                return Err(Errno::EINVAL);
            }
            let gem = self.device.shared(identity, || {
                let bo = with_dma_buf(identity, |dma_buf| -> Result<Arc<Bo>, Errno> {
                    if let Some(bo) = dma_buf.bo.upgrade() {
                        return Ok(bo);
                    }
                    let file = fcntl_dupfd_cloexec(file, 0)?;
                    let bo = Arc::new(Bo::import(file).map_err(|error| allocation_error(&error))?);
                    dma_buf.bo = Arc::downgrade(&bo);
                    Ok(bo)
                })?;
                Ok(self.device.gem(bo, None))
            })?;
            let mut tables = self.tables();
            // Another thread may have been faster.
            if let Some(handle) = tables.by_identity.get(&identity) {
                return Ok(*handle);
            }
            let handle = tables.insert_gem(&gem);
            tables.by_identity.insert(identity, handle);
            Ok(handle)
        })?;
        Ok(())
    }
}

fn check_access(access: DmaBufAccess) -> Result<(), Errno> {
    if access.unknown() != 0 || access.is_empty() {
        return Err(Errno::EINVAL);
    }
    Ok(())
}

fn identity(dma_buf: BorrowedFd<'_>) -> Result<Identity, Errno> {
    if !is_dma_buf(dma_buf) {
        return Err(Errno::ENOTTY);
    }
    Identity::of(dma_buf)
}

/// EXPORT_SYNC_FILE of a dma-buf: readers wait for writers, writers for everybody.
pub(super) fn export_sync_file(
    dma_buf: BorrowedFd<'_>,
    args: &mut DmaBufExportSyncFile,
) -> Result<(), Errno> {
    let identity = identity(dma_buf)?;
    check_access(args.flags)?;
    let writes = args.flags.contains(DmaBufAccess::WRITE);
    let fences = with_dma_buf(identity, |dma_buf| dma_buf.fences.clone());
    let mut all = Fence::signalled();
    for (fence, _) in fences.iter().filter(|(_, writer)| writes || *writer) {
        all = Fence::both(&all, fence);
    }
    args.fd = files::export(Shared::SyncFile(all))?.into_raw_fd();
    Ok(())
}

/// IMPORT_SYNC_FILE of a dma-buf.
pub(super) fn import_sync_file(
    dma_buf: BorrowedFd<'_>,
    args: &DmaBufImportSyncFile,
) -> Result<(), Errno> {
    let identity = identity(dma_buf)?;
    check_access(args.flags)?;
    let fence = sync_file(args.fd)?;
    let writes = args.flags.contains(DmaBufAccess::WRITE);
    with_dma_buf(identity, |dma_buf| dma_buf.fences.push((fence, writes)));
    Ok(())
}

/// The fence of a sync file.
///
/// # Errors
/// `EINVAL` for any other file.
pub(super) fn sync_file(fd: i32) -> Result<Arc<Fence>, Errno> {
    match with_fd(fd, |file| Ok(files::find(file))) {
        Ok(Some(Shared::SyncFile(fence))) => Ok(fence),
        _ => Err(Errno::EINVAL),
    }
}
