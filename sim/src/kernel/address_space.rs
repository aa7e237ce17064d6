// SPDX-License-Identifier: MIT
//! The user mappings of a VM.
//!
//! The M4 driver keeps two translation roots for each VM, one for render and one for compute work,
//! and puts every user mapping into both (kernel-uapi, 7.5); what differs is private to the driver
//! and lies where user mappings cannot be. One set therefore stands for both here.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use crate::memory::{Bo, Mappings, Region};

/// Mappings by address, without overlaps.
#[derive(Debug, Default)]
pub(crate) struct AddressSpace {
    regions: BTreeMap<u64, Region>,
    /// What commands get; made when the first one after a change needs it.
    snapshot: Option<Arc<Mappings>>,
    /// Buffers that were bound at some time, by address of the object.
    pinned: HashMap<usize, Arc<Bo>>,
}

impl AddressSpace {
    /// True when nothing is mapped.
    pub(crate) fn is_empty(&self) -> bool {
        self.regions.is_empty()
    }

    /// True when no address of the range is mapped.
    pub(crate) fn is_free(&self, range: &Range<u64>) -> bool {
        self.regions
            .range(..range.end)
            .next_back()
            .is_none_or(|(_, region)| region.end <= range.start)
    }

    /// Adds a mapping to a free range, and with `pin` keeps the buffer for good.
    pub(crate) fn bind(&mut self, region: Region, pin: bool) {
        debug_assert!(self.is_free(&(region.start..region.end)));
        if pin {
            let key = Arc::as_ptr(&region.bo) as usize;
            self.pinned.entry(key).or_insert_with(|| region.bo.clone());
        }
        self.regions.insert(region.start, region);
        self.snapshot = None;
    }

    /// Removes what is mapped in a range. Parts to the left and right of it stay and keep their
    /// offsets in the buffer; the page of a single-page mapping stays the same (kernel-uapi, 7.5).
    pub(crate) fn unbind(&mut self, range: &Range<u64>) {
        let touched: Vec<u64> = self
            .regions
            .range(..range.end)
            .rev()
            .take_while(|(_, region)| region.end > range.start)
            .map(|(start, _)| *start)
            .collect();
        for start in touched {
            let region = self.regions.remove(&start).expect("just found");
            if region.start < range.start {
                let left = Region {
                    end: range.start,
                    ..region.clone()
                };
                self.regions.insert(left.start, left);
            }
            if region.end > range.end {
                let skipped = if region.single_page {
                    0
                } else {
                    range.end - region.start
                };
                let right = Region {
                    start: range.end,
                    offset: region.offset + skipped,
                    ..region
                };
                self.regions.insert(right.start, right);
            }
            self.snapshot = None;
        }
    }

    /// Removes all mappings of a buffer.
    pub(crate) fn unbind_buffer(&mut self, bo: &Arc<Bo>) {
        self.regions
            .retain(|_, region| !Arc::ptr_eq(&region.bo, bo));
        self.snapshot = None;
    }

    /// The mappings as they are now.
    pub(crate) fn snapshot(&mut self) -> Arc<Mappings> {
        self.snapshot
            .get_or_insert_with(|| {
                Arc::new(Mappings::new(self.regions.values().cloned().collect()))
            })
            .clone()
    }
}
