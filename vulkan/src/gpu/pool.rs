// SPDX-License-Identifier: MIT
//! Small pieces of large buffers.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;
use offset_allocator::{Allocation, Allocator};

use super::bo::{Bo, Sharing};
use super::{Gpu, Zone};
use crate::error::VkResult;

/// What pieces are cut in, and aligned to at least: a cache line of the GPU.
const UNIT: u64 = 64;
/// Most pieces of a slab.
const MAX_PIECES: u32 = 4096;
/// The part of a slab that a piece may have; larger ones are buffers of their own.
const LARGEST_PART: u64 = 4;

/// Bytes of all pieces of the process. What slabs and the recycler hold beyond them is there for the next ones.
static IN_USE: AtomicU64 = AtomicU64::new(0);

/// Bytes of all pieces of the process.
pub(super) fn bytes_in_use() -> u64 {
    IN_USE.load(Ordering::Relaxed)
}

/// Slabs of one zone.
pub(super) struct Pool {
    zone: Zone,
    slabs: Mutex<Vec<Arc<Slab>>>,
}

struct Slab {
    bo: Bo,
    allocator: Mutex<Allocator>,
}

/// A piece of GPU memory, given back when dropped.
pub(crate) struct Slice {
    home: Home,
    offset: u64,
    size: u64,
}

enum Home {
    Slab(Arc<Slab>, Allocation),
    Own(Arc<Bo>),
}

impl Pool {
    pub(super) fn new(zone: Zone) -> Pool {
        Pool {
            zone,
            slabs: Mutex::default(),
        }
    }

    /// Forgets the slabs.
    pub(super) fn clear(&self) {
        let mut slabs = self.slabs.lock().unwrap_or_else(PoisonError::into_inner);
        let slabs = std::mem::take(&mut *slabs);
        drop(slabs);
    }

    pub(super) fn allocate(&self, gpu: &Arc<Gpu>, size: u64, align: u64) -> VkResult<Slice> {
        let out_of_memory = vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
        debug_assert!(align.is_power_of_two());
        // The allocator knows no alignment: what is too much is left at the front.
        let padded = size
            .max(1)
            .checked_add(align.saturating_sub(UNIT))
            .ok_or(out_of_memory)?;
        if padded > self.zone.slab_size() / LARGEST_PART {
            let bo = Bo::new(gpu, self.zone, padded, Sharing::Private)?;
            return Slice::within(Home::Own(Arc::new(bo)), 0, size, align);
        }
        let units = padded.div_ceil(UNIT) as u32;
        let mut slabs = self.slabs.lock().unwrap_or_else(PoisonError::into_inner);
        // The newest first: older ones are more likely full.
        for slab in slabs.iter().rev() {
            if let Some(slice) = slab.cut(units, size, align) {
                return slice;
            }
        }
        // Slabs without pieces are let go when a new one is needed, so that a peak is forgotten.
        slabs.retain(|slab| Arc::strong_count(slab) > 1);
        let bo = Bo::new(gpu, self.zone, self.zone.slab_size(), Sharing::Private)?;
        let count = (self.zone.slab_size() / UNIT) as u32;
        let slab = Arc::new(Slab {
            bo,
            allocator: Mutex::new(Allocator::with_max_allocs(count, MAX_PIECES)),
        });
        slabs.push(slab.clone());
        slab.cut(units, size, align).unwrap_or(Err(out_of_memory))
    }
}

impl Slab {
    fn cut(self: &Arc<Self>, units: u32, size: u64, align: u64) -> Option<VkResult<Slice>> {
        let mut allocator = self
            .allocator
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let allocation = allocator.allocate(units)?;
        drop(allocator);
        let offset = u64::from(allocation.offset) * UNIT;
        let home = Home::Slab(self.clone(), allocation);
        Some(Slice::within(home, offset, size, align))
    }
}

impl Slice {
    pub(super) fn whole(bo: Arc<Bo>) -> Slice {
        Slice::new(bo.size(), 0, Home::Own(bo))
    }

    fn new(size: u64, offset: u64, home: Home) -> Slice {
        IN_USE.fetch_add(size, Ordering::Relaxed);
        Slice { home, offset, size }
    }

    fn within(home: Home, offset: u64, size: u64, align: u64) -> VkResult<Slice> {
        let mut slice = Slice::new(size, offset, home);
        let address = slice.bo().address() + offset;
        slice.offset += address.next_multiple_of(align) - address;
        debug_assert!(slice.offset + size <= slice.bo().size());
        Ok(slice)
    }

    /// The buffer that it is a piece of.
    pub(crate) fn bo(&self) -> &Bo {
        match &self.home {
            Home::Slab(slab, _) => &slab.bo,
            Home::Own(bo) => bo,
        }
    }

    /// The GPU's address of the first byte.
    pub(crate) fn address(&self) -> u64 {
        self.bo().address() + self.offset
    }

    /// The CPU's address of the first byte, good for [`Slice::size`] bytes while the slice lives.
    pub(crate) fn cpu(&self) -> NonNull<u8> {
        // SAFETY: the piece lies in the buffer's mapping.
        unsafe { self.bo().cpu().add(self.offset as usize) }
    }

    /// Writes bytes at an offset.
    ///
    /// # Panics
    /// When they do not fit.
    ///
    /// # Safety
    /// Neither the GPU nor another thread uses these bytes at the time.
    pub(crate) unsafe fn write(&self, offset: u64, bytes: &[u8]) {
        let end = offset.checked_add(bytes.len() as u64);
        assert!(
            end.is_some_and(|end| end <= self.size),
            "a write past its memory"
        );
        // SAFETY: inside the piece; no one else uses it, as the caller promises.
        unsafe {
            self.cpu()
                .add(offset as usize)
                .copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len());
        }
    }
}

impl Drop for Slice {
    fn drop(&mut self) {
        IN_USE.fetch_sub(self.size, Ordering::Relaxed);
        if let Home::Slab(slab, allocation) = &self.home {
            let mut allocator = slab
                .allocator
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            allocator.free(*allocation);
        }
    }
}
