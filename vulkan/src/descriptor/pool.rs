// SPDX-License-Identifier: MIT
//! VkDescriptorPool: one block of GPU memory that sets are cut from.

use std::cell::UnsafeCell;

use ash::vk;

use super::layout::{Kind, Layout, SetLayout};
use super::ranges::{Full, Ranges};
use super::set::{DescriptorSet, Memory};
use super::write::DynamicBuffer;
use super::{ALIGNMENT, DESCRIPTOR_SIZE};
use crate::device::{self, Device};
use crate::entry;
use crate::error::VkResult;
use crate::gpu::{Slice, Zone};
use crate::host::{HostAllocator, HostVec, OUT_OF_HOST};
use crate::object::{self, Object};
use crate::shared::Shared;

/// A descriptor pool.
pub(crate) struct DescriptorPool {
    /// Where the memory of sets comes from.
    host: HostAllocator,
    /// Nothing when its sets have no bytes.
    memory: Option<Slice>,
    ranges: Ranges,
    max_sets: u32,
    sets: HostVec<vk::DescriptorSet>,
}

impl Object for DescriptorPool {
    type Handle = vk::DescriptorPool;
}

impl DescriptorPool {
    fn new(
        device: &Device,
        host: HostAllocator,
        max_sets: u32,
        size: u64,
        gathered: bool,
    ) -> VkResult<DescriptorPool> {
        let size = u32::try_from(size).map_err(|_| vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)?;
        let ranges = Ranges::new(host, size)?;
        let memory = match size {
            0 => None,
            _ => {
                let align = u64::from(ALIGNMENT);
                // The CPU reads what it gathers.
                let zone = match gathered {
                    true => Zone::Scratch,
                    false => Zone::Upload,
                };
                Some(device.gpu.allocate(zone, size.into(), align)?)
            }
        };
        Ok(DescriptorPool {
            host,
            memory,
            ranges,
            max_sets,
            sets: host.vec(),
        })
    }

    fn allocate(&mut self, layout: &Shared<Layout>, variable: u32) -> VkResult<vk::DescriptorSet> {
        if self.sets.len() >= self.max_sets as usize {
            return Err(vk::Result::ERROR_OUT_OF_POOL_MEMORY);
        }
        self.sets.try_reserve(1).map_err(|_| OUT_OF_HOST)?;
        let mut dynamic = self.host.vec();
        let count = layout.dynamic_count() as usize;
        dynamic.try_reserve_exact(count).map_err(|_| OUT_OF_HOST)?;
        dynamic.resize_with(count, || UnsafeCell::new(DynamicBuffer::default()));
        let size = layout.size_with(variable);
        let offset = self.ranges.take(size).map_err(|full| match full {
            Full::Bytes => vk::Result::ERROR_OUT_OF_POOL_MEMORY,
            Full::Fragmented => vk::Result::ERROR_FRAGMENTED_POOL,
            Full::Host => OUT_OF_HOST,
        })?;
        let memory = match &self.memory {
            Some(slice) => Memory {
                // SAFETY: the offset lies in the memory, which is as large as the ranges.
                cpu: unsafe { slice.cpu().add(offset as usize) }.as_ptr(),
                address: slice.address() + u64::from(offset),
                offset,
                size,
            },
            None => Memory {
                cpu: std::ptr::dangling_mut(),
                address: 0,
                offset,
                size,
            },
        };
        // SAFETY: the set's own memory, which nobody has yet.
        unsafe { layout.initialise(memory.cpu, memory.size) };
        let set = DescriptorSet::new(layout.clone(), memory, dynamic, self.sets.len());
        let handle =
            object::create(self.host, set).inspect_err(|_| self.ranges.give_back(offset, size))?;
        self.sets.push(handle);
        Ok(handle)
    }

    /// # Safety
    /// The handle is null or that of a set of this pool that no one uses any more.
    unsafe fn free(&mut self, handle: vk::DescriptorSet) {
        // SAFETY: the caller's promise.
        let Some(set) = (unsafe { object::get_optional::<DescriptorSet>(handle) }) else {
            return;
        };
        let slot = set.slot;
        assert_eq!(self.sets.get(slot), Some(&handle), "a set of another pool");
        let memory = set.memory();
        self.ranges.give_back(memory.offset, memory.size);
        // SAFETY: the caller's promise; the set that takes the slot is another one.
        unsafe {
            object::destroy::<DescriptorSet>(self.host, handle);
            self.sets.swap_remove(slot);
            if let Some(moved) = self.sets.get(slot) {
                object::get_mut::<DescriptorSet>(*moved).slot = slot;
            }
        }
    }

    fn reset(&mut self) {
        for set in self.sets.drain(..) {
            // SAFETY: a set of this pool, which no one uses any more by the specification.
            unsafe { object::destroy::<DescriptorSet>(self.host, set) };
        }
        self.ranges.reset();
    }
}

