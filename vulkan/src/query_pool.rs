// SPDX-License-Identifier: MIT
//! VkQueryPool: timestamps, and where firmware writes them; occlusion queries.
//!
//! A query is a 64-bit word that is 0 while there is no result. Those of occlusion queries are one more than
//! the counter, and written when a query has ended.
//!
//! Firmware writes to buffers that are bound for that as a whole (kernel-uapi, 9). Binding waits for
//! all work of the device, 64 MiB is all that there is for everyone, and the pages stay taken until
//! the file is closed. So a device binds a few buffers and cuts pools from them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agx_uapi::abi::limits::PAGE_SIZE;
use agx_uapi::{Deadline, Kernel, TimestampHandle};
use ash::vk;
use offset_allocator::{Allocation, Allocator};

use crate::command::Stamp;
use crate::debug;
use crate::device::{self, Device};
use crate::entry;
use crate::error::{VkResult, kernel};
use crate::gpu::{Bo, Gpu, Zone};
use crate::object::{self, Object};
use crate::occlusion::Slots;
use crate::sync::SLICE;

/// Bytes of a query: a 64-bit time, 0 while it is not available.
const QUERY_SIZE: u64 = 8;
/// Bytes that are bound at once, at least.
const CHUNK_SIZE: u64 = 4 * PAGE_SIZE;
/// Most pools in a chunk.
const MAX_POOLS: u32 = 1024;

/// A device's memory for timestamps.
#[derive(Default)]
pub(crate) struct Heap {
    chunks: Mutex<Vec<Arc<Chunk>>>,
}

/// A bound buffer.
struct Chunk {
    kernel: Arc<dyn Kernel>,
    memory: Arc<Bo>,
    handle: TimestampHandle,
    /// In queries.
    allocator: Mutex<Allocator>,
}

/// Queries of one pool, one after the other.
struct Place {
    chunk: Arc<Chunk>,
    allocation: Allocation,
}

impl Heap {
    fn allocate(&self, gpu: &Arc<Gpu>, count: u32) -> VkResult<Place> {
        let mut chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = chunks.iter().find_map(|chunk| chunk.cut(count)) {
            return Ok(place);
        }
        let chunk = Arc::new(Chunk::new(gpu, QUERY_SIZE * rounded(count))?);
        let place = chunk.cut(count);
        chunks.push(chunk);
        place.ok_or(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)
    }
}

/// As many queries as the allocator needs to be free to give out so many: it sorts holes by sizes of
/// four significant bits.
fn rounded(count: u32) -> u64 {
    let step = 1 << count.max(8).ilog2().saturating_sub(3);
    u64::from(count).next_multiple_of(step)
}

impl Chunk {
    fn new(gpu: &Arc<Gpu>, size: u64) -> VkResult<Chunk> {
        let memory = gpu.dedicated(Zone::Scratch, size.max(CHUNK_SIZE))?;
        let size = memory.size();
        let handle = gpu
            .kernel
            .timestamp_bind(memory.gem(), 0..size)
            .map_err(kernel("GEM_BIND_OBJECT"))?;
        let queries = u32::try_from(size / QUERY_SIZE).unwrap_or(u32::MAX);
        Ok(Chunk {
            kernel: gpu.kernel.clone(),
            memory,
            handle,
            allocator: Mutex::new(Allocator::with_max_allocs(queries, MAX_POOLS)),
        })
    }

    fn cut(self: &Arc<Self>, count: u32) -> Option<Place> {
        let mut allocator = self
            .allocator
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let allocation = allocator.allocate(count)?;
        Some(Place {
            chunk: self.clone(),
            allocation,
        })
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        if let Err(errno) = self.kernel.timestamp_unbind(self.handle) {
            debug::error(&format_args!("GEM_BIND_OBJECT, unbinding: {errno}"));
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut allocator = self
            .chunk
            .allocator
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        allocator.free(self.allocation);
    }
}

/// A pool.
pub(crate) struct QueryPool {
    place: Place,
    count: u32,
    /// The counters, for occlusion queries.
    pub(crate) counters: Option<Slots>,
}

impl Object for QueryPool {
    type Handle = vk::QueryPool;
}

impl QueryPool {
    /// Byte offset of a query in its chunk.
    fn offset(&self, query: u32) -> u64 {
        assert!(query < self.count, "query {query} of {}", self.count);
        QUERY_SIZE * (u64::from(self.place.allocation.offset) + u64::from(query))
    }

    /// Where firmware writes a query.
    ///
    /// # Panics
    /// When there is no such query.
    pub(crate) fn stamp(&self, query: u32) -> Stamp {
        Stamp {
            buffer: self.place.chunk.handle,
            offset: self.offset(query) as u32,
        }
    }

    /// The GPU's address of a query: 64 bits, 0 while it is not available. The next query follows.
    ///
    /// # Panics
    /// When there is no such query.
    pub(crate) fn address(&self, query: u32) -> u64 {
        self.place.chunk.memory.address() + self.offset(query)
    }

