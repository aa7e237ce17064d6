// SPDX-License-Identifier: MIT
//! Occlusion results (graphics, 7.9): 64-bit words, to which counting draws add samples, and which boolean
//! ones make 1 (at least) when a sample passed. What stood there before counts too; drivers clear it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::memory::{Access, Tlb};

/// Samples that passed, by result.
#[derive(Clone, Debug, Default)]
pub(super) struct Counters {
    counted: BTreeMap<u16, u64>,
    seen: BTreeMap<u16, ()>,
}

impl Counters {
    /// Samples of a draw have passed.
    pub(super) fn add(&mut self, (index, boolean): (u16, bool), passed: u64) {
        if passed == 0 {
            return;
        }
        if boolean {
            self.seen.insert(index, ());
        } else {
            *self.counted.entry(index).or_default() += passed;
        }
    }

    /// Adds those of another thread.
    pub(super) fn merge(&mut self, other: Counters) {
        for (index, passed) in other.counted {
            *self.counted.entry(index).or_default() += passed;
        }
        self.seen.extend(other.seen);
    }

    /// Puts them into memory; answers the first address that is not mapped.
    pub(super) fn write(&self, base: u64, tlb: &Tlb<'_>) -> Option<u64> {
        let mut unmapped = None;
        let mut change = |index: u16, f: &dyn Fn(&AtomicU64)| {
            let va = base + 8 * u64::from(index);
            match tlb.translate(va, Access::Write) {
                // SAFETY: a multiple of eight in a mapped page, which stays mapped while the command
                // runs.
                Some(host) => f(unsafe { AtomicU64::from_ptr(host.cast()) }),
                None => unmapped = unmapped.or(Some(va)),
            }
        };
        for (&index, &passed) in &self.counted {
            change(index, &|word| {
                word.fetch_add(passed, Ordering::Relaxed);
            });
        }
        for &index in self.seen.keys() {
            change(index, &|word| {
                word.fetch_max(1, Ordering::Relaxed);
            });
        }
        unmapped
    }
}
