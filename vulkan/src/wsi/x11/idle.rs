// SPDX-License-Identifier: MIT
//! Fences in memory that the X server sees, too (DRI3 1.0, FenceFromFD): how libxshmfence has them.
//!
//! One 32-bit word: 1 when triggered, 0 when not, all ones when not and somebody sleeps on it (a futex).

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::thread::futex;

use crate::wsi::mapping::Mapping;

const TRIGGERED: u32 = 1;
const RESET: u32 = 0;
const AWAITED: u32 = u32::MAX;

/// A fence that the server triggers when it does not need a pixmap any more.
pub(super) struct IdleFence {
    mapping: Mapping,
}

impl IdleFence {
    /// A triggered one, and the file for the server.
    ///
    /// # Errors
    /// When there is no memory or no descriptor.
    pub(super) fn new() -> Result<(IdleFence, OwnedFd), Errno> {
        let file = memfd_create(c"cortland idle", MemfdFlags::CLOEXEC)?;
        let size = size_of::<AtomicU32>();
        ftruncate(&file, size as u64)?;
        let mapping = Mapping::new(&file, size)?;
        let fence = IdleFence { mapping };
        fence.word().store(TRIGGERED, Ordering::Release);
        Ok((fence, file))
    }

    fn word(&self) -> &AtomicU32 {
        // SAFETY: mapped, at the beginning of a page, as long as this lives; all accesses are atomic, the server's as well.
        unsafe { AtomicU32::from_ptr(self.mapping.start().cast().as_ptr()) }
    }

    /// Before a pixmap is given to the server.
    pub(super) fn reset(&self) {
        self.word().store(RESET, Ordering::Release);
    }

    /// Whether it is triggered, at the end of so much time at the latest.
    pub(super) fn wait(&self, most: Duration) -> bool {
        let word = self.word();
        let found = word.compare_exchange(RESET, AWAITED, Ordering::Acquire, Ordering::Acquire);
        if found == Err(TRIGGERED) {
            return true;
        }
        let most = futex::Timespec {
            tv_sec: most.as_secs() as _,
            tv_nsec: most.subsec_nanos().into(),
        };
        // Why it ended is told by the word.
        let _ = futex::wait(word, futex::Flags::empty(), AWAITED, Some(&most));
        word.load(Ordering::Acquire) == TRIGGERED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What libxshmfence's trigger does, on another mapping of the file.
    fn trigger(mapping: &Mapping) {
        // SAFETY: as in `IdleFence::word`.
        let word = unsafe { AtomicU32::from_ptr(mapping.start().cast().as_ptr()) };
        if word.swap(TRIGGERED, Ordering::AcqRel) == AWAITED {
            futex::wake(word, futex::Flags::empty(), i32::MAX as u32).unwrap();
        }
    }

    #[test]
    fn a_fence_is_triggered_from_elsewhere() {
        let (fence, file) = IdleFence::new().unwrap();
        let theirs = Mapping::new(&file, size_of::<AtomicU32>()).unwrap();
        assert!(fence.wait(Duration::ZERO));
        fence.reset();
        assert!(!fence.wait(Duration::from_millis(1)));
        trigger(&theirs);
        assert!(fence.wait(Duration::ZERO));
        for _ in 0..100 {
            fence.reset();
            std::thread::scope(|threads| {
                threads.spawn(|| trigger(&theirs));
                while !fence.wait(Duration::from_secs(60)) {}
            });
        }
    }
}
