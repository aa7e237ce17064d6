// SPDX-License-Identifier: MIT
//! How much memory a device may hand out, and how much it has.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Counts the buffer objects of one device, and refuses those beyond a limit.
#[derive(Debug)]
pub struct Budget {
    limit: u64,
    bytes: AtomicU64,
    objects: AtomicUsize,
}

impl Budget {
    /// A budget of `limit` bytes.
    #[must_use]
    pub fn new(limit: u64) -> Arc<Budget> {
        Arc::new(Budget {
            limit,
            bytes: AtomicU64::new(0),
            objects: AtomicUsize::new(0),
        })
    }

    /// Takes `bytes` out; `None` when they are not there.
    #[must_use]
    pub fn charge(self: &Arc<Self>, bytes: u64) -> Option<Charge> {
        let taken = |used: u64| used.checked_add(bytes).filter(|&sum| sum <= self.limit);
        self.bytes
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken)
            .ok()?;
        self.objects.fetch_add(1, Ordering::Relaxed);
        Some(Charge {
            budget: self.clone(),
            bytes,
        })
    }

    /// Bytes in use.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Objects alive.
    #[must_use]
    pub fn objects(&self) -> usize {
        self.objects.load(Ordering::Relaxed)
    }
}

/// What one object takes of a [`Budget`]; given back when dropped.
#[derive(Debug)]
pub struct Charge {
    budget: Arc<Budget>,
    bytes: u64,
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.budget.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        self.budget.objects.fetch_sub(1, Ordering::Relaxed);
    }
}
