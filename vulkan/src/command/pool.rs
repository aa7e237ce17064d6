// SPDX-License-Identifier: MIT
//! VkCommandPool.

use ash::vk;

use super::buffer::CommandBuffer;
use super::chunk::Spare;
use crate::device::Device;
use crate::entry;
use crate::error::VkResult;
use crate::host::{HostAllocator, HostVec, OUT_OF_HOST};
use crate::object::{self, Object};

/// A command pool.
pub(crate) struct CommandPool {
    pub(super) host: HostAllocator,
    pub(super) spare: Spare,
    buffers: HostVec<vk::CommandBuffer>,
}

impl Object for CommandPool {
    type Handle = vk::CommandPool;
}

/// vkCreateCommandPool.
pub(crate) unsafe extern "system" fn create_command_pool(
    device: vk::Device,
    _info: *const vk::CommandPoolCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pool: *mut vk::CommandPool,
) -> vk::Result {
    entry::try_guard("vkCreateCommandPool", || {
        // SAFETY: valid by the specification.
        let host = unsafe { object::get::<Device>(device).allocator(allocator) };
        let made = CommandPool {
            host,
            spare: Spare::new(host),
            buffers: host.vec(),
        };
        let handle = object::create(host, made)?;
        // SAFETY: valid by the specification.
        unsafe { *pool = handle };
        Ok(())
    })
}

/// vkDestroyCommandPool.
pub(crate) unsafe extern "system" fn destroy_command_pool(
    device: vk::Device,
    pool: vk::CommandPool,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    entry::guard("vkDestroyCommandPool", || {
        if pool == vk::CommandPool::null() {
            return;
        }
        // SAFETY: valid by the specification; no one uses the pool or its buffers any more.
        unsafe {
            let device = object::get::<Device>(device);
            let this = object::get_mut::<CommandPool>(pool);
            for buffer in this.buffers.drain(..) {
                object::destroy::<CommandBuffer>(this.host, buffer);
            }
            object::destroy::<CommandPool>(device.allocator(allocator), pool);
        }
    });
}

/// vkResetCommandPool.
pub(crate) unsafe extern "system" fn reset_command_pool(
    _device: vk::Device,
    pool: vk::CommandPool,
    flags: vk::CommandPoolResetFlags,
) -> vk::Result {
    entry::try_guard("vkResetCommandPool", || {
        // SAFETY: valid and externally synchronised by the specification, as are its buffers.
        let this = unsafe { object::get_mut::<CommandPool>(pool) };
        for buffer in &this.buffers {
            // SAFETY: as above.
            let buffer = unsafe { object::get_mut::<CommandBuffer>(*buffer) };
            buffer.reset(&mut this.spare);
        }
        if flags.contains(vk::CommandPoolResetFlags::RELEASE_RESOURCES) {
            this.spare.trim();
        }
        Ok(())
    })
}

/// vkTrimCommandPool.
pub(crate) unsafe extern "system" fn trim_command_pool(
    _device: vk::Device,
    pool: vk::CommandPool,
    _flags: vk::CommandPoolTrimFlags,
) {
    entry::guard("vkTrimCommandPool", || {
        // SAFETY: valid and externally synchronised by the specification.
        unsafe { object::get_mut::<CommandPool>(pool) }.spare.trim();
    });
}

/// vkAllocateCommandBuffers.
pub(crate) unsafe extern "system" fn allocate_command_buffers(
    device: vk::Device,
    info: *const vk::CommandBufferAllocateInfo<'_>,
    buffers: *mut vk::CommandBuffer,
) -> vk::Result {
    entry::try_guard("vkAllocateCommandBuffers", || {
        // SAFETY: valid by the specification, and the pool is externally synchronised.
        let (device, info, pool) = unsafe {
            let info = &*info;
            let pool = object::get_mut::<CommandPool>(info.command_pool);
            (object::get::<Device>(device), info, pool)
        };
        let count = info.command_buffer_count as usize;
        let before = pool.buffers.len();
        for index in 0..count {
            match pool.add(device, info) {
                // SAFETY: an array of so many by the specification.
                Ok(buffer) => unsafe { *buffers.add(index) = buffer },
                Err(error) => {
                    for buffer in pool.buffers.drain(before..) {
                        // SAFETY: made just now and known to no one.
                        unsafe { object::destroy::<CommandBuffer>(pool.host, buffer) };
                    }
                    for index in 0..count {
                        // SAFETY: as above.
                        unsafe { *buffers.add(index) = vk::CommandBuffer::null() };
                    }
                    return Err(error);
                }
            }
        }
        Ok(())
    })
}

impl CommandPool {
    fn add(
        &mut self,
        device: &Device,
        info: &vk::CommandBufferAllocateInfo<'_>,
    ) -> VkResult<vk::CommandBuffer> {
        self.buffers.try_reserve(1).map_err(|_| OUT_OF_HOST)?;
        let made = CommandBuffer::new(device, self.host, info.command_pool, info.level);
        let buffer = object::create(self.host, made)?;
        self.buffers.push(buffer);
        Ok(buffer)
    }
}

/// vkFreeCommandBuffers.
pub(crate) unsafe extern "system" fn free_command_buffers(
    _device: vk::Device,
    pool: vk::CommandPool,
    count: u32,
    buffers: *const vk::CommandBuffer,
) {
    entry::guard("vkFreeCommandBuffers", || {
        // SAFETY: valid and externally synchronised by the specification.
        let (pool, buffers) = unsafe {
            (
                object::get_mut::<CommandPool>(pool),
                entry::slice(buffers, count),
            )
        };
        for handle in buffers {
            let Some(at) = pool.buffers.iter().position(|buffer| buffer == handle) else {
                continue;
            };
            pool.buffers.swap_remove(at);
            // SAFETY: a buffer of this pool, which no one uses any more.
            unsafe {
                object::get_mut::<CommandBuffer>(*handle).reset(&mut pool.spare);
                object::destroy::<CommandBuffer>(pool.host, *handle);
            }
        }
    });
}