impl Drop for DescriptorPool {
    fn drop(&mut self) {
        self.reset();
    }
}

/// Bytes of the sets that a pool is made for.
///
/// # Safety
/// The structure is valid.
unsafe fn size(info: &vk::DescriptorPoolCreateInfo<'_>) -> u64 {
    type Inline<'a> = vk::DescriptorPoolInlineUniformBlockCreateInfo<'a>;
    // SAFETY: the caller's promise.
    let (sizes, inline) = unsafe {
        let sizes = entry::slice(info.p_pool_sizes, info.pool_size_count);
        (sizes, entry::find::<Inline<'_>>(info.p_next))
    };
    let sizes = sizes.iter().map(|size| {
        let kind = Kind::of(size.ty);
        u64::from(size.descriptor_count) * u64::from(kind.stride())
    });
    // Each block is rounded up.
    let padding = inline.map_or(0, |inline| inline.max_inline_uniform_block_bindings);
    let padding = u64::from(padding) * u64::from(ALIGNMENT - 4);
    (sizes.sum::<u64>() + padding).next_multiple_of(u64::from(DESCRIPTOR_SIZE))
}

/// vkCreateDescriptorPool.
pub(crate) unsafe extern "system" fn create_descriptor_pool(
    device: vk::Device,
    info: *const vk::DescriptorPoolCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pool: *mut vk::DescriptorPool,
) -> vk::Result {
    entry::try_guard("vkCreateDescriptorPool", || {
        // SAFETY: valid by the specification.
        unsafe {
            let device = object::get::<Device>(device);
            let host = device.allocator(allocator);
            let sizes = entry::slice((*info).p_pool_sizes, (*info).pool_size_count);
            let gathered = sizes.iter().any(|size| Kind::of(size.ty).is_gathered());
            let (most, size) = ((*info).max_sets, size(&*info));
            let made = DescriptorPool::new(device, host, most, size, gathered)?;
            *pool = object::create(host, made)?;
        }
        Ok(())
    })
}

/// vkDestroyDescriptorPool.
pub(crate) unsafe extern "system" fn destroy_descriptor_pool(
    device: vk::Device,
    pool: vk::DescriptorPool,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: null or a live handle that no one else uses, by the specification.
    unsafe {
        device::destroy_object::<DescriptorPool>("vkDestroyDescriptorPool", device, pool, allocator)
    };
}

/// vkResetDescriptorPool.
pub(crate) unsafe extern "system" fn reset_descriptor_pool(
    _device: vk::Device,
    pool: vk::DescriptorPool,
    _flags: vk::DescriptorPoolResetFlags,
) -> vk::Result {
    entry::try_guard("vkResetDescriptorPool", || {
        // SAFETY: externally synchronised by the specification.
        unsafe { object::get_mut::<DescriptorPool>(pool) }.reset();
        Ok(())
    })
}

/// vkAllocateDescriptorSets.
pub(crate) unsafe extern "system" fn allocate_descriptor_sets(
    _device: vk::Device,
    info: *const vk::DescriptorSetAllocateInfo<'_>,
    sets: *mut vk::DescriptorSet,
) -> vk::Result {
    type Variable<'a> = vk::DescriptorSetVariableDescriptorCountAllocateInfo<'a>;
    entry::try_guard("vkAllocateDescriptorSets", || {
        // SAFETY: valid by the specification.
        unsafe {
            let info = &*info;
            let pool = object::get_mut::<DescriptorPool>(info.descriptor_pool);
            let layouts = entry::slice(info.p_set_layouts, info.descriptor_set_count);
            let variable = entry::find::<Variable<'_>>(info.p_next);
            let variable = variable.map_or(&[][..], |variable| {
                entry::slice(variable.p_descriptor_counts, variable.descriptor_set_count)
            });
            for (at, layout) in layouts.iter().enumerate() {
                let layout = object::get::<SetLayout>(*layout);
                let variable = variable.get(at).copied().unwrap_or(0);
                match pool.allocate(&layout.layout, variable) {
                    Ok(set) => sets.add(at).write(set),
                    Err(error) => {
                        for done in 0..at {
                            pool.free(*sets.add(done));
                        }
                        for all in 0..layouts.len() {
                            sets.add(all).write(vk::DescriptorSet::null());
                        }
                        return Err(error);
                    }
                }
            }
        }
        Ok(())
    })
}

/// vkFreeDescriptorSets.
pub(crate) unsafe extern "system" fn free_descriptor_sets(
    _device: vk::Device,
    pool: vk::DescriptorPool,
    count: u32,
    sets: *const vk::DescriptorSet,
) -> vk::Result {
    entry::try_guard("vkFreeDescriptorSets", || {
        // SAFETY: valid and externally synchronised by the specification.
        unsafe {
            let pool = object::get_mut::<DescriptorPool>(pool);
            for set in entry::slice(sets, count) {
                pool.free(*set);
            }
        }
        Ok(())
    })
}
