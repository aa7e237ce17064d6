// SPDX-License-Identifier: MIT
//! Buffer objects.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use agx_uapi::Mapping;
use rustix::fs::{
    MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, ftruncate, memfd_create,
};
use rustix::mm::{MapFlags, MremapFlags, ProtFlags, mmap, mremap, munmap};

use super::{Budget, Charge, PAGE_SIZE};

/// A buffer object: zeroed pages of a memfd, mapped once for the GPU's use.
///
/// Others (the application, other devices that imported it) may change the bytes at any time. The
/// simulator therefore only ever touches them through raw pointers, with the access widths of the
/// instruction at hand, and never makes a reference to them.
#[derive(Debug)]
pub struct Bo {
    /// The memfd, unless only this process ever maps the pages: descriptors are few.
    file: Option<OwnedFd>,
    base: NonNull<u8>,
    size: usize,
    /// Given back after the memory.
    _charge: Option<Charge>,
}

// SAFETY: the mapping is plain shared memory, valid until drop; every access is through raw pointers
// by code that expects the bytes to change under it.
unsafe impl Send for Bo {}
// SAFETY: as for Send.
unsafe impl Sync for Bo {}

impl Bo {
    /// A new object of `size` zero bytes, rounded up to whole GPU pages (kernel-uapi, 8.1).
    ///
    /// # Errors
    /// What memfd_create, ftruncate or mmap say; `InvalidInput` for zero or absurd sizes.
    pub fn new(size: u64) -> io::Result<Bo> {
        Bo::create(size, None, true)
    }

    /// As [`Bo::new`], within a budget.
    ///
    /// # Errors
    /// As [`Bo::new`]; `OutOfMemory` when the budget has no room.
    pub fn within(size: u64, budget: &Arc<Budget>) -> io::Result<Bo> {
        Bo::create(size, Some(budget), true)
    }

    /// As [`Bo::within`], but without a file that others could map.
    ///
    /// # Errors
    /// As [`Bo::within`].
    pub fn private(size: u64, budget: &Arc<Budget>) -> io::Result<Bo> {
        Bo::create(size, Some(budget), false)
    }

    fn create(size: u64, budget: Option<&Arc<Budget>>, keep_file: bool) -> io::Result<Bo> {
        let size = size
            .checked_next_multiple_of(PAGE_SIZE)
            .filter(|&size| size > 0 && size <= isize::MAX as u64)
            .ok_or(io::ErrorKind::InvalidInput)?;
        let charge = match budget {
            Some(budget) => Some(budget.charge(size).ok_or(io::ErrorKind::OutOfMemory)?),
            None => None,
        };
        let file = memfd_create(
            "cortland-bo",
            MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING,
        )?;
        ftruncate(&file, size)?;
        // Whoever gets this file must not be able to take pages away under the GPU.
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        let mut bo = Bo::from_file(file, size as usize, charge)?;
        if !keep_file {
            bo.file = None;
        }
        Ok(bo)
    }

    /// An object around an imported file (another object's exported descriptor).
    ///
    /// # Errors
    /// What fstat or mmap say; `InvalidInput` when the file is not a whole number of GPU pages or
    /// could still be shortened, which would turn GPU accesses into SIGBUS.
    pub fn import(file: OwnedFd) -> io::Result<Bo> {
        let size = rustix::fs::fstat(&file)?.st_size as u64;
        let sealed = fcntl_get_seals(&file)?.contains(SealFlags::SHRINK);
        if size == 0 || !size.is_multiple_of(PAGE_SIZE) || !sealed {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Bo::from_file(file, size as usize, None)
    }

    fn from_file(file: OwnedFd, size: usize, charge: Option<Charge>) -> io::Result<Bo> {
        // SAFETY: a new mapping at an address of the kernel's choice touches no existing memory.
        let base = unsafe {
            mmap(
                std::ptr::null_mut(),
                size,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                &file,
                0,
            )?
        };
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Bo {
            file: Some(file),
            base,
            size,
            _charge: charge,
        })
    }

    /// Bytes, a multiple of [`PAGE_SIZE`].
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size as u64
    }

    /// The first byte; valid for [`Bo::size`] bytes while the object lives.
    #[must_use]
    pub fn base(&self) -> *mut u8 {
        self.base.as_ptr()
    }

    /// Stores an aligned 64-bit value, as firmware stores a timestamp (kernel-uapi, 9).
    ///
    /// # Panics
    /// When the offset is not a multiple of 8 or leaves the object.
    pub fn store_u64(&self, offset: u64, value: u64) {
        assert!(offset.is_multiple_of(8) && offset < self.size());
        // SAFETY: in bounds and aligned as just checked; the memory is shared, so the access is
        // atomic, and nobody makes references to it.
        unsafe { AtomicU64::from_ptr(self.base().add(offset as usize).cast()) }
            .store(value, Ordering::Release);
    }

    /// The memfd, for export; none when the object is private.
    #[must_use]
    pub fn file(&self) -> Option<BorrowedFd<'_>> {
        self.file.as_ref().map(AsFd::as_fd)
    }

    /// Maps the first `len` bytes once more: shared, readable and writable.
    ///
    /// # Errors
    /// Those of mremap; `InvalidInput` for no bytes or more than there are.
    pub fn map(&self, len: usize) -> io::Result<Mapping> {
        if len == 0 || len > self.size {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // SAFETY: with an old length of 0 the mapping stays as it is, and the kernel chooses a free
        // range for another one of the same pages, as shared mappings allow.
        let start = unsafe { mremap(self.base.as_ptr().cast(), 0, len, MremapFlags::MAYMOVE)? };
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        // SAFETY: a mapping of `len` bytes that was just made and that nobody else knows.
        Ok(unsafe { Mapping::from_raw(start, len) })
    }
}

impl Drop for Bo {
    fn drop(&mut self) {
        // SAFETY: the mapping is this object's own, and nobody holds a pointer past its life: users
        // keep the object in an `Arc` beside every pointer.
        let unmapped = unsafe { munmap(self.base.as_ptr().cast(), self.size) };
        debug_assert!(unmapped.is_ok());
    }
}
