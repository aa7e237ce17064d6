// SPDX-License-Identifier: MIT
//! Memory of the caller.
//!
//! The addresses come through [`agx_uapi::Node::ioctl`], whose caller vouches for them: they are
//! exposed addresses of this process. As a courtesy the first page of the address space is EFAULT.

use std::os::fd::BorrowedFd;

use agx_uapi::{Abi, Errno};

const FIRST_ADDRESS: u64 = 0x1000;

fn check(address: u64, len: u64) -> Result<usize, Errno> {
    if address < FIRST_ADDRESS || address.checked_add(len).is_none() {
        return Err(Errno::EFAULT);
    }
    usize::try_from(address).map_err(|_| Errno::EFAULT)
}

/// Copies bytes in.
///
/// # Errors
/// `EFAULT` for addresses that cannot be.
///
/// # Safety
/// `address` is valid for reads of `len` bytes.
pub(crate) unsafe fn read_bytes(address: u64, len: usize) -> Result<Vec<u8>, Errno> {
    let mut bytes = vec![0; len];
    // SAFETY: passed on.
    unsafe { read_into(address, &mut bytes)? };
    Ok(bytes)
}

/// Copies bytes in, to where there is room for them.
///
/// # Errors
/// `EFAULT` for addresses that cannot be.
///
/// # Safety
/// `address` is valid for reads of as many bytes.
pub(crate) unsafe fn read_into(address: u64, bytes: &mut [u8]) -> Result<(), Errno> {
    if bytes.is_empty() {
        return Ok(());
    }
    let source = std::ptr::with_exposed_provenance::<u8>(check(address, bytes.len() as u64)?);
    // SAFETY: the caller vouches for the source; the destination is ours.
    unsafe { std::ptr::copy_nonoverlapping(source, bytes.as_mut_ptr(), bytes.len()) };
    Ok(())
}

/// Whether there is nothing but zeros, however much there is.
///
/// # Errors
/// `EFAULT` for addresses that cannot be.
///
/// # Safety
/// `address` is valid for reads of `len` bytes.
pub(crate) unsafe fn is_zero(address: u64, len: u64) -> Result<bool, Errno> {
    let mut piece = [0; 4096];
    let mut done = 0;
    while done < len {
        let count = (len - done).min(piece.len() as u64);
        let piece = &mut piece[..count as usize];
        // SAFETY: passed on.
        unsafe { read_into(address.wrapping_add(done), piece)? };
        if piece.iter().any(|&byte| byte != 0) {
            return Ok(false);
        }
        done += count;
    }
    Ok(true)
}

/// The most that the kernel allocates in one piece for a caller's array.
const MOST_BYTES: usize = 4 << 20;

/// Copies an array in.
///
/// # Errors
/// `EFAULT` for addresses that cannot be; `ENOMEM` for more than the kernel takes.
///
/// # Safety
/// `address` is valid for reads of `count` elements; it need not be aligned.
pub(crate) unsafe fn read_array<T: Abi>(address: u64, count: usize) -> Result<Vec<T>, Errno> {
    if count > MOST_BYTES / size_of::<T>() {
        return Err(Errno::ENOMEM);
    }
    let mut array = vec![T::zeroed(); count];
    for (index, element) in array.iter_mut().enumerate() {
        let address = address.wrapping_add((index * size_of::<T>()) as u64);
        // SAFETY: passed on.
        unsafe { read_into(address, element.as_bytes_mut())? };
    }
    Ok(array)
}

/// Copies bytes out.
///
/// # Errors
/// `EFAULT` for addresses that cannot be.
///
/// # Safety
/// `address` is valid for writes of as many bytes.
pub(crate) unsafe fn write_bytes(address: u64, bytes: &[u8]) -> Result<(), Errno> {
    if bytes.is_empty() {
        return Ok(());
    }
    let target = std::ptr::with_exposed_provenance_mut::<u8>(check(address, bytes.len() as u64)?);
    // SAFETY: the caller vouches for the target; the source is ours.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), target, bytes.len()) };
    Ok(())
}

/// Does something with a file descriptor that the caller passed by number.
///
/// # Errors
/// `EBADF` for negative numbers. Others that are not open fail in whatever is done with them.
pub(crate) fn with_fd<R>(
    fd: i32,
    act: impl FnOnce(BorrowedFd<'_>) -> Result<R, Errno>,
) -> Result<R, Errno> {
    if fd < 0 {
        return Err(Errno::EBADF);
    }
    // SAFETY: not -1. The borrow ends with the call; the caller of the ioctl keeps the descriptor
    // open meanwhile, and if it does not, the operating system refuses what is done with it.
    act(unsafe { BorrowedFd::borrow_raw(fd) })
}
