// SPDX-License-Identifier: MIT
//! Counters of samples that pass, which occlusion queries read.
//!
//! A render command has one array of them, and draws say which is theirs in 15 bits (graphics, 7.9; HW):
//! a device has one array for all its pools, so that any pass can count for any query. The GPU adds to what
//! stands there; a reset makes it 0.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ash::vk;
use offset_allocator::{Allocation, Allocator};

use crate::error::VkResult;
use crate::gpu::{Bo, Gpu, Zone};

/// Counters of a device (graphics, 7.9; HW).
const COUNTERS: u32 = 1 << 15;
/// Bytes of one.
const SIZE: u64 = 8;

/// A device's counters, once there is a pool that needs them.
#[derive(Default)]
pub(crate) struct Counters {
    array: OnceLock<Arc<Array>>,
    making: Mutex<()>,
}

struct Array {
    memory: Arc<Bo>,
    allocator: Mutex<Allocator>,
}

/// Counters of one pool, one after the other.
pub(crate) struct Slots {
    array: Arc<Array>,
    allocation: Allocation,
}

impl Counters {
    /// The array's address, if there is one.
    pub(crate) fn address(&self) -> Option<u64> {
        self.array.get().map(|array| array.memory.address())
    }

    /// So many counters.
    ///
    /// # Errors
    /// When there are not so many left, or no memory.
    pub(crate) fn allocate(&self, gpu: &Arc<Gpu>, count: u32) -> VkResult<Slots> {
        let array = self.array(gpu)?;
        let mut allocator = array
            .allocator
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let allocation = allocator.allocate(count.max(1));
        drop(allocator);
        Ok(Slots {
            allocation: allocation.ok_or(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)?,
            array,
        })
    }

    fn array(&self, gpu: &Arc<Gpu>) -> VkResult<Arc<Array>> {
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(array) = self.array.get() {
            return Ok(array.clone());
        }
        let array = Arc::new(Array {
            memory: gpu.dedicated(Zone::Scratch, SIZE * u64::from(COUNTERS))?,
            allocator: Mutex::new(Allocator::with_max_allocs(COUNTERS, COUNTERS)),
        });
        Ok(self.array.get_or_init(|| array).clone())
    }
}

impl Slots {
    /// The index of a pool's counter in the array.
    pub(crate) fn index(&self, query: u32) -> u16 {
        (self.allocation.offset + query) as u16
    }

    /// The GPU's address of a pool's counter.
    pub(crate) fn address(&self, query: u32) -> u64 {
        self.array.memory.address() + SIZE * u64::from(self.index(query))
    }

    /// The CPU's address of a pool's counter.
    pub(crate) fn cpu(&self, query: u32) -> *mut u64 {
        let offset = SIZE as usize * usize::from(self.index(query));
        self.array.memory.cpu().as_ptr().wrapping_add(offset).cast()
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        let mut allocator = self
            .array
            .allocator
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        allocator.free(self.allocation);
    }
}
