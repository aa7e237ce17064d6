// SPDX-License-Identifier: MIT
//! Owners for what the shim hands out, and the one place that reads its failures.

use crate::{Error, ffi};
use std::ffi::{CStr, c_char};
use std::ptr::NonNull;

/// Bytes that one call into Mesa (a translation, a print, a clone ...) may have allocated at a time. A call that would
/// exceed it is an [`Error::TooLarge`], and all that it had allocated is freed.
pub const MEMORY_BUDGET: usize = ffi::CORTLAND_MEMORY_BUDGET as usize;

/// Memory of the C library that the shim allocated.
pub(crate) struct Allocation(*mut u8, usize);

// SAFETY: plain memory with one owner; the C library's memory may be freed in any thread.
unsafe impl Send for Allocation {}

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

/// Words of an export, which the shim allocated.
pub(crate) struct Words(NonNull<u32>, usize);

// SAFETY: plain memory with one owner; the shim's allocator frees memory in any thread.
unsafe impl Send for Words {}

impl Words {
    /// # Safety
    /// `words` came from `guard_result` of the shim, holds `count` initialised words, and is owned by no one else.
    pub(crate) unsafe fn new(words: *mut u32, count: usize) -> Self {
        Self(NonNull::new(words).expect("an export has words"), count)
    }

    pub(crate) fn as_slice(&self) -> &[u32] {
        // SAFETY: new()'s contract.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr(), self.1) }
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        // SAFETY: new()'s contract.
        unsafe { ffi::cortland_result_free(self.0.as_ptr().cast()) }
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

/// Why a shim function failed.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: ffi::cortland_failure_kind,
    message: Option<String>,
}

impl Failure {
    /// The error to report; `gave_up` makes it where Mesa has refused in its own way.
    pub(crate) fn into_error(self, gave_up: impl FnOnce() -> Error) -> Error {
        let message = || self.message.unwrap_or_else(|| "no reason given".into());
        match self.kind {
            ffi::cortland_failure_kind_CORTLAND_GAVE_UP => gave_up(),
            ffi::cortland_failure_kind_CORTLAND_UNSUPPORTED => Error::Unsupported(message()),
            ffi::cortland_failure_kind_CORTLAND_BROKEN_NIR => Error::BrokenNir(message()),
            ffi::cortland_failure_kind_CORTLAND_BEYOND_BUDGET => Error::TooLarge(format!(
                "it needs more than {} MiB of memory",
                MEMORY_BUDGET >> 20
            )),
            ffi::cortland_failure_kind_CORTLAND_OUT_OF_MEMORY => Error::OutOfMemory,
            _ => Error::Internal(message()),
        }
    }

    /// The same for calls in which Mesa has no way of its own to refuse.
    pub(crate) fn error(self) -> Error {
        self.into_error(|| Error::Internal("Mesa gave up".into()))
    }
}

/// Call a shim function that reports failure through its last argument; return its result and that failure, which
/// means something only if the result says that there was one.
pub(crate) fn call<R>(f: impl FnOnce(*mut ffi::cortland_failure) -> R) -> (R, Failure) {
    let mut failure = ffi::cortland_failure::default();
    let result = f(&raw mut failure);
    let failure = Failure {
        kind: failure.kind,
        // SAFETY: the shim's contract: null or a string that is ours to free.
        message: unsafe { take_string(failure.message) },
    };
    (result, failure)
}

/// The only owner of a NIR shader.
pub(crate) struct Owned(NonNull<ffi::nir_shader>);

// SAFETY: the shader is a tree of its own. What it shares with others, the table of types, has a lock of its own.
unsafe impl Send for Owned {}

impl Owned {
    /// # Safety
    /// `shader` is null, or a shader that nothing else owns.
    pub(crate) unsafe fn new(shader: *mut ffi::nir_shader) -> Option<Self> {
        NonNull::new(shader).map(Self)
    }

    pub(crate) fn as_ptr(&self) -> *mut ffi::nir_shader {
        self.0.as_ptr()
    }

    /// Give the shader to someone who will free it.
    pub(crate) fn into_raw(self) -> *mut ffi::nir_shader {
        let shader = self.as_ptr();
        std::mem::forget(self);
        shader
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: self owns the shader and is the last to use it.
        unsafe { ffi::cortland_shader_free(self.as_ptr()) }
    }
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

impl Clone for Types {
    fn clone(&self) -> Self {
        Self::acquire()
    }
}

impl Drop for Types {
    fn drop(&mut self) {
        // SAFETY: gives back the reference that acquire() took.
        unsafe { ffi::cortland_types_unref() }
    }
}

/// Bytes that this thread's calls into Mesa have allocated and not freed.
#[cfg(test)]
pub(crate) fn live_bytes() -> isize {
    // SAFETY: reads a number of this thread's.
    unsafe { ffi::cortland_test_live_bytes() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_assertion_is_a_message_and_frees_what_was_allocated() {
        let before = live_bytes();
        // SAFETY: takes nothing but the place for its failure.
        let ((), failure) = call(|f| unsafe { ffi::cortland_test_assert(f) });
        let error = failure.error();
        assert!(
            matches!(&error, Error::Internal(m) if m.starts_with("Mesa assertion failed: test")),
            "{error}"
        );
        assert_eq!(live_bytes(), before);
    }

    #[test]
    fn what_exceeds_the_budget_is_too_large() {
        for (bytes, fails) in [(1000, false), (MEMORY_BUDGET + 4, true), (usize::MAX, true)] {
            let before = live_bytes();
            // SAFETY: takes nothing but the place for its failure.
            let ((), failure) = call(|f| unsafe { ffi::cortland_test_allocate(bytes, f) });
            if fails {
                let error = failure.error();
                assert!(matches!(error, Error::TooLarge(_)), "{error}");
                assert_eq!(live_bytes(), before);
            }
        }
    }
}
