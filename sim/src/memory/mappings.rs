// SPDX-License-Identifier: MIT
//! What a command sees of GPU virtual memory.

use std::sync::Arc;

use super::Bo;

/// log2 of [`PAGE_SIZE`].
pub const PAGE_SHIFT: u32 = 14;
/// Bytes of a GPU page: 16 KiB (kernel-uapi, introduction; HW).
pub const PAGE_SIZE: u64 = 1 << PAGE_SHIFT;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// A load or an instruction fetch.
    Read,
    /// A store.
    Write,
    /// An atomic: needs both permissions (kernel-uapi, 18 row 9: write-only mappings are undocumented).
    ReadWrite,
}

/// One mapping: `[start, end)` of GPU addresses onto one buffer object.
#[derive(Clone, Debug)]
pub struct Region {
    /// First address, page aligned.
    pub start: u64,
    /// Address past the last byte, page aligned.
    pub end: u64,
    /// The object behind it.
    pub bo: Arc<Bo>,
    /// Byte offset in the object of `start`, page aligned.
    pub offset: u64,
    /// The one page at `offset` stands at every page of the range (kernel-uapi, 7.5).
    pub single_page: bool,
    /// The GPU may load.
    pub read: bool,
    /// The GPU may store.
    pub write: bool,
}

impl Region {
    /// True when the mapping permits the access.
    #[inline]
    #[must_use]
    pub fn permits(&self, access: Access) -> bool {
        match access {
            Access::Read => self.read,
            Access::Write => self.write,
            Access::ReadWrite => self.read && self.write,
        }
    }

    /// Host address of `va`, which must be inside; good for the rest of `va`'s page.
    #[inline]
    #[must_use]
    pub fn host(&self, va: u64) -> *mut u8 {
        debug_assert!(self.start <= va && va < self.end);
        let relative = va - self.start;
        let relative = if self.single_page {
            relative & (PAGE_SIZE - 1)
        } else {
            relative
        };
        // SAFETY: whoever builds a region checks offset and length against the object's size.
        unsafe { self.bo.base().add((self.offset + relative) as usize) }
    }
}

/// An immutable snapshot of an address space, sorted by address, without overlaps.
#[derive(Clone, Debug, Default)]
pub struct Mappings {
    regions: Vec<Region>,
}

impl Mappings {
    /// A snapshot of these regions.
    ///
    /// # Panics
    /// When the regions overlap, are not sorted, not page aligned, empty, or leave their object: the
    /// kernel model has refused all that before.
    #[must_use]
    pub fn new(regions: Vec<Region>) -> Mappings {
        let mut last = 0;
        for region in &regions {
            assert!(last <= region.start && region.start < region.end);
            assert!((region.start | region.end | region.offset).is_multiple_of(PAGE_SIZE));
            let bytes = if region.single_page {
                PAGE_SIZE
            } else {
                region.end - region.start
            };
            assert!(
                region
                    .offset
                    .checked_add(bytes)
                    .is_some_and(|end| end <= region.bo.size())
            );
            last = region.end;
        }
        Mappings { regions }
    }

    /// All regions, in order.
    #[must_use]
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// The region that holds `va`.
    #[must_use]
    pub fn find(&self, va: u64) -> Option<&Region> {
        let index = self.regions.partition_point(|region| region.end <= va);
        self.regions.get(index).filter(|region| region.start <= va)
    }

    /// True when every byte of `[va, va + size)` is mapped with the permission ("coverage",
    /// kernel-uapi, 11.7). An empty range is covered; one that wraps is not.
    #[must_use]
    pub fn covers(&self, va: u64, size: u64, access: Access) -> bool {
        let Some(end) = va.checked_add(size) else {
            return false;
        };
        let mut at = va;
        while at < end {
            match self.find(at) {
                Some(region) if region.permits(access) => at = region.end,
                _ => return false,
            }
        }
        true
    }

    /// Copies bytes out; `false`, with `into` partly written, when a byte is not readable.
    #[must_use]
    pub fn read(&self, va: u64, into: &mut [u8]) -> bool {
        let mut done = 0;
        while done < into.len() {
            let Some(at) = va.checked_add(done as u64) else {
                return false;
            };
            let Some(region) = self.find(at).filter(|r| r.permits(Access::Read)) else {
                return false;
            };
            let page_left = PAGE_SIZE - (at & (PAGE_SIZE - 1));
            let count = (into.len() - done).min(page_left as usize);
            // SAFETY: the source is inside one mapped page; a shared mapping and the caller's slice
            // cannot overlap.
            unsafe {
                std::ptr::copy_nonoverlapping(region.host(at), into[done..].as_mut_ptr(), count);
            }
            done += count;
        }
        true
    }
}
