// SPDX-License-Identifier: MIT
//! Translation of GPU addresses on the execution path.

use std::cell::Cell;

use super::{Access, Mappings, PAGE_SHIFT, PAGE_SIZE};

/// Addresses have 42 bits (isa-0, 7 row 18).
const ADDRESS_BITS: u32 = 42;
const ENTRIES: usize = 64;

#[derive(Clone, Copy)]
struct Entry {
    /// Virtual page number; `u64::MAX` = empty.
    page: u64,
    host: *mut u8,
}

/// A worker's direct-mapped cache of page translations, one table for each kind of access.
///
/// A snapshot of mappings never changes, so entries are never invalidated.
pub struct Tlb<'m> {
    mappings: &'m Mappings,
    tables: [[Cell<Entry>; ENTRIES]; 3],
}

impl<'m> Tlb<'m> {
    /// An empty cache over a snapshot.
    #[must_use]
    pub fn new(mappings: &'m Mappings) -> Tlb<'m> {
        let empty = Entry {
            page: u64::MAX,
            host: std::ptr::null_mut(),
        };
        Tlb {
            mappings,
            tables: std::array::from_fn(|_| std::array::from_fn(|_| Cell::new(empty))),
        }
    }

    /// The snapshot behind it.
    #[must_use]
    pub fn mappings(&self) -> &'m Mappings {
        self.mappings
    }

    /// Host address of `va`, good for the rest of its 16 KiB page; `None` when it is not mapped with
    /// this permission.
    #[inline]
    #[must_use]
    pub fn translate(&self, va: u64, access: Access) -> Option<*mut u8> {
        let page = va >> PAGE_SHIFT;
        let slot = &self.tables[access as usize][page as usize % ENTRIES];
        let entry = slot.get();
        let host = if entry.page == page {
            entry.host
        } else {
            self.walk(page, access, slot)?
        };
        // SAFETY: `host` is the first byte of a mapped page and the sum stays inside that page.
        Some(unsafe { host.add((va & (PAGE_SIZE - 1)) as usize) })
    }

    #[cold]
    #[inline(never)]
    fn walk(&self, page: u64, access: Access, slot: &Cell<Entry>) -> Option<*mut u8> {
        if page >> (ADDRESS_BITS - PAGE_SHIFT) != 0 {
            return None;
        }
        let va = page << PAGE_SHIFT;
        let region = self.mappings.find(va).filter(|r| r.permits(access))?;
        let host = region.host(va);
        slot.set(Entry { page, host });
        Some(host)
    }
}
