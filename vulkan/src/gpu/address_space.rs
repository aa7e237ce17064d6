// SPDX-License-Identifier: MIT
//! Which addresses of a range are taken.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use agx_uapi::abi::limits::PAGE_SIZE;
use offset_allocator::{Allocation, Allocator};

/// Most ranges taken at once.
const MAX_RANGES: u32 = 1 << 16;

/// A range of GPU addresses, given out in whole pages.
pub(super) struct AddressSpace {
    start: u64,
    allocator: Mutex<Allocator>,
}

/// Addresses that are taken; given back with [`AddressSpace::free`].
#[derive(Clone, Copy)]
pub(super) struct Taken {
    pub(super) address: u64,
    pub(super) size: u64,
    /// Nothing for addresses outside of all ranges.
    allocation: Option<Allocation>,
}

impl Taken {
    /// Addresses that no range contains and that the caller takes only once.
    pub(super) fn fixed(address: u64, size: u64) -> Taken {
        Taken {
            address,
            size,
            allocation: None,
        }
    }
}

impl AddressSpace {
    pub(super) fn new(range: Range<u64>) -> AddressSpace {
        let count = (range.end - range.start) / PAGE_SIZE;
        AddressSpace {
            start: range.start,
            allocator: Mutex::new(Allocator::with_max_allocs(
                u32::try_from(count).unwrap_or(u32::MAX),
                MAX_RANGES,
            )),
        }
    }

    /// Takes `size` bytes, a multiple of the page; nothing when there is no such hole.
    pub(super) fn take(&self, size: u64) -> Option<Taken> {
        let pages = u32::try_from(size / PAGE_SIZE).ok()?;
        let allocation = self.lock().allocate(pages)?;
        let address = self.start + u64::from(allocation.offset) * PAGE_SIZE;
        Some(Taken {
            address,
            size,
            allocation: Some(allocation),
        })
    }

    pub(super) fn free(&self, taken: Taken) {
        if let Some(allocation) = taken.allocation {
            self.lock().free(allocation);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Allocator> {
        self.allocator
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// What is taken is inside the range, on page bounds, and never taken twice.
        #[test]
        fn ranges_do_not_overlap(steps in prop::collection::vec((any::<bool>(), 1u64..40, any::<prop::sample::Index>()), 1..200)) {
            let range = 0x1000_0000..0x1000_0000 + 512 * PAGE_SIZE;
            let space = AddressSpace::new(range.clone());
            let mut held: Vec<Taken> = Vec::new();
            for (take, pages, which) in steps {
                if take {
                    if let Some(taken) = space.take(pages * PAGE_SIZE) {
                        prop_assert!(taken.address.is_multiple_of(PAGE_SIZE));
                        prop_assert!(range.contains(&taken.address));
                        prop_assert!(taken.address + taken.size <= range.end);
                        for other in &held {
                            prop_assert!(taken.address + taken.size <= other.address || other.address + other.size <= taken.address);
                        }
                        held.push(taken);
                    }
                } else if !held.is_empty() {
                    space.free(held.swap_remove(which.index(held.len())));
                }
            }
            held.drain(..).for_each(|taken| space.free(taken));
            prop_assert!(space.take(256 * PAGE_SIZE).is_some());
        }
    }
}
