// SPDX-License-Identifier: MIT
//! Owners for what the shim hands out, and the one place that reads its failure messages.

use crate::ffi;
use std::ffi::{CStr, c_char};
use std::ptr;

/// Memory of the C library that the shim allocated.
pub(crate) struct Allocation(*mut u8, usize);

impl Allocation {
    /// # Safety
    /// `memory` is null, or was allocated by the C library, holds `size` initialised bytes, and is owned by no one else.
    pub(crate) unsafe fn new(memory: *mut u8, size: usize) -> Self {
        Self(memory, size)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        if self.0.is_null() {
            return &[];
        }
        // SAFETY: new()'s contract.
        unsafe { std::slice::from_raw_parts(self.0, self.1) }
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // SAFETY: new()'s contract; free() takes null.
        unsafe { ffi::cortland_free(self.0.cast()) }
    }
}

/// Take over a NUL-terminated string that the shim allocated.
///
/// # Safety
/// `text` is null or a NUL-terminated string that the C library allocated and no one else owns.
pub(crate) unsafe fn take_string(text: *mut c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the contract above.
    let size = unsafe { CStr::from_ptr(text) }.to_bytes().len();
    // SAFETY: the contract above.
    let owned = unsafe { Allocation::new(text.cast(), size) };
    Some(String::from_utf8_lossy(owned.bytes()).into_owned())
}

/// Call a shim function that reports failure through its last argument; return its result and that message.
pub(crate) fn call<R>(f: impl FnOnce(*mut *mut c_char) -> R) -> (R, Option<String>) {
    let mut failure: *mut c_char = ptr::null_mut();
    let result = f(&raw mut failure);
    // SAFETY: the shim's contract: null or a string that is ours to free.
    (result, unsafe { take_string(failure) })
}

/// A reference to Mesa's process-wide table of types, which every shader points into.
pub(crate) struct Types(());

impl Types {
    pub(crate) fn acquire() -> Self {
        // SAFETY: counts references under Mesa's own lock.
        unsafe { ffi::cortland_types_ref() };
        Self(())
    }
}

impl Drop for Types {
    fn drop(&mut self) {
        // SAFETY: gives back the reference that acquire() took.
        unsafe { ffi::cortland_types_unref() }
    }
}
