// SPDX-License-Identifier: MIT
//! Reference counting in host memory from the application's callbacks, which [`std::sync::Arc`]
//! cannot be in.
//!
//! What is shared may outlive the object that the application made, and be freed by a command that
//! was given other callbacks. So it comes from the device's allocator, not the object's.

use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

use crate::error::VkResult;
use crate::host::{HostAllocator, HostBox};

/// A value with several owners; the last frees it.
pub(crate) struct Shared<T> {
    at: NonNull<Counted<T>>,
}

struct Counted<T> {
    owners: AtomicUsize,
    host: HostAllocator,
    value: T,
}

// SAFETY: as for std::sync::Arc: owners in several threads share the value, the last drops it.
unsafe impl<T: Send + Sync> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// A value with one owner.
    ///
    /// # Errors
    /// When the callbacks refuse memory; the value is dropped.
    pub(crate) fn new(host: HostAllocator, value: T) -> VkResult<Shared<T>> {
        let counted = host.boxed(Counted {
            owners: AtomicUsize::new(1),
            host,
            value,
        })?;
        let at = NonNull::from(HostBox::leak(counted));
        Ok(Shared { at })
    }

    fn counted(&self) -> &Counted<T> {
        // SAFETY: alive as long as it has an owner.
        unsafe { self.at.as_ref() }
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Shared<T> {
        // Whoever gives an owner to another thread synchronises with it.
        self.counted().owners.fetch_add(1, Ordering::Relaxed);
        Shared { at: self.at }
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.counted().value
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        let counted = self.counted();
        if counted.owners.fetch_sub(1, Ordering::Release) != 1 {
            return;
        }
        // What the other owners did happens before the value is dropped.
        fence(Ordering::Acquire);
        let host = counted.host;
        // SAFETY: this was the last owner; the memory is that of a box of this allocator.
        drop(unsafe { HostBox::from_raw_in(self.at.as_ptr(), host) });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ash::vk;

    use super::*;

    #[test]
    fn the_last_owner_drops_the_value() {
        let host = HostAllocator::global(vk::SystemAllocationScope::DEVICE);
        let value = Arc::new(());
        let first = Shared::new(host, value.clone()).expect("memory");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let mine = first.clone();
                scope.spawn(move || assert!(Arc::strong_count(&mine) >= 2));
            }
        });
        assert_eq!(Arc::strong_count(&value), 2);
        drop(first);
        assert_eq!(Arc::strong_count(&value), 1);
    }
}
