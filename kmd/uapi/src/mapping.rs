// SPDX-License-Identifier: MIT
//! Buffers in the CPU's address space.

use std::os::fd::AsFd;
use std::ptr::NonNull;

use rustix::mm::{MapFlags, ProtFlags};

use crate::Errno;

/// A shared, readable and writable mapping; unmapped when dropped.
///
/// The memory is shared with the GPU and perhaps other processes, so it is given out as a pointer,
/// never as a slice: whoever reads or writes through it says why no one else does at that time.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread; access is through raw pointers,
// whose users are responsible for ordering.
unsafe impl Send for Mapping {}
// SAFETY: as above; the methods only read the two fields.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `len` bytes of a file from byte `offset` on.
    ///
    /// # Errors
    ///
    /// Those of mmap: EINVAL for length 0 or an offset that is no multiple of the CPU's page,
    /// EACCES, ENODEV, ENOMEM, ...
    pub fn of_file(file: impl AsFd, offset: u64, len: usize) -> Result<Mapping, Errno> {
        // SAFETY: the kernel chooses a free range, so no existing memory changes.
        let start = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                len,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                file,
                offset,
            )
        }?;
        // SAFETY: a mapping of `len` bytes that was just made and that no one else knows.
        Ok(unsafe { Mapping::from_raw(NonNull::new(start.cast()).ok_or(Errno::ENOMEM)?, len) })
    }

    /// Takes over a mapping.
    ///
    /// # Safety
    ///
    /// `start` and `len` describe memory that mmap returned, readable and writable, that nothing
    /// else unmaps.
    #[must_use]
    pub unsafe fn from_raw(start: NonNull<u8>, len: usize) -> Mapping {
        Mapping { start, len }
    }

    /// The first byte. Valid for reads and writes of [`len`](Self::len) bytes while the mapping
    /// lives.
    #[must_use]
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Size in bytes, never 0.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "no mapping is empty")]
    pub fn len(&self) -> usize {
        self.len
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is a mapping that this value owns.
        let result = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.len) };
        debug_assert_eq!(result, Ok(()));
    }
}