    fn slot(&self, query: u32) -> &AtomicU64 {
        let offset = self.offset(query) as usize;
        // SAFETY: eight aligned bytes of the mapping, which lives as long; whoever else has them
        // uses atomic accesses or is the GPU.
        unsafe { AtomicU64::from_ptr(self.place.chunk.memory.cpu().as_ptr().add(offset).cast()) }
    }

    fn reset(&self, first: u32, count: u32) {
        for query in first..first.saturating_add(count) {
            if let Some(counters) = &self.counters {
                // SAFETY: eight aligned bytes of the mapping, which lives as long as the pool; the GPU
                // alone uses them too.
                unsafe { AtomicU64::from_ptr(counters.cpu(query)) }.store(0, Ordering::Relaxed);
            }
            self.slot(query).store(0, Ordering::Release);
        }
    }

    /// A query's value; 0 when it is not available.
    fn value(&self, device: &Device, query: u32, wait: bool) -> VkResult<u64> {
        loop {
            let value = self.slot(query).load(Ordering::Acquire);
            if value != 0 || !wait {
                return Ok(value);
            }
            device.inspect()?;
            device.await_any_submit();
        }
    }
}

impl Device {
    /// Waits until something that is in flight is over, or for a while.
    fn await_any_submit(&self) {
        let mut waited = false;
        for queue in self.queues() {
            waited |= queue.await_any(Deadline::after(SLICE));
        }
        if !waited {
            // Another thread may be about to submit.
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// vkCreateQueryPool.
pub(crate) unsafe extern "system" fn create_query_pool(
    device: vk::Device,
    info: *const vk::QueryPoolCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pool: *mut vk::QueryPool,
) -> vk::Result {
    entry::try_guard("vkCreateQueryPool", || {
        // SAFETY: valid by the specification.
        let (this, info) = unsafe { (object::get::<Device>(device), &*info) };
        let counters = match info.query_type {
            vk::QueryType::TIMESTAMP => None,
            vk::QueryType::OCCLUSION => Some(this.occlusion.allocate(&this.gpu, info.query_count)?),
            other => {
                debug::error(&format_args!(
                    "vkCreateQueryPool: {other:?} needs a feature that there is not; there are \
                     timestamps and occlusion queries"
                ));
                return Err(vk::Result::ERROR_FEATURE_NOT_PRESENT);
            }
        };
        let new = QueryPool {
            place: this.timestamps.allocate(&this.gpu, info.query_count)?,
            count: info.query_count,
            counters,
        };
        new.reset(0, new.count);
        // SAFETY: as above.
        unsafe { *pool = object::create(this.allocator(allocator), new)? };
        Ok(())
    })
}

/// vkDestroyQueryPool.
pub(crate) unsafe extern "system" fn destroy_query_pool(
    device: vk::Device,
    pool: vk::QueryPool,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: null or a live handle that no one else uses, by the specification.
    unsafe { device::destroy_object::<QueryPool>("vkDestroyQueryPool", device, pool, allocator) };
}

/// vkResetQueryPool.
pub(crate) unsafe extern "system" fn reset_query_pool(
    _device: vk::Device,
    pool: vk::QueryPool,
    first: u32,
    count: u32,
) {
    entry::guard("vkResetQueryPool", || {
        // SAFETY: valid by the specification.
        unsafe { object::get::<QueryPool>(pool) }.reset(first, count);
    });
}

/// vkGetQueryPoolResults.
pub(crate) unsafe extern "system" fn get_query_pool_results(
    device: vk::Device,
    pool: vk::QueryPool,
    first: u32,
    count: u32,
    size: usize,
    data: *mut std::ffi::c_void,
    stride: vk::DeviceSize,
    flags: vk::QueryResultFlags,
) -> vk::Result {
    entry::try_guard("vkGetQueryPoolResults", || {
        // SAFETY: valid by the specification.
        let (this, pool) = unsafe {
            let this = object::get::<Device>(device);
            (this, object::get::<QueryPool>(pool))
        };
        this.check()?;
        let wait = flags.contains(vk::QueryResultFlags::WAIT);
        let partial = flags.contains(vk::QueryResultFlags::PARTIAL);
        let with_availability = flags.contains(vk::QueryResultFlags::WITH_AVAILABILITY);
        let width = if flags.contains(vk::QueryResultFlags::TYPE_64) {
            8
        } else {
            4
        };
        let mut all = true;
        for index in 0..count {
            let value = pool.value(this, first + index, wait)?;
            let available = value != 0;
            let value = match &pool.counters {
                Some(_) => value.saturating_sub(1),
                None => value,
            };
            all &= available;
            let at = index as usize * stride as usize;
            let words = [
                (available || partial).then_some(value),
                with_availability.then_some(u64::from(available)),
            ];
            for (number, word) in words.into_iter().enumerate() {
                let Some(word) = word else { continue };
                let at = at + number * width;
                assert!(at + width <= size, "results need more than {size} bytes");
                let bytes = word.to_le_bytes();
                // SAFETY: the caller's memory, so many bytes of it.
                unsafe {
                    let to = data.cast::<u8>().add(at);
                    to.copy_from_nonoverlapping(bytes.as_ptr(), width);
                }
            }
        }
        if wait {
            this.inspect()?;
        }
        if all {
            Ok(())
        } else {
            Err(vk::Result::NOT_READY)
        }
    })
}
