// SPDX-License-Identifier: MIT
//! The seam below the typed layer: one open DRM file.

use core::ffi::c_void;
use std::os::fd::BorrowedFd;

use crate::kernel::FenceStatus;
use crate::{Errno, Mapping};

#[cfg(not(target_pointer_width = "64"))]
compile_error!("the structure of VERSION is that of 64-bit processes");

/// One open DRM file, with its own handles and IDs.
///
/// Structures are those of [`abi`](crate::abi), requests those of [`abi::ioctl`](crate::abi::ioctl);
/// files appear in them as descriptor numbers of this process, as in the real interface. User
/// addresses in structures are exposed addresses (`expose_provenance`), so an
/// implementation in user space reaches them with [`std::ptr::with_exposed_provenance`].
///
/// # Safety
///
/// An implementation treats memory as the kernel does: it writes only to the argument structure,
/// and to the user memory that the request names as output. A file descriptor that it returns in a
/// structure is new and belongs to the caller.
pub unsafe trait Node: Send + Sync {
    /// Performs a request on the DRM file. EINTR and EAGAIN may be returned; the caller repeats.
    ///
    /// # Errors
    ///
    /// Those of the request.
    ///
    /// # Safety
    ///
    /// `arg` points to the argument structure of `request`, whose size the request encodes, and
    /// user addresses inside it are valid as the request demands, for the duration of the call.
    unsafe fn ioctl(&self, request: u32, arg: *mut c_void) -> Result<(), Errno>;

    /// Maps `len` bytes of the DRM file at the offset that GEM_MMAP_OFFSET returned: shared,
    /// readable and writable.
    ///
    /// # Errors
    ///
    /// Those of mmap; EINVAL for an offset that belongs to no buffer.
    fn mmap(&self, offset: u64, len: usize) -> Result<Mapping, Errno>;

    /// Performs a dma-buf request ([`TYPE_DMA_BUF`](crate::abi::ioctl::TYPE_DMA_BUF)) on a file
    /// that [`PRIME_HANDLE_TO_FD`](crate::abi::ioctl::PRIME_HANDLE_TO_FD) or another device made.
    ///
    /// The default asks the kernel, which is right wherever the file is a true dma-buf.
    ///
    /// # Errors
    ///
    /// Those of the request; ENOTTY when the file is no dma-buf.
    ///
    /// # Safety
    ///
    /// As for [`ioctl`](Self::ioctl).
    unsafe fn dma_buf_ioctl(
        &self,
        dma_buf: BorrowedFd<'_>,
        request: u32,
        arg: *mut c_void,
    ) -> Result<(), Errno> {
        // SAFETY: passed on from the caller.
        unsafe { file_ioctl(dma_buf, request, arg) }
    }

    /// Performs a request of sync files ([`TYPE_SYNC_FILE`](crate::abi::ioctl::TYPE_SYNC_FILE)) on
    /// a file that a request of this or another device made.
    ///
    /// The default asks the kernel, which is right wherever the file is a true sync file.
    ///
    /// # Errors
    ///
    /// Those of the request; ENOTTY when the file is no sync file.
    ///
    /// # Safety
    ///
    /// As for [`ioctl`](Self::ioctl).
    unsafe fn sync_file_ioctl(
        &self,
        sync_file: BorrowedFd<'_>,
        request: u32,
        arg: *mut c_void,
    ) -> Result<(), Errno> {
        // SAFETY: passed on from the caller.
        unsafe { file_ioctl(sync_file, request, arg) }
    }

    /// How the present fence of a sync object ended, as a sync file of it would tell
    /// ([`Kernel::syncobj_status`](crate::Kernel::syncobj_status)), for nodes that need not make a
    /// file to know. Nothing, which is the default, from those that must: the kernel has no request
    /// for that.
    fn syncobj_status(&self, _handle: u32) -> Option<FenceStatus> {
        None
    }
}

/// An ioctl of which only the number is known here.
struct Request {
    number: u32,
    arg: *mut c_void,
}

// SAFETY: the opcode and the pointer are passed through; `file_ioctl`'s caller answers for them.
unsafe impl rustix::ioctl::Ioctl for Request {
    type Output = ();
    const IS_MUTATING: bool = true;

    fn opcode(&self) -> rustix::ioctl::Opcode {
        self.number as rustix::ioctl::Opcode
    }

    fn as_ptr(&mut self) -> *mut c_void {
        self.arg
    }

    unsafe fn output_from_ptr(
        _: rustix::ioctl::IoctlOutput,
        _: *mut c_void,
    ) -> rustix::io::Result<()> {
        Ok(())
    }
}

/// The ioctl of the operating system, once.
///
/// # Safety
///
/// As for [`Node::ioctl`].
pub(crate) unsafe fn file_ioctl(
    file: BorrowedFd<'_>,
    request: u32,
    arg: *mut c_void,
) -> Result<(), Errno> {
    let request = Request {
        number: request,
        arg,
    };
    // SAFETY: the caller vouches for the argument.
    Ok(unsafe { rustix::ioctl::ioctl(file, request) }?)
}
