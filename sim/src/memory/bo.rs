// SPDX-License-Identifier: MIT
//! Buffer objects.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;

use rustix::fs::{
    MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, ftruncate, memfd_create,
};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::PAGE_SIZE;

/// A buffer object: zeroed pages of a memfd, mapped once for the GPU's use.
///
/// Others (the application, other devices that imported it) may change the bytes at any time. The
/// simulator therefore only ever touches them through raw pointers, with the access widths of the
/// instruction at hand, and never makes a reference to them.
#[derive(Debug)]
pub struct Bo {
    file: OwnedFd,
    base: NonNull<u8>,
    size: usize,
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
        let size = size
            .checked_next_multiple_of(PAGE_SIZE)
            .filter(|&size| size > 0 && size <= isize::MAX as u64)
            .ok_or(io::ErrorKind::InvalidInput)?;
        let file = memfd_create(
            "cortland-bo",
            MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING,
        )?;
        ftruncate(&file, size)?;
        // Whoever gets this file must not be able to take pages away under the GPU.
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Bo::from_file(file, size as usize)
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
        Bo::from_file(file, size as usize)
    }

    fn from_file(file: OwnedFd, size: usize) -> io::Result<Bo> {
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
        Ok(Bo { file, base, size })
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

    /// The memfd, for further mappings and for export.
    #[must_use]
    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
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
