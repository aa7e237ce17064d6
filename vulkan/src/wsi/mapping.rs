// SPDX-License-Identifier: MIT
//! Memory of a file, which another process sees, too.

use std::os::fd::AsFd;
use std::ptr::NonNull;

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// A mapping of a file.
pub(super) struct Mapping {
    start: NonNull<u8>,
    size: usize,
}

// SAFETY: the mapping belongs to the value alone, and is written through `&mut` only.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps so many bytes of a file, which has as many.
    ///
    /// # Errors
    /// Those of mmap.
    pub(super) fn new(file: impl AsFd, size: usize) -> Result<Mapping, Errno> {
        // SAFETY: a new mapping.
        let start = unsafe {
            let protection = ProtFlags::READ | ProtFlags::WRITE;
            mmap(
                std::ptr::null_mut(),
                size,
                protection,
                MapFlags::SHARED,
                file,
                0,
            )?
        };
        let start = NonNull::new(start.cast()).ok_or(Errno::FAULT)?;
        Ok(Mapping { start, size })
    }

    /// Where it is.
    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Its bytes. The other process should not be reading them.
    pub(super) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: mapped with this size for as long as there is the value.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.size) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the value's own mapping.
        let unmapped = unsafe { munmap(self.start.as_ptr().cast(), self.size) };
        debug_assert!(unmapped.is_ok());
    }
}
