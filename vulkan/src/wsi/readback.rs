// SPDX-License-Identifier: MIT
//! Images as rows of pixels in host memory, by the driver's own copy.

use ash::vk;

use crate::buffer;
use crate::command::entries as command;
use crate::error::VkResult;
use crate::gpu::Zone;
use crate::host::{HostAllocator, HostVec, OUT_OF_HOST};
use crate::memory::{self, DeviceMemory};
use crate::object;
use crate::physical_device::memory::TYPES;

/// Bytes of a pixel: of every format that surfaces have.
const PIXEL_BYTES: u64 = 4;

/// A buffer for one image at a time, and the command buffers that fill it.
///
/// Made of objects like the application's, and destroyed with [`Readback::destroy`].
pub(super) struct Readback {
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    size: u64,
    pool: vk::CommandPool,
    /// One for each image.
    commands: HostVec<vk::CommandBuffer>,
}

impl Readback {
    /// Of nothing yet.
    pub(super) fn new(host: HostAllocator, extent: vk::Extent2D) -> Readback {
        Readback {
            buffer: vk::Buffer::null(),
            memory: vk::DeviceMemory::null(),
            size: PIXEL_BYTES * u64::from(extent.width) * u64::from(extent.height),
            pool: vk::CommandPool::null(),
            commands: host.vec(),
        }
    }

    /// Makes the buffer, and records the copies. After an error it can only be destroyed.
    ///
    /// # Errors
    /// When there is no memory.
    ///
    /// # Safety
    /// All handles live, and the callbacks are null or valid.
    pub(super) unsafe fn record(
        &mut self,
        device: vk::Device,
        allocator: *const vk::AllocationCallbacks<'_>,
        extent: vk::Extent2D,
        images: impl ExactSizeIterator<Item = vk::Image>,
    ) -> VkResult {
        let info = vk::BufferCreateInfo::default()
            .size(self.size)
            .usage(vk::BufferUsageFlags::TRANSFER_DST);
        // The CPU reads it.
        let cached = TYPES.iter().position(|zone| *zone == Zone::Cached);
        let cached = cached.unwrap_or_default();
        let allocate = vk::MemoryAllocateInfo::default()
            .allocation_size(self.size)
            .memory_type_index(cached as u32);
        let pool = vk::CommandPoolCreateInfo::default();
        let count = images.len();
        self.commands
            .try_reserve_exact(count)
            .map_err(|_| OUT_OF_HOST)?;
        // SAFETY: the caller's promise; all structures are valid.
        unsafe {
            buffer::create_buffer(device, &raw const info, allocator, &raw mut self.buffer)
                .result()?;
            memory::allocate_memory(device, &raw const allocate, allocator, &raw mut self.memory)
                .result()?;
            buffer::bind_buffer_memory(device, self.buffer, self.memory, 0).result()?;
            command::create_command_pool(device, &raw const pool, allocator, &raw mut self.pool)
                .result()?;
            for image in images {
                let commands = self.copy(device, extent, image)?;
                self.commands.push(commands);
            }
        }
        Ok(())
    }

    /// # Safety
    /// As for [`Readback::record`], whose pool and buffer are there.
    unsafe fn copy(
        &self,
        device: vk::Device,
        extent: vk::Extent2D,
        image: vk::Image,
    ) -> VkResult<vk::CommandBuffer> {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.pool)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(1);
        let begin = vk::CommandBufferBeginInfo::default();
        let region = vk::BufferImageCopy::default()
            .image_subresource(vk::ImageSubresourceLayers {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                mip_level: 0,
                base_array_layer: 0,
                layer_count: 1,
            })
            .image_extent(extent.into());
        let mut commands = vk::CommandBuffer::null();
        // SAFETY: the caller's promise; all structures are valid.
        unsafe {
            command::allocate_command_buffers(device, &raw const info, &raw mut commands)
                .result()?;
            command::begin_command_buffer(commands, &raw const begin).result()?;
            command::cmd_copy_image_to_buffer(
                commands,
                image,
                vk::ImageLayout::PRESENT_SRC_KHR,
                self.buffer,
                1,
                &raw const region,
            );
            command::end_command_buffer(commands).result()?;
        }
        Ok(commands)
    }

    /// What copies an image.
    pub(super) fn commands(&self, image: u32) -> Option<vk::CommandBuffer> {
        self.commands.get(image as usize).copied()
    }

    /// The rows, one directly after the other.
    ///
    /// # Safety
    /// The copy is over, and no other is submitted while they are in use.
    pub(super) unsafe fn rows(&self) -> &[u8] {
        // SAFETY: memory of that size, which lives as long as this, and which nothing writes.
        unsafe {
            let memory = object::get::<DeviceMemory>(self.memory);
            std::slice::from_raw_parts(memory.cpu().as_ptr(), self.size as usize)
        }
    }

    /// Destroys what there is.
    ///
    /// # Safety
    /// No copy runs any more; the callbacks are compatible with those that it was recorded with.
    pub(super) unsafe fn destroy(
        &self,
        device: vk::Device,
        allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        // SAFETY: the caller's promise; null handles are fine.
        unsafe {
            command::destroy_command_pool(device, self.pool, allocator);
            buffer::destroy_buffer(device, self.buffer, allocator);
            memory::free_memory(device, self.memory, allocator);
        }
    }
}
